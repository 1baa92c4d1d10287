/* SPDX-License-Identifier: MIT */
/*
 * What a format of files tells a store, and what both know of a file of named tensors. The store opens the
 * file, keeps names apart and looks them up; a format knows where each tensor lies and what it is.
 */
#ifndef GARNER_FORMATS_STORE_FORMAT_H
#define GARNER_FORMATS_STORE_FORMAT_H

#include "array.h"

enum store_kind { STORE_UNKNOWN, STORE_NPY, STORE_NPZ, STORE_SAFETENSORS, STORE_PB };

/* How to open. */
enum {
    STORE_COPY = 1,        /* read the file instead of mapping it, so that nothing it suffers later matters */
    STORE_FOLLOW_LINKS = 2 /* external data of a .pb may be, or lie behind, a symbolic or hard link */
};

struct store_format;
struct store_name;
struct region;

/* An open file. Fields are for the formats; callers use the functions and `count`. */
struct store {
    char *path;
    enum store_kind kind;
    unsigned flags;
    const struct store_format *format;
    size_t count;               /* of tensors */
    const unsigned char *bytes; /* the file */
    uint64_t size;
    uint64_t unread;          /* how much more of it there is, where that is known */
    struct store_name *names; /* sorted */
    uint64_t trailing;        /* bytes after the array of a .npy file, where that is known */
    struct region *region;    /* who frees them; NULL: the caller of store_open_bytes */
    void *content;            /* what the format has learnt */
    const char *metadata;     /* of .safetensors: its JSON object; NULL: none */
    size_t metadata_size;
};

/* What is known of a tensor before it is loaded. */
struct store_entry {
    const char *name;    /* valid as long as the store; "" for .npy */
    garner_dtype dtype;  /* 0: a type that garner does not have */
    uint64_t item_bytes; /* of GARNER_OPAQUE; 0 otherwise */
    int32_t rank;
    int64_t shape[GARNER_MAX_RANK];
    uint64_t bytes; /* of its elements as a dense tensor; of a str tensor 16 for each string */
    char type[48];  /* the type as the file calls it, cut short if need be; may be "" */
};

/* What is stored, not deflated, and larger is not read as a whole to compare its checksum when it is loaded.
 */
enum { STORE_CHECKED_BYTES = 1 << 24 };

/* Tensors to be written, each loaded when its turn comes, and freed after it. */
struct store_source {
    void *context;
    size_t count;
    const char *metadata; /* of .safetensors: the JSON object as it is written there; NULL: none */
    size_t metadata_size;
    garner_status (*describe)(void *context, size_t i, struct store_entry *entry, garner_error *error);
    garner_status (*load)(void *context, size_t i, struct array *array, garner_error *error);
};

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

#endif
