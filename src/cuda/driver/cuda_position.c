/* SPDX-License-Identifier: MIT */
/* From the points of a nest to positions in the index tensor. */
#include <string.h>

#include "cuda_plan.h"

/* Whether dims of a nest walk along an axis of indices. */
static bool is_walked(const struct view *view, int axis)
{
    return view->n[axis] != 1 && view->stride[axis] != 0;
}

void garner_cuda_coordinates(const struct nest *nest, const struct index_map *map, int64_t point,
                             int64_t component, int64_t *coordinates)
{
    const struct view *view = &map->view;
    int axis = view->rank - (map->tuples ? 1 : 0);
    memset(coordinates, 0, sizeof(int64_t) * GARNER_MAX_RANK);
    if (map->tuples) coordinates[view->rank - 1] = component;
    for (int d = nest->rank - 1; d >= 0; d--) {
        int64_t here = point % nest->dim[d].n, left = nest->dim[d].n;
        point /= nest->dim[d].n;
        while (nest->dim[d].index != 0 && left > 1) {
            if (!is_walked(view, --axis)) continue;
            coordinates[axis] = here % view->n[axis];
            here /= view->n[axis];
            left /= view->n[axis];
        }
    }
}

void garner_cuda_check_nest(struct nest *nest, const struct nest *from, const struct index_map *map)
{
    const struct view *view = &map->view;
    *nest = *from;
    nest->rank = 0;
    nest->run = 0;
    nest->packed = NULL;
    for (int i = 0; i < view->rank - (map->tuples ? 1 : 0); i++)
        if (is_walked(view, i)) nest_append(nest, (struct dim){.n = view->n[i], .index = view->stride[i]});
    if (nest->rank == 0) nest_append(nest, (struct dim){.n = 1});
    nest->rows = view->count > 0 && nest->policy != GARNER_OOB_ZERO;
    for (int d = 0; d < nest->rank - 1; d++)
        nest->rows *= nest->dim[d].n;
    nest->points = nest->rows * nest->dim[nest->rank - 1].n;
}
