/* SPDX-License-Identifier: MIT */
/*
 * What an operand's numbers say: how many elements, how far apart, within which bytes. Whoever turns strides
 * into bytes finds them checked here, once, when the operand is read.
 */
#include "errors.h"
#include "operand.h"

int64_t count_elements(int32_t rank, const int64_t *shape)
{
    int64_t count = 1;
    for (int32_t i = 0; i < rank; i++)
        if (shape[i] == 0) return 0;
    for (int32_t i = 0; i < rank; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(count, shape[i], &count)) return -1;
    return count;
}

bool has_too_many_lists(int32_t rank, const int64_t *shape)
{
    enum { MOST_EMPTY = 1 << 24 };
    int64_t lists = 1;
    if (count_elements(rank, shape) != 0) return false;
    for (int32_t i = 0; shape[i] != 0; i++)
        if (__builtin_mul_overflow(lists, shape[i], &lists) || lists > MOST_EMPTY) return true;
    return false;
}

void dense_strides(int32_t rank, const int64_t *shape, int64_t item, int64_t *strides)
{
    int64_t stride = item;
    for (int32_t i = rank - 1; i >= 0; i--) {
        strides[i] = stride;
        if (__builtin_mul_overflow(stride, shape[i] > 0 ? shape[i] : 1, &stride)) stride = 0;
    }
}

int64_t operand_item(const struct operand *operand)
{
    const garner_tensor *tensor = &operand->tensor;
    if (tensor->dtype == GARNER_OPAQUE) return (int64_t)tensor->item_bytes;
    int bits = garner_dtype_bits(tensor->dtype);
    return bits < 8 ? 1 : bits / 8;
}

void operand_take_strides(struct operand *operand, const Py_ssize_t *strides, int64_t item)
{
    operand->tensor.strides = operand->strides;
    for (int32_t i = 0; i < operand->tensor.rank; i++)
        operand->odd |= operand->shape[i] != 1 && strides[i] % item != 0;
    for (int32_t i = 0; i < operand->tensor.rank; i++)
        operand->strides[i] = operand->odd ? strides[i] : strides[i] / item;
}

void operand_byte_strides(const struct operand *operand, int64_t *strides)
{
    int64_t item = operand_item(operand);
    int32_t rank = operand->tensor.rank;
    if (operand->tensor.strides == NULL) {
        dense_strides(rank, operand->shape, item, strides);
        return;
    }
    for (int32_t i = 0; i < rank; i++)
        strides[i] = operand->odd ? operand->strides[i] : operand->strides[i] * item;
}

void operand_drop_strides(struct operand *operand)
{
    garner_tensor *tensor = &operand->tensor;
    int64_t stride = operand->odd ? operand_item(operand) : 1;
    bool dense = true;
    if (tensor->strides == NULL) return;
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        if (operand->shape[i] == 1)
            operand->strides[i] = 0; /* nobody goes along it, however far that would be */
        else
            dense = dense && operand->strides[i] == stride;
        dense = dense && !__builtin_mul_overflow(stride, operand->shape[i], &stride);
    }
    if (!dense && count_elements(tensor->rank, operand->shape) != 0) return;
    tensor->strides = NULL;
    operand->odd = false;
}

/* ---- The bytes that it reaches ---------------------------------------------------------------- */

/* Adds how far the last element along an axis lies from the first, in bytes. False if that does not fit. */
static bool add_reach(const struct operand *operand, int32_t axis, int64_t *low, int64_t *high)
{
    const int64_t unit = operand->odd ? 1 : operand_item(operand);
    int64_t reach;
    if (__builtin_mul_overflow(operand->shape[axis] - 1, operand->strides[axis], &reach) ||
        __builtin_mul_overflow(reach, unit, &reach))
        return false;
    int64_t *end = reach < 0 ? low : high;
    return !__builtin_add_overflow(*end, reach, end);
}

/* The bytes [*low, *high) that the elements lie within, counted from tensor.data: false, with the axis that
 * is at fault or -1, if there cannot be such memory. */
static bool find_span(const struct operand *operand, int64_t *low, int64_t *high, int32_t *axis)
{
    const garner_tensor *tensor = &operand->tensor;
    const int64_t count = count_elements(tensor->rank, operand->shape);
    uintptr_t first, end;
    *low = *high = 0;
    *axis = -1;
    if (count == 0) return true;
    *high = garner_dtype_bytes(tensor->dtype, tensor->strides ? 1 : count, tensor->item_bytes);
    for (int32_t i = 0; i < tensor->rank && tensor->strides; i++)
        if (!add_reach(operand, i, low, high)) {
            *axis = i;
            return false;
        }
    return *high >= 0 && !__builtin_add_overflow(*low, tensor->byte_offset, low) &&
           !__builtin_add_overflow(*high, tensor->byte_offset, high) &&
           !__builtin_add_overflow((uintptr_t)tensor->data, *low, &first) &&
           !__builtin_add_overflow((uintptr_t)tensor->data, *high, &end) && end - first <= PTRDIFF_MAX;
}

void operand_span(const struct operand *operand, uintptr_t *first, uintptr_t *end)
{
    int64_t low, high;
    int32_t axis;
    (void)find_span(operand, &low, &high, &axis); /* it was checked */
    *first = (uintptr_t)operand->tensor.data + (uintptr_t)low;
    *end = (uintptr_t)operand->tensor.data + (uintptr_t)high;
}

/* ---- What is refused -------------------------------------------------------------------------- */

static bool check_elements(struct state *state, const struct operand *operand, const char *operator,
                           const char * name)
{
    const garner_tensor *tensor = &operand->tensor;
    int64_t count = count_elements(tensor->rank, operand->shape);
    for (int32_t i = 0; i < tensor->rank; i++)
        if (operand->shape[i] < 0) {
            raise_error(state, GARNER_BAD_SHAPE,
                        "%s: %s has extent %lld on axis %d; an extent is at least 0", operator, name,
                        (long long)operand->shape[i], (int)i);
            return false;
        }
    if (count < 0)
        raise_error(state, GARNER_TOO_LARGE, "%s: %s has more than 2^63 - 1 elements", operator, name);
    else if (operand_item(operand) < 1)
        raise_error(state, GARNER_BAD_TYPE,
                    "%s: %s has elements of 0 bytes; they must have 1 at least", operator, name);
    else if (count > 0 && tensor->data == NULL)
        raise_error(state, GARNER_BAD_ARGUMENT, "%s: %s has elements and no memory", operator, name);
    else
        return true;
    return false;
}

/* Packed elements lie beside each other in bytes, and only DLPack can claim something else. */
static bool is_packed_with_strides(const struct operand *operand)
{
    const garner_tensor *tensor = &operand->tensor;
    return tensor->strides && tensor->dtype != GARNER_OPAQUE && garner_dtype_bits(tensor->dtype) < 8 &&
           count_elements(tensor->rank, operand->shape) > 1;
}

static void refuse_span(struct state *state, const struct operand *operand, int32_t axis,
                        const char *operator, const char * name)
{
    if (axis < 0)
        raise_error(state, GARNER_TOO_LARGE, "%s: %s reaches further than can be addressed", operator, name);
    else
        raise_error(state, GARNER_BAD_SHAPE,
                    "%s: %s has a stride of %lld%s on axis %d of extent %lld, which reaches further than can "
                    "be addressed",
                    operator, name, (long long)operand->strides[axis], operand->odd ? " bytes" : "",
                    (int)axis, (long long)operand->shape[axis]);
}

bool operand_check_view(struct state *state, const struct operand *operand, const char *operator,
                        const char * name)
{
    const garner_tensor *tensor = &operand->tensor;
    int64_t low, high;
    int32_t axis;
    if (!check_elements(state, operand, operator, name)) return false;
    if (tensor->byte_offset > INT64_MAX) {
        raise_error(state, GARNER_TOO_LARGE, "%s: %s has byte_offset %llu; the most is 2^63 - 1", operator,
                    name, (unsigned long long)tensor->byte_offset);
        return false;
    }
    if (is_packed_with_strides(operand)) {
        raise_error(state, GARNER_BAD_SHAPE,
                    "%s: %s of packed type %s has strides; it must be dense", operator, name,
                    garner_dtype_name(tensor->dtype));
        return false;
    }
    if (find_span(operand, &low, &high, &axis)) return true;
    refuse_span(state, operand, axis, operator, name);
    return false;
}
