/* SPDX-License-Identifier: MIT */
/*
 * The three operators as maps from axes of out to axes of data and indices, with all their checks. What is
 * wrong is found by functions that only name the fault; the sentences stand at the end.
 */
#include "shape.h"

#include "error.h"
#include "index.h"

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
    SHAPE_EXTENT /* on the first axis that the map lacks */
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
    int64_t place;
    bool inside = index_inside(op->axis, data->rank, data->rank, &place);
    *axis = (int)place;
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
    case BATCH_NONE:
        break;
    }
    return (struct batch_range){0, 0};
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
}

static inline void add_axis(struct map *map, int64_t n, int64_t data, int64_t index)
{
    struct dim *axis = &map->axis[map->rank++];
    axis->n = n;
    axis->data = data;
    axis->index = index;
}

/* Axes [first, end) that data and indices walk together. */
static inline enum shape_fault walk_both(struct map *map, const struct op *op, const struct view *data,
                                         const struct view *indices, int first, int end)
{
    bool equal = op->rules->extent == EXTENT_EQUAL;
    for (int i = first; i < end; i++) {
        int64_t want = data->n[i], got = indices->n[i];
        if (got != want && (equal || got > want)) return SHAPE_EXTENT;
        add_axis(map, got, data->stride[i] * data->item, indices->stride[i]);
    }
    return SHAPE_FINE;
}

static inline void walk_data(struct map *map, const struct view *data, int first, int end)
{
    for (int i = first; i < end; i++)
        add_axis(map, data->n[i], data->stride[i] * data->item, 0);
}

static inline void walk_indices(struct map *map, const struct view *indices, int first, int end)
{
    for (int i = first; i < end; i++)
        add_axis(map, indices->n[i], 0, indices->stride[i]);
}

/* out = data[:axis] + indices[batch:] + data[axis+1:] */
static enum shape_fault map_gather(struct map *map, const struct op *op, const struct view *data,
                                   const struct view *indices)
{
    int axis, batch;
    if (data->rank == 0) return SHAPE_SCALAR_DATA;
    RETURN_FAULT(find_axis(op, data, &axis));
    RETURN_FAULT(find_batch(op, data, indices, &batch));
    if (batch > axis) return SHAPE_BATCH_AXIS;
    map_begin(map, axis, 1, false);
    RETURN_FAULT(walk_both(map, op, data, indices, 0, batch));
    walk_data(map, data, batch, axis);
    walk_indices(map, indices, batch, indices->rank);
    walk_data(map, data, axis + 1, data->rank);
    return SHAPE_FINE;
}

/* out = indices */
static enum shape_fault map_elements(struct map *map, const struct op *op, const struct view *data,
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
    walk_indices(map, indices, axis, axis + 1);
    return walk_both(map, op, data, indices, axis + 1, data->rank);
}

/* out = indices[:-1] + data[batch+k:], where k is the last extent of indices */
static enum shape_fault map_nd(struct map *map, const struct op *op, const struct view *data,
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
    walk_indices(map, indices, batch, last);
    walk_data(map, data, batch + (int)k, data->rank);
    if (op->rules->merges_batch && batch > 1) map->merged = batch;
    return SHAPE_FINE;
}

/* ---- Out -------------------------------------------------------------------------------------- */

/* The rank of out: merged axes are one. */
static inline int out_rank(const struct map *map)
{
    return map->merged ? map->rank - map->merged + 1 : map->rank;
}

/* The product of the merged extents; false if it does not fit. */
static bool merged_extent(const struct map *map, int64_t *extent)
{
    int64_t batch[GARNER_MAX_RANK];
    for (int i = 0; i < map->merged; i++)
        batch[i] = map->axis[i].n;
    return garner_count(map->merged, batch, extent);
}

garner_status garner_shape_of_map(const struct map *map, const struct op *op, const struct view *data,
                                  garner_shape *shape, garner_error *error)
{
    int rank = out_rank(map), ahead = map->rank - rank;
    bool fits = true;
    if (rank > GARNER_MAX_RANK)
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: the output would have rank %d; at most %d is allowed", op->name, rank,
                           GARNER_MAX_RANK);
    shape->rank = rank;
    for (int i = 0; i < rank; i++)
        shape->extents[i] = map->axis[ahead + i].n;
    if (map->merged) fits = merged_extent(map, &shape->extents[0]);
    shape->dtype = data->dtype;
    shape->item_bytes = data->type->bits == 0 ? (uint64_t)data->item : 0;
    if (fits && garner_count(rank, shape->extents, &shape->count) &&
        dtype_size(data->type, shape->count, data->item, &shape->bytes) && shape->bytes <= PTRDIFF_MAX)
        return GARNER_OK;
    return garner_fail(error, GARNER_TOO_LARGE,
                       "%s: the output of shape %s needs more bytes than can be addressed", op->name,
                       garner_list_text(rank, shape->extents).text);
}

/* The merged axes lie in axis 0 of out: the stride of each is that of axis 0 times the extents after it. */
static bool lay_merged(struct map *map, const struct view *out)
{
    int64_t inner = 1, extent;
    if (!merged_extent(map, &extent) || out->n[0] != extent) return false;
    for (int i = map->merged - 1; i >= 0; i--) {
        map->axis[i].out = out->stride[0] * out->item * inner;
        if (i > 0) inner *= map->axis[i].n;
    }
    return true;
}

/* Gives each axis its stride in out; false if the shapes differ. */
static inline bool lay_axes(struct map *map, const struct view *out)
{
    int rank = out_rank(map), ahead = map->rank - rank;
    if (out->rank != rank) return false;
    for (int i = map->merged ? 1 : 0; i < rank; i++) {
        if (out->n[i] != map->axis[ahead + i].n) return false;
        map->axis[ahead + i].out = out->stride[i] * out->item;
    }
    return map->merged == 0 || lay_merged(map, out);
}

/* ---- In words --------------------------------------------------------------------------------- */

static GARNER_COLD garner_status fail_types(enum shape_fault fault, const struct op *op,
                                            const struct view *data, const struct view *indices,
                                            garner_error *error)
{
    const char *spec = op->rules->spec ? op->rules->spec : "garner";
    if (fault == SHAPE_DATA_TYPE)
        return garner_fail(error, GARNER_BAD_TYPE, "%s: data of type %s is not among the types of %s",
                           op->name, data->type->name, spec);
    if (indices->type->index == NONE)
        return garner_fail(
            error, GARNER_BAD_TYPE, "%s: indices of type %s; they must be integers of 8 to 64 bits%s",
            op->name, indices->type->name,
            indices->dtype == GARNER_BOOL ? " (for a mask, pass the positions where it is true)" : "");
    return garner_fail(error, GARNER_BAD_TYPE, "%s: indices of type %s are not among the index types of %s",
                       op->name, indices->type->name, spec);
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

static GARNER_COLD garner_status fail_extent(const struct op *op, const struct view *data,
                                             const struct view *indices, int axis, garner_error *error)
{
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

/* What is wrong with an out: perhaps that there cannot be one. */
static GARNER_COLD garner_status fail_out(const struct map *map, const struct op *op, const struct view *data,
                                          const struct view *out, garner_error *error)
{
    garner_shape shape;
    RETURN_NOT_OK(garner_shape_of_map(map, op, data, &shape, error));
    if (out->dtype != data->dtype)
        return garner_fail(error, GARNER_BAD_TYPE, "%s: out has type %s; it must be %s, that of data",
                           op->name, out->type->name, data->type->name);
    if (out->item != data->item)
        return garner_fail(error, GARNER_BAD_TYPE,
                           "%s: out has elements of %lld bytes; they must be %lld, as in data", op->name,
                           (long long)out->item, (long long)data->item);
    return garner_fail(error, GARNER_BAD_SHAPE, "%s: out has shape %s; it must be %s", op->name,
                       garner_list_text(out->rank, out->n).text,
                       garner_list_text(shape.rank, shape.extents).text);
}

/* ---- The questions of plan.c ------------------------------------------------------------------ */

garner_status garner_shape_map(const struct op *op, const struct view *data, const struct view *indices,
                               struct map *map, garner_error *error)
{
    enum shape_fault fault = check_types(op, data, indices);
    if (fault == SHAPE_FINE)
        fault = op->rules->kind == GARNER_GATHER            ? map_gather(map, op, data, indices)
                : op->rules->kind == GARNER_GATHER_ELEMENTS ? map_elements(map, op, data, indices)
                                                            : map_nd(map, op, data, indices);
    return fault == SHAPE_FINE ? GARNER_OK : fail_map(fault, op, data, indices, map, error);
}

static GARNER_NOINLINE garner_status check_overlap(const struct op *op, const struct view *out,
                                                   garner_error *error)
{
    if (!garner_view_overlaps_itself(out)) return GARNER_OK;
    return garner_fail(
        error, GARNER_BAD_SHAPE, "%s: out of shape %s has strides %s, with which elements overlap", op->name,
        garner_list_text(out->rank, out->n).text, garner_list_text(out->rank, out->stride).text);
}

garner_status garner_shape_lay(struct map *map, const struct op *op, const struct view *data,
                               const struct view *out, garner_error *error)
{
    if (out->dtype != data->dtype || out->item != data->item || !lay_axes(map, out))
        return fail_out(map, op, data, out, error);
    return out->dense ? GARNER_OK : check_overlap(op, out, error);
}
