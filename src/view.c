/* SPDX-License-Identifier: MIT */
/*
 * Copies a caller's tensor, and proves that what it reaches can be addressed and lies in its buffer. What
 * is wrong is found by functions that only name the fault; the sentences stand at the end.
 */
#include "view.h"

#include "error.h"
#include "index.h"

bool garner_count(int rank, const int64_t *n, int64_t *count)
{
    *count = 1;
    /*@ loop invariant 0 <= i <= rank && (*count == 0 || *count == 1);
        loop invariant *count == 0 <==> has_zero(n, i);
        loop assigns i, *count; */
    for (int i = 0; i < rank; i++)
        if (n[i] == 0) *count = 0;
    /*@ loop invariant 0 <= i <= rank && *count >= 0 && (*count == 0 <==> has_zero(n, rank));
        loop invariant *count == 0 || *count == count_of(i);
        loop assigns i, *count; */
    for (int i = 0; i < rank && *count != 0; i++) {
        /*@ assert counts(n, i) && n[i] > 0; */
        if (!multiply_fits(*count, n[i], count)) return false;
    }
    return true;
}

bool garner_view_is_dense(const struct view *view)
{
    int64_t stride = 1;
    /*@ loop invariant -1 <= i < view->rank && stride == stride_of(i + 1);
        loop invariant all_dense(view, i + 1);
        loop assigns i, stride;
        loop variant i; */
    for (int i = view->rank - 1; i >= 0; i--) {
        /*@ assert strides(view, i); */
        if (view->n[i] != 1 && view->stride[i] != stride) return false;
        stride *= view->n[i];
    }
    return true;
}

/* A caller's struct, each field that matters read once. */
static inline garner_tensor own_tensor(const garner_tensor *given)
{
    garner_tensor own = {
        .shape = given->shape,
        .strides = given->strides,
        .rank = given->rank,
        .dtype = given->dtype,
        .bytes = given->bytes,
        .item_bytes = given->item_bytes,
        .byte_offset = given->byte_offset,
    };
    PIN(own.shape);
    PIN(own.strides);
    PIN(own.rank);
    PIN(own.dtype);
    PIN(own.bytes);
    PIN(own.item_bytes);
    PIN(own.byte_offset);
    return own;
}

/* Copies extents, counts elements, and fills in the strides of C order. False if there are no elements, or
 * if a number is negative or beyond 2^31, so that products may not fit. */
static inline bool take_shape(struct view *view, const int64_t *shape)
{
    uint64_t count = 1, sizes = 0;
    for (int64_t i = view->rank - 1; i >= 0; i--) {
        int64_t n = pin(shape[i]);
        view->n[i] = n;
        view->stride[i] = (int64_t)count;
        count *= (uint64_t)n;
        sizes |= (uint64_t)n | count;
    }
    view->count = (int64_t)count;
    return sizes >> 31 == 0 && count != 0;
}

static inline enum view_fault check_buffer(const struct view *view)
{
    bool inside = view->span.low >= 0 && (uint64_t)view->span.high <= view->buffer;
    return inside || view->buffer == 0 ? VIEW_FINE : VIEW_BUFFER;
}

/* The bytes that a dense view reaches. */
static enum view_fault reach_dense(struct view *view)
{
    int64_t bytes, high;
    if (!dtype_size(view->type, view->count, view->item, &bytes) || bytes > PTRDIFF_MAX) return VIEW_BYTES;
    if (!add_fits(view->offset, bytes, &high) || high > PTRDIFF_MAX) return VIEW_BYTES;
    view->span = (struct span){view->offset, high};
    return check_buffer(view);
}

/* Adds what an axis reaches, in elements; false if that does not fit. */
static bool add_reach(struct span *reach, int64_t n, int64_t stride)
{
    int64_t last;
    if (!multiply_fits(n - 1, stride, &last)) return false;
    return last < 0 ? add_fits(reach->low, last, &reach->low) : add_fits(reach->high, last, &reach->high);
}

/* The lowest and highest element that the strides reach, in bytes; false if that cannot be addressed. */
static bool find_span(struct view *view)
{
    struct span reach = {0, 0};
    int64_t low, high, width;
    /*@ loop invariant 0 <= i <= view->rank;
        loop invariant reach.low == low(view, i);
        loop invariant reach.high == high(view, i);
        loop invariant reach.low <= 0 <= reach.high;
        loop assigns i, reach; */
    for (int i = 0; i < view->rank; i++)
        if (!add_reach(&reach, view->n[i], view->stride[i])) return false;
    if (!add_fits(reach.high, 1, &high) || !multiply_fits(reach.low, view->item, &low) ||
        !multiply_fits(high, view->item, &high))
        return false;
    if (__builtin_sub_overflow(high, low, &width) || width > PTRDIFF_MAX) return false;
    view->span.low = low + view->offset; /* one of them is not above 0, the other not below */
    /* uncovered: low is not that low, since the width is no more than PTRDIFF_MAX */
    return add_fits(high, view->offset, &view->span.high) && view->span.low >= -PTRDIFF_MAX &&
           view->span.high <= PTRDIFF_MAX;
}

static enum view_fault reach_strided(struct view *view, const int64_t *strides)
{
    for (int i = 0; i < view->rank; i++)
        view->stride[i] = view->n[i] == 1 ? 0 : pin(strides[i]);
    if (view->type->packing != WHOLE) return garner_view_is_dense(view) ? reach_dense(view) : VIEW_PACKED;
    return find_span(view) ? check_buffer(view) : VIEW_STRIDES;
}

/* No step along any axis, so that nobody's arithmetic meets extents that are huge beside a zero. */
static enum view_fault reach_nothing(struct view *view)
{
    view->offset = 0;
    view->span = (struct span){0, 0};
    for (int i = 0; i < view->rank; i++)
        view->stride[i] = 0;
    return VIEW_FINE;
}

static enum view_fault check_type(struct view *view, uint64_t item_bytes)
{
    if (dtype_row(view->dtype) == NULL) return VIEW_TYPE;
    if (view->type->item != 0) return VIEW_FINE;
    view->item = (int64_t)item_bytes;
    return view->item > 0 && view->item <= PTRDIFF_MAX ? VIEW_FINE : VIEW_ITEM;
}

static enum view_fault check_rank_and_offset(const struct view *view, const int64_t *shape)
{
    if (view->rank < 0 || view->rank > GARNER_MAX_RANK) return VIEW_RANK;
    if (shape == NULL && view->rank > 0) return VIEW_NO_SHAPE;
    return view->offset < 0 || view->offset > PTRDIFF_MAX ? VIEW_OFFSET : VIEW_FINE;
}

static enum view_fault check_extents(struct view *view)
{
    for (int i = 0; i < view->rank; i++)
        if (view->n[i] < 0) return VIEW_EXTENT;
    return garner_count(view->rank, view->n, &view->count) ? VIEW_FINE : VIEW_COUNT;
}

/* Any view, good or bad, every number checked. */
static GARNER_NOINLINE enum view_fault make_any(struct view *view, const int64_t *shape,
                                                const int64_t *strides, uint64_t item_bytes)
{
    enum view_fault fault = check_type(view, item_bytes);
    if (fault == VIEW_FINE) fault = check_rank_and_offset(view, shape);
    if (fault != VIEW_FINE) return fault;
    take_shape(view, shape);
    fault = check_extents(view);
    if (fault != VIEW_FINE) return fault;
    if (view->count == 0) return reach_nothing(view);
    return view->dense ? reach_dense(view) : reach_strided(view, strides);
}

/* Whether a view is dense, and made of whole elements of a known size. */
static inline bool is_plain(const struct view *view, const int64_t *shape)
{
    return view->dtype == (view->dtype & (DTYPES - 1)) && view->item != 0 && view->type->packing == WHOLE &&
           (unsigned)view->rank <= GARNER_MAX_RANK && (shape != NULL || view->rank == 0) && view->dense &&
           (uint64_t)view->offset >> 31 == 0;
}

/* Plain views of less than 2^31 elements are made here: no number that is computed can overflow. */
enum view_fault garner_view_make(struct view *view, const garner_tensor *given)
{
    if (given == NULL) return VIEW_IS_NULL;
    const garner_tensor own = own_tensor(given);
    const struct dtype *type = &garner_dtypes[own.dtype & (DTYPES - 1)];
    PIN(type); /* or its address is computed for each column */
    view->type = type;
    view->dtype = own.dtype;
    view->rank = own.rank;
    view->dense = own.strides == NULL;
    view->item = type->item;
    view->offset = (int64_t)own.byte_offset;
    view->buffer = own.bytes;
    if (!is_plain(view, own.shape) || !take_shape(view, own.shape))
        return make_any(view, own.shape, own.strides, own.item_bytes);
    view->span = (struct span){view->offset, view->offset + view->count * view->item};
    return view->span.high <= PTRDIFF_MAX ? check_buffer(view) : VIEW_BYTES;
}

void garner_view_dense(struct view *view, const garner_shape *shape)
{
    int64_t count = shape->count > 0;
    view->dtype = shape->dtype;
    view->type = dtype_row(shape->dtype);
    view->rank = shape->rank;
    view->dense = true;
    view->count = shape->count;
    /* analysis: a shape that garner_infer made has a type of the table */
    view->item = shape->item_bytes ? (int64_t)shape->item_bytes : view->type->item;
    view->offset = 0;
    view->buffer = 0;
    view->span = (struct span){0, shape->bytes};
    for (int i = shape->rank - 1; i >= 0; i--) {
        view->n[i] = shape->extents[i];
        view->stride[i] = count;
        count *= view->n[i];
    }
}

/* ---- In words --------------------------------------------------------------------------------- */

static GARNER_COLD garner_status fail_type(enum view_fault fault, const struct view *view, const char *op,
                                           const char *role, garner_error *error)
{
    if (fault == VIEW_TYPE)
        return garner_fail(error, GARNER_BAD_TYPE, "%s: %s has element type number %d, which is none", op,
                           role, (int)view->dtype);
    return garner_fail(error, GARNER_BAD_TYPE,
                       "%s: %s has opaque elements of %llu bytes; item_bytes is 1 to 2^63 - 1", op, role,
                       (unsigned long long)view->item);
}

static GARNER_COLD garner_status fail_shape(enum view_fault fault, const struct view *view, const char *op,
                                            const char *role, garner_error *error)
{
    if (fault == VIEW_RANK)
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: %s has rank %d, which is outside [0, %d]", op, role,
                           view->rank, GARNER_MAX_RANK);
    if (fault == VIEW_NO_SHAPE)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: the shape of %s is NULL, but its rank is %d", op,
                           role, view->rank);
    if (fault == VIEW_COUNT)
        return garner_fail(error, GARNER_TOO_LARGE, "%s: %s of shape %s has more than 2^63 - 1 elements", op,
                           role, garner_list_text(view->rank, view->n).text);
    int axis = 0;
    while (view->n[axis] >= 0)
        axis++;
    return garner_fail_at_axis(error, GARNER_BAD_SHAPE, axis,
                               "%s: %s has extent %lld on axis %d; an extent is at least 0", op, role,
                               (long long)view->n[axis], axis);
}

static GARNER_COLD garner_status fail_reach(enum view_fault fault, const struct view *view, const char *op,
                                            const char *role, garner_error *error)
{
    if (fault == VIEW_OFFSET)
        return garner_fail(error, GARNER_TOO_LARGE, "%s: the byte_offset %llu of %s is beyond 2^63 - 1", op,
                           (unsigned long long)view->offset, role);
    if (fault == VIEW_BYTES)
        return garner_fail(error, GARNER_TOO_LARGE,
                           "%s: %s of shape %s and type %s needs more bytes than can be addressed", op, role,
                           garner_list_text(view->rank, view->n).text, view->type->name);
    if (fault == VIEW_PACKED)
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: %s of packed type %s has strides %s; it must be dense", op, role,
                           view->type->name, garner_list_text(view->rank, view->stride).text);
    if (fault == VIEW_STRIDES)
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: %s of shape %s has strides %s, which reach further than can be addressed", op,
                           role, garner_list_text(view->rank, view->n).text,
                           garner_list_text(view->rank, view->stride).text);
    return garner_fail(
        error, GARNER_BAD_SHAPE, "%s: %s reaches bytes %lld to %lld of its buffer, which has %llu", op, role,
        (long long)view->span.low, (long long)view->span.high, (unsigned long long)view->buffer);
}

GARNER_COLD garner_status garner_view_fail(enum view_fault fault, const struct view *view, const char *op,
                                           const char *role, garner_error *error)
{
    if (fault == VIEW_IS_NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: %s is NULL", op, role);
    return fault <= VIEW_ITEM    ? fail_type(fault, view, op, role, error)
           : fault <= VIEW_COUNT ? fail_shape(fault, view, op, role, error)
                                 : fail_reach(fault, view, op, role, error);
}
