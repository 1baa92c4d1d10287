/* SPDX-License-Identifier: MIT */
/*
 * Reads objects through the buffer protocol. Its type names are those of the struct module; one that is not
 * a plain number is moved by its size, and its name goes along to the result.
 */
#include <string.h>

#include "errors.h"
#include "operand.h"

/* Which number a letter stands for, given the size of an element; GARNER_OPAQUE if none. */
static garner_dtype number_type(const char *letters, Py_ssize_t size)
{
    static const struct {
        const char *letters;
        garner_dtype of_size[17];
    } rows[] = {
        {"bhilqn", {[1] = GARNER_I8, [2] = GARNER_I16, [4] = GARNER_I32, [8] = GARNER_I64}},
        {"BHILQN", {[1] = GARNER_U8, [2] = GARNER_U16, [4] = GARNER_U32, [8] = GARNER_U64}},
        {"efd", {[2] = GARNER_F16, [4] = GARNER_F32, [8] = GARNER_F64}},
        {"FD", {[8] = GARNER_C64, [16] = GARNER_C128}},
        {"?", {[1] = GARNER_BOOL}},
    };
    bool is_complex = letters[0] == 'Z' && (letters[1] == 'f' || letters[1] == 'd');
    char letter = is_complex ? (letters[1] == 'f' ? 'F' : 'D') : letters[0];
    if (letter == '\0' || letters[is_complex ? 2 : 1] != '\0' || size < 1 || size > 16) return GARNER_OPAQUE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strchr(rows[i].letters, letter) && rows[i].of_size[size]) return rows[i].of_size[size];
    return GARNER_OPAQUE;
}

/* Whether a format holds Python objects; names of fields, between colons, do not count. */
static bool format_holds_objects(const char *format)
{
    bool named = false;
    for (; *format; format++) {
        if (*format == ':') named = !named;
        if (*format == 'O' && !named) return true;
    }
    return false;
}

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
    operand->swapped = format_is_swapped(format);
    const char *letters = format + (*format && strchr("@=<>!^", *format) != NULL);
    operand->tensor.dtype = number_type(letters, buffer->itemsize);
    if (operand->tensor.dtype == GARNER_OPAQUE) operand->tensor.item_bytes = (uint64_t)buffer->itemsize;
    if (operand->tensor.dtype == GARNER_OPAQUE || operand->swapped) operand->format = format;
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
