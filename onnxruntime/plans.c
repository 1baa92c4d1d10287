/* SPDX-License-Identifier: MIT */
/* Keeps plans by shape: readers go through what is published, writers take turns. */
#include "plans.h"

#include <stdlib.h>
#include <string.h>

/* ---- One plan --------------------------------------------------------------------------------- */

static bool same_extents(const int64_t *a, const int64_t *b, int32_t rank)
{
    for (int32_t d = 0; d < rank; d++)
        if (a[d] != b[d]) return false;
    return true;
}

static bool is_for(const struct planned *planned, const garner_tensor *data, const garner_tensor *indices)
{
    return planned->data_rank == data->rank && planned->indices_rank == indices->rank &&
           planned->data_dtype == data->dtype && planned->indices_dtype == indices->dtype &&
           same_extents(planned->extents, data->shape, data->rank) &&
           same_extents(planned->extents + data->rank, indices->shape, indices->rank);
}

/* Strides of a dense tensor, times `step`. Where they would not fit garner refuses the shape before it looks
 * at them. */
static void spread(int64_t *strides, const garner_tensor *tensor, int64_t step)
{
    uint64_t stride = (uint64_t)step;
    for (int32_t d = tensor->rank - 1; d >= 0; d--) {
        strides[d] = (int64_t)stride;
        stride *= (uint64_t)tensor->shape[d];
    }
}

static garner_status plan_for(garner_plan **plan, const garner_op *op, const garner_tensor *data,
                              int64_t step, const garner_tensor *indices, garner_error *error)
{
    int64_t strides[GARNER_MAX_RANK];
    garner_tensor placed = *data;
    if (step != 1 && data->rank <= GARNER_MAX_RANK) {
        spread(strides, data, step);
        placed.strides = strides;
    }
    return garner_plan_create(plan, op, &placed, indices, NULL, error);
}

struct planned *planned_new(const garner_op *op, const garner_tensor *data, int64_t step,
                            const garner_tensor *indices, garner_error *error)
{
    size_t ranks = (size_t)data->rank + (size_t)indices->rank;
    struct planned *planned = calloc(1, sizeof *planned + ranks * sizeof planned->extents[0]);
    *error = (garner_error){.status = GARNER_NO_MEMORY, .message = "out of memory for a plan"};
    if (planned == NULL) return NULL;
    if (plan_for(&planned->plan, op, data, step, indices, error) !=
        GARNER_OK) { /* it looks at the ranks first */
        planned_free(planned);
        return NULL;
    }
    planned->data_rank = data->rank;
    planned->indices_rank = indices->rank;
    planned->data_dtype = data->dtype;
    planned->indices_dtype = indices->dtype;
    for (int32_t d = 0; d < data->rank; d++)
        planned->extents[d] = data->shape[d];
    for (int32_t d = 0; d < indices->rank; d++)
        planned->extents[data->rank + d] = indices->shape[d];
    return planned;
}

void planned_free(struct planned *planned)
{
    garner_plan_destroy(planned->plan);
    free(planned);
}

/* ---- All of them ------------------------------------------------------------------------------ */

bool plans_open(struct plans *plans)
{
    atomic_init(&plans->count, 0);
    return pthread_mutex_init(&plans->adding, NULL) == 0;
}

void plans_close(struct plans *plans)
{
    for (int i = 0; i < atomic_load(&plans->count); i++)
        planned_free(plans->entry[i]);
    pthread_mutex_destroy(&plans->adding);
}

const struct planned *plans_find(struct plans *plans, const garner_tensor *data, const garner_tensor *indices)
{
    int count = atomic_load_explicit(&plans->count, memory_order_acquire);
    for (int i = 0; i < count; i++)
        if (is_for(plans->entry[i], data, indices)) return plans->entry[i];
    return NULL;
}

bool plans_keep(struct plans *plans, struct planned *planned)
{
    pthread_mutex_lock(&plans->adding);
    int count = atomic_load_explicit(&plans->count, memory_order_relaxed);
    if (count < PLANS_ROOM) {
        plans->entry[count] = planned;
        atomic_store_explicit(&plans->count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&plans->adding);
    return count < PLANS_ROOM;
}
