/* SPDX-License-Identifier: MIT */
/* A plan for a device: the core's plan, and what the planner decided for aligned pointers. */
#ifndef GARNER_CUDA_PLAN_H
#define GARNER_CUDA_PLAN_H

#include "../../plan.h"
#include "gpu.h"

struct garner_cuda_plan {
    struct garner_plan core;
    const struct gpu *gpu;
    struct nest nest; /* the core's; where out has no elements, one that only checks the indices */
    struct cuda_work work;
    void *function;
};

/* The coordinates, in the index tensor, of a component of a point of the nest. Of all refused points the
 * lowest has the lowest position: the dims of a nest come in the order of the axes of indices, and it lies at
 * 0 in the others. */
void garner_cuda_coordinates(const struct nest *nest, const struct index_map *map, int64_t point,
                             int64_t component, int64_t *coordinates);

/* The nest that only checks the indices of a plan. */
void garner_cuda_check_nest(struct nest *nest, const struct nest *from, const struct index_map *map);

#endif
