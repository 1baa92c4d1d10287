/* SPDX-License-Identifier: MIT */
/*
 * The three operators as maps from axes of out to axes of data and indices, with all their checks. What is
 * wrong is found by functions that only name the fault; the sentences stand at the end.
 */
#include "shape.h"

#include <string.h>

#include "error.h"
#include "index.h"
#include "line.h"

enum shape_fault {
    SHAPE_FINE,
    SHAPE_DATA_TYPE,
    SHAPE_INDEX_TYPE,
    SHAPE_SCALAR_DATA,
    SHAPE_SCALAR_INDICES,
    SHAPE_RANKS,
    SHAPE_AXIS,
    SHAPE_NO_AXIS,
    SHAPE_NO_BATCH,
    SHAPE_BATCH,
    SHAPE_BATCH_AXIS,
    SHAPE_TUPLE,
    SHAPE_EXTENT
};

/* Hands a fault on, as RETURN_NOT_OK does with a status. */
#define RETURN_FAULT(step)                                            \
    do {                                                              \
        enum shape_fault fault_ = (step);                             \
        if (__builtin_expect(fault_ != SHAPE_FINE, 0)) return fault_; \
    } while (0)

static inline enum shape_fault check_types(const struct op *op, const struct view *data,
                                           const struct view *indices)
{
    if (!(op->data_types >> data->dtype & 1)) return SHAPE_DATA_TYPE;
    return op->rules->index_types >> indices->dtype & 1 ? SHAPE_FINE : SHAPE_INDEX_TYPE;
}

static inline enum shape_fault find_axis(const struct op *op, const struct view *data, int *axis)
{
    int64_t picked;
    bool inside = index_inside(op->axis, data->rank, data->rank, &picked);
    *axis = (int)picked;
    return inside ? SHAPE_FINE : SHAPE_AXIS;
}

/* The values that batch_dims may have under the version's rule. */
struct batch_range {
    int low, high;
};

static inline struct batch_range batch_range(const struct op *op, const struct view *data,
                                             const struct view *indices)
{
    int least = data->rank < indices->rank ? data->rank : indices->rank;
    switch (op->rules->batch) {
    case BATCH_LEADING:
        return (struct batch_range){0, least - 1};
    case BATCH_SIGNED:
        return (struct batch_range){-least, least};
    default:
        return (struct batch_range){0, 0};
    }
}

/* batch_dims as a count. */
static inline enum shape_fault find_batch(const struct op *op, const struct view *data,
                                          const struct view *indices, int *batch)
{
    *batch = (int)op->batch_dims;
    if (op->batch_dims == 0) return SHAPE_FINE; /* no rule has anything against it */
    const struct batch_range range = batch_range(op, data, indices);
    if (op->rules->batch == BATCH_NONE) return SHAPE_NO_BATCH;
    if (op->batch_dims < range.low || op->batch_dims > range.high) return SHAPE_BATCH;
    if (*batch < 0) *batch += indices->rank;
    return SHAPE_FINE;
}

/* ---- Maps ------------------------------------------------------------------------------------- */

static inline void map_begin(struct map *map, int gather, int gathers, bool tuples)
{
    map->rank = 0;
    map->merged = 0;
    map->gather = gather;
    map->gathers = gathers;
    map->tuples = tuples;
    map->groups = 0;
}

static inline void add_group(struct map *map, int axes, int data, int indices)
{
    if (axes == 0) return;
    map->rank += axes;
    map->group[map->groups++] = (struct axis_group){axes, data, indices};
}

/* Axes [first, end) of data, of indices, of both: these must agree. */
static inline void walk_data(struct map *map, int first, int end)
{
    add_group(map, end - first, first, -1);
}

static inline void walk_indices(struct map *map, int first, int end)
{
    add_group(map, end - first, -1, first);
}

static inline bool extents_agree(const struct op *op, int64_t data, int64_t indices)
{
    return data == indices || (op->rules->extent == EXTENT_AT_MOST && indices < data);
}

static inline enum shape_fault walk_both(struct map *map, const struct op *op, const struct view *data,
                                         const struct view *indices, int first, int end)
{
    for (int i = first; i < end; i++)
        if (!extents_agree(op, data->n[i], indices->n[i])) return SHAPE_EXTENT;
    add_group(map, end - first, first, first);
    return SHAPE_FINE;
}

/* out = data[:axis] + indices[batch:] + data[axis+1:] */
static inline enum shape_fault map_gather(struct map *map, const struct op *op, const struct view *data,
                                          const struct view *indices)
{
    int axis, batch;
    if (data->rank == 0) return SHAPE_SCALAR_DATA;
    RETURN_FAULT(find_axis(op, data, &axis));
    RETURN_FAULT(find_batch(op, data, indices, &batch));
    if (batch > axis) return SHAPE_BATCH_AXIS;
    map_begin(map, axis, 1, false);
    RETURN_FAULT(walk_both(map, op, data, indices, 0, batch));
    walk_data(map, batch, axis);
    walk_indices(map, batch, indices->rank);
    walk_data(map, axis + 1, data->rank);
    return SHAPE_FINE;
}

/* out = indices */
static inline enum shape_fault map_elements(struct map *map, const struct op *op, const struct view *data,
                                            const struct view *indices)
{
    int axis, batch;
    if (data->rank == 0) return SHAPE_SCALAR_DATA;
    if (indices->rank == 0) return SHAPE_SCALAR_INDICES;
    if (data->rank != indices->rank) return SHAPE_RANKS;
    RETURN_FAULT(find_axis(op, data, &axis));
    RETURN_FAULT(find_batch(op, data, indices, &batch));
    map_begin(map, axis, 1, false);
    RETURN_FAULT(walk_both(map, op, data, indices, 0, axis));
    walk_indices(map, axis, axis + 1);
    return walk_both(map, op, data, indices, axis + 1, data->rank);
}

/* out = indices[:-1] + data[batch+k:], where k is the last extent of indices */
static inline enum shape_fault map_nd(struct map *map, const struct op *op, const struct view *data,
                                      const struct view *indices)
{
    int batch, last = indices->rank - 1;
    if (data->rank == 0) return SHAPE_SCALAR_DATA;
    if (indices->rank == 0) return SHAPE_SCALAR_INDICES;
    if (op->axis != 0) return SHAPE_NO_AXIS;
    RETURN_FAULT(find_batch(op, data, indices, &batch));
    map_begin(map, batch, 0, true);
    int64_t k = indices->n[last];
    if (k < 1 || k > data->rank - batch) return SHAPE_TUPLE;
    map->gathers = (int)k;
    RETURN_FAULT(walk_both(map, op, data, indices, 0, batch));
    walk_indices(map, batch, last);
    walk_data(map, batch + (int)k, data->rank);
    if (op->rules->merges_batch && batch > 1) map->merged = batch;
    return SHAPE_FINE;
}

/* ---- The shape of out ------------------------------------------------------------------------- */

bool garner_shape_merged(const struct map *map, const struct view *indices, int64_t *extent)
{
    return garner_count(map->merged, indices->n, extent);
}

/* The extents of out, but for a merged one; the map's rank is at most twice that of a tensor. */
static void list_extents(const struct map *map, const struct view *data, const struct view *indices,
                         int64_t *extent)
{
    for (int s = 0; s < map->groups; s++) {
        const struct axis_group *group = &map->group[s];
        memcpy(extent, group_extents(group, data, indices), (size_t)group->axes * sizeof *extent);
        extent += group->axes;
    }
}

garner_status garner_shape_infer(garner_shape *shape, const struct map *map, const struct op *op,
                                 const struct view *data, const struct view *indices, garner_error *error)
{
    int64_t extent[2 * GARNER_MAX_RANK];
    int first = map->merged ? map->merged - 1 : 0, rank = map->rank - first;
    if (rank > GARNER_MAX_RANK)
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: the output would have rank %d; at most %d is allowed", op->name, rank,
                           GARNER_MAX_RANK);
    list_extents(map, data, indices, extent);
    bool fits = map->merged == 0 || garner_shape_merged(map, indices, &extent[first]);
    shape->rank = rank;
    memcpy(shape->extents, extent + first, (size_t)rank * sizeof *extent);
    shape->dtype = data->dtype;
    shape->item_bytes = data->type->bits == 0 ? (uint64_t)data->item : 0;
    if (fits && garner_count(rank, shape->extents, &shape->count) &&
        dtype_size(data->type, shape->count, data->item, &shape->bytes) && shape->bytes <= PTRDIFF_MAX)
        return GARNER_OK;
    return garner_fail(error, GARNER_TOO_LARGE,
                       "%s: the output of shape %s needs more bytes than can be addressed", op->name,
                       garner_list_text(rank, shape->extents).text);
}

/* ---- In words --------------------------------------------------------------------------------- */

/* The names of all types of a mask, which has named ones alone: whatever takes all types takes any. */
struct names_text {
    char text[384];
};

static GARNER_COLD struct names_text type_names(uint64_t types)
{
    struct names_text all;
    struct line line = {all.text, sizeof all.text, 0};
    for (garner_dtype i = 0; i < DTYPES; i++)
        if (types >> i & 1) garner_line_add(&line, "%s%s", line.length ? ", " : "", garner_dtypes[i].name);
    return all; /* analysis: garner_line_add has written it, from its first byte on */
}

static GARNER_COLD garner_status fail_types(enum shape_fault fault, const struct op *op,
                                            const struct view *data, const struct view *indices,
                                            garner_error *error)
{
    const char *spec = op->rules->spec ? op->rules->spec : "garner";
    if (fault == SHAPE_DATA_TYPE)
        return garner_fail(error, GARNER_BAD_TYPE, "%s: data of type %s is not among the types of %s: %s",
                           op->name, data->type->name, spec, type_names(op->data_types).text);
    if (indices->type->index == NONE)
        return garner_fail(
            error, GARNER_BAD_TYPE, "%s: indices of type %s; they must be integers of 8 to 64 bits%s",
            op->name, indices->type->name,
            indices->dtype == GARNER_BOOL ? " (for a mask, pass the positions where it is true)" : "");
    return garner_fail(error, GARNER_BAD_TYPE,
                       "%s: indices of type %s are not among the index types of %s: %s", op->name,
                       indices->type->name, spec, type_names(op->rules->index_types).text);
}

static GARNER_COLD garner_status fail_batch(enum shape_fault fault, const struct op *op,
                                            const struct view *data, const struct view *indices,
                                            garner_error *error)
{
    const long long given = (long long)op->batch_dims;
    const struct batch_range range = batch_range(op, data, indices);
    int64_t axis = op->axis < 0 ? op->axis + data->rank : op->axis;
    if (fault == SHAPE_NO_BATCH)
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: batch_dims is %lld; %s has none, so it must be 0",
                           op->name, given, op->rules->spec ? op->rules->spec : "this operator");
    if (fault == SHAPE_BATCH)
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: batch_dims %lld is outside [%d, %d] for these ranks",
                           op->name, given, range.low, range.high);
    return garner_fail(error, GARNER_BAD_SHAPE,
                       "%s: batch_dims %lld is beyond axis %lld; it must be at most %lld", op->name, given,
                       (long long)axis, (long long)axis);
}

/* On the first axis after those of the map. */
static GARNER_COLD garner_status fail_extent(const struct op *op, const struct view *data,
                                             const struct view *indices, int axis, garner_error *error)
{
    while (extents_agree(op, data->n[axis], indices->n[axis]))
        axis++;
    const char *relation = op->rules->extent == EXTENT_EQUAL ? "equal to" : "at most";
    return garner_fail_at_axis(error, GARNER_BAD_SHAPE, axis,
                               "%s: indices has extent %lld on axis %d; it must be %s %lld, that of data",
                               op->name, (long long)indices->n[axis], axis, relation,
                               (long long)data->n[axis]);
}

static GARNER_COLD garner_status fail_ranks(enum shape_fault fault, const struct op *op,
                                            const struct view *data, const struct view *indices,
                                            garner_error *error)
{
    if (fault == SHAPE_RANKS)
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: indices has rank %d; it must be %d, that of data",
                           op->name, indices->rank, data->rank);
    if (fault == SHAPE_AXIS)
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: axis %lld is outside [-%d, %d] for data of rank %d",
                           op->name, (long long)op->axis, data->rank, data->rank - 1, data->rank);
    if (fault == SHAPE_NO_AXIS)
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: axis is %lld; this operator has none, so it must be 0", op->name,
                           (long long)op->axis);
    return garner_fail(error, GARNER_BAD_SHAPE, "%s: %s has rank 0; it must be at least 1", op->name,
                       fault == SHAPE_SCALAR_DATA ? "data" : "indices");
}

static GARNER_COLD garner_status fail_tuple(const struct op *op, const struct view *data,
                                            const struct view *indices, int batch, garner_error *error)
{
    int last = indices->rank - 1;
    return garner_fail_at_axis(error, GARNER_BAD_SHAPE, last,
                               "%s: the last extent of indices is %lld, which is outside [1, %d] for data "
                               "of rank %d and batch_dims %d",
                               op->name, (long long)indices->n[last], data->rank - batch, data->rank, batch);
}

static GARNER_COLD garner_status fail_map(enum shape_fault fault, const struct op *op,
                                          const struct view *data, const struct view *indices,
                                          const struct map *map, garner_error *error)
{
    switch (fault) {
    case SHAPE_DATA_TYPE:
    case SHAPE_INDEX_TYPE:
        return fail_types(fault, op, data, indices, error);
    case SHAPE_NO_BATCH:
    case SHAPE_BATCH:
    case SHAPE_BATCH_AXIS:
        return fail_batch(fault, op, data, indices, error);
    case SHAPE_TUPLE:
        return fail_tuple(op, data, indices, map->gather, error);
    case SHAPE_EXTENT:
        return fail_extent(op, data, indices, map->rank, error);
    default:
        return fail_ranks(fault, op, data, indices, error);
    }
}

garner_status garner_shape_map(struct map *map, const struct op *op, const struct view *data,
                               const struct view *indices, garner_error *error)
{
    enum shape_fault fault = check_types(op, data, indices);
    if (fault == SHAPE_FINE)
        fault = op->rules->kind == GARNER_GATHER            ? map_gather(map, op, data, indices)
                : op->rules->kind == GARNER_GATHER_ELEMENTS ? map_elements(map, op, data, indices)
                                                            : map_nd(map, op, data, indices);
    return fault == SHAPE_FINE ? GARNER_OK : fail_map(fault, op, data, indices, map, error);
}

GARNER_COLD garner_status garner_shape_fail_out(const struct map *map, const struct op *op,
                                                const struct view *data, const struct view *indices,
                                                const struct view *out, garner_error *error)
{
    garner_shape shape;
    RETURN_NOT_OK(garner_shape_infer(&shape, map, op, data, indices, error));
    if (out->dtype != data->dtype)
        return garner_fail(error, GARNER_BAD_TYPE, "%s: out has type %s; it must be %s, that of data",
                           op->name, out->type->name, data->type->name);
    if (out->item != data->item)
        return garner_fail(error, GARNER_BAD_TYPE,
                           "%s: out has elements of %lld bytes; they must be %lld, as in data", op->name,
                           (long long)out->item, (long long)data->item);
    for (int i = 0; i < shape.rank && out->rank == shape.rank && !(error->has & GARNER_HAS_AXIS); i++)
        if (out->n[i] != shape.extents[i]) error->axis = i, error->has |= GARNER_HAS_AXIS;
    return garner_fail(error, GARNER_BAD_SHAPE, "%s: out has shape %s; it must be %s", op->name,
                       garner_list_text(out->rank, out->n).text,
                       garner_list_text(shape.rank, shape.extents).text);
}

garner_status garner_shape_check_overlap(const struct op *op, const struct view *out, garner_error *error)
{
    if (!garner_view_overlaps_itself(out)) return GARNER_OK;
    return garner_fail(
        error, GARNER_BAD_SHAPE, "%s: out of shape %s has strides %s, with which elements overlap", op->name,
        garner_list_text(out->rank, out->n).text, garner_list_text(out->rank, out->stride).text);
}
