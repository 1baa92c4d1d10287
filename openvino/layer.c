/* SPDX-License-Identifier: MIT */
/*
 * Plans are kept in a list that only grows, so looking one up takes no lock: streams of a compiled model
 * share their layers. A model has static shapes (one plan) or a few; beyond a limit each call plans anew.
 */
#include "layer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLANS = 32, LONGEST_NAME = 200 };

struct entry {
    struct entry *next;
    garner_plan *plan;
    int64_t axis;
    int64_t batch_dims;
    garner_dtype data_type;
    garner_dtype index_type;
    int32_t data_rank;
    int32_t index_rank;
    int64_t extents[]; /* of data, then of indices */
};

struct garner_layer {
    garner_op op;
    _Atomic(struct entry *) plans;
    atomic_int count;
};

garner_status garner_layer_create(garner_layer **layer, garner_kind kind, const char *spec,
                                  garner_error *error)
{
    garner_op op;
    *layer = NULL;
    garner_status status = garner_op_from_spec(&op, spec, kind, error);
    if (status != GARNER_OK) return status;
    op.spec = 0; /* its policy stays, its type lists go */

    garner_layer *made = malloc(sizeof *made);
    if (made == NULL) {
        if (error != NULL) {
            *error = (garner_error){.status = GARNER_NO_MEMORY};
            snprintf(error->message, sizeof error->message, "%s: no memory for a layer",
                     garner_kind_name(kind));
        }
        return GARNER_NO_MEMORY;
    }
    made->op = op;
    atomic_init(&made->plans, NULL);
    atomic_init(&made->count, 0);
    *layer = made;
    return GARNER_OK;
}

void garner_layer_destroy(garner_layer *layer)
{
    if (layer == NULL) return;
    for (struct entry *entry = atomic_load(&layer->plans); entry != NULL;) {
        struct entry *next = entry->next;
        garner_plan_destroy(entry->plan);
        free(entry);
        entry = next;
    }
    free(layer);
}

static size_t extents_bytes(int32_t rank)
{
    return (size_t)rank * sizeof(int64_t);
}

static int same_extents(const int64_t *a, const int64_t *b, int32_t rank)
{
    for (int32_t i = 0; i < rank; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

static int matches(const struct entry *entry, const garner_layer_call *call)
{
    return entry->axis == call->axis && entry->batch_dims == call->batch_dims &&
           entry->data_type == call->data.dtype && entry->index_type == call->indices.dtype &&
           entry->data_rank == call->data.rank && entry->index_rank == call->indices.rank &&
           same_extents(entry->extents, call->data.shape, entry->data_rank) &&
           same_extents(entry->extents + entry->data_rank, call->indices.shape, entry->index_rank);
}

/* Keeps a plan if there is room and memory for it; else it remains the caller's. */
static int keep(garner_layer *layer, const garner_layer_call *call, garner_plan *plan)
{
    if (atomic_load(&layer->count) >= MOST_PLANS) return 0;
    struct entry *entry =
        malloc(sizeof *entry + extents_bytes(call->data.rank) + extents_bytes(call->indices.rank));
    if (entry == NULL) return 0;
    *entry = (struct entry){.plan = plan,
                            .axis = call->axis,
                            .batch_dims = call->batch_dims,
                            .data_type = call->data.dtype,
                            .index_type = call->indices.dtype,
                            .data_rank = call->data.rank,
                            .index_rank = call->indices.rank};
    if (call->data.rank > 0) memcpy(entry->extents, call->data.shape, extents_bytes(call->data.rank));
    if (call->indices.rank > 0)
        memcpy(entry->extents + call->data.rank, call->indices.shape, extents_bytes(call->indices.rank));

    atomic_fetch_add(&layer->count, 1);
    entry->next = atomic_load(&layer->plans);
    while (!atomic_compare_exchange_weak(&layer->plans, &entry->next, entry)) {
    }
    return 1;
}

garner_status garner_layer_find(garner_layer *layer, const garner_layer_call *call, garner_layer_plan *found,
                                garner_error *error)
{
    struct entry *entry = atomic_load_explicit(&layer->plans, memory_order_acquire);
    for (; entry != NULL; entry = entry->next) {
        if (!matches(entry, call)) continue;
        *found = (garner_layer_plan){.plan = entry->plan};
        return GARNER_OK;
    }

    garner_op op = layer->op;
    op.axis = call->axis;
    op.batch_dims = call->batch_dims;
    garner_plan *plan;
    garner_status status = garner_plan_create(&plan, &op, &call->data, &call->indices, NULL, error);
    if (status != GARNER_OK) return status;
    *found = (garner_layer_plan){.plan = plan, .temporary = !keep(layer, call, plan)};
    return GARNER_OK;
}

void garner_layer_done(const garner_layer_plan *found)
{
    if (found->temporary) garner_plan_destroy(found->plan);
}

/* Appends a byte as it is, or as \xNN; answers where the next one goes. */
static size_t put_byte(char *buffer, size_t at, unsigned char byte)
{
    if (byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '\'') {
        buffer[at] = (char)byte;
        return at + 1;
    }
    return at + (size_t)sprintf(buffer + at, "\\x%02x", byte);
}

const char *garner_layer_message(const char *name, const char *sentence, char *buffer, size_t size)
{
    char printable[4 * LONGEST_NAME + sizeof "..."];
    size_t at = 0, taken = 0;
    for (; name[taken] != '\0' && taken < LONGEST_NAME; taken++)
        at = put_byte(printable, at, (unsigned char)name[taken]);
    snprintf(printable + at, sizeof printable - at, "%s", name[taken] != '\0' ? "..." : "");
    snprintf(buffer, size, "layer '%s': %s", printable, sentence);
    return buffer;
}
