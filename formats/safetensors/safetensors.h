/* SPDX-License-Identifier: MIT */
/*
 * .safetensors: eight bytes that say how long the header is, the header, a JSON object of a fixed form, and
 * the elements, which fill the rest of the file without a gap. These are the parts that its reader and its
 * writer share.
 */
#ifndef GARNER_FORMATS_SAFETENSORS_H
#define GARNER_FORMATS_SAFETENSORS_H

#include "store_format.h"
#include "tokens.h"

extern const struct store_format safetensors_format;

enum { SAFETENSORS_PREFIX = 8, SAFETENSORS_LONGEST_HEADER = 100000000 };

#define SAFETENSORS_METADATA "__metadata__"

/* The type of that name, or 0. Some types of the format garner does not have. */
garner_dtype safetensors_type(const char *name, size_t size);

/* The other way; NULL if the format does not have the type. */
const char *safetensors_type_name(garner_dtype dtype);

/* ---- Tokens of the header (safetensors_scan.c) ---- */

/* What JSON takes for white space. */
#define SAFETENSORS_SPACES " \t\n\r"

/* After an item of a list: a comma, or the end, which sets *done. */
garner_status safetensors_next(struct tokens *scan, char end, int *done);

/* A string; text is what lies between the quotes: well-formed UTF-8 and escapes, which are not undone. */
garner_status safetensors_string(struct tokens *scan, const char **text, size_t *size);

/* Undoes escapes, into as many bytes at most, and terminates. Returns the length; -1 if the text has a zero
 * byte, or half a character. */
int64_t safetensors_unescape(char *out, const char *text, size_t size);

/* An integer of 63 bits without a sign. */
garner_status safetensors_integer(struct tokens *scan, int64_t *value);

/* A list of them. The first `most` are kept, all are counted. */
garner_status safetensors_integers(struct tokens *scan, int64_t *values, size_t most, size_t *count);

/* ---- The header (safetensors_header.c) ---- */

/* A tensor's place, and where the header describes it. */
struct safetensors_item {
    const char *name;
    const char *type, *shape; /* in the header; the shape's text begins with its bracket */
    size_t type_size;
    uint64_t begin, end; /* in the data */
};

/* What a store of this format holds. */
struct safetensors_content {
    struct safetensors_item *items;
    size_t capacity;
    char *header; /* a copy */
    size_t header_size;
    char *names, *names_end; /* the text of all names, one after the other */
    const char *metadata;    /* in the header; NULL: none */
    size_t metadata_size;
    uint64_t data_at;
};

/* Reads it into store->content, with room for all names there. Only its grammar is checked. */
garner_status safetensors_read_header(struct store *store, struct tokens *scan);

/* ---- Writing (safetensors_save.c) ---- */

/* Writes all tensors, larger elements first, so that each is aligned for its type. */
garner_status safetensors_save(const char *path, const struct store_source *source, garner_error *error);

#endif
