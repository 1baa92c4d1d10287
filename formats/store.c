/* SPDX-License-Identifier: MIT */
/*
 * Opens files of named tensors and looks names up: sorted once, so that two of the same name are found and
 * the time stays within n log n whatever names a file has.
 */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "file.h"
#include "npy.h"
#include "npy_header.h"
#include "npz.h"
#include "onnx_tensor.h"
#include "region.h"
#include "safetensors.h"

/* A name and whose it is. */
struct store_name {
    const char *name;
    size_t position;
};

static const struct {
    enum store_kind kind;
    const char *suffix;
    const struct store_format *format;
} kinds[] = {
    {STORE_NPY, ".npy", &npy_format},
    {STORE_NPZ, ".npz", &npz_format},
    {STORE_SAFETENSORS, ".safetensors", &safetensors_format},
    {STORE_PB, ".pb", &pb_format},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- Kinds ---- */

const struct store_format *store_format_of(enum store_kind kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind == kind) return kinds[i].format;
    return NULL;
}

const char *store_suffix(enum store_kind kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind == kind) return kinds[i].suffix;
    return "";
}

enum store_kind store_kind_of_path(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < KINDS; i++) {
        size_t tail = strlen(kinds[i].suffix);
        if (length >= tail && strcmp(path + length - tail, kinds[i].suffix) == 0) return kinds[i].kind;
    }
    return STORE_UNKNOWN;
}

/* What a file of another name is, by how it begins. The size of a .safetensors header is far below 2^32. Of a
 * .pb no more can be said than that it begins with the tag of a field; its reader looks at the rest. */
static enum store_kind kind_of_bytes(const unsigned char *bytes, uint64_t size)
{
    enum { TAG_TYPES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 };
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) return STORE_NPY;
    if (size >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0)) return STORE_NPZ;
    if (size >= 9 && memcmp(bytes + 4, "\0\0\0\0{", 5) == 0) return STORE_SAFETENSORS;
    if (size >= 1 && bytes[0] >> 3 && (TAG_TYPES >> (bytes[0] & 7) & 1)) return STORE_PB;
    return STORE_UNKNOWN;
}

enum { LOOK = 9 }; /* bytes that tell the kind, and are shown if they do not */

static garner_status fail_kind(const char *path, const unsigned char *bytes, uint64_t size,
                               const char *reason, garner_error *error)
{
    char found[3 * LOOK + 1] = "";
    for (size_t i = 0; i < LOOK && i < size; i++)
        snprintf(found + 3 * i, 4, " %02x", bytes[i]);
    return fail_at(error, GARNER_BAD_FILE, path,
                   "not a .npy, .npz or .safetensors file, nor a TensorProto%s%s%s: it %s%s",
                   *reason ? " (" : "", reason, *reason ? ")" : "",
                   size ? "begins with the bytes" : "is empty", found);
}

garner_status store_kind_of_file(enum store_kind *kind, struct file *file, garner_error *error)
{
    *kind = strcmp(file->path, "-") == 0 ? STORE_NPY : store_kind_of_path(file->path);
    if (*kind != STORE_UNKNOWN) return GARNER_OK;
    garner_status status = file_fetch(file, LOOK, error);
    if (status) return status;
    *kind = kind_of_bytes(file->bytes, file->size);
    return *kind != STORE_UNKNOWN ? GARNER_OK : fail_kind(file->path, file->bytes, file->size, "", error);
}

static garner_status choose_kind(struct store *store, struct file *file, garner_error *error)
{
    garner_status status = store_kind_of_file(&store->kind, file, error);
    store->format = store_format_of(store->kind);
    return status;
}

/* Lets the format read the file. One that was taken for a .pb because it is nothing else may well be none:
 * then the sentence says both. */
static garner_status open_format(struct store *store, garner_error *error)
{
    garner_error said;
    char path[FAIL_PATH];
    int guessed = store->kind == STORE_PB && store_kind_of_path(store->path) != STORE_PB;
    garner_status status = store->format->open(store, guessed ? &said : error);
    if (!guessed || !status) return status;
    if (status == GARNER_BAD_FILE)
        return fail_kind(store->path, store->bytes, store->size,
                         said.message + strlen(printable(path, sizeof path, store->path)) + strlen(": "),
                         error);
    if (error) *error = said;
    return status;
}

/* ---- Names ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct store_name *)a)->name, ((const struct store_name *)b)->name);
}

static garner_status sort_names(struct store *store, garner_error *error)
{
    size_t count = store->count;
    if (!count) return GARNER_OK;
    /* uncovered: no file has that many */
    store->names = count > SIZE_MAX / sizeof *store->names ? NULL : malloc(count * sizeof *store->names);
    if (!store->names) return fail_memory(error, store->path, count * sizeof *store->names);
    for (size_t i = 0; i < count; i++)
        store->names[i] = (struct store_name){store->format->name(store, i), i};
    qsort(store->names, count, sizeof *store->names, compare_names);
    for (size_t i = 1; i < count; i++) {
        char shown[100];
        if (compare_names(&store->names[i - 1], &store->names[i]) == 0)
            return fail_at(error, GARNER_BAD_FILE, store->path, "holds two tensors called '%s'",
                           printable(shown, sizeof shown, store->names[i].name));
    }
    return GARNER_OK;
}

/* The first names that the file has, as "'a', 'b' and 7 more". */
static void list_names(const struct store *store, char *text, size_t size)
{
    enum { REST = 40 };
    size_t used = 0, i = 0;
    for (; i < store->count; i++) {
        char shown[100], piece[110];
        const char *name = printable(shown, sizeof shown, store->format->name(store, i));
        size_t length = (size_t)snprintf(piece, sizeof piece, "%s'%s'", i ? ", " : "", name);
        if (used + length + REST > size) break;
        memcpy(text + used, piece, length);
        used += length;
    }
    text[used] = 0;
    if (i < store->count)
        snprintf(text + used, size - used, "%s%zu more", i ? " and " : "", store->count - i);
}

const char *store_name(const struct store *store, size_t i)
{
    return store->format->name(store, i);
}

int store_has(const struct store *store, const char *name, size_t *i)
{
    struct store_name key = {name, 0};
    const struct store_name *found =
        store->count ? bsearch(&key, store->names, store->count, sizeof key, compare_names) : NULL;
    *i = found ? found->position : 0;
    return found != NULL;
}

garner_status store_find(const struct store *store, const char *name, size_t *i, garner_error *error)
{
    char list[256], shown[100];
    *i = 0;
    if (name ? store_has(store, name, i) : store->count == 1) return succeed(error);
    if (store->kind == STORE_NPY)
        return fail_at(error, GARNER_BAD_FILE, store->path, "a .npy file holds one array, without a name");
    if (!store->count) return fail_at(error, GARNER_BAD_FILE, store->path, "holds no tensors");
    list_names(store, list, sizeof list);
    if (!name)
        return fail_at(error, GARNER_BAD_FILE, store->path,
                       "holds %zu tensors, of which one is to be named: %s", store->count, list);
    return fail_at(error, GARNER_BAD_FILE, store->path, "holds no '%s'; it has %s",
                   printable(shown, sizeof shown, name), list);
}

/* ---- Opening ---- */

char *store_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Of standard input and the like no more is read than the array; other formats need the end first. */
static garner_status fetch(struct store *store, struct file *file, garner_error *error)
{
    garner_status status =
        store->kind == STORE_NPY ? npy_fetch_whole(file, error) : file_fetch_to_end(file, UINT64_MAX, error);
    if (status) return status;
    store->unread = file_rest(file);
    store->bytes = file->bytes;
    store->size = file->size;
    if (!file->memory && !file->mapping) return GARNER_OK;
    store->region = file_share(file);
    return store->region ? GARNER_OK : fail_memory(error, file->path, sizeof *store);
}

static garner_status open_file(struct store *store, struct file *file, garner_error *error)
{
    store->path = store_copy_text(file->path);
    if (!store->path) return fail_memory(error, file->path, strlen(file->path));
    garner_status status = choose_kind(store, file, error);
    if (!status) status = fetch(store, file, error);
    if (!status) status = open_format(store, error);
    return status ? status : sort_names(store, error);
}

garner_status store_open(struct store *store, const char *path, unsigned flags, garner_error *error)
{
    struct file file;
    *store = (struct store){.flags = flags};
    garner_status status =
        flags & STORE_COPY ? file_open_unmapped(&file, path, error) : file_open(&file, path, error);
    if (status) return status;
    status = open_file(store, &file, error);
    file_close(&file);
    if (status) store_close(store);
    return status ? status : succeed(error);
}

garner_status store_open_bytes(struct store *store, const char *path, const void *bytes, uint64_t size,
                               garner_error *error)
{
    struct file file = {.path = path, .bytes = bytes, .size = size, .descriptor = -1};
    *store = (struct store){0};
    garner_status status = open_file(store, &file, error);
    if (status) store_close(store);
    return status ? status : succeed(error);
}

void store_close(struct store *store)
{
    if (store->format && store->format->close) store->format->close(store);
    free(store->names);
    free(store->path);
    region_drop(store->region);
    *store = (struct store){0};
}

/* ---- Tensors ---- */

garner_status store_describe(const struct store *store, size_t i, struct store_entry *entry,
                             garner_error *error)
{
    memset(entry, 0, sizeof *entry);
    entry->name = store->format->name(store, i);
    garner_status status = store->format->describe(store, i, entry, error);
    return status ? status : succeed(error);
}

garner_status store_load(const struct store *store, size_t i, struct array *array, garner_error *error)
{
    memset(array, 0, sizeof *array);
    garner_status status = store->format->load(store, i, array, error);
    if (status) array_free(array);
    return status ? status : succeed(error);
}

garner_status store_verify(const struct store *store, size_t i, garner_error *error)
{
    garner_status status = store->format->verify ? store->format->verify(store, i, error) : GARNER_OK;
    return status ? status : succeed(error);
}

garner_status store_load_verified(const struct store *store, size_t i, struct array *array,
                                  garner_error *error)
{
    memset(array, 0, sizeof *array);
    garner_status status = store_verify(store, i, error);
    return status ? status : store_load(store, i, array, error);
}

garner_status store_load_one(struct array *array, const char *path, const char *name, unsigned flags,
                             garner_error *error)
{
    size_t i;
    struct store store;
    memset(array, 0, sizeof *array);
    garner_status status = store_open(&store, path, flags, error);
    if (!status) status = store_find(&store, name, &i, error);
    if (!status) status = store_load(&store, i, array, error);
    store_close(&store);
    return status;
}
