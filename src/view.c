/* SPDX-License-Identifier: MIT */
/* Copies a caller's tensor, and proves that what it reaches can be addressed and lies in its buffer. */
#include "view.h"

#include <string.h>

#include "error.h"
#include "index.h"

bool garner_count(int rank, const int64_t *n, int64_t *count)
{
    *count = 1;
    for (int i = 0; i < rank; i++)
        if (n[i] == 0) *count = 0;
    for (int i = 0; i < rank && *count != 0; i++)
        if (!multiply_fits(*count, n[i], count)) return false;
    return true;
}

bool garner_view_is_dense(const struct view *view)
{
    int64_t stride = 1;
    for (int i = view->rank - 1; i >= 0; i--) {
        if (view->n[i] != 1 && view->stride[i] != stride) return false;
        stride *= view->n[i];
    }
    return true;
}

/* Why the extents were not taken: one is negative, or there are too many elements. */
static GARNER_COLD garner_status fail_extents(const struct view *view, const char *op, const char *role,
                                              garner_error *error)
{
    for (int i = 0; i < view->rank; i++)
        if (view->n[i] < 0)
            return garner_fail_at_axis(error, GARNER_BAD_SHAPE, i,
                                       "%s: %s has extent %lld on axis %d; an extent is at least 0", op, role,
                                       (long long)view->n[i], i);
    return garner_fail(error, GARNER_TOO_LARGE, "%s: %s of shape %s has more than 2^63 - 1 elements", op,
                       role, garner_list_text(view->rank, view->n).text);
}

/* Copies extents, counts elements, and fills in the strides of C order. */
static garner_status take_shape(struct view *view, const garner_tensor *tensor, const char *op,
                                const char *role, garner_error *error)
{
    if (tensor->rank < 0 || tensor->rank > GARNER_MAX_RANK)
        return garner_fail(error, GARNER_BAD_SHAPE, "%s: %s has rank %d, which is outside [0, %d]", op, role,
                           (int)tensor->rank, GARNER_MAX_RANK);
    if (tensor->rank > 0 && tensor->shape == NULL)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: the shape of %s is NULL, but its rank is %d", op,
                           role, (int)tensor->rank);
    int64_t count = 1, least = 1;
    bool fits = true;
    view->rank = tensor->rank;
    for (int i = view->rank - 1; i >= 0; i--) {
        int64_t n = pin(tensor->shape[i]);
        view->n[i] = n;
        view->stride[i] = count;
        least = at_most(least, n);
        fits &= multiply_fits(count, n, &count);
    }
    if (least < 0 || (least > 0 && !fits)) return fail_extents(view, op, role, error);
    view->count = least == 0 ? 0 : count;
    return GARNER_OK;
}

static garner_status take_type(struct view *view, const garner_tensor *tensor, const char *op,
                               const char *role, garner_error *error)
{
    view->dtype = tensor->dtype;
    view->type = garner_dtype_row(tensor->dtype);
    if (view->type == NULL)
        return garner_fail(error, GARNER_BAD_TYPE, "%s: %s has element type number %d, which is none", op,
                           role, (int)tensor->dtype);
    bool opaque = view->type->bits == 0;
    if (opaque && (tensor->item_bytes == 0 || tensor->item_bytes > PTRDIFF_MAX))
        return garner_fail(error, GARNER_BAD_TYPE,
                           "%s: %s has opaque elements of %llu bytes; item_bytes is 1 to 2^63 - 1", op, role,
                           (unsigned long long)tensor->item_bytes);
    bool packed = view->type->packing != WHOLE;
    view->item = opaque ? (int64_t)tensor->item_bytes : packed ? 1 : view->type->unit_bytes;
    return GARNER_OK;
}

/* The bytes that a dense view reaches. */
static garner_status take_dense(struct view *view, const char *op, const char *role, garner_error *error)
{
    int64_t bytes;
    if (!garner_dtype_size(view->type, view->count, (uint64_t)view->item, &bytes) || bytes > PTRDIFF_MAX ||
        !add_fits(view->offset, bytes, &view->span.high) || view->span.high > PTRDIFF_MAX)
        return garner_fail(error, GARNER_TOO_LARGE,
                           "%s: %s of shape %s and type %s needs more bytes than can be addressed", op, role,
                           garner_list_text(view->rank, view->n).text, view->type->name);
    view->span.low = view->offset;
    return GARNER_OK;
}

/* The lowest and highest element that the strides reach, in bytes; false if that cannot be addressed. */
static bool strided_span(struct view *view)
{
    int64_t low = 0, high = 0, reach, width;
    for (int i = 0; i < view->rank; i++) {
        if (!multiply_fits(view->n[i] - 1, view->stride[i], &reach)) return false;
        if (!add_fits(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) return false;
    }
    if (!add_fits(high, 1, &high) || !multiply_fits(low, view->item, &low) ||
        !multiply_fits(high, view->item, &high))
        return false;
    if (__builtin_sub_overflow(high, low, &width) || width > PTRDIFF_MAX) return false;
    return add_fits(low, view->offset, &view->span.low) && add_fits(high, view->offset, &view->span.high) &&
           view->span.low >= -PTRDIFF_MAX && view->span.high <= PTRDIFF_MAX;
}

static garner_status take_strides(struct view *view, const garner_tensor *tensor, const char *op,
                                  const char *role, garner_error *error)
{
    for (int i = 0; i < view->rank; i++)
        view->stride[i] = view->n[i] == 1 ? 0 : pin(tensor->strides[i]);
    if (view->type->packing != WHOLE && !garner_view_is_dense(view))
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: %s of packed type %s has strides %s; it must be dense", op, role,
                           view->type->name, garner_list_text(view->rank, view->stride).text);
    if (view->type->packing != WHOLE) return take_dense(view, op, role, error);
    if (!strided_span(view))
        return garner_fail(error, GARNER_BAD_SHAPE,
                           "%s: %s of shape %s has strides %s, which reach further than can be addressed", op,
                           role, garner_list_text(view->rank, view->n).text,
                           garner_list_text(view->rank, view->stride).text);
    return GARNER_OK;
}

garner_status garner_view_make(struct view *view, const garner_tensor *given, const char *op,
                               const char *role, garner_error *error)
{
    if (given == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: %s is NULL", op, role);
    garner_tensor own = *given;
    const garner_tensor *tensor = &own;
    PIN_COPY(own);
    RETURN_NOT_OK(take_type(view, tensor, op, role, error));
    RETURN_NOT_OK(take_shape(view, tensor, op, role, error));
    if (tensor->byte_offset > PTRDIFF_MAX)
        return garner_fail(error, GARNER_TOO_LARGE, "%s: the byte_offset %llu of %s is beyond 2^63 - 1", op,
                           (unsigned long long)tensor->byte_offset, role);
    view->offset = (int64_t)tensor->byte_offset;
    view->span = (struct span){0, 0};
    if (view->count == 0) {
        for (int i = 0; i < view->rank; i++)
            view->stride[i] = 0;
        return GARNER_OK;
    }
    if (tensor->strides == NULL || view->rank == 0)
        RETURN_NOT_OK(take_dense(view, op, role, error));
    else
        RETURN_NOT_OK(take_strides(view, tensor, op, role, error));
    if (tensor->bytes != 0 && (view->span.low < 0 || (uint64_t)view->span.high > tensor->bytes))
        return garner_fail(
            error, GARNER_BAD_SHAPE, "%s: %s reaches bytes %lld to %lld of its buffer, which has %llu", op,
            role, (long long)view->span.low, (long long)view->span.high, (unsigned long long)tensor->bytes);
    return GARNER_OK;
}

void garner_view_dense(struct view *view, const garner_shape *shape)
{
    int64_t count = shape->count > 0;
    view->dtype = shape->dtype;
    view->type = garner_dtype_row(shape->dtype);
    view->rank = shape->rank;
    view->count = shape->count;
    bool packed = view->type->packing != WHOLE;
    view->item = shape->item_bytes ? (int64_t)shape->item_bytes : packed ? 1 : view->type->unit_bytes;
    view->offset = 0;
    view->span = (struct span){0, shape->bytes};
    for (int i = shape->rank - 1; i >= 0; i--) {
        view->n[i] = shape->extents[i];
        view->stride[i] = count;
        count *= view->n[i];
    }
}
