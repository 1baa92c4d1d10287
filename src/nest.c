/* SPDX-License-Identifier: MIT */
/* Builds the canonical loop nest. From here down there are no operators and no element types. */
#include "nest.h"

/* Appends a dim, or lets the previous one take it in if the two walk as one. Extents of 1 vanish; since
 * the points of a nest fit in 63 bits, at most 62 dims are left. */
static void append(struct nest *nest, struct dim dim)
{
    struct dim *last = nest->rank > 0 ? &nest->dim[nest->rank - 1] : NULL;
    if (dim.n == 1) return;
    if (last && continues_stride(last->data, dim.n, dim.data) &&
        continues_stride(last->index, dim.n, dim.index) && continues_stride(last->out, dim.n, dim.out)) {
        dim.n *= last->n;
        *last = dim;
    } else {
        nest->dim[nest->rank++] = dim;
    }
}

/* One dim for each axis of the map. The stride of a merged axis of out is that of the axis it went
 * into, times the merged extents after it. */
static void add_dims(struct nest *nest, const struct map *map, const struct view *data,
                     const struct view *indices, const struct view *out)
{
    int64_t inner = 1; /* product of the merged extents already seen, from the last */
    struct dim dims[2 * GARNER_MAX_RANK];
    for (int i = map->rank - 1, to = out->rank - 1; i >= 0; i--) {
        const struct map_axis *axis = &map->axis[i];
        dims[i] = (struct dim){
            .n = axis->n,
            .data = axis->data < 0 ? 0 : data->stride[axis->data] * data->item,
            .index = axis->indices < 0 ? 0 : indices->stride[axis->indices],
            .out = out->stride[to] * out->item * inner,
        };
        if (i >= map->merged)
            to--;
        else
            inner *= axis->n;
    }
    for (int i = 0; i < map->rank; i++)
        append(nest, dims[i]);
}

static void add_axes(struct nest *nest, const struct map *map, const struct op *op, const struct view *data,
                     const struct view *indices)
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
static void peel_run(struct nest *nest)
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
    nest->index_type = (struct index_type){indices->type->unit_bytes, indices->type->index == UNSIGNED};
    add_axes(nest, map, op, data, indices);
    if (out->count > 0) {
        add_dims(nest, map, data, indices, out);
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
