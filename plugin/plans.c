/* SPDX-License-Identifier: MIT */
/* A list that grows at its front: who reads it goes through what was there when it began. */
#include "plans.h"

#include <stdlib.h>

struct kept_plan {
    struct kept_plan *next;
    garner_plan *plan;
    int64_t axis, batch_dims;
    garner_dtype data_dtype, indices_dtype;
    int32_t data_rank, indices_rank;
    int64_t extents[]; /* of data, then of indices */
};

void plans_open(struct plans *plans)
{
    atomic_init(&plans->first, NULL);
    atomic_init(&plans->count, 0);
}

void plans_close(struct plans *plans)
{
    for (struct kept_plan *kept = atomic_load(&plans->first), *next; kept; kept = next) {
        next = kept->next;
        garner_plan_destroy(kept->plan);
        free(kept);
    }
}

static bool same_extents(const int64_t *a, const int64_t *b, int32_t rank)
{
    for (int32_t d = 0; d < rank; d++)
        if (a[d] != b[d]) return false;
    return true;
}

static bool is_for(const struct kept_plan *kept, const struct plan_key *key)
{
    return kept->axis == key->axis && kept->batch_dims == key->batch_dims &&
           kept->data_dtype == key->data->dtype && kept->indices_dtype == key->indices->dtype &&
           kept->data_rank == key->data->rank && kept->indices_rank == key->indices->rank &&
           same_extents(kept->extents, key->data->shape, kept->data_rank) &&
           same_extents(kept->extents + kept->data_rank, key->indices->shape, kept->indices_rank);
}

const garner_plan *plans_find(const struct plans *plans, const struct plan_key *key)
{
    const struct kept_plan *kept = atomic_load_explicit(&plans->first, memory_order_acquire);
    while (kept && !is_for(kept, key))
        kept = kept->next;
    return kept ? kept->plan : NULL;
}

static struct kept_plan *kept_new(const struct plan_key *key, garner_plan *plan)
{
    size_t ranks =
        (size_t)key->data->rank + (size_t)key->indices->rank; /* a plan was made of them: they are small */
    struct kept_plan *kept = malloc(sizeof *kept + ranks * sizeof kept->extents[0]);
    if (kept == NULL) return NULL;
    *kept = (struct kept_plan){.plan = plan,
                               .axis = key->axis,
                               .batch_dims = key->batch_dims,
                               .data_dtype = key->data->dtype,
                               .indices_dtype = key->indices->dtype,
                               .data_rank = key->data->rank,
                               .indices_rank = key->indices->rank};
    for (int32_t d = 0; d < key->data->rank; d++)
        kept->extents[d] = key->data->shape[d];
    for (int32_t d = 0; d < key->indices->rank; d++)
        kept->extents[key->data->rank + d] = key->indices->shape[d];
    return kept;
}

bool plans_keep(struct plans *plans, const struct plan_key *key, garner_plan *plan)
{
    if (atomic_load(&plans->count) >= MOST_PLANS)
        return false; /* a few threads may pass here at once: so be it */
    struct kept_plan *kept = kept_new(key, plan);
    if (kept == NULL) return false;
    atomic_fetch_add(&plans->count, 1);
    kept->next = atomic_load(&plans->first);
    while (!atomic_compare_exchange_weak(&plans->first, &kept->next, kept)) {
    }
    return true;
}
