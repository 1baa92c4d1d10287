/* SPDX-License-Identifier: MIT */
/* The dictionary at the head of a .npy file: each of its three keys once, in any order. */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "fail.h"
#include "npy_header.h"

static garner_status read_descr(struct tokens *scan, struct npy_header *header)
{
    tokens_skip(scan); /* so that the text begins at the type itself */
    const char *descr = scan->at;
    garner_status status = npy_type(scan, &header->type);
    header->descr_at = (size_t)(descr - scan->start);
    header->descr_size = (size_t)(scan->at - descr);
    return status;
}

static int take_word(struct tokens *scan, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, word, size) != 0) return 0;
    scan->at += size;
    return 1;
}

static garner_status read_fortran(struct tokens *scan, struct npy_header *header)
{
    tokens_skip(scan);
    header->fortran = take_word(scan, "True");
    return header->fortran || take_word(scan, "False") ? GARNER_OK : tokens_malformed(scan, "True or False");
}

static garner_status add_extent(struct tokens *scan, void *context, int64_t extent)
{
    struct npy_header *header = context;
    if (header->rank == GARNER_MAX_RANK)
        return fail_at(scan->error, GARNER_BAD_FILE, scan->path, "the rank is above %d", GARNER_MAX_RANK);
    header->shape[header->rank++] = extent;
    return GARNER_OK;
}

static garner_status read_shape(struct tokens *scan, struct npy_header *header)
{
    return npy_tuple(scan, add_extent, header);
}

enum { KEYS = 3 };
static const struct {
    const char *name;
    garner_status (*read)(struct tokens *, struct npy_header *);
} keys[KEYS] = {{"descr", read_descr}, {"fortran_order", read_fortran}, {"shape", read_shape}};

static garner_status find_key(const struct tokens *scan, const char *text, size_t size, int *key)
{
    char plain[64], shown[80];
    for (*key = 0; *key < KEYS; ++*key)
        if (strlen(keys[*key].name) == size && memcmp(keys[*key].name, text, size) == 0) return GARNER_OK;
    snprintf(plain, sizeof plain, "%.*s", (int)(size < 60 ? size : 60), text);
    return fail_at(scan->error, GARNER_BAD_FILE, scan->path, "header has a key '%s' that .npy does not know",
                   printable(shown, sizeof shown, plain));
}

/* One key and its value, and what separates it from the next. */
static garner_status read_entry(struct tokens *scan, struct npy_header *header, unsigned *seen)
{
    const char *text;
    size_t size;
    int key = 0;
    garner_status status = npy_string(scan, &text, &size);
    if (!status) status = find_key(scan, text, size, &key);
    if (!status && *seen & 1u << key)
        status = fail_at(scan->error, GARNER_BAD_FILE, scan->path, "header has '%s' twice", keys[key].name);
    *seen |= 1u << key;
    if (!status) status = tokens_expect(scan, ':');
    if (!status) status = keys[key].read(scan, header);
    if (status || tokens_take(scan, ',')) return status;
    status = tokens_expect(scan, '}');
    if (!status) scan->at--;
    return status;
}

static garner_status measure(const struct tokens *scan, struct npy_header *header)
{
    header->count = array_count(header->rank, header->shape);
    if (header->count >= 0 && !__builtin_mul_overflow(header->count, header->type.item_bytes, &header->bytes))
        return GARNER_OK;
    return fail_at(scan->error, GARNER_BAD_FILE, scan->path, "the size of the array does not fit in 63 bits");
}

garner_status npy_header(struct npy_header *header, const char *text, size_t size, const char *path,
                         garner_error *error)
{
    struct tokens scan = tokens_begin(text, size, NPY_SPACES, path, error);
    unsigned seen = 0;
    memset(header, 0, sizeof *header);
    garner_status status = tokens_expect(&scan, '{');
    while (!status && !tokens_take(&scan, '}'))
        status = read_entry(&scan, header, &seen);
    if (status) return status;
    tokens_skip(&scan);
    if (scan.at != scan.end) return tokens_malformed(&scan, "the end");
    for (int key = 0; key < KEYS; key++)
        if (!(seen & 1u << key))
            return fail_at(error, GARNER_BAD_FILE, path, "header has no '%s'", keys[key].name);
    return measure(&scan, header);
}
