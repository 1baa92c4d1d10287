/* SPDX-License-Identifier: MIT */
/* Where the tensors come from that are to be written: one in memory, or all of an open store. */
#include <string.h>

#include "elements.h"
#include "fail.h"
#include "store.h"

garner_status store_save(const char *path, enum store_kind kind, const struct store_source *source,
                         garner_error *error)
{
    const struct store_format *format = store_format_of(kind);
    int single = kind == STORE_NPY || kind == STORE_PB;
    if (!format || !format->save)
        return fail_at(error, GARNER_UNSUPPORTED, path, "files of this kind cannot be written");
    if (single && source->count != 1)
        return fail_at(error, GARNER_UNSUPPORTED, path, "a %s file holds one tensor, and these are %zu",
                       store_suffix(kind), source->count);
    garner_status status = format->save(path, source, error);
    return status ? status : succeed(error);
}

/* ---- One tensor ---- */

struct single {
    const char *path, *name, *descr;
    const garner_tensor *tensor;
};

static garner_status describe_single(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    const struct single *single = context;
    const garner_tensor *tensor = single->tensor;
    (void)i;
    memset(entry, 0, sizeof *entry);
    entry->name = single->name;
    entry->dtype = tensor->dtype;
    entry->item_bytes = tensor->dtype == GARNER_OPAQUE ? tensor->item_bytes : 0;
    garner_status status = elements_bytes(tensor, single->path, &entry->bytes, error);
    if (status) return status;
    entry->rank = tensor->rank;
    if (tensor->rank) memcpy(entry->shape, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape);
    return GARNER_OK;
}

/* A view: array_free has nothing to free but the copy of descr, which it must own. */
static garner_status load_single(void *context, size_t i, struct array *array, garner_error *error)
{
    const struct single *single = context;
    (void)i;
    memset(array, 0, sizeof *array);
    if (single->descr && !(array->descr = store_copy_text(single->descr)))
        return fail_memory(error, single->path, strlen(single->descr));
    array->tensor = *single->tensor;
    return GARNER_OK;
}

garner_status store_save_one(const char *path, enum store_kind kind, const char *name,
                             const garner_tensor *tensor, const char *descr, garner_error *error)
{
    struct single single = {.path = path, .name = name, .descr = descr, .tensor = tensor};
    struct store_source source = {
        .context = &single, .count = 1, .describe = describe_single, .load = load_single};
    return store_save(path, kind, &source, error);
}

/* ---- All of a store ---- */

static garner_status describe_stored(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    return store_describe(context, i, entry, error);
}

/* What is written once may be read for years: look at all of it first. */
static garner_status load_stored(void *context, size_t i, struct array *array, garner_error *error)
{
    return store_load_verified(context, i, array, error);
}

struct store_source store_as_source(const struct store *store)
{
    struct store_source source = {.context = (void *)(uintptr_t)store,
                                  .count = store->count,
                                  .metadata = store->metadata,
                                  .metadata_size = store->metadata_size,
                                  .describe = describe_stored,
                                  .load = load_stored};
    return source;
}
