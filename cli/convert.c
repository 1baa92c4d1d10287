/* SPDX-License-Identifier: MIT */
/*
 * The command convert: a tensor, or a whole file of them, from one format to another. Nothing is rounded,
 * renamed or left out on the way; what the other format cannot hold is refused before anything is written.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "fail.h"
#include "tensor.h"

/* One tensor of a store, under a name of its own. */
struct chosen {
    const struct store *store;
    size_t position;
    const char *name;
};

static garner_status describe_chosen(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    const struct chosen *chosen = context;
    garner_status status = store_describe(chosen->store, chosen->position + i, entry, error);
    entry->name = chosen->name;
    return status;
}

static garner_status load_chosen(void *context, size_t i, struct array *array, garner_error *error)
{
    const struct chosen *chosen = context;
    return store_load_verified(chosen->store, chosen->position + i, array, error);
}

static bool holds_one(enum store_kind kind)
{
    return kind == STORE_NPY || kind == STORE_PB;
}

/* The tensor's own name, or its file's, or the other file's where it came from none. Metadata go along with
 * a whole file, not with a tensor that was picked out of one. */
static garner_status convert_one(const struct store *store, size_t i, bool whole,
                                 const struct tensor_target *target, garner_error *error)
{
    struct store_entry entry;
    char *stem = NULL;
    garner_status status = store_describe(store, i, &entry, error);
    if (status != GARNER_OK) return status;
    const char *name = target->member ? target->member : entry.name;
    if (*name == '\0' && !target->member && holds_one(store->kind))
        name = stem = tensor_stem(strcmp(store->path, "-") == 0 ? target->path : store->path);
    if (!name) return fail_memory(error, store->path, strlen(store->path));
    struct chosen chosen = {store, i, name};
    struct store_source source = {
        .context = &chosen, .count = 1, .describe = describe_chosen, .load = load_chosen};
    if (whole) source.metadata = store->metadata;
    if (whole) source.metadata_size = store->metadata_size;
    status = tensor_write(target, &source, error);
    free(stem);
    return status;
}

static garner_status convert_all(const struct store *store, const struct tensor_target *target,
                                 garner_error *error)
{
    struct store_source source = store_as_source(store);
    if (target->member)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "convert: A holds %zu tensors, and B gives a name for one; name one of A as FILE:NAME",
                    store->count);
    return tensor_write(target, &source, error);
}

/* Metadata have a place in .safetensors alone. An object without a quotation mark has no members. */
static garner_status check_metadata(struct store *store, const struct tensor_target *target, bool drop,
                                    garner_error *error)
{
    if (drop) store->metadata = NULL;
    if (target->kind == STORE_SAFETENSORS || !store->metadata) return GARNER_OK;
    if (!memchr(store->metadata, '"', store->metadata_size)) return GARNER_OK;
    return fail_at(error, GARNER_UNSUPPORTED, store->path,
                   "has metadata, which %s files have no place for; --drop-metadata leaves them out",
                   store_suffix(target->kind));
}

static garner_status convert_file(const struct tensor_place *place, const struct tensor_target *target,
                                  const struct invocation *line, garner_error *error)
{
    size_t i = 0;
    struct store store;
    garner_status status = store_open(&store, place->path, tensor_flags(line), error);
    if (status == GARNER_OK && !place->member)
        status = check_metadata(&store, target, line->setting[OPTION_DROP_METADATA].given, error);
    bool one = place->member || holds_one(store.kind) || holds_one(target->kind) ||
               (store.count == 1 && target->member);
    if (status == GARNER_OK && one) status = store_find(&store, place->member, &i, error);
    if (status == GARNER_OK)
        status =
            one ? convert_one(&store, i, !place->member, target, error) : convert_all(&store, target, error);
    store_close(&store);
    return status;
}

static garner_status convert_literal(const struct invocation *line, garner_error *error)
{
    struct array array;
    garner_status status = tensor_load(&array, "A", line->operands[0], line, error);
    if (status == GARNER_OK) status = tensor_save(line->operands[1], &array.tensor, array.descr, error);
    array_free(&array);
    return status;
}

garner_status convert_command(const struct invocation *line, garner_error *error)
{
    struct tensor_place place;
    struct tensor_target target;
    garner_status status = tensor_aim(&target, "B", line->operands[1], error);
    if (status != GARNER_OK) return status;
    status = tensor_locate(&place, "A", line->operands[0], error);
    if (status == GARNER_OK)
        status = place.path ? convert_file(&place, &target, line, error) : convert_literal(line, error);
    free(place.path);
    free(target.path);
    return status;
}
