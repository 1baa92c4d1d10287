/* SPDX-License-Identifier: MIT */
/*
 * A table from names to numbers, whose time is linear in the length of the name whatever the names are:
 * those of a hostile file too. (A binary tree over the bits in which names differ; nothing is hashed.)
 */
#ifndef GARNER_FORMATS_NAMES_H
#define GARNER_FORMATS_NAMES_H

#include <stddef.h>

#define NAMES_NONE ((size_t)-1)

struct names_leaf;
struct names_node;

/* Begins zeroed. Names are borrowed and must outlive the table; they have no zero byte. */
struct names {
    struct names_leaf *leaves;
    struct names_node *nodes;
    size_t count, room;
    size_t root;
};

/* The number of a name, or NAMES_NONE. */
size_t names_find(const struct names *names, const char *bytes, size_t size);

/* Adds a name. If it is there already nothing changes and *present is its number, else NAMES_NONE. Returns
 * 0 if there is no memory. */
int names_add(struct names *names, const char *bytes, size_t size, size_t number, size_t *present);

void names_free(struct names *names);

#endif
