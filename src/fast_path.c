/* SPDX-License-Identifier: MIT */
/*
 * The short way of the one-call functions. Where three tensors are dense the nest follows from a few
 * products, so that a small gather needs neither views nor a map nor a plan. All checks are made here too,
 * but only passed or not: what is unusual or wrong goes the long way, which decides and finds the words.
 */
#include "fast_path.h"

enum { SMALL_OUT = 1024 /* bytes; with more to move, planning does not show */ };

/* A dense tensor of the caller, each field read once. */
struct dense {
    const int64_t *shape;
    char *data;
    int rank;
    garner_dtype dtype;
    uint64_t buffer; /* bytes that may be reached; 0: not known */
    int64_t bytes;   /* what the shape comes to */
};

struct small {
    struct dense data, indices, out;
    uint64_t doubt; /* whatever speaks against the short way sets some bit */
};

/* False if the tensor is not plainly dense, or lies nowhere. */
static inline bool take_dense(struct dense *dense, const garner_tensor *given)
{
    if (given == NULL) return false;
    dense->shape = given->shape;
    dense->data = given->data;
    dense->rank = given->rank;
    dense->dtype = given->dtype;
    dense->buffer = given->bytes;
    PIN(dense->shape);
    PIN(dense->data);
    PIN(dense->rank);
    PIN(dense->dtype);
    PIN(dense->buffer);
    return given->strides == NULL && given->byte_offset == 0 && dense->data != NULL &&
           (dense->shape != NULL || dense->rank == 0) && (unsigned)dense->rank <= GARNER_MAX_RANK &&
           dense->dtype == (dense->dtype & (DTYPES - 1));
}

/* Each number is in doubt if it is negative or beyond 2^31, so no product of two that are not can overflow.
 */
static inline int64_t number(struct small *small, int64_t value)
{
    small->doubt |= (uint64_t)value >> 31;
    return value;
}

static inline int64_t times(struct small *small, int64_t a, int64_t b)
{
    return number(small, (int64_t)((uint64_t)a * (uint64_t)b));
}

/* The product of `count` extents from `shape` on, which must be those of out from its axis `axis` on. */
static inline int64_t walk(struct small *small, const int64_t *shape, int count, int axis)
{
    int64_t product = 1;
    for (int i = 0; i < count; i++) {
        int64_t n = number(small, pin(shape[i]));
        small->doubt |= (uint64_t)(n ^ small->out.shape[axis + i]);
        product = times(small, product, n);
    }
    return product;
}

/* The product of data's extents from axis `first` to `end`, which must be those of indices and of out. */
static inline int64_t walk_three(struct small *small, int first, int end)
{
    int64_t product = 1;
    for (int i = first; i < end; i++) {
        int64_t n = number(small, pin(small->data.shape[i]));
        small->doubt |= (uint64_t)((n ^ small->indices.shape[i]) | (n ^ small->out.shape[i]));
        product = times(small, product, n);
    }
    return product;
}

static inline void add_axis(struct nest *nest, int k, int64_t bound, int64_t stride, const struct op *op)
{
    nest->axis[k] = (struct axis){bound, stride, op->negative == GARNER_NEGATIVE_WRAPS ? bound : 0};
}

static inline void add_dim(struct nest *nest, int64_t n, int64_t data, int64_t index, int64_t out)
{
    if (n != 1) nest_append(nest, (struct dim){n, data, index, out});
}

/* ---- The operators, as in shape.c; in the end what each tensor comes to, indices in numbers ------ */

/* out = data[:axis] + indices + data[axis+1:] */
static inline bool small_gather(struct nest *nest, struct small *s, const struct op *op, int axis)
{
    const int64_t *shape = s->data.shape;
    const int picked = s->indices.rank;
    if (s->out.rank != s->data.rank - 1 + picked) return false;
    int64_t outer = walk(s, shape, axis, 0), points = walk(s, s->indices.shape, picked, axis);
    int64_t inner = walk(s, shape + axis + 1, s->data.rank - axis - 1, axis + picked);
    int64_t run = times(s, inner, nest->run), bound = number(s, pin(shape[axis]));
    int64_t pitch = times(s, bound, run), row = times(s, points, run);
    nest->run = run;
    add_axis(nest, 0, bound, run, op);
    add_dim(nest, outer, pitch, 0, row);
    add_dim(nest, points, 0, 1, run);
    s->data.bytes = times(s, outer, pitch);
    s->indices.bytes = points;
    s->out.bytes = times(s, outer, row);
    return true;
}

/* out = indices, which off the axis have the extents of data; smaller ones are unusual */
static inline bool small_elements(struct nest *nest, struct small *s, const struct op *op, int axis)
{
    const int64_t *shape = s->indices.shape, item = nest->run;
    const int rank = s->data.rank;
    if (s->indices.rank != rank || s->out.rank != rank) return false;
    int64_t outer = walk_three(s, 0, axis), points = walk(s, shape + axis, 1, axis);
    int64_t inner = walk_three(s, axis + 1, rank), bound = number(s, pin(s->data.shape[axis]));
    int64_t stride = times(s, inner, item), pitch = times(s, bound, stride), row = times(s, points, inner);
    add_axis(nest, 0, bound, stride, op);
    add_dim(nest, outer, pitch, row, times(s, row, item));
    add_dim(nest, points, 0, inner, stride);
    add_dim(nest, inner, item, 1, item);
    s->data.bytes = times(s, outer, pitch);
    s->indices.bytes = times(s, outer, row);
    s->out.bytes = times(s, s->indices.bytes, item);
    return true;
}

/* out = indices[:-1] + data[k:], where k is the last extent of indices */
static inline bool small_nd(struct nest *nest, struct small *s, const struct op *op)
{
    const int last = s->indices.rank - 1;
    const int64_t *shape = s->data.shape, k = last >= 0 ? pin(s->indices.shape[last]) : 0;
    if (op->axis != 0 || k < 1 || k > s->data.rank) return false;
    const int axes = (int)k, after = s->data.rank - axes;
    if (s->out.rank != last + after) return false;
    int64_t points = walk(s, s->indices.shape, last, 0);
    int64_t run = times(s, nest->run, walk(s, shape + axes, after, last)), stride = run;
    for (int axis = axes - 1; axis >= 0; axis--) {
        int64_t bound = number(s, pin(shape[axis]));
        add_axis(nest, axis, bound, stride, op);
        stride = times(s, stride, bound);
    }
    nest->axes = axes;
    nest->step = 1;
    nest->run = run;
    add_dim(nest, points, 0, axes, run);
    s->data.bytes = stride;
    s->indices.bytes = times(s, points, axes);
    s->out.bytes = times(s, points, run);
    return true;
}

/* ---- All of it -------------------------------------------------------------------------------- */

/* Whether the operator takes these types, and they are made of whole bytes. */
static inline bool begin(struct nest *nest, const struct small *s, const struct op *op)
{
    const struct dtype *type = &garner_dtypes[s->data.dtype], *index = &garner_dtypes[s->indices.dtype];
    nest->rank = 0;
    nest->axes = 1;
    nest->step = 0;
    nest->run = type->item;
    nest->packed = NULL;
    nest->policy = op->oob;
    nest->index_type = (struct index_type){index->item, index->index == UNSIGNED};
    return type->item != 0 && type->packing == WHOLE && s->out.dtype == s->data.dtype &&
           (op->data_types >> s->data.dtype & op->rules->index_types >> s->indices.dtype & 1);
}

static inline bool build(struct nest *nest, struct small *s, const struct op *op)
{
    int64_t axis;
    if (op->batch_dims != 0) return false;
    if (op->rules->kind == GARNER_GATHER_ND) return small_nd(nest, s, op);
    if (!index_inside(op->axis, s->data.rank, s->data.rank, &axis)) return false;
    return op->rules->kind == GARNER_GATHER ? small_gather(nest, s, op, (int)axis)
                                            : small_elements(nest, s, op, (int)axis);
}

static inline bool has_room(const struct dense *dense)
{
    return dense->buffer == 0 || (uint64_t)dense->bytes <= dense->buffer;
}

/* Both have bytes. */
static inline bool share_memory(const struct dense *a, const struct dense *b)
{
    uintptr_t distance = (uintptr_t)a->data - (uintptr_t)b->data;
    return distance + (uintptr_t)a->bytes - 1 < (uintptr_t)(a->bytes + b->bytes - 1);
}

bool garner_small_nest(struct nest *nest, struct buffers *buffers, const struct op *op,
                       const garner_tensor *data, const garner_tensor *indices, const garner_tensor *out)
{
    struct small s;
    if (!take_dense(&s.data, data) || !take_dense(&s.indices, indices) || !take_dense(&s.out, out))
        return false;
    s.doubt = 0;
    if (!begin(nest, &s, op) || !build(nest, &s, op) || s.doubt != 0) return false;
    if (s.out.bytes < 1 || s.out.bytes > SMALL_OUT || s.data.bytes < 1) return false;
    s.indices.bytes *= nest->index_type.bytes;
    if (!has_room(&s.data) || !has_room(&s.indices) || !has_room(&s.out)) return false;
    if (share_memory(&s.out, &s.data) || share_memory(&s.out, &s.indices)) return false;
    garner_nest_finish(nest, s.out.bytes);
    *buffers = (struct buffers){s.data.data, s.indices.data, s.out.data};
    return true;
}
