/* SPDX-License-Identifier: MIT */
/* Integers of one width to another, and the one integer that an axis is. */
#include <string.h>

#include "elements.h"
#include "fail.h"
#include "inside.h"

static int is_signed(garner_dtype dtype)
{
    return dtype == GARNER_I8 || dtype == GARNER_I16 || dtype == GARNER_I32 || dtype == GARNER_I64;
}

static int is_integer(garner_dtype dtype)
{
    return is_signed(dtype) || dtype == GARNER_U8 || dtype == GARNER_U16 || dtype == GARNER_U32 ||
           dtype == GARNER_U64;
}

/* The element at `at`, extended to 64 bits by its sign or by zeros. */
static uint64_t load(const unsigned char *at, garner_dtype dtype)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (garner_dtype_bits(dtype)) {
    case 8:
        return is_signed(dtype) ? (uint64_t)(int8_t)*at : *at;
    case 16:
        memcpy(&two, at, sizeof two);
        return is_signed(dtype) ? (uint64_t)(int16_t)two : two;
    case 32:
        memcpy(&four, at, sizeof four);
        return is_signed(dtype) ? (uint64_t)(int32_t)four : four;
    default:
        memcpy(&eight, at, sizeof eight);
        return eight;
    }
}

static void store(unsigned char *at, garner_dtype dtype, uint64_t value)
{
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    switch (garner_dtype_bits(dtype)) {
    case 8:
        *at = (unsigned char)value;
        break;
    case 16:
        memcpy(at, &two, sizeof two);
        break;
    case 32:
        memcpy(at, &four, sizeof four);
        break;
    default:
        memcpy(at, &value, sizeof value);
    }
}

struct conversion {
    garner_dtype from, to;
    unsigned char *out;
};

static garner_status convert_piece(void *context, const void *bytes, size_t size, garner_error *error)
{
    struct conversion *c = context;
    size_t from = (size_t)garner_dtype_bits(c->from) / 8, to = (size_t)garner_dtype_bits(c->to) / 8;
    (void)error;
    for (size_t at = 0; at < size; at += from, c->out += to)
        store(c->out, c->to, load((const unsigned char *)bytes + at, c->from));
    return GARNER_OK;
}

garner_status model_convert(const garner_tensor *from, garner_dtype to, void *out, garner_error *error)
{
    struct conversion conversion = {from->dtype, to, out};
    if (!is_integer(from->dtype) || !is_integer(to))
        return fail(error, GARNER_BAD_TYPE,
                    "Convert: from %s to %s; integers of 8 to 64 bits are converted here",
                    garner_dtype_name(from->dtype), garner_dtype_name(to));
    return elements_walk(from, 0, convert_piece, &conversion, error);
}

garner_status model_axis(const garner_tensor *tensor, int64_t *axis, garner_error *error)
{
    if (!is_integer(tensor->dtype))
        return fail(error, GARNER_BAD_TYPE, "Gather: axis is of type %s, which is no integer of 8 to 64 bits",
                    garner_dtype_name(tensor->dtype));
    if (tensor->rank > 1 || (tensor->rank == 1 && tensor->shape[0] != 1))
        return fail(error, GARNER_BAD_SHAPE, "Gather: axis is no scalar and no tensor of one element");
    uint64_t value = load((const unsigned char *)tensor->data + tensor->byte_offset, tensor->dtype);
    if (!is_signed(tensor->dtype) && value > INT64_MAX) value = INT64_MAX; /* outside in any case */
    memcpy(axis, &value, sizeof value);
    return GARNER_OK;
}
