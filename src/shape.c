/* SPDX-License-Identifier: MIT */
/* The three operators as maps from axes of out to axes of data and indices, with all their checks. */
#include "shape.h"

#include "error.h"
#include "index.h"

static garner_status check_types(const struct op *op, const struct view *data, const struct view *indices,
                                 garner_error *error)
{
    const char *spec = op->rules->spec ? op->rules->spec : "garner";
    if (!(op->data_types >> data->dtype & 1))
        return garner_fail(error, GARNER_BAD_TYPE, "%s: data of type %s is not among the types of %s",
                           op->name, data->type->name, spec);
    if (indices->type->index == NONE)
        return garner_fail(
            error, GARNER_BAD_TYPE, "%s: indices of type %s; they must be integers of 8 to 64 bits%s",
            op->name, indices->type->name,
            indices->dtype == GARNER_BOOL ? " (for a mask, pass the positions where it is true)" : "");
    if (!(op->rules->index_types >> indices->dtype & 1))
        return garner_fail(error, GARNER_BAD_TYPE,
                           "%s: indices of type %s are not among the index types of %s", op->name,
                           indices->type->name, spec);
    return GARNER_OK;
}

static garner_status check_rank(const struct op *op, const struct view *view, const char *role,
                                garner_error *error)
{
    if (view->rank >= 1) return GARNER_OK;
    return garner_fail(error, GARNER_BAD_SHAPE, "%s: %s has rank 0; it must be at least 1", op->name, role);
}

static garner_status normalise_axis(const struct op *op, const struct view *data, int *axis,
                                    garner_error *error)
{
    int64_t place;
    *axis = 0;
    if (!index_inside(op->axis, data->rank, data->rank, &place))
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: axis %lld is outside [-%d, %d] for data of rank %d",
                           op->name, (long long)op->axis, data->rank, data->rank - 1, data->rank);
    *axis = (int)place;
    return GARNER_OK;
}

static garner_status fail_batch(const struct op *op, int low, int high, garner_error *error)
{
    return garner_fail(error, GARNER_BAD_SHAPE, "%s: batch_dims %lld is outside [%d, %d] for these ranks",
                       op->name, (long long)op->batch_dims, low, high);
}

/* batch_dims by the version's rule, as a count. */
static garner_status normalise_batch(const struct op *op, const struct view *data, const struct view *indices,
                                     int *batch, garner_error *error)
{
    int least = data->rank < indices->rank ? data->rank : indices->rank;
    *batch = 0;
    switch (op->rules->batch) {
    case BATCH_NONE:
        if (op->batch_dims == 0) return GARNER_OK;
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: batch_dims is %lld; %s has none, so it must be 0",
                           op->name, (long long)op->batch_dims,
                           op->rules->spec ? op->rules->spec : "this operator");
    case BATCH_LEADING:
        if (op->batch_dims < 0 || op->batch_dims >= least) return fail_batch(op, 0, least - 1, error);
        *batch = (int)op->batch_dims;
        return GARNER_OK;
    case BATCH_SIGNED:
        if (op->batch_dims < -least || op->batch_dims > least) return fail_batch(op, -least, least, error);
        *batch = (int)op->batch_dims + (op->batch_dims < 0 ? indices->rank : 0);
        return GARNER_OK;
    }
    return GARNER_OK;
}

static garner_status check_extent(const struct op *op, const struct view *data, const struct view *indices,
                                  int axis, garner_error *error)
{
    int64_t want = data->n[axis], got = indices->n[axis];
    bool equal = op->rules->extent == EXTENT_EQUAL;
    if (got == want || (!equal && got < want)) return GARNER_OK;
    return garner_fail_at_axis(error, GARNER_BAD_SHAPE, axis,
                               "%s: indices has extent %lld on axis %d; it must be %s %lld, that of data",
                               op->name, (long long)got, axis, equal ? "equal to" : "at most",
                               (long long)want);
}

static void map_begin(struct map *map, int gather, int gathers, bool tuples)
{
    map->rank = 0;
    map->merged = 0;
    map->gather = gather;
    map->gathers = gathers;
    map->tuples = tuples;
}

static void add_axis(struct map *map, int64_t n, int data, int indices)
{
    map->axis[map->rank++] = (struct map_axis){n, data, indices};
}

/* Axes [first, end) that data and indices walk together. */
static garner_status walk_both(struct map *map, const struct op *op, const struct view *data,
                               const struct view *indices, int first, int end, garner_error *error)
{
    for (int i = first; i < end; i++) {
        RETURN_NOT_OK(check_extent(op, data, indices, i, error));
        add_axis(map, indices->n[i], i, i);
    }
    return GARNER_OK;
}

static void walk_data(struct map *map, const struct view *data, int first, int end)
{
    for (int i = first; i < end; i++)
        add_axis(map, data->n[i], i, -1);
}

static void walk_indices(struct map *map, const struct view *indices, int first, int end)
{
    for (int i = first; i < end; i++)
        add_axis(map, indices->n[i], -1, i);
}

/* out = data[:axis] + indices[batch:] + data[axis+1:] */
static garner_status map_gather(struct map *map, const struct op *op, const struct view *data,
                                const struct view *indices, garner_error *error)
{
    int axis, batch;
    RETURN_NOT_OK(check_rank(op, data, "data", error));
    RETURN_NOT_OK(normalise_axis(op, data, &axis, error));
    RETURN_NOT_OK(normalise_batch(op, data, indices, &batch, error));
    if (batch > axis)
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: batch_dims %lld is beyond axis %d; it must be at most %d", op->name,
                           (long long)op->batch_dims, axis, axis);
    map_begin(map, axis, 1, false);
    RETURN_NOT_OK(walk_both(map, op, data, indices, 0, batch, error));
    walk_data(map, data, batch, axis);
    walk_indices(map, indices, batch, indices->rank);
    walk_data(map, data, axis + 1, data->rank);
    return GARNER_OK;
}

/* out = indices */
static garner_status map_elements(struct map *map, const struct op *op, const struct view *data,
                                  const struct view *indices, garner_error *error)
{
    int axis, batch;
    RETURN_NOT_OK(check_rank(op, data, "data", error));
    RETURN_NOT_OK(check_rank(op, indices, "indices", error));
    if (data->rank != indices->rank)
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: indices has rank %d; it must be %d, that of data",
                           op->name, indices->rank, data->rank);
    RETURN_NOT_OK(normalise_axis(op, data, &axis, error));
    RETURN_NOT_OK(normalise_batch(op, data, indices, &batch, error));
    map_begin(map, axis, 1, false);
    RETURN_NOT_OK(walk_both(map, op, data, indices, 0, axis, error));
    walk_indices(map, indices, axis, axis + 1);
    return walk_both(map, op, data, indices, axis + 1, data->rank, error);
}

/* out = indices[:-1] + data[batch+k:], where k is the last extent of indices */
static garner_status map_nd(struct map *map, const struct op *op, const struct view *data,
                            const struct view *indices, garner_error *error)
{
    int batch;
    RETURN_NOT_OK(check_rank(op, data, "data", error));
    RETURN_NOT_OK(check_rank(op, indices, "indices", error));
    if (op->axis != 0)
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: axis is %lld; this operator has none, so it must be 0", op->name,
                           (long long)op->axis);
    RETURN_NOT_OK(normalise_batch(op, data, indices, &batch, error));
    int last = indices->rank - 1;
    int64_t k = indices->n[last];
    if (k < 1 || k > data->rank - batch)
        return garner_fail_at_axis(
            error, GARNER_BAD_SHAPE, last,
            "%s: the last extent of indices is %lld, which is outside [1, %d] for data "
            "of rank %d and batch_dims %d",
            op->name, (long long)k, data->rank - batch, data->rank, batch);
    map_begin(map, batch, (int)k, true);
    RETURN_NOT_OK(walk_both(map, op, data, indices, 0, batch, error));
    walk_indices(map, indices, batch, last);
    walk_data(map, data, batch + (int)k, data->rank);
    if (op->rules->merges_batch && batch > 1) map->merged = batch;
    return GARNER_OK;
}

/* The shape of out: the map's extents, the merged ones multiplied. */
static garner_status shape_of_map(const struct map *map, const struct op *op, const struct view *data,
                                  garner_shape *shape, garner_error *error)
{
    int rank = map->rank - (map->merged ? map->merged - 1 : 0);
    if (rank > GARNER_MAX_RANK)
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: the output would have rank %d; at most %d is allowed", op->name, rank,
                           GARNER_MAX_RANK);
    int64_t batch[GARNER_MAX_RANK], extent = 0;
    for (int i = 0; i < map->merged; i++)
        batch[i] = map->axis[i].n;
    bool fits = garner_count(map->merged, batch, &extent);
    shape->rank = rank;
    for (int i = map->rank - 1, to = rank - 1; to >= 0; i--, to--)
        shape->extents[to] = map->merged && to == 0 ? extent : map->axis[i].n;
    shape->dtype = data->dtype;
    shape->item_bytes = data->type->bits == 0 ? (uint64_t)data->item : 0;
    if (fits && garner_count(rank, shape->extents, &shape->count) &&
        garner_dtype_size(data->type, shape->count, (uint64_t)data->item, &shape->bytes) &&
        shape->bytes <= PTRDIFF_MAX)
        return GARNER_OK;
    return garner_fail(error, GARNER_TOO_LARGE,
                       "%s: the output of shape %s needs more bytes than can be addressed", op->name,
                       garner_list_text(rank, shape->extents).text);
}

garner_status garner_shape_infer(const struct op *op, const struct view *data, const struct view *indices,
                                 struct map *map, garner_shape *shape, garner_error *error)
{
    RETURN_NOT_OK(check_types(op, data, indices, error));
    switch (op->rules->kind) {
    case GARNER_GATHER:
        RETURN_NOT_OK(map_gather(map, op, data, indices, error));
        break;
    case GARNER_GATHER_ELEMENTS:
        RETURN_NOT_OK(map_elements(map, op, data, indices, error));
        break;
    case GARNER_GATHER_ND:
        RETURN_NOT_OK(map_nd(map, op, data, indices, error));
        break;
    }
    return shape_of_map(map, op, data, shape, error);
}

garner_status garner_shape_check_out(const char *op, const struct view *out, const garner_shape *shape,
                                     garner_error *error)
{
    if (out->dtype != shape->dtype)
        return garner_fail(error, GARNER_BAD_TYPE, "%s: out has type %s; it must be %s, that of data", op,
                           out->type->name, garner_dtype_name(shape->dtype));
    if (shape->item_bytes != 0 && (uint64_t)out->item != shape->item_bytes)
        return garner_fail(error, GARNER_BAD_TYPE,
                           "%s: out has elements of %lld bytes; they must be %llu, as in data", op,
                           (long long)out->item, (unsigned long long)shape->item_bytes);
    int64_t axis = out->rank == shape->rank ? 0 : -1;
    while (axis >= 0 && axis < shape->rank && out->n[axis] == shape->extents[axis])
        axis++;
    if (axis != shape->rank)
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: out has shape %s; it must be %s", op,
                           garner_list_text(out->rank, out->n).text,
                           garner_list_text(shape->rank, shape->extents).text);
    if (garner_view_overlaps_itself(out))
        return garner_fail(
            error, GARNER_BAD_SHAPE, "%s: out of shape %s has strides %s, with which elements overlap", op,
            garner_list_text(out->rank, out->n).text, garner_list_text(out->rank, out->stride).text);
    return GARNER_OK;
}
