/* SPDX-License-Identifier: MIT */
/* Builds the canonical loop nest. From here down there are no operators and no element types. */
#include "nest.h"

/* Whether the outer of two dims goes on where the inner one ends, in all three tensors. */
static inline bool walk_as_one(const struct dim *outer, const struct dim *inner)
{
    return continues_stride(outer->out, inner->n, inner->out) &&
           continues_stride(outer->index, inner->n, inner->index) &&
           continues_stride(outer->data, inner->n, inner->data);
}

/* One dim for each axis of the map, less those of extent 1, and with those that walk as one merged. Since
 * the elements of out fit in 63 bits, at most 62 are left. */
static inline void add_dims(struct nest *nest, const struct map *map)
{
    int rank = 0;
    for (int i = 0; i < map->rank; i++) {
        struct dim dim = map->axis[i];
        if (dim.n == 1) continue;
        if (rank > 0 && walk_as_one(&nest->dim[rank - 1], &dim)) dim.n *= nest->dim[--rank].n;
        nest->dim[rank++] = dim;
    }
    nest->rank = rank;
}

static inline void add_axes(struct nest *nest, const struct map *map, const struct op *op,
                            const struct view *data, const struct view *indices)
{
    nest->axes = map->gathers;
    nest->step = map->tuples ? indices->stride[indices->rank - 1] : 0;
    for (int k = 0; k < map->gathers; k++) {
        int64_t bound = data->n[map->gather + k];
        nest->axis[k] = (struct axis){
            .bound = bound,
            .stride = data->stride[map->gather + k] * data->item,
            .wrap = op->negative == GARNER_NEGATIVE_WRAPS ? bound : 0,
        };
    }
}

/* Takes into the run every innermost dim that continues it, in data and in out. */
static inline void peel_run(struct nest *nest)
{
    while (nest->rank > 0) {
        const struct dim *last = &nest->dim[nest->rank - 1];
        if (last->index != 0 || last->data != nest->run || last->out != nest->run) return;
        nest->run *= last->n;
        nest->rank--;
    }
}

/* Scales every distance from elements to bytes. */
static void unpack(struct nest *nest, const struct dtype *type)
{
    int64_t per = type->per_unit, bytes = type->unit_bytes;
    nest->run = nest->run / per * bytes;
    for (int k = 0; k < nest->axes; k++)
        nest->axis[k].stride = nest->axis[k].stride / per * bytes;
    for (int d = 0; d < nest->rank; d++) {
        nest->dim[d].data = nest->dim[d].data / per * bytes;
        nest->dim[d].out = nest->dim[d].out / per * bytes;
    }
}

/* Whether every distance is a whole number of packing units. */
static bool is_aligned(const struct nest *nest, int per)
{
    int64_t rest = nest->run % per;
    for (int k = 0; k < nest->axes; k++)
        rest |= nest->axis[k].stride % per;
    for (int d = 0; d < nest->rank; d++)
        rest |= nest->dim[d].data % per | nest->dim[d].out % per;
    return rest == 0;
}

void garner_nest_build(struct nest *nest, const struct map *map, const struct op *op, const struct view *data,
                       const struct view *indices, const struct view *out)
{
    const struct dtype *type = data->type;
    nest->rank = 0;
    nest->run = data->item;
    nest->packed = NULL;
    nest->policy = op->oob;
    nest->index_type = (struct index_type){indices->type->item, indices->type->index == UNSIGNED};
    add_axes(nest, map, op, data, indices);
    if (out->count > 0) {
        add_dims(nest, map);
        peel_run(nest);
    }
    if (type->packing != WHOLE) {
        if (is_aligned(nest, type->per_unit))
            unpack(nest, type);
        else
            nest->packed = type;
    }
    if (nest->rank == 0 || nest->dim[nest->rank - 1].index == 0)
        nest->dim[nest->rank++] = (struct dim){.n = 1};
    nest->points = out->count > 0;
    for (int d = 0; d < nest->rank && nest->points; d++)
        nest->points *= nest->dim[d].n;
}
