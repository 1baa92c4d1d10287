/* SPDX-License-Identifier: MIT */
/*
 * Plans, kept by what they were made for: operator, types, shapes, strides. The cache has a fixed number of
 * places, is shared by all interpreters and threads, and never waits: a place that another thread is using
 * at this moment counts as empty, so that nothing can be left locked by a fork.
 */
#ifndef GARNER_PYTHON_CACHE_H
#define GARNER_PYTHON_CACHE_H

#include <stdbool.h>

#include "garner.h"

/* A plan that is held, by the cache and by the calls that run it. */
struct cached_plan {
    void *plan; /* a garner_plan, or what else `maker` makes */
    void (*destroy)(void *plan);
    struct cached_entry *entry; /* NULL: not in the cache, and the holder's alone */
};

/* How plans for a device are made, of which the cache knows no more than its number, up to 254. */
struct plan_maker {
    garner_status (*create)(void **plan, const garner_op *op, const garner_tensor *data,
                            const garner_tensor *indices, const garner_tensor *out, garner_error *error);
    void (*destroy)(void *plan);
    int device; /* -1: the host */
};

/* As cache_plan, for any device. */
garner_status cache_plan_for(struct cached_plan *found, const struct plan_maker *maker, const garner_op *op,
                             const garner_tensor *const *tensors, garner_error *error);

/* One more holder of what is held. False, and nothing held, if only its holder can have it. */
bool cache_hold(struct cached_plan *found);

/* The plan for a call, known or made now. `out` may be NULL: dense. Release it with cache_release. */
garner_status cache_plan(struct cached_plan *found, const garner_op *op, const garner_tensor *data,
                         const garner_tensor *indices, const garner_tensor *out, garner_error *error);

void cache_release(struct cached_plan *found);

#endif
