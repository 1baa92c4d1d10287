/* SPDX-License-Identifier: MIT */
/* The elements of a garner.Array as Python's own objects, for every element type. */
#include <string.h>

#include "array_object.h"
#include "buffer_format.h"
#include "byteorder.h"
#include "errors.h"
#include "integer.h"
#include "number.h"
#include "operand.h"
#include "pack.h"

/* A number of fewer than 32 bits that C has no type for. */
static PyObject *small_number(garner_dtype dtype, uint64_t bits)
{
    const struct number_format *format = number_format(dtype);
    if (format) return PyFloat_FromDouble(number_value(format, bits));
    bool is_signed = dtype == GARNER_I4 || dtype == GARNER_I2;
    return PyLong_FromLongLong(is_signed ? integer_from_bits(bits, garner_dtype_bits(dtype)) : (int64_t)bits);
}

static PyObject *plain_integer(garner_dtype dtype, const unsigned char *at, int bytes)
{
    uint64_t bits = integer_load(at, bytes);
    if (!integer_is_signed(dtype)) return PyLong_FromUnsignedLongLong(bits);
    return PyLong_FromLongLong(integer_from_bits(bits, 8 * bytes));
}

/* Others of C's own types. */
union plain {
    float f32[2];
    double f64[2];
    garner_string text;
};

/* An element of whole bytes, in this machine's order. */
static PyObject *plain_element(garner_dtype dtype, const unsigned char *at)
{
    union plain value;
    int bytes = garner_dtype_bits(dtype) / 8;
    if (integer_is_type(dtype)) return plain_integer(dtype, at, bytes);
    memcpy(&value, at, (size_t)bytes);
    switch (dtype) {
    case GARNER_F32:
        return PyFloat_FromDouble((double)value.f32[0]);
    case GARNER_F64:
        return PyFloat_FromDouble(value.f64[0]);
    case GARNER_C64:
        return PyComplex_FromDoubles((double)value.f32[0], (double)value.f32[1]);
    case GARNER_C128:
        return PyComplex_FromDoubles(value.f64[0], value.f64[1]);
    case GARNER_BOOL:
        return PyBool_FromLong(*at);
    case GARNER_STR:
        return PyUnicode_DecodeUTF8(value.text.bytes, (Py_ssize_t)value.text.size, "surrogateescape");
    default:
        return small_number(dtype, integer_load(at, bytes));
    }
}

PyObject *array_object_element(const struct array_object *array, int64_t offset)
{
    const garner_tensor *tensor = &array->tensor;
    const unsigned char *first = (const unsigned char *)tensor->data + tensor->byte_offset;
    int bits = garner_dtype_bits(tensor->dtype);
    if (bits < 8 && bits > 0) return small_number(tensor->dtype, pack_get(tensor->dtype, first, offset));
    const unsigned char *at = first + offset * (bits / 8);
    if (!format_is_swapped(array->format)) return plain_element(tensor->dtype, at);
    unsigned char turned[16];
    memcpy(turned, at, (size_t)bits / 8);
    byteorder_reverse(turned, (size_t)bits / 8, byteorder_width(tensor->dtype));
    return plain_element(tensor->dtype, turned);
}

/* Depth is at most the rank. */
static PyObject *list_from(const struct array_object *array, int32_t axis, int64_t offset)
{
    if (axis == array->tensor.rank) return array_object_element(array, offset);
    Py_ssize_t extent = (Py_ssize_t)array->tensor.shape[axis];
    if (PyErr_CheckSignals() < 0) return NULL; /* there may be any number of lists, also of nothing */
    PyObject *list = PyList_New(extent);
    for (Py_ssize_t i = 0; list && i < extent; i++) {
        PyObject *item = list_from(array, axis + 1, offset + i * array->tensor.strides[axis]);
        bool looks = i % (1 << 16) == 0 && i > 0; /* whether somebody pressed Ctrl-C */
        if (item == NULL || PyList_SetItem(list, i, item) < 0 || (looks && PyErr_CheckSignals() < 0))
            Py_CLEAR(list);
    }
    return list;
}

PyObject *array_object_list(struct state *state, const struct array_object *array)
{
    if (array->tensor.dtype != GARNER_OPAQUE) return list_from(array, 0, 0);
    return raise_error(state, GARNER_BAD_TYPE,
                       "tolist: elements of %llu opaque bytes are no numbers; numpy.asarray() can show them",
                       (unsigned long long)array->tensor.item_bytes);
}
