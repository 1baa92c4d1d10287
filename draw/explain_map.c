/* SPDX-License-Identifier: MIT */
/*
 * The mapping is learnt by gathering coordinates: a view of data's shape whose strides are 0 except
 * along one axis says, wherever it is gathered, which coordinate on that axis was read. So what is
 * drawn is what the library does, not what somebody here thinks that it does. Only an axis that is too
 * long for a number at each of its places is counted here; even then the library says what lies outside.
 */
#include "explain_map.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "elements.h"
#include "fail.h"
#include "integer.h"

int64_t map_flatten(const int64_t *shape, int32_t rank, const int64_t *coordinates)
{
    int64_t flat = 0;
    for (int32_t i = 0; i < rank; i++)
        flat = flat * shape[i] + coordinates[i];
    return flat;
}

void map_unflatten(const int64_t *shape, int32_t rank, int64_t flat, int64_t *coordinates)
{
    for (int32_t i = rank; i-- > 0;) {
        int64_t extent = shape[i] ? shape[i] : 1;
        coordinates[i] = flat % extent;
        flat /= extent;
    }
}

static void *reserve(int64_t count, garner_error *error)
{
    size_t bytes;
    void *memory = NULL;
    if (!__builtin_mul_overflow(count ? count : 1, sizeof(int64_t), &bytes)) memory = malloc(bytes);
    if (!memory)
        fail(error, GARNER_NO_MEMORY, "explain: not enough memory for %lld entries", (long long)count);
    return memory;
}

/* ---- What runs along each axis of out ---- */

static void add_axis(struct map *map, int32_t data_axis, int32_t index_axis)
{
    map->axis[map->rank++] =
        (struct map_axis){index_axis >= 0 ? map->indices->shape[index_axis] : map->data->shape[data_axis],
                          data_axis, index_axis};
    if (index_axis < 0 && data_axis >= 0) map->free_axis[data_axis] = 1;
}

static void lay_out_gather(struct map *map)
{
    for (int32_t i = 0; i < map->gathered; i++)
        add_axis(map, i, i < map->batch ? i : -1);
    for (int32_t i = map->batch; i < map->indices->rank; i++)
        add_axis(map, -1, i);
    for (int32_t i = map->gathered + 1; i < map->data->rank; i++)
        add_axis(map, i, -1);
}

static void lay_out_elements(struct map *map)
{
    for (int32_t i = 0; i < map->data->rank; i++)
        add_axis(map, i == map->gathered ? -1 : i, i);
}

static void lay_out_nd(struct map *map)
{
    for (int32_t i = 0; i + 1 < map->indices->rank; i++)
        add_axis(map, i < map->batch ? i : -1, i);
    for (int32_t i = map->gathered + map->tuple; i < map->data->rank; i++)
        add_axis(map, i, -1);
}

/* The library has accepted the operator by now, so axis and batch_dims are in range. */
static void lay_out(struct map *map)
{
    const garner_op *op = map->op;
    int nd = op->kind == GARNER_GATHER_ND;
    int64_t axis = op->axis < 0 ? op->axis + map->data->rank : op->axis;
    int64_t batch = op->batch_dims < 0 ? op->batch_dims + map->indices->rank : op->batch_dims;
    map->batch = op->kind == GARNER_GATHER_ELEMENTS ? 0 : (int32_t)batch;
    map->gathered = nd ? map->batch : (int32_t)axis;
    map->tuple = nd ? (int32_t)map->indices->shape[map->indices->rank - 1] : 1;
    if (nd)
        lay_out_nd(map);
    else if (op->kind == GARNER_GATHER)
        lay_out_gather(map);
    else
        lay_out_elements(map);
}

/* ---- Gathering coordinates ---- */

/* The longest axis that has its numbers in memory. */
enum { LONGEST = 1 << 20 };

/* The problem with all free axes cut to one element. */
struct reduced {
    int64_t shape[GARNER_MAX_RANK], strides[GARNER_MAX_RANK];
    int64_t *numbers;    /* 1, 2, 3, ...: 0 is left to say "zero-filled" */
    int64_t *coordinate; /* one for each tuple, of the axis at hand */
    garner_shape out;
};

static garner_status reduced_create(struct reduced *reduced, const struct map *map, garner_error *error)
{
    int64_t longest = 1;
    for (int32_t i = 0; i < map->data->rank; i++) {
        reduced->shape[i] = map->free_axis[i] ? 1 : map->data->shape[i];
        if (reduced->shape[i] > longest && reduced->shape[i] <= LONGEST) longest = reduced->shape[i];
    }
    reduced->coordinate = reserve(map->tuples, error);
    reduced->numbers = reduced->coordinate ? reserve(longest, error) : NULL;
    if (!reduced->numbers) return GARNER_NO_MEMORY;
    for (int64_t i = 0; i < longest; i++)
        reduced->numbers[i] = i + 1;
    return GARNER_OK;
}

/* Along an axis that is too long, says no more than whether there is an element. */
static garner_status gather_coordinate(struct reduced *reduced, const struct map *map, int32_t axis,
                                       garner_error *error)
{
    garner_tensor data = {.data = reduced->numbers,
                          .shape = reduced->shape,
                          .strides = reduced->strides,
                          .rank = map->data->rank,
                          .dtype = GARNER_I64};
    memset(reduced->strides, 0, sizeof reduced->strides);
    reduced->strides[axis] = reduced->shape[axis] <= LONGEST;
    garner_status status = garner_infer(map->op, &data, map->indices, &reduced->out, error);
    if (status) return status;
    garner_tensor out = {.data = reduced->coordinate,
                         .shape = reduced->out.extents,
                         .rank = reduced->out.rank,
                         .dtype = GARNER_I64};
    return garner_run(map->op, &data, map->indices, &out, NULL, error);
}

/* ---- Axes that are too long ---- */

/* Whether this version counts negative indices from the end: asked with data of three elements. */
static garner_status ask_negative(const struct map *map, int *counts, garner_error *error)
{
    const int64_t three = 3, one[2] = {1, 1}, index = -1;
    int64_t found = 0;
    garner_op op = *map->op;
    op.axis = op.batch_dims = 0;
    op.oob = GARNER_OOB_ZERO;
    garner_tensor data = {.data = (int64_t[]){1, 2, 3}, .shape = &three, .rank = 1, .dtype = GARNER_I64};
    garner_tensor indices = {.data = (void *)&index, .shape = one, .rank = 1, .dtype = GARNER_I64};
    garner_tensor out = {.data = &found, .shape = one, .rank = 1, .dtype = GARNER_I64};
    if (op.kind == GARNER_GATHER_ND) indices.rank = 2;
    garner_status status = garner_run(&op, &data, &indices, &out, NULL, error);
    *counts = found == 3;
    return status;
}

/* The place that an index means; any, if the library says that it lies outside. */
static uint64_t place_of(const struct map *map, uint64_t index, int negative, int counts, uint64_t extent)
{
    if (!negative && index < extent) return index;
    if (negative && counts && 0 - index <= extent) return index + extent;
    if (map->op->oob == GARNER_OOB_CLAMP) return negative ? 0 : extent - 1;
    return negative ? extent - 1 - ~index % extent : index % extent;
}

/* Coordinates where gather_coordinate has left mere ones. Axes that no index chooses on are walked along
 * in step with the axis of indices of the same number. */
static garner_status count_coordinate(struct reduced *reduced, const struct map *map, int32_t axis,
                                      garner_error *error)
{
    int32_t part = axis - map->gathered, rank = map->indices->rank - (map->op->kind == GARNER_GATHER_ND);
    int64_t at[GARNER_MAX_RANK] = {0};
    int counts, negative;
    garner_status status = ask_negative(map, &counts, error);
    if (status) return status;
    for (int64_t i = 0; i < map->tuples; i++) {
        if (!reduced->coordinate[i]) continue;
        if (part >= 0 && part < map->tuple) {
            const void *from = elements_at(map->indices, i * map->tuple + part);
            const int bits = garner_dtype_bits(map->indices->dtype);
            uint64_t index = integer_load(from, bits / 8);
            if (integer_is_signed(map->indices->dtype)) index = (uint64_t)integer_from_bits(index, bits);
            negative = integer_is_signed(map->indices->dtype) && index >> 63;
            uint64_t extent = (uint64_t)reduced->shape[axis];
            reduced->coordinate[i] = (int64_t)place_of(map, index, negative, counts, extent) + 1;
        } else {
            map_unflatten(map->indices->shape, rank, i, at);
            reduced->coordinate[i] = at[axis] + 1;
        }
    }
    return GARNER_OK;
}

/* ---- All axes ---- */

/* Counts the indices on one axis that were not simply taken as they are. */
static void note_changes(struct map *map, const struct reduced *reduced, int32_t axis)
{
    int32_t part = axis - map->gathered;
    int64_t extent = map->data->shape[axis];
    if (part < 0 || part >= map->tuple) return;
    for (int64_t i = 0; i < map->tuples; i++) {
        const void *at = elements_at(map->indices, i * map->tuple + part);
        int64_t index = integer_value(at, map->indices->dtype), coordinate = reduced->coordinate[i] - 1;
        if (coordinate < 0 || index == coordinate) continue;
        if (index < 0 && index + extent == coordinate)
            map->wrapped++;
        else
            map->moved++;
    }
}

static garner_status gather_sources(struct map *map, struct reduced *reduced, garner_error *error)
{
    memset(map->source, 0, (size_t)map->tuples * sizeof *map->source);
    for (int32_t axis = 0; axis < map->data->rank; axis++) {
        if (map->free_axis[axis]) continue;
        garner_status status = gather_coordinate(reduced, map, axis, error);
        if (!status && reduced->shape[axis] > LONGEST) status = count_coordinate(reduced, map, axis, error);
        if (status) return status;
        for (int64_t i = 0; i < map->tuples; i++) {
            int64_t coordinate = reduced->coordinate[i];
            int outside = map->source[i] < 0 || coordinate == 0;
            map->source[i] = outside ? -1 : map->source[i] * reduced->shape[axis] + coordinate - 1;
        }
        note_changes(map, reduced, axis);
    }
    return GARNER_OK;
}

/* ---- Which elements of data are used ---- */

static int compare(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void sort_used(struct map *map, int64_t count)
{
    qsort(map->used, (size_t)count, sizeof *map->used, compare);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || map->used[i] != map->used[map->used_count - 1])
            map->used[map->used_count++] = map->used[i];
}

/* The same by a byte for each element there is, where these are not many more than the tuples; 0: they are,
 * or there is no memory. */
static int mark_used(struct map *map, int64_t count)
{
    int64_t elements = 1;
    for (int32_t i = 0; i < map->data->rank; i++)
        if (!map->free_axis[i] && __builtin_mul_overflow(elements, map->data->shape[i], &elements)) return 0;
    if (elements / 16 > count) return 0;
    unsigned char *is_used = calloc((size_t)elements + 1, 1);
    if (!is_used) return 0;
    for (int64_t i = 0; i < count; i++)
        is_used[map->used[i]] = 1;
    for (int64_t i = 0; i < elements; i++)
        if (is_used[i]) map->used[map->used_count++] = i;
    free(is_used);
    return 1;
}

static void find_used(struct map *map)
{
    int64_t count = 0;
    for (int64_t i = 0; i < map->tuples; i++)
        if (map->source[i] >= 0) map->used[count++] = map->source[i];
    map->zeroed = map->tuples - count;
    if (!mark_used(map, count)) sort_used(map, count);
}

static int64_t find(const struct map *map, int64_t source)
{
    if (!map->used_count) return -1;
    const int64_t *at = bsearch(&source, map->used, (size_t)map->used_count, sizeof *map->used, compare);
    return at ? at - map->used : -1;
}

int64_t map_use(const struct map *map, int64_t data_flat)
{
    int64_t at[GARNER_MAX_RANK], source = 0;
    map_unflatten(map->data->shape, map->data->rank, data_flat, at);
    for (int32_t i = 0; i < map->data->rank; i++)
        if (!map->free_axis[i]) source = source * map->data->shape[i] + at[i];
    return find(map, source);
}

int64_t map_tuple_use(const struct map *map, int64_t tuple)
{
    return !map->source || map->source[tuple] < 0 ? -1 : find(map, map->source[tuple]);
}

/* ---- The whole ---- */

/* Counts all but the elements of out, which garner_infer has counted. */
static void measure(struct map *map)
{
    int64_t free_shape[GARNER_MAX_RANK];
    int32_t free_rank = 0;
    for (int32_t i = 0; i < map->data->rank; i++)
        if (map->free_axis[i]) free_shape[free_rank++] = map->data->shape[i];
    map->free_count = array_count(free_rank, free_shape);
    map->data_count = array_count(map->data->rank, map->data->shape);
    map->tuples = array_count(map->indices->rank, map->indices->shape) / map->tuple;
}

static garner_status fill(struct map *map, garner_error *error)
{
    struct reduced reduced = {.numbers = NULL};
    map->source = reserve(map->tuples, error);
    map->used = map->source ? reserve(map->tuples, error) : NULL;
    garner_status status = map->used ? reduced_create(&reduced, map, error) : GARNER_NO_MEMORY;
    if (!status) status = gather_sources(map, &reduced, error);
    if (!status) find_used(map);
    free(reduced.coordinate);
    free(reduced.numbers);
    return status;
}

/* An empty out has no sources, and its extents may be too large for coordinates; its indices are
 * checked all the same. */
static garner_status check_only(struct map *map, garner_error *error)
{
    garner_tensor out = {.shape = map->out.extents,
                         .rank = map->out.rank,
                         .dtype = map->out.dtype,
                         .item_bytes = map->out.item_bytes};
    return garner_run(map->op, map->data, map->indices, &out, NULL, error);
}

int map_outline(struct map *map, const garner_op *op, const garner_tensor *data, const garner_tensor *indices)
{
    int64_t r = data->rank, q = indices->rank, batch = op->batch_dims, axis = op->axis;
    int nd = op->kind == GARNER_GATHER_ND;
    memset(map, 0, sizeof *map);
    if (batch < 0 && batch >= -q) batch += q;
    if (axis < 0 && axis >= -r) axis += r;
    if (batch < 0 || batch > q || batch > r || r < 1) return 0;
    if (nd && (q < 1 || batch >= q || indices->shape[q - 1] < 1 || indices->shape[q - 1] > r - batch))
        return 0;
    if (!nd && (axis < 0 || axis >= r || (op->kind == GARNER_GATHER ? batch > axis : q != r))) return 0;
    map->op = op;
    map->data = data;
    map->indices = indices;
    lay_out(map);
    return 1;
}

garner_status map_create(struct map *map, const garner_op *op, const garner_tensor *data,
                         const garner_tensor *indices, garner_error *error)
{
    memset(map, 0, sizeof *map);
    map->op = op;
    map->data = data;
    map->indices = indices;
    garner_status status = garner_infer(op, data, indices, &map->out, error);
    if (status) return status;
    lay_out(map);
    map->merged = map->rank - map->out.rank + 1;
    measure(map);
    status = map->out.count ? fill(map, error) : check_only(map, error);
    if (status) map_free(map);
    return status;
}

void map_free(struct map *map)
{
    free(map->source);
    free(map->used);
    map->source = map->used = NULL;
}

int map_source(const struct map *map, int64_t out_flat, int64_t *tuple, int64_t coordinates[GARNER_MAX_RANK])
{
    int64_t reduced[GARNER_MAX_RANK] = {0};
    int64_t tuple_stride = 1;
    *tuple = 0;
    memset(coordinates, 0, GARNER_MAX_RANK * sizeof *coordinates);
    for (int32_t i = map->rank; i-- > 0;) {
        int64_t at = out_flat % map->axis[i].extent;
        out_flat /= map->axis[i].extent;
        if (map->axis[i].index_axis < 0) {
            coordinates[map->axis[i].data_axis] = at;
        } else {
            *tuple += at * tuple_stride;
            tuple_stride *= map->axis[i].extent;
        }
    }
    if (map->source[*tuple] < 0) return 0;
    int64_t shape[GARNER_MAX_RANK];
    for (int32_t i = 0; i < map->data->rank; i++)
        shape[i] = map->free_axis[i] ? 1 : map->data->shape[i];
    map_unflatten(shape, map->data->rank, map->source[*tuple], reduced);
    for (int32_t i = 0; i < map->data->rank; i++)
        if (!map->free_axis[i]) coordinates[i] = reduced[i];
    return 1;
}
