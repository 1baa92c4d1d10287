/* SPDX-License-Identifier: MIT */
/* A .pb file, one TensorProto, as a store of one tensor. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "onnx_tensor.h"
#include "region.h"
#include "store_format.h"

struct content {
    struct onnx_tensor tensor;
    char *name;
};

static struct wire_file wire_of(const struct store *store, garner_error *error)
{
    return (struct wire_file){.path = store->path, .bytes = store->bytes, .error = error};
}

static garner_status open_pb(struct store *store, garner_error *error)
{
    struct content *content = calloc(1, sizeof *content);
    if (!content) return fail_memory(error, store->path, sizeof *content);
    store->content = content;
    store->count = 1;
    struct wire_file file = wire_of(store, error);
    struct wire_span message = {store->bytes, store->size};
    garner_status status = onnx_tensor_read(&content->tensor, &file, message);
    if (status) return status;
    size_t size = (size_t)content->tensor.name.size;
    if (size && memchr(content->tensor.name.bytes, 0, size)) size = 0; /* such a name nobody could type */
    content->name = malloc(size + 1);
    if (!content->name) return fail_memory(error, store->path, size + 1);
    if (size) memcpy(content->name, content->tensor.name.bytes, size);
    content->name[size] = 0;
    return GARNER_OK;
}

static void close_pb(struct store *store)
{
    struct content *content = store->content;
    if (content) free(content->name);
    free(content);
}

static const char *name_pb(const struct store *store, size_t i)
{
    (void)i;
    return ((const struct content *)store->content)->name;
}

static garner_status describe_pb(const struct store *store, size_t i, struct store_entry *entry,
                                 garner_error *error)
{
    const struct onnx_tensor *tensor = &((const struct content *)store->content)->tensor;
    (void)i, (void)error;
    entry->dtype = tensor->dtype;
    entry->rank = tensor->rank;
    memcpy(entry->shape, tensor->shape, sizeof entry->shape);
    entry->bytes = tensor->bytes;
    return GARNER_OK;
}

/* What does not lie in a file of its own lies in this one, or at least its strings do. */
static garner_status load_pb(const struct store *store, size_t i, struct array *array, garner_error *error)
{
    const struct content *content = store->content;
    struct wire_file file = wire_of(store, error);
    (void)i;
    garner_status status =
        onnx_tensor_load_array(&content->tensor, &file, (store->flags & STORE_FOLLOW_LINKS) != 0, array);
    if (!status && !array->region) array->region = region_hold(store->region);
    return status;
}

static garner_status save_pb(const char *path, const struct store_source *source, garner_error *error)
{
    struct array array;
    struct store_entry entry;
    garner_status status = source->describe(source->context, 0, &entry, error);
    if (!status) status = source->load(source->context, 0, &array, error);
    if (status) return status;
    status = onnx_tensor_save(path, entry.name, &array.tensor, error);
    array_free(&array);
    return status;
}

const struct store_format pb_format = {
    .open = open_pb,
    .name = name_pb,
    .describe = describe_pb,
    .load = load_pb,
    .close = close_pb,
    .save = save_pb,
};
