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

/* 0, 1, 2, ... for each string of a tensor that exists, or may: its size was checked by the plan. */
static int64_t *positions_new(const garner_tensor *data)
{
    int64_t count = 1;
    for (int32_t d = 0; d < data->rank; d++)
        count *= data->shape[d];
    int64_t *positions = malloc((size_t)(count > 0 ? count : 1) * sizeof *positions);
    for (int64_t i = 0; positions && i < count; i++)
        positions[i] = i;
    return positions;
}

static bool plan_for(struct planned *planned, const garner_op *op, const garner_tensor *data,
                     const garner_tensor *indices, garner_error *error)
{
    garner_tensor moved = *data;
    bool strings = data->dtype == GARNER_STR;
    if (strings) moved.dtype = GARNER_I64;
    if (garner_plan_create(&planned->plan, op, &moved, indices, NULL, error) != GARNER_OK) return false;
    return !strings || (planned->positions = positions_new(data)) != NULL;
}

struct planned *planned_new(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                            garner_error *error)
{
    size_t ranks = (size_t)data->rank + (size_t)indices->rank;
    struct planned *planned = calloc(1, sizeof *planned + ranks * sizeof planned->extents[0]);
    *error = (garner_error){.status = GARNER_NO_MEMORY, .message = "out of memory for a plan"};
    if (planned == NULL) return NULL;
    if (!plan_for(planned, op, data, indices, error)) { /* which looks at the ranks first */
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
    free(planned->positions);
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
