/* SPDX-License-Identifier: MIT */
/*
 * The three operators as their specifications write them: for each coordinate of out, the coordinate
 * of data that it comes from. Slow and plain on purpose; see reference.h.
 */
#include "reference.h"

#include <string.h>

/* spec, kind, data types, index types, batch_dims, off-axis equal, batches multiplied, zeros, strict from 0
 */
const struct ref_version ref_versions[REF_VERSIONS] = {
    {NULL, GARNER_GATHER, REF_TYPES_ANY, REF_INDEX_ANY, REF_BATCH_SIGNED, 0, 0, 0, 0},
    {"onnx-1", GARNER_GATHER, REF_TYPES_ONNX_OLD, REF_INDEX_I32_I64, REF_BATCH_NONE, 0, 0, 0, 0},
    {"onnx-11", GARNER_GATHER, REF_TYPES_ONNX_OLD, REF_INDEX_I32_I64, REF_BATCH_NONE, 0, 0, 0, 0},
    {"onnx-13", GARNER_GATHER, REF_TYPES_ONNX_13, REF_INDEX_I32_I64, REF_BATCH_NONE, 0, 0, 0, 0},
    {"openvino-1", GARNER_GATHER, REF_TYPES_OPENVINO, REF_INDEX_ANY, REF_BATCH_NONE, 0, 0, 0, 1},
    {"openvino-7", GARNER_GATHER, REF_TYPES_OPENVINO, REF_INDEX_ANY, REF_BATCH_SIGNED, 0, 0, 0, 1},
    {"openvino-8", GARNER_GATHER, REF_TYPES_OPENVINO, REF_INDEX_ANY, REF_BATCH_SIGNED, 0, 0, 1, 0},
    {NULL, GARNER_GATHER_ELEMENTS, REF_TYPES_ANY, REF_INDEX_ANY, REF_BATCH_NONE, 0, 0, 0, 0},
    {"onnx-11", GARNER_GATHER_ELEMENTS, REF_TYPES_ONNX_OLD, REF_INDEX_I32_I64, REF_BATCH_NONE, 0, 0, 0, 0},
    {"onnx-13", GARNER_GATHER_ELEMENTS, REF_TYPES_ONNX_13, REF_INDEX_I32_I64, REF_BATCH_NONE, 0, 0, 0, 0},
    {"openvino-6", GARNER_GATHER_ELEMENTS, REF_TYPES_OPENVINO, REF_INDEX_I32_I64, REF_BATCH_NONE, 1, 0, 0, 1},
    {NULL, GARNER_GATHER_ND, REF_TYPES_ANY, REF_INDEX_ANY, REF_BATCH_COUNTED, 0, 0, 0, 0},
    {"onnx-11", GARNER_GATHER_ND, REF_TYPES_ONNX_OLD, REF_INDEX_I64, REF_BATCH_NONE, 0, 0, 0, 0},
    {"onnx-12", GARNER_GATHER_ND, REF_TYPES_ONNX_OLD, REF_INDEX_I64, REF_BATCH_COUNTED, 0, 0, 0, 0},
    {"onnx-13", GARNER_GATHER_ND, REF_TYPES_ONNX_13, REF_INDEX_I64, REF_BATCH_COUNTED, 0, 0, 0, 0},
    {"openvino-5", GARNER_GATHER_ND, REF_TYPES_OPENVINO, REF_INDEX_ANY, REF_BATCH_COUNTED, 0, 1, 0, 1},
    {"openvino-8", GARNER_GATHER_ND, REF_TYPES_OPENVINO, REF_INDEX_ANY, REF_BATCH_COUNTED, 0, 0, 0, 1},
};

const struct ref_version *ref_find_version(garner_kind kind, const char *spec)
{
    for (int i = 0; i < REF_VERSIONS; i++) {
        const struct ref_version *version = &ref_versions[i];
        if (version->kind != kind || !spec != !version->spec) continue;
        if (!spec || strcmp(spec, version->spec) == 0) return version;
    }
    return NULL;
}

/* The version whose text is in force: strict without a version means onnx-13. */
static const struct ref_version *text_of(const struct ref_op *op)
{
    if (op->strict && !op->version->spec) return ref_find_version(op->version->kind, "onnx-13");
    return op->version;
}

/* ---- Views ---- */

int64_t ref_count(int rank, const int64_t *shape)
{
    int64_t count = 1;
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0) return 0;
    for (int d = 0; d < rank; d++)
        count *= shape[d];
    return count;
}

void ref_dense_strides(int rank, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = step;
        step *= shape[d] ? shape[d] : 1;
    }
}

int64_t ref_offset(const struct ref_view *view, const int64_t *at)
{
    int64_t offset = 0;
    for (int d = 0; d < view->rank; d++)
        offset += at[d] * view->strides[d];
    return offset;
}

size_t ref_item_bytes(const struct ref_view *view)
{
    return view->dtype == GARNER_OPAQUE ? view->item_bytes : (size_t)ref_bits(view->dtype) / 8;
}

bool ref_next(int rank, const int64_t *shape, int64_t *at)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++at[d] < shape[d]) return true;
        at[d] = 0;
    }
    return false;
}

/* ---- Types ---- */

static bool type_in(garner_dtype dtype, const garner_dtype *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == dtype) return true;
    return false;
}

static bool data_type_allowed(const struct ref_version *text, bool strict, garner_dtype dtype)
{
    static const garner_dtype onnx[] = {
        GARNER_F32,  GARNER_U8,  GARNER_I8,  GARNER_U16, GARNER_I16, GARNER_I32, GARNER_I64,  GARNER_STR,
        GARNER_BOOL, GARNER_F16, GARNER_F64, GARNER_U32, GARNER_U64, GARNER_C64, GARNER_C128, GARNER_BF16};
    static const garner_dtype not_openvino[] = {GARNER_C64,        GARNER_C128,       GARNER_I2,
                                                GARNER_F8E4M3FNUZ, GARNER_F8E5M2FNUZ, GARNER_OPAQUE};
    if (!type_in(dtype, ref_types, REF_TYPES)) return false;
    switch (text->types) {
    case REF_TYPES_ONNX_OLD:
        return type_in(dtype, onnx, 15);
    case REF_TYPES_ONNX_13:
        return type_in(dtype, onnx, 16);
    case REF_TYPES_OPENVINO:
        return !strict || !type_in(dtype, not_openvino, 6);
    default:
        return true;
    }
}

static bool index_type_allowed(const struct ref_version *text, garner_dtype dtype)
{
    switch (text->index_types) {
    case REF_INDEX_I64:
        return dtype == GARNER_I64;
    case REF_INDEX_I32_I64:
        return dtype == GARNER_I32 || dtype == GARNER_I64;
    default:
        return type_in(dtype, ref_index_types, REF_INDEX_TYPES);
    }
}

/* ---- Shapes ---- */

/* The three of one operator on legal types, with axis and batch_dims counted from the front. */
struct problem {
    const struct ref_op *op;
    const struct ref_version *text;
    const struct ref_view *data;
    const struct ref_view *indices;
    int axis;
    int batch;
    int tuple; /* GatherND: indices per tuple */
};

static bool count_axis(struct problem *p)
{
    const int64_t r = p->data->rank;
    if (r < 1 || p->op->axis < -r || p->op->axis > r - 1) return false;
    p->axis = (int)(p->op->axis < 0 ? p->op->axis + r : p->op->axis);
    return true;
}

static bool count_batch(struct problem *p)
{
    const int64_t r = p->data->rank, q = p->indices->rank, least = r < q ? r : q, b = p->op->batch_dims;
    p->batch = 0;
    switch (p->text->batch) {
    case REF_BATCH_NONE:
        return b == 0;
    case REF_BATCH_COUNTED:
        p->batch = (int)b;
        return b >= 0 && b < least;
    default:
        p->batch = (int)(b < 0 ? b + q : b);
        return b >= -least && b <= least;
    }
}

static bool batches_agree(const struct problem *p)
{
    for (int d = 0; d < p->batch; d++)
        if (p->data->shape[d] != p->indices->shape[d]) return false;
    return true;
}

static bool push(struct ref_result *result, int64_t extent)
{
    if (result->rank < GARNER_MAX_RANK) result->shape[result->rank] = extent;
    return ++result->rank <= GARNER_MAX_RANK;
}

static bool shape_of_gather(struct problem *p, struct ref_result *result)
{
    if (!count_axis(p) || !count_batch(p) || p->batch > p->axis || !batches_agree(p)) return false;
    bool fits = true;
    for (int d = 0; d < p->axis; d++)
        fits = push(result, p->data->shape[d]);
    for (int d = p->batch; d < p->indices->rank; d++)
        fits = push(result, p->indices->shape[d]);
    for (int d = p->axis + 1; d < p->data->rank; d++)
        fits = push(result, p->data->shape[d]);
    return fits || result->rank <= GARNER_MAX_RANK;
}

static bool shape_of_gather_elements(struct problem *p, struct ref_result *result)
{
    if (p->data->rank != p->indices->rank || p->op->batch_dims != 0 || !count_axis(p)) return false;
    for (int d = 0; d < p->data->rank; d++) {
        const int64_t have = p->data->shape[d], want = p->indices->shape[d];
        if (d != p->axis && (want > have || (p->text->off_axis_equal && want != have))) return false;
        push(result, want);
    }
    return true;
}

static bool shape_of_gather_nd(struct problem *p, struct ref_result *result)
{
    const int r = p->data->rank, q = p->indices->rank;
    if (r < 1 || q < 1 || !count_batch(p) || !batches_agree(p)) return false;
    const int64_t tuple = p->indices->shape[q - 1];
    if (tuple < 1 || tuple > r - p->batch) return false;
    p->tuple = (int)tuple;
    int64_t batches = 1;
    for (int d = 0; d < q - 1; d++) {
        if (d < p->batch && p->text->batches_multiplied)
            batches *= p->indices->shape[d];
        else
            push(result, p->indices->shape[d]);
        if (d == p->batch - 1 && p->text->batches_multiplied) push(result, batches);
    }
    for (int d = p->batch + p->tuple; d < r; d++)
        push(result, p->data->shape[d]);
    return result->rank <= GARNER_MAX_RANK;
}

static bool shape_of(struct problem *p, struct ref_result *result)
{
    result->rank = 0;
    switch (p->op->version->kind) {
    case GARNER_GATHER:
        return shape_of_gather(p, result);
    case GARNER_GATHER_ELEMENTS:
        return shape_of_gather_elements(p, result);
    default:
        return shape_of_gather_nd(p, result);
    }
}

static struct problem problem_of(const struct ref_op *op, const struct ref_view *data,
                                 const struct ref_view *indices)
{
    return (struct problem){.op = op, .text = text_of(op), .data = data, .indices = indices};
}

garner_status ref_infer(const struct ref_op *op, const struct ref_view *data, const struct ref_view *indices,
                        struct ref_result *result)
{
    struct problem p = problem_of(op, data, indices);
    result->status = GARNER_OK;
    if (!data_type_allowed(p.text, op->strict, data->dtype) || !index_type_allowed(p.text, indices->dtype))
        result->status = GARNER_BAD_TYPE;
    else if (!shape_of(&p, result))
        result->status = GARNER_BAD_SHAPE;
    return result->status;
}

/* ---- Indices ---- */

static int axis_at(const struct problem *p, int64_t position)
{
    return p->op->version->kind == GARNER_GATHER_ND ? p->batch + (int)(position % p->tuple) : p->axis;
}

int64_t ref_axis_of(const struct ref_op *op, const struct ref_view *data, const struct ref_view *indices,
                    int64_t position)
{
    struct problem p = problem_of(op, data, indices);
    struct ref_result ignored;
    shape_of(&p, &ignored);
    return axis_at(&p, position);
}

enum { FILL_ZERO = -1, REFUSED = -2 };

/* Where an index goes on an axis of extent s: a coordinate, FILL_ZERO or REFUSED. */
static int64_t resolve(const struct problem *p, ref_int value, int64_t s)
{
    const bool from_zero = p->op->negative_is_outside || (p->op->strict && p->text->strict_from_zero);
    const ref_int least = from_zero ? 0 : -(ref_int)s;
    if (value >= least && value <= s - 1) return (int64_t)(value < 0 ? value + s : value);
    int oob = p->op->oob;
    if (oob == REF_OOB_OF_VERSION) oob = p->text->zeros ? GARNER_OOB_ZERO : GARNER_OOB_ERROR;
    if (oob == GARNER_OOB_ZERO) return FILL_ZERO;
    if (oob == GARNER_OOB_ERROR || s == 0) return REFUSED;
    if (oob == GARNER_OOB_CLAMP) return value < 0 ? 0 : s - 1;
    const ref_int rest = value % s;
    return (int64_t)(rest < 0 ? rest + s : rest);
}

static ref_int index_at(const struct problem *p, const int64_t *at)
{
    const int64_t offset = ref_offset(p->indices, at) * (int64_t)ref_item_bytes(p->indices);
    return ref_load_index(p->indices->dtype, p->indices->first + offset);
}

static bool all_indices_good(const struct problem *p, struct ref_result *result)
{
    const struct ref_view *indices = p->indices;
    int64_t at[GARNER_MAX_RANK] = {0}, position = 0;
    if (ref_count(indices->rank, indices->shape) == 0) return true;
    do {
        const int axis = axis_at(p, position);
        const ref_int value = index_at(p, at);
        if (resolve(p, value, p->data->shape[axis]) == REFUSED) {
            result->position = position;
            result->axis = axis;
            result->bound = p->data->shape[axis];
            result->value = value;
            return false;
        }
        position++;
    } while (ref_next(indices->rank, indices->shape, at));
    return true;
}

/* ---- The formulas: out coordinate -> data coordinate; false where zeros belong ---- */

/* out[p.., i.., t..] = data[p.., indices[p..(b), i..], t..] */
static bool source_of_gather(const struct problem *p, const int64_t *out, int64_t *from)
{
    int64_t which[GARNER_MAX_RANK];
    const int own = p->indices->rank - p->batch;
    for (int d = 0; d < p->batch; d++)
        which[d] = out[d];
    for (int d = 0; d < own; d++)
        which[p->batch + d] = out[p->axis + d];
    for (int d = 0; d < p->axis; d++)
        from[d] = out[d];
    from[p->axis] = resolve(p, index_at(p, which), p->data->shape[p->axis]);
    for (int d = p->axis + 1; d < p->data->rank; d++)
        from[d] = out[d - 1 + own];
    return from[p->axis] != FILL_ZERO;
}

/* out[i, j, k] = data[i, indices[i, j, k], k] */
static bool source_of_gather_elements(const struct problem *p, const int64_t *out, int64_t *from)
{
    for (int d = 0; d < p->data->rank; d++)
        from[d] = out[d];
    from[p->axis] = resolve(p, index_at(p, out), p->data->shape[p->axis]);
    return from[p->axis] != FILL_ZERO;
}

/* out[b.., i.., t..] = data[b.., indices[b.., i.., 0], indices[b.., i.., 1], ..., t..] */
static bool source_of_gather_nd(const struct problem *p, const int64_t *out, int64_t *from)
{
    int64_t which[GARNER_MAX_RANK];
    int used = 0;
    if (p->text->batches_multiplied && p->batch > 0) {
        int64_t batch = out[used++];
        for (int d = p->batch - 1; d >= 0; d--) {
            which[d] = batch % p->indices->shape[d];
            batch /= p->indices->shape[d];
        }
    } else {
        for (int d = 0; d < p->batch; d++)
            which[d] = out[used++];
    }
    for (int d = p->batch; d < p->indices->rank - 1; d++)
        which[d] = out[used++];
    for (int d = 0; d < p->batch; d++)
        from[d] = which[d];
    bool inside = true;
    for (int k = 0; k < p->tuple; k++) {
        which[p->indices->rank - 1] = k;
        from[p->batch + k] = resolve(p, index_at(p, which), p->data->shape[p->batch + k]);
        inside = inside && from[p->batch + k] != FILL_ZERO;
    }
    for (int d = p->batch + p->tuple; d < p->data->rank; d++)
        from[d] = out[used++];
    return inside;
}

static bool source_of(const struct problem *p, const int64_t *out, int64_t *from)
{
    switch (p->op->version->kind) {
    case GARNER_GATHER:
        return source_of_gather(p, out, from);
    case GARNER_GATHER_ELEMENTS:
        return source_of_gather_elements(p, out, from);
    default:
        return source_of_gather_nd(p, out, from);
    }
}

static void put(const struct ref_view *out, int64_t to, const struct ref_view *data, int64_t from,
                bool inside)
{
    const size_t size = ref_item_bytes(out);
    if (ref_is_packed(out->dtype))
        ref_put_code(out->dtype, out->first, to, inside ? ref_get_code(data->dtype, data->first, from) : 0);
    else if (inside)
        memcpy(out->first + to * (int64_t)size, data->first + from * (int64_t)size, size);
    else
        memset(out->first + to * (int64_t)size, 0, size);
}

garner_status ref_run(const struct ref_op *op, const struct ref_view *data, const struct ref_view *indices,
                      const struct ref_view *out, struct ref_result *result)
{
    struct problem p = problem_of(op, data, indices);
    result->status = GARNER_OK;
    if (!shape_of(&p, result)) return result->status = GARNER_BAD_SHAPE;
    if (!all_indices_good(&p, result)) return result->status = GARNER_OUT_OF_RANGE;
    const int64_t count = ref_count(out->rank, out->shape);
    if (ref_is_packed(out->dtype)) memset(out->first, 0, ref_bytes(out->dtype, 0, count));
    if (count == 0) return GARNER_OK;
    int64_t at[GARNER_MAX_RANK] = {0}, from[GARNER_MAX_RANK];
    do {
        const bool inside = source_of(&p, at, from);
        put(out, ref_offset(out, at), data, inside ? ref_offset(data, from) : 0, inside);
    } while (ref_next(out->rank, out->shape, at));
    return GARNER_OK;
}
