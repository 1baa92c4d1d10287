/* SPDX-License-Identifier: MIT */
/* Integers of one width to another, and the one integer that an axis is. */
#include "elements.h"
#include "fail.h"
#include "integer.h"
#include "model_internal.h"

struct conversion {
    garner_dtype from, to;
    unsigned char *out;
};

static garner_status convert_piece(void *context, const void *bytes, size_t size, garner_error *error)
{
    struct conversion *c = context;
    size_t count = size / ((size_t)garner_dtype_bits(c->from) / 8);
    (void)error;
    integer_convert(c->out, c->to, bytes, c->from, count);
    c->out += garner_dtype_bytes(c->to, (int64_t)count, 0);
    return GARNER_OK;
}

garner_status model_convert(const garner_tensor *from, garner_dtype to, void *out, garner_error *error)
{
    struct conversion conversion = {from->dtype, to, out};
    if (!integer_is_type(from->dtype) || !integer_is_type(to))
        return fail(error, GARNER_BAD_TYPE,
                    "Convert: from %s to %s; integers of 8 to 64 bits are converted here",
                    garner_dtype_name(from->dtype), garner_dtype_name(to));
    return elements_walk(from, 0, convert_piece, &conversion, error);
}

garner_status model_axis(const garner_tensor *tensor, int64_t *axis, garner_error *error)
{
    if (!integer_is_type(tensor->dtype))
        return fail(error, GARNER_BAD_TYPE, "Gather: axis is of type %s, which is no integer of 8 to 64 bits",
                    garner_dtype_name(tensor->dtype));
    if (tensor->rank > 1 || (tensor->rank == 1 && tensor->shape[0] != 1))
        return fail(error, GARNER_BAD_SHAPE, "Gather: axis is no scalar and no tensor of one element");
    *axis = integer_value((const unsigned char *)tensor->data + tensor->byte_offset, tensor->dtype);
    return GARNER_OK;
}
