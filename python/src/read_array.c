/* SPDX-License-Identifier: MIT */
/* Reads operands that are a garner.Array. */
#include "array_object.h"
#include "buffer_format.h"
#include "operand.h"

int read_array(struct state *state, struct operand *operand, PyObject *object)
{
    const struct array_object *array = (const struct array_object *)object;
    if (Py_TYPE(object) != state->array_type) return 0;
    operand->origin = FROM_ARRAY;
    operand->tensor = array->tensor;
    operand->tensor.shape = operand->shape;
    operand->tensor.strides = operand->strides;
    for (int32_t i = 0; i < array->tensor.rank; i++) {
        operand->shape[i] = array->tensor.shape[i];
        operand->strides[i] = array->tensor.strides[i];
    }
    operand->writable = array->writable;
    operand->dlpack_type = array->dlpack_type;
    operand->format = array->format;
    operand->swapped = array->tensor.dtype != GARNER_OPAQUE && format_is_swapped(array->format);
    return 1;
}
