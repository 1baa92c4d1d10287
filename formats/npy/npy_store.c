/* SPDX-License-Identifier: MIT */
/* A .npy file as a store of one tensor, which has no name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "npy.h"
#include "npy_header.h"

struct content {
    struct npy_frame frame;
    struct npy_header header;
};

static garner_status open_npy(struct store *store, garner_error *error)
{
    struct file file = {.path = store->path, .bytes = store->bytes, .size = store->size, .descriptor = -1};
    struct content *content = calloc(1, sizeof *content);
    if (!content) return fail_memory(error, store->path, sizeof *content);
    store->content = content;
    store->count = 1;
    garner_status status = npy_begin(&file, &content->frame, &content->header, error);
    if (!status) status = npy_fetch(&file, &content->frame, &content->header, error);
    if (!status)
        store->trailing =
            store->size - content->frame.data_at - (uint64_t)content->header.bytes + store->unread;
    return status;
}

/* The type without its quotes: <U3 */
static void copy_type(char *out, size_t size, const char *text, size_t length)
{
    char plain[48];
    if (length > 2 && (text[0] == '\'' || text[0] == '"')) text++, length -= 2;
    snprintf(plain, sizeof plain, "%.*s", (int)(length < sizeof plain ? length : sizeof plain - 1), text);
    printable(out, size, plain);
}

void npy_describe(struct store_entry *entry, const struct npy_header *header, const char *text)
{
    entry->dtype = header->type.dtype;
    entry->item_bytes = header->type.dtype == GARNER_OPAQUE ? header->type.item_bytes : 0;
    entry->rank = header->rank;
    memcpy(entry->shape, header->shape, sizeof entry->shape);
    entry->bytes = (uint64_t)header->bytes;
    copy_type(entry->type, sizeof entry->type, text + header->descr_at, header->descr_size);
}

static const char *name_npy(const struct store *store, size_t i)
{
    (void)store, (void)i;
    return "";
}

static garner_status describe_npy(const struct store *store, size_t i, struct store_entry *entry,
                                  garner_error *error)
{
    const struct content *content = store->content;
    (void)i, (void)error;
    npy_describe(entry, &content->header, (const char *)store->bytes + content->frame.header_at);
    return GARNER_OK;
}

static garner_status load_npy(const struct store *store, size_t i, struct array *array, garner_error *error)
{
    const struct content *content = store->content;
    (void)i;
    return npy_array(array, store->path, &content->frame, &content->header, store->bytes,
                     store->bytes + content->frame.data_at, store->region, error);
}

static void close_npy(struct store *store)
{
    free(store->content);
}

static garner_status save_npy(const char *path, const struct store_source *source, garner_error *error)
{
    struct array array;
    garner_status status = source->load(source->context, 0, &array, error);
    if (status) return status;
    status = npy_save(path, &array.tensor, array.descr, error);
    array_free(&array);
    return status;
}

const struct store_format npy_format = {
    .open = open_npy,
    .name = name_npy,
    .describe = describe_npy,
    .load = load_npy,
    .close = close_npy,
    .save = save_npy,
};
