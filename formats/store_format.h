/* SPDX-License-Identifier: MIT */
/*
 * What a format tells a store. The store opens the file, keeps names apart and looks them up; a format knows
 * where each tensor lies and what it is.
 */
#ifndef GARNER_FORMATS_STORE_FORMAT_H
#define GARNER_FORMATS_STORE_FORMAT_H

#include "store.h"

/* Of functions that are NULL the store does without. */
struct store_format {
    /* Finds the tensors in store->bytes, all of which are there: sets count and content. What it leaves in
     * content, close frees, after a failure too. */
    garner_status (*open)(struct store *store, garner_error *error);
    const char *(*name)(const struct store *store, size_t i);
    garner_status (*describe)(const struct store *store, size_t i, struct store_entry *entry,
                              garner_error *error);
    garner_status (*load)(const struct store *store, size_t i, struct array *array, garner_error *error);
    garner_status (*verify)(const struct store *store, size_t i, garner_error *error);
    void (*close)(struct store *store);
    garner_status (*save)(const char *path, const struct store_source *source, garner_error *error);
};

extern const struct store_format npy_format, npz_format, safetensors_format, pb_format;

/* NULL: there is none. */
const struct store_format *store_format_of(enum store_kind kind);

/* From malloc, or NULL. */
char *store_copy_text(const char *text);

/* "FILE:NAME" for messages. */
enum { STORE_LABEL = 512 };
const char *store_label(char label[STORE_LABEL], const char *path, const char *name);

#endif
