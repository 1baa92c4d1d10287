/* SPDX-License-Identifier: MIT */
/* The elements of a garner.Array as Python's own objects, for every element type. */
#include <math.h>
#include <string.h>

#include "array_object.h"
#include "errors.h"

/* A float of fewer than 32 bits: sign, exponent, fraction, from the top. */
struct small_float {
    garner_dtype dtype;
    int exponent, fraction, bias;
    bool has_infinity; /* the highest exponent is for infinities and NaNs, as IEEE says */
    unsigned
        nan; /* otherwise: the one code (less its sign if sign_is_nan is false) that is no number; 0: none */
    bool nan_has_sign; /* the NaN is where -0 would be */
};

static const struct small_float small_floats[] = {
    {GARNER_F16, 5, 10, 15, true, 0, false},         {GARNER_BF16, 8, 7, 127, true, 0, false},
    {GARNER_F8E5M2, 5, 2, 15, true, 0, false},       {GARNER_F8E4M3FN, 4, 3, 7, false, 0x7f, false},
    {GARNER_F8E4M3FNUZ, 4, 3, 8, false, 0x80, true}, {GARNER_F8E5M2FNUZ, 5, 2, 16, false, 0x80, true},
    {GARNER_F4E2M1, 2, 1, 1, false, 0, false},
};

static double float_of(const struct small_float *type, unsigned code)
{
    unsigned sign_bit = 1u << (type->exponent + type->fraction);
    unsigned exponent = (code & (sign_bit - 1)) >> type->fraction,
             fraction = code & ((1u << type->fraction) - 1);
    unsigned highest = (1u << type->exponent) - 1;
    double sign = code & sign_bit ? -1.0 : 1.0;
    if (type->nan && (type->nan_has_sign ? code : code & (sign_bit - 1)) == type->nan) return (double)NAN;
    if (type->has_infinity && exponent == highest) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - type->bias - type->fraction);
    return sign *
           ldexp((double)(fraction + (1u << type->fraction)), (int)exponent - type->bias - type->fraction);
}

/* Element `i` of packed elements, as garner.h describes the packings. */
static unsigned code_of(garner_dtype dtype, const unsigned char *bytes, int64_t i)
{
    unsigned bits = (unsigned)garner_dtype_bits(dtype);
    if (dtype == GARNER_U1) return (unsigned)bytes[i / 8] >> (7 - i % 8) & 1u;
    if (dtype == GARNER_U3 || dtype == GARNER_U6) {
        unsigned per_unit = 24 / bits, at = (unsigned)(i % per_unit), low = bits * 2 / 3, high = bits - low;
        const unsigned char *unit = bytes + 3 * (i / per_unit);
        unsigned word = (unsigned)unit[0] << 8 | unit[1];
        unsigned lows = word >> (16 - low * (at + 1)) & ((1u << low) - 1);
        return lows | ((unsigned)unit[2] >> (8 - high * (at + 1)) & ((1u << high) - 1)) << low;
    }
    unsigned per_byte = 8 / bits;
    return (unsigned)bytes[i / per_byte] >> bits * (unsigned)(i % per_byte) & ((1u << bits) - 1);
}

static PyObject *small_number(garner_dtype dtype, unsigned code)
{
    unsigned bits = (unsigned)garner_dtype_bits(dtype);
    for (size_t i = 0; i < sizeof small_floats / sizeof small_floats[0]; i++)
        if (small_floats[i].dtype == dtype) return PyFloat_FromDouble(float_of(&small_floats[i], code));
    if (dtype == GARNER_F8E8M0)
        return PyFloat_FromDouble(code == 0xff ? (double)NAN : ldexp(1, (int)code - 127));
    bool is_signed = dtype == GARNER_I4 || dtype == GARNER_I2;
    long value = (long)code;
    return PyLong_FromLong(is_signed && code >> (bits - 1) ? value - (1L << bits) : value);
}

/* A number of C's own types. */
union number {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32[2];
    double f64[2];
    garner_string text;
};

/* An element of whole bytes, in this machine's order. */
static PyObject *plain_number(garner_dtype dtype, const unsigned char *at)
{
    union number value;
    memcpy(&value, at, (size_t)garner_dtype_bits(dtype) / 8);
    switch (dtype) {
    case GARNER_I8:
        return PyLong_FromLong(value.i8);
    case GARNER_I16:
        return PyLong_FromLong(value.i16);
    case GARNER_I32:
        return PyLong_FromLong(value.i32);
    case GARNER_I64:
        return PyLong_FromLongLong(value.i64);
    case GARNER_U8:
        return PyLong_FromLong(value.u8);
    case GARNER_U16:
        return PyLong_FromLong(value.u16);
    case GARNER_U32:
        return PyLong_FromUnsignedLong(value.u32);
    case GARNER_U64:
        return PyLong_FromUnsignedLongLong(value.u64);
    case GARNER_F32:
        return PyFloat_FromDouble((double)value.f32[0]);
    case GARNER_F64:
        return PyFloat_FromDouble(value.f64[0]);
    case GARNER_C64:
        return PyComplex_FromDoubles((double)value.f32[0], (double)value.f32[1]);
    case GARNER_C128:
        return PyComplex_FromDoubles(value.f64[0], value.f64[1]);
    case GARNER_BOOL:
        return PyBool_FromLong(value.u8);
    case GARNER_STR:
        return PyUnicode_DecodeUTF8(value.text.bytes, (Py_ssize_t)value.text.size, "surrogateescape");
    default:
        return small_number(dtype, garner_dtype_bits(dtype) == 16 ? value.u16 : value.u8);
    }
}

PyObject *array_object_element(const struct array_object *array, int64_t offset)
{
    const garner_tensor *tensor = &array->tensor;
    const unsigned char *first = (const unsigned char *)tensor->data + tensor->byte_offset;
    int bits = garner_dtype_bits(tensor->dtype);
    if (bits < 8 && bits > 0) return small_number(tensor->dtype, code_of(tensor->dtype, first, offset));
    int64_t item = bits / 8;
    const uint16_t one = 1;
    bool little = *(const char *)&one == 1;
    char order = array->format ? array->format[0] : '@';
    if (!(order == '<' && !little) && !((order == '>' || order == '!') && little))
        return plain_number(tensor->dtype, first + offset * item);
    unsigned char turned[16];
    int64_t part = tensor->dtype == GARNER_C64 || tensor->dtype == GARNER_C128 ? item / 2 : item;
    for (int64_t i = 0; i < item; i++)
        turned[i] = first[offset * item + i / part * part + (part - 1 - i % part)];
    return plain_number(tensor->dtype, turned);
}

/* Depth is at most the rank. */
static PyObject *list_from(const struct array_object *array, int32_t axis, int64_t offset)
{
    if (axis == array->tensor.rank) return array_object_element(array, offset);
    Py_ssize_t extent = (Py_ssize_t)array->tensor.shape[axis];
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
