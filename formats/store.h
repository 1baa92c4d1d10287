/* SPDX-License-Identifier: MIT */
/*
 * A file of named tensors: .npz and .safetensors, and .npy and .pb as files of one. Opening reads names and
 * places, describing reads one tensor's type and shape, loading gives its elements, where they lie in the
 * mapped file if order and byte order allow. Nothing is loaded that nobody asks for.
 */
#ifndef GARNER_FORMATS_STORE_H
#define GARNER_FORMATS_STORE_H

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

/* The kind that a path's ending names: .npy .npz .safetensors .pb; STORE_UNKNOWN for any other. */
enum store_kind store_kind_of_path(const char *path);

/* ".npz" and so on. */
const char *store_suffix(enum store_kind kind);

/* Opens the file at `path`. Its ending decides what it is; any other ending leaves that to its content.
 * "-" is .npy on standard input, of which nothing beyond the array is consumed. On failure *store is
 * zeroed and the message begins with the path. Close with store_close. */
garner_status store_open(struct store *store, const char *path, unsigned flags, garner_error *error);

/* The same for bytes in memory, which must outlive the store and all that is loaded from it. `path` is for
 * messages, and its ending means what it means above. */
garner_status store_open_bytes(struct store *store, const char *path, const void *bytes, uint64_t size,
                               garner_error *error);

/* The name of tensor i, valid as long as the store. */
const char *store_name(const struct store *store, size_t i);

/* Describes tensor i, in the file's order, i < count. If it can never be loaded, answers what store_load
 * would answer; then name is set, and of the other fields those that are known. */
garner_status store_describe(const struct store *store, size_t i, struct store_entry *entry,
                             garner_error *error);

/* The position of the tensor of that name, or GARNER_BAD_FILE naming those that the file has. NULL means
 * the only tensor of a file that holds one. */
garner_status store_find(const struct store *store, const char *name, size_t *i, garner_error *error);

/* Whether there is a tensor of that name, and where. */
int store_has(const struct store *store, const char *name, size_t *i);

/* Loads tensor i. The array holds what it borrows, so the store may be closed before it. Release with
 * array_free; on failure *array is zeroed. */
garner_status store_load(const struct store *store, size_t i, struct array *array, garner_error *error);

/* Reads all of tensor i to compare the file's own checksum of it, if it has one. store_load does so itself
 * unless the member is stored (not deflated) and larger than STORE_CHECKED_BYTES: loading a table shall
 * take milliseconds, however large it is. */
enum { STORE_CHECKED_BYTES = 1 << 24 };
garner_status store_verify(const struct store *store, size_t i, garner_error *error);

/* Both, for whoever will read all of it anyway. */
garner_status store_load_verified(const struct store *store, size_t i, struct array *array,
                                  garner_error *error);

/* Releases the store; what was loaded from it stays. A zeroed store is fine. */
void store_close(struct store *store);

/* Opens, finds, loads and closes: `name` NULL means the only one. */
garner_status store_load_one(struct array *array, const char *path, const char *name, unsigned flags,
                             garner_error *error);

/* ---- Writing ---- */

/* Tensors to be written, each loaded when its turn comes, and freed after it. */
struct store_source {
    void *context;
    size_t count;
    const char *metadata; /* of .safetensors: the JSON object as it is written there; NULL: none */
    size_t metadata_size;
    garner_status (*describe)(void *context, size_t i, struct store_entry *entry, garner_error *error);
    garner_status (*load)(void *context, size_t i, struct array *array, garner_error *error);
};

/* Writes a file of that kind, as file_save does: whole or not at all, "-" is standard output. The same
 * tensors give the same bytes. Types that the format lacks, and more than one tensor for .npy and .pb, are
 * GARNER_UNSUPPORTED. */
garner_status store_save(const char *path, enum store_kind kind, const struct store_source *source,
                         garner_error *error);

/* Writes one tensor; `descr` as in array.descr. */
garner_status store_save_one(const char *path, enum store_kind kind, const char *name,
                             const garner_tensor *tensor, const char *descr, garner_error *error);

/* All tensors of an open store as a source. */
struct store_source store_as_source(const struct store *store);

#endif
