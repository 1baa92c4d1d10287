/* SPDX-License-Identifier: MIT */
/*
 * A file of named tensors: .npz and .safetensors, and .npy and .pb as files of one. Opening reads names and
 * places, describing reads one tensor's type and shape, loading gives its elements, where they lie in the
 * mapped file if order and byte order allow. Nothing is loaded that nobody asks for.
 */
#ifndef GARNER_FORMATS_STORE_H
#define GARNER_FORMATS_STORE_H

#include "store_format.h"

/* The kind that a path's ending names: .npy .npz .safetensors .pb; STORE_UNKNOWN for any other. */
enum store_kind store_kind_of_path(const char *path);

/* ".npz" and so on. */
const char *store_suffix(enum store_kind kind);

/* Opens the file at `path`. Its ending decides what it is; any other ending leaves that to its content.
 * "-" is .npy on standard input, of which nothing beyond the array is consumed. On failure *store is
 * zeroed and the message begins with the path. Close with store_close. */
garner_status store_open(struct store *store, const char *path, unsigned flags, garner_error *error);

/* The same for bytes in memory, which must outlive the store and all that is loaded from it. `path` is for
 * messages, and its ending means what it means above. Of a .safetensors file that is only described, no more
 * than the header needs to be there. */
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

/* ---- For store_save.c and store_place.c ---- */

/* What an open file is, by its name, or else by how it begins. */
struct file;
garner_status store_kind_of_file(enum store_kind *kind, struct file *file, garner_error *error);

/* NULL: there is none. */
const struct store_format *store_format_of(enum store_kind kind);

/* From malloc, or NULL. */
char *store_copy_text(const char *text);

#endif
