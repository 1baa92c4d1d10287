/* SPDX-License-Identifier: MIT */
/*
 * Each inner node names a bit; all names below it agree up to there, and part at it. A name is followed by
 * a zero byte in thought, so that none is the beginning of another. A path never looks at a byte beyond
 * the end of the name that is looked for, which is what makes the time linear.
 */
#include "names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct names_leaf {
    const char *bytes;
    size_t size, number;
};

/* Places in the tree: 2 i is leaf i, 2 i + 1 inner node i. */
struct names_node {
    size_t child[2];
    size_t leaf; /* any of those below */
    size_t byte;
    unsigned char bit; /* one bit set */
};

static unsigned byte_at(const char *bytes, size_t size, size_t at)
{
    return at < size ? (unsigned char)bytes[at] : 0;
}

/* Walks to the leaf that the name would be, or to any below where names are all too long. */
static size_t walk(const struct names *names, const char *bytes, size_t size)
{
    size_t place = names->root;
    while (place & 1) {
        const struct names_node *node = &names->nodes[place / 2];
        if (node->byte > size) return node->leaf;
        place = node->child[(byte_at(bytes, size, node->byte) & node->bit) != 0];
    }
    return place / 2;
}

static int is_same(const struct names_leaf *leaf, const char *bytes, size_t size)
{
    return leaf->size == size && (size == 0 || memcmp(leaf->bytes, bytes, size) == 0);
}

size_t names_find(const struct names *names, const char *bytes, size_t size)
{
    if (!names->count) return NAMES_NONE;
    const struct names_leaf *leaf = &names->leaves[walk(names, bytes, size)];
    return is_same(leaf, bytes, size) ? leaf->number : NAMES_NONE;
}

static int grow(struct names *names)
{
    if (names->count < names->room) return 1;
    size_t room = names->room ? 2 * names->room : 16;
    /* uncovered: no file has that many */
    if (room > SIZE_MAX / 2 / sizeof *names->nodes) return 0;
    struct names_leaf *leaves = realloc(names->leaves, room * sizeof *leaves);
    if (leaves) names->leaves = leaves;
    struct names_node *nodes = leaves ? realloc(names->nodes, room * sizeof *nodes) : NULL;
    if (!nodes) return 0;
    names->nodes = nodes;
    names->room = room;
    return 1;
}

/* The first byte and bit in which a name differs from a leaf's. */
static void find_difference(const struct names_leaf *leaf, const char *bytes, size_t size,
                            struct names_node *node)
{
    size_t at = 0;
    while (byte_at(leaf->bytes, leaf->size, at) == byte_at(bytes, size, at))
        at++;
    unsigned differing = byte_at(leaf->bytes, leaf->size, at) ^ byte_at(bytes, size, at);
    node->byte = at;
    node->bit = 0x80;
    while (!(differing & node->bit))
        node->bit >>= 1;
}

/* Puts leaf `count` in, where `node` says that it parts from the others. */
static void insert(struct names *names, struct names_node node)
{
    const struct names_leaf *leaf = &names->leaves[names->count];
    size_t *place = &names->root;
    while (*place & 1) {
        struct names_node *here = &names->nodes[*place / 2];
        if (here->byte > node.byte || (here->byte == node.byte && here->bit < node.bit)) break;
        place = &here->child[(byte_at(leaf->bytes, leaf->size, here->byte) & here->bit) != 0];
    }
    int side = (byte_at(leaf->bytes, leaf->size, node.byte) & node.bit) != 0;
    node.leaf = names->count;
    node.child[side] = 2 * names->count;
    node.child[!side] = *place;
    names->nodes[names->count - 1] = node;
    *place = 2 * (names->count - 1) + 1;
}

int names_add(struct names *names, const char *bytes, size_t size, size_t number, size_t *present)
{
    struct names_node node = {.byte = 0};
    *present = NAMES_NONE;
    if (!grow(names)) return 0;
    if (names->count) {
        const struct names_leaf *leaf = &names->leaves[walk(names, bytes, size)];
        if (is_same(leaf, bytes, size)) {
            *present = leaf->number;
            return 1;
        }
        find_difference(leaf, bytes, size, &node);
    }
    names->leaves[names->count] = (struct names_leaf){bytes, size, number};
    if (names->count)
        insert(names, node);
    else
        names->root = 0;
    names->count++;
    return 1;
}

void names_free(struct names *names)
{
    free(names->leaves);
    free(names->nodes);
    memset(names, 0, sizeof *names);
}
