/* SPDX-License-Identifier: MIT */
/*
 * Plans, kept by what they were made for: operator, types, shapes, strides. The cache has a fixed number of
 * places, is shared by all interpreters and threads, and never waits: a place that another thread is using
 * at this moment counts as empty, so that nothing can be left locked by a fork.
 */
#ifndef GARNER_PYTHON_CACHE_H
#define GARNER_PYTHON_CACHE_H

#include "garner.h"

/* A plan that is held, by the cache and by the calls that run it. */
struct cached_plan {
    garner_plan *plan;
    struct cached_entry *entry; /* NULL: not in the cache, and the holder's alone */
};

/* The plan for a call, known or made now. `out` may be NULL: dense. Release it with cache_release. */
garner_status cache_plan(struct cached_plan *found, const garner_op *op, const garner_tensor *data,
                         const garner_tensor *indices, const garner_tensor *out, garner_error *error);

void cache_release(struct cached_plan *found);

#endif
