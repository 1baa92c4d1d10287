/* SPDX-License-Identifier: MIT */
/*
 * The text at the head of a .npy file: a Python dictionary of exactly three keys, read by a grammar of
 * its own. Nothing is evaluated, nothing recurses.
 */
#ifndef GARNER_FORMATS_NPY_HEADER_H
#define GARNER_FORMATS_NPY_HEADER_H

#include "array.h"
#include "file.h"
#include "tokens.h"

/* An element type as .npy writes it. */
struct npy_type {
    garner_dtype dtype;
    uint64_t item_bytes; /* of one element, whatever the type */
    unsigned swap;       /* bytes of each number to be reversed; 0: already in this machine's order */
};

struct npy_header {
    struct npy_type type;
    size_t descr_at, descr_size; /* the type's text, within the header */
    int fortran;
    int32_t rank;
    int64_t shape[GARNER_MAX_RANK];
    int64_t count; /* elements */
    int64_t bytes; /* of all elements */
};

/* Where a file's header and elements begin. */
struct npy_frame {
    int version;
    uint64_t header_at, data_at;
};

/* What Python takes for spaces. */
#define NPY_SPACES " \t\n\v\f\r"

/* ---- npy_scan.c: tokens ---- */

/* A quoted string, also u'...'; the text is what lies between the quotes, escapes untouched. */
garner_status npy_string(struct tokens *scan, const char **text, size_t *size);

/* "()", "(3,)", "(3, 4)", also "(3L, 4L)": passes each extent to `accept`, which may refuse it. */
garner_status npy_tuple(struct tokens *scan, garner_status (*accept)(struct tokens *, void *, int64_t),
                        void *context);

/* ---- npy_type.c: element types ---- */

/* Reads a type: a string such as '<f4', or a list of fields. */
garner_status npy_type(struct tokens *scan, struct npy_type *type);

/* The .npy code of a garner type, such as "<f4" on this machine; 0 and "" if there is none. */
int npy_type_code(char code[8], garner_dtype dtype);

/* ---- npy_header.c: the dictionary ---- */

garner_status npy_header(struct npy_header *header, const char *text, size_t size, const char *path,
                         garner_error *error);

/* ---- npy.c: the file around it ---- */

enum { NPY_LONGEST_HEADER = 1 << 16, NPY_LONGEST_PREFIX = 12 };

/* Reads everything before the elements, and no further. */
garner_status npy_begin(struct file *file, struct npy_frame *frame, struct npy_header *header,
                        garner_error *error);

/* Reads the elements. */
garner_status npy_fetch(struct file *file, const struct npy_frame *frame, const struct npy_header *header,
                        garner_error *error);

/* Both, for somebody who will look at file->bytes later. */
garner_status npy_fetch_whole(struct file *file, garner_error *error);

/* Fills in what a header says; `text` is the header itself. */
struct store_entry;
void npy_describe(struct store_entry *entry, const struct npy_header *header, const char *text);

/* Makes an array that knows all of itself but where its elements are. Free it with array_free, also after a
 * failure. */
garner_status npy_shape(struct array *array, const char *path, const struct npy_frame *frame,
                        const struct npy_header *header, const unsigned char *start, garner_error *error);

/* Makes an array: `start` is where the frame begins, `elements` where its elements lie whole. They stay
 * there, and the array holds `region` (which may be NULL) unless the other byte order takes a copy. On
 * failure *array is zeroed. */
garner_status npy_array(struct array *array, const char *path, const struct npy_frame *frame,
                        const struct npy_header *header, const unsigned char *start,
                        const unsigned char *elements, struct region *region, garner_error *error);

/* ---- npy_save.c: what is written before the elements ---- */

/* Text that grows within memory measured beforehand. */
struct npy_text {
    char *bytes; /* from malloc */
    size_t size, capacity;
};

/* Makes it for a tensor, whose type and size it checks; `descr` as for npy_save. Free text->bytes. */
garner_status npy_preamble(struct npy_text *text, const garner_tensor *tensor, const char *descr,
                           const char *path, garner_error *error);

#endif
