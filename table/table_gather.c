/* SPDX-License-Identifier: MIT */
/* Gathers from a table into memory. */
#include <string.h>

#include "fail.h"
#include "table.h"

const void *table_elements(const struct gather *g)
{
    const struct store_place *place = &g->table->place;
    return place->descriptor < 0 ? place->array.tensor.data : table_map(g->table) + place->offset;
}

void table_count(struct gather *g)
{
    garner_table_stats *stats = &g->table->stats;
    pthread_mutex_lock(&g->table->lock);
    stats->how = g->how;
    stats->gathers++;
    stats->points += (uint64_t)g->all;
    pthread_mutex_unlock(&g->table->lock);
}

/* Where the elements of a tensor begin and end, as addresses. Its shape has been checked. */
static void measure(const garner_tensor *tensor, uintptr_t *low, uintptr_t *high)
{
    int64_t item = garner_dtype_bytes(tensor->dtype, 1, tensor->item_bytes), count = 1, least = 0, most = 0;
    for (int32_t i = 0; i < tensor->rank; i++) {
        int64_t reach = tensor->strides ? (tensor->shape[i] - 1) * tensor->strides[i] : 0;
        count *= tensor->shape[i];
        *(reach < 0 ? &least : &most) += reach;
    }
    uintptr_t begin = (uintptr_t)tensor->data + (uintptr_t)tensor->byte_offset;
    int64_t dense = garner_dtype_bytes(tensor->dtype, count, tensor->item_bytes);
    *low = begin + (uintptr_t)(least * item);
    *high = begin + (uintptr_t)(tensor->strides ? (most + 1) * item : dense);
    if (count == 0) *high = *low;
}

static garner_status check_out(const garner_op *op, const garner_tensor *indices, const garner_tensor *out,
                               int64_t points, garner_error *error)
{
    uintptr_t low, high, other_low, other_high;
    if (!points) return GARNER_OK;
    if (!out->data)
        return fail(error, GARNER_BAD_ARGUMENT, "%s: the pointer of out is NULL, but it has elements",
                    garner_kind_name(op->kind));
    measure(out, &low, &high);
    measure(indices, &other_low, &other_high);
    if (low >= other_high || other_low >= high) return GARNER_OK;
    return fail(error, GARNER_BAD_SHAPE, "%s: out overlaps indices; they must not share memory",
                garner_kind_name(op->kind));
}

static garner_status gather_planned(struct gather *g)
{
    struct table_moment before;
    if (!g->all) return garner_plan_locate(g->plan, g->indices, 0, 0, NULL, g->error); /* which checks them */
    garner_status status = table_look(g->table, &before, g->error);
    if (!status) status = table_choose(g);
    if (!status)
        status =
            g->how == GARNER_TABLE_MAPPED ? mapped_run(g, table_elements(g)) : passes_run(g, 0, g->all, 0);
    if (status) return status;
    table_count(g);
    return table_look_again(g->table, &before, g->error);
}

garner_status garner_table_gather(garner_table *table, const garner_op *op, const garner_tensor *indices,
                                  const garner_tensor *out, garner_error *error)
{
    garner_error spare;
    garner_plan *plan;
    if (!error) error = &spare;
    if (!table || !out)
        return fail(error, GARNER_BAD_ARGUMENT, "garner_table_gather: %s is NULL", table ? "out" : "table");
    garner_status status = garner_plan_create(&plan, op, &table->place.array.tensor, indices, out, error);
    if (status) return status;
    struct gather gather = {.table = table,
                            .plan = plan,
                            .indices = indices->data,
                            .pointer = out->data,
                            .out = (unsigned char *)out->data + out->byte_offset,
                            .all = garner_plan_points(plan),
                            .memory = table->options.memory,
                            .error = error};
    status = check_out(op, indices, out, gather.all, error);
    if (!status) status = gather_planned(&gather);
    garner_plan_destroy(plan);
    return status ? status : succeed(error);
}
