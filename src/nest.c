/* SPDX-License-Identifier: MIT */
/* Builds the canonical loop nest. From here down there are no operators and no element types. */
#include "nest.h"

#include "shape.h"

/* Appends axis i of a group, of which extent and stride in out are given. Since extents of 1 are left out,
 * and the elements of out fit in 63 bits, there are at most 62 dims. */
static inline void append(struct nest *nest, struct dim dim, const struct axis_group *group, int i,
                          const struct view *data, const struct view *indices)
{
    if (group->data >= 0) dim.data = data->stride[group->data + i] * data->item;
    if (group->indices >= 0) dim.index = indices->stride[group->indices + i];
    nest_append(nest, dim);
}

/* The first axis group, merged into axis 0 of out: the stride of each axis is that of axis 0 times the
 * extents after it. */
static GARNER_NOINLINE bool append_merged(struct nest *nest, const struct map *map, const struct view *data,
                                          const struct view *indices, const struct view *out)
{
    int64_t inner;
    if (!garner_shape_merged(map, indices, &inner) || inner != out->n[0]) return false;
    for (int i = 0; i < map->merged && out->count > 0; i++) {
        inner /= indices->n[i];
        if (indices->n[i] != 1)
            append(nest, (struct dim){.n = indices->n[i], .out = out->stride[0] * out->item * inner},
                   map->group, i, data, indices);
    }
    return true;
}

/* One dim for each axis of the map; false if the extents of out are not the map's. */
static inline bool add_dims(struct nest *nest, const struct map *map, const struct view *data,
                            const struct view *indices, const struct view *out)
{
    const bool empty = out->count == 0;
    const int64_t item = out->item;
    int axis = map->merged ? 1 : 0, s = axis;
    if (out->rank != map->rank - (map->merged ? map->merged - 1 : 0)) return false;
    if (map->merged && !append_merged(nest, map, data, indices, out)) return false;
    for (; s < map->groups; s++) {
        const struct axis_group *group = &map->group[s];
        const int64_t *extent = group_extents(group, data, indices);
        for (int i = 0; i < group->axes; i++, axis++) {
            if (extent[i] != out->n[axis]) return false;
            if (extent[i] != 1 && !empty)
                append(nest, (struct dim){.n = extent[i], .out = out->stride[axis] * item}, group, i, data,
                       indices);
        }
    }
    return true;
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
    /*@ loop invariant 0 <= nest->rank <= \at(nest->rank, Pre) && nest->run == run_of(nest->rank);
        loop invariant runs_on{Pre}(nest, \at(nest->rank, Here));
        loop assigns nest->run, nest->rank;
        loop variant nest->rank; */
    while (nest->rank > 0) {
        const struct dim *last = &nest->dim[nest->rank - 1];
        if (last->index != 0 || last->data != nest->run || last->out != nest->run) return;
        /*@ assert takes_in{Pre}(nest, nest->rank - 1) && continues_run{Pre}(nest, nest->rank - 1); */
        nest->run = walk_steps(last->n, nest->run);
        nest->rank--;
    }
}

static inline bool is_whole(int64_t elements, int64_t per)
{
    return elements % per == 0;
}

/* The bytes of elements that are whole packing units of `per` elements and `unit` bytes. */
static inline int64_t in_bytes(int64_t elements, int64_t per, int64_t unit)
{
    return elements / per * unit;
}

/* Scales every distance from elements to bytes. */
static void unpack(struct nest *nest, int64_t per, int64_t unit)
{
    nest->run = in_bytes(nest->run, per, unit);
    /*@ loop invariant 0 <= k <= nest->axes && axes_unpacked{Pre, Here}(nest, k, per, unit);
        loop assigns k, nest->axis[0 .. nest->axes - 1].stride;
        loop variant nest->axes - k; */
    for (int k = 0; k < nest->axes; k++) {
        /*@ assert axis_whole{Pre}(nest, \at(k, Here), per); */
        nest->axis[k].stride = in_bytes(nest->axis[k].stride, per, unit);
    }
    /*@ loop invariant 0 <= d <= nest->rank && dims_unpacked{Pre, Here}(nest, d, per, unit);
        loop assigns d, nest->dim[0 .. nest->rank - 1].data, nest->dim[0 .. nest->rank - 1].out;
        loop variant nest->rank - d; */
    for (int d = 0; d < nest->rank; d++) {
        /*@ assert dim_whole{Pre}(nest, \at(d, Here), per); */
        int64_t data = in_bytes(nest->dim[d].data, per, unit), out = in_bytes(nest->dim[d].out, per, unit);
        nest->dim[d].data = data;
        nest->dim[d].out = out;
    }
}

/* Whether every distance is a whole number of packing units. */
static bool is_aligned(const struct nest *nest, int64_t per)
{
    bool whole = is_whole(nest->run, per);
    /*@ loop invariant 0 <= k <= nest->axes && (whole ==> run_whole(nest, per) && axes_whole(nest, k, per));
        loop assigns k, whole;
        loop variant nest->axes - k; */
    for (int k = 0; k < nest->axes; k++)
        whole &= is_whole(nest->axis[k].stride, per);
    /*@ loop invariant 0 <= d <= nest->rank && (whole ==> dims_whole(nest, d, per));
        loop invariant whole ==> run_whole(nest, per) && axes_whole(nest, nest->axes, per);
        loop assigns d, whole;
        loop variant nest->rank - d; */
    for (int d = 0; d < nest->rank; d++) {
        whole &= is_whole(nest->dim[d].data, per);
        whole &= is_whole(nest->dim[d].out, per);
    }
    return whole;
}

/* Turns packed elements into bytes, if every distance is a whole number of packing units. */
static GARNER_COLD void unpack_aligned(struct nest *nest, const struct dtype *type)
{
    if (is_aligned(nest, type->per_unit))
        unpack(nest, type->per_unit, type->unit_bytes);
    else
        nest->packed = type;
}

void garner_nest_finish(struct nest *nest, int64_t count)
{
    peel_run(nest);
    if (nest->rank == 0 || nest->dim[nest->rank - 1].index == 0)
        nest->dim[nest->rank++] = (struct dim){.n = 1};
    int64_t rows = count > 0;
    for (int d = 0; d < nest->rank - 1; d++)
        rows *= nest->dim[d].n;
    nest->rows = rows;
    nest->points = rows * nest->dim[nest->rank - 1].n;
}

bool garner_nest_build(struct nest *nest, const struct map *map, const struct op *op, const struct view *data,
                       const struct view *indices, const struct view *out)
{
    nest->rank = 0;
    nest->run = data->item;
    nest->packed = NULL;
    nest->policy = op->oob;
    nest->index_type = (struct index_type){indices->type->item, indices->type->index == UNSIGNED};
    add_axes(nest, map, op, data, indices);
    if (!add_dims(nest, map, data, indices, out)) return false;
    garner_nest_finish(nest, out->count);
    if (rarely(data->type->packing != WHOLE)) unpack_aligned(nest, data->type);
    return true;
}
