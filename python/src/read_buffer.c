/* SPDX-License-Identifier: MIT */
/*
 * Reads objects through the buffer protocol. Its type names are those of the struct module; one that is not
 * a plain number is moved by its size, and its name goes along to the result.
 */
#include "buffer_format.h"
#include "errors.h"
#include "operand.h"

static bool take_type(struct state *state, struct operand *operand, const Py_buffer *buffer,
                      const char *operator, const char * name)
{
    const char *format = buffer->format ? buffer->format : "B";
    if (format_holds_objects(format)) {
        raise_error(
            state, GARNER_BAD_TYPE,
            "%s: %s holds Python objects, which are references and not values that can be moved as bits",
            operator, name);
        return false;
    }
    const garner_dtype dtype = format_type(format, buffer->itemsize);
    operand->swapped = format_is_swapped(format);
    operand->tensor.dtype = dtype;
    if (dtype == GARNER_OPAQUE) operand->tensor.item_bytes = (uint64_t)buffer->itemsize;
    if (dtype == GARNER_OPAQUE ? format_fits(format, dtype, buffer->itemsize) : operand->swapped)
        operand->format = format;
    return true;
}

static void take_shape(struct operand *operand, const Py_buffer *buffer)
{
    operand->tensor.shape = operand->shape;
    for (int i = 0; i < buffer->ndim; i++)
        operand->shape[i] = buffer->shape[i];
    if (buffer->itemsize > 0 && buffer->strides)
        operand_take_strides(operand, buffer->strides, buffer->itemsize);
}

int read_buffer(struct state *state, struct operand *operand, PyObject *object, const char *operator,
                const char * name)
{
    Py_buffer *buffer = &operand->export.buffer;
    if (!PyObject_CheckBuffer(object)) return 0;
    if (PyObject_GetBuffer(object, buffer, PyBUF_RECORDS_RO) < 0) {
        raise_from(state, GARNER_BAD_TYPE, "%s: %s cannot be read through the buffer protocol", operator,
                   name);
        return -1;
    }
    operand->origin = FROM_BUFFER;
    operand->writable = !buffer->readonly;
    operand->tensor.data = buffer->buf;
    operand->tensor.rank = buffer->ndim;
    if (buffer->ndim < 0 || buffer->ndim > GARNER_MAX_RANK) {
        raise_error(state, GARNER_BAD_SHAPE, "%s: %s has rank %d; it must be 0 to %d", operator, name,
                    buffer->ndim, GARNER_MAX_RANK);
        return -1;
    }
    if (!take_type(state, operand, buffer, operator, name)) return -1;
    take_shape(operand, buffer);
    return 1;
}
