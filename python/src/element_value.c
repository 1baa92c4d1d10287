/* SPDX-License-Identifier: MIT */
/* Elements as values, for every element type. */
#include "element_value.h"

#include <string.h>

#include "byteorder.h"
#include "integer.h"
#include "number.h"
#include "pack.h"

static void load_real(struct value *value, double real)
{
    value->kind = VALUE_REAL;
    value->is.part[0] = real;
}

/* A number of fewer than 32 bits that C has no type for. */
static void load_small(struct value *value, garner_dtype dtype, uint64_t bits)
{
    const struct number_format *format = number_format(dtype);
    if (format) {
        load_real(value, number_value(format, bits));
    } else if (dtype == GARNER_I4 || dtype == GARNER_I2) {
        value->kind = VALUE_SIGNED;
        value->is.i = integer_from_bits(bits, garner_dtype_bits(dtype));
    } else {
        value->kind = VALUE_UNSIGNED;
        value->is.u = bits;
    }
}

static void load_integer(struct value *value, garner_dtype dtype, const unsigned char *at, int bytes)
{
    uint64_t bits = integer_load(at, bytes);
    value->kind = integer_is_signed(dtype) ? VALUE_SIGNED : VALUE_UNSIGNED;
    if (value->kind == VALUE_SIGNED)
        value->is.i = integer_from_bits(bits, 8 * bytes);
    else
        value->is.u = bits;
}

static void load_complex(struct value *value, double real, double imaginary)
{
    value->kind = VALUE_COMPLEX;
    value->is.part[0] = real;
    value->is.part[1] = imaginary;
}

/* Others of C's own types. */
union plain {
    float f32[2];
    double f64[2];
    garner_string text;
};

/* An element of whole bytes, in this machine's order. */
static void load_whole(struct value *value, garner_dtype dtype, const unsigned char *at, int bytes)
{
    union plain plain;
    memcpy(&plain, at, (size_t)bytes);
    switch (dtype) {
    case GARNER_F32:
        load_real(value, (double)plain.f32[0]);
        break;
    case GARNER_F64:
        load_real(value, plain.f64[0]);
        break;
    case GARNER_C64:
        load_complex(value, (double)plain.f32[0], (double)plain.f32[1]);
        break;
    case GARNER_C128:
        load_complex(value, plain.f64[0], plain.f64[1]);
        break;
    case GARNER_BOOL:
        value->kind = VALUE_BOOL;
        value->is.u = *at != 0;
        break;
    case GARNER_STR:
        value->kind = VALUE_TEXT;
        value->is.text = plain.text;
        break;
    default:
        load_small(value, dtype, integer_load(at, bytes));
    }
}

void value_load(struct value *value, garner_dtype dtype, const void *first, int64_t offset, bool swapped)
{
    int bits = garner_dtype_bits(dtype), bytes = bits / 8;
    unsigned char turned[sizeof(union plain)];
    if (bits < 8) {
        load_small(value, dtype, pack_get(dtype, first, offset));
        return;
    }
    const unsigned char *at = (const unsigned char *)first + offset * bytes;
    if (swapped) {
        memcpy(turned, at, (size_t)bytes);
        byteorder_reverse(turned, (size_t)bytes, byteorder_width(dtype));
        at = turned;
    }
    if (integer_is_type(dtype))
        load_integer(value, dtype, at, bytes);
    else
        load_whole(value, dtype, at, bytes);
}

PyObject *value_object(const struct value *value)
{
    switch (value->kind) {
    case VALUE_SIGNED:
        return PyLong_FromLongLong(value->is.i);
    case VALUE_UNSIGNED:
        return PyLong_FromUnsignedLongLong(value->is.u);
    case VALUE_BOOL:
        return PyBool_FromLong(value->is.u != 0);
    case VALUE_REAL:
        return PyFloat_FromDouble(value->is.part[0]);
    case VALUE_COMPLEX:
        return PyComplex_FromDoubles(value->is.part[0], value->is.part[1]);
    default:
        return PyUnicode_DecodeUTF8(value->is.text.bytes, (Py_ssize_t)value->is.text.size, "surrogateescape");
    }
}

bool value_is_true(const struct value *value)
{
    switch (value->kind) {
    case VALUE_SIGNED:
        return value->is.i != 0;
    case VALUE_UNSIGNED:
    case VALUE_BOOL:
        return value->is.u != 0;
    case VALUE_REAL:
        return value->is.part[0] != 0.0;
    case VALUE_COMPLEX:
        return value->is.part[0] != 0.0 || value->is.part[1] != 0.0;
    default:
        return value->is.text.size != 0;
    }
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* An integer as its magnitude and its sign. */
static uint64_t magnitude(const struct value *value, bool *negative)
{
    *negative = value->kind == VALUE_SIGNED && value->is.i < 0;
    if (value->kind != VALUE_SIGNED) return value->is.u;
    return *negative ? 0 - (uint64_t)value->is.i : (uint64_t)value->is.i;
}

static bool integers_are_equal(const struct value *a, const struct value *b)
{
    bool a_negative, b_negative;
    uint64_t size = magnitude(a, &a_negative);
    return size == magnitude(b, &b_negative) && a_negative == b_negative;
}

/* Not as doubles, which know few integers beyond 2^53. */
static bool integer_equals_real(const struct value *integer, double real)
{
    const double beyond = 18446744073709551616.0; /* 2^64 */
    bool negative;
    uint64_t size = magnitude(integer, &negative);
    if (negative) real = -real;
    return real >= 0 && real < beyond && (uint64_t)real == size && (double)(uint64_t)real == real;
}

static bool is_integer(const struct value *value)
{
    return value->kind <= VALUE_BOOL;
}

/* The part off the real numbers. */
static double imaginary(const struct value *value)
{
    return value->kind == VALUE_COMPLEX ? value->is.part[1] : 0.0;
}

bool value_equals(const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_TEXT || b->kind == VALUE_TEXT)
        return a->kind == b->kind && a->is.text.size == b->is.text.size &&
               (a->is.text.size == 0 ||
                memcmp(a->is.text.bytes, b->is.text.bytes, (size_t)a->is.text.size) == 0);
    if (is_integer(a) && is_integer(b)) return integers_are_equal(a, b);
    if (imaginary(a) != imaginary(b)) return false;
    if (is_integer(a)) return integer_equals_real(a, b->is.part[0]);
    if (is_integer(b)) return integer_equals_real(b, a->is.part[0]);
    return a->is.part[0] == b->is.part[0];
}
