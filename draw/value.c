/* SPDX-License-Identifier: MIT */
/*
 * Elements as text and back. A table gives each type its class; an element is then bits that are
 * loaded from, or stored to, the place that shape and strides say.
 */
#include "value.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "escape.h"
#include "integer.h"
#include "number.h"
#include "pack.h"

static const struct {
    garner_dtype dtype;
    enum value_class class;
} classes[] = {
    {GARNER_I8, VALUE_SIGNED},        {GARNER_I16, VALUE_SIGNED},   {GARNER_I32, VALUE_SIGNED},
    {GARNER_I64, VALUE_SIGNED},       {GARNER_I2, VALUE_SIGNED},    {GARNER_I4, VALUE_SIGNED},
    {GARNER_U8, VALUE_UNSIGNED},      {GARNER_U16, VALUE_UNSIGNED}, {GARNER_U32, VALUE_UNSIGNED},
    {GARNER_U64, VALUE_UNSIGNED},     {GARNER_U1, VALUE_UNSIGNED},  {GARNER_U2, VALUE_UNSIGNED},
    {GARNER_U3, VALUE_UNSIGNED},      {GARNER_U4, VALUE_UNSIGNED},  {GARNER_U6, VALUE_UNSIGNED},
    {GARNER_NF4, VALUE_UNSIGNED},     {GARNER_F16, VALUE_FLOAT},    {GARNER_F32, VALUE_FLOAT},
    {GARNER_F64, VALUE_FLOAT},        {GARNER_BF16, VALUE_FLOAT},   {GARNER_F8E4M3FN, VALUE_FLOAT},
    {GARNER_F8E4M3FNUZ, VALUE_FLOAT}, {GARNER_F8E5M2, VALUE_FLOAT}, {GARNER_F8E5M2FNUZ, VALUE_FLOAT},
    {GARNER_F8E8M0, VALUE_FLOAT},     {GARNER_F4E2M1, VALUE_FLOAT}, {GARNER_C64, VALUE_COMPLEX},
    {GARNER_C128, VALUE_COMPLEX},     {GARNER_BOOL, VALUE_BOOL},    {GARNER_STR, VALUE_STRING},
    {GARNER_OPAQUE, VALUE_OPAQUE},
};

enum value_class value_class(garner_dtype dtype)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].dtype == dtype) return classes[i].class;
    return VALUE_NONE;
}

/* ---- The bits of an element ---- */

static uint64_t get_bits(const garner_tensor *t, int64_t flat)
{
    int width = garner_dtype_bits(t->dtype);
    if (width < 8) return pack_get(t->dtype, (unsigned char *)t->data + t->byte_offset, flat);
    return integer_load(elements_at(t, flat), width / 8);
}

static void set_bits(const garner_tensor *t, int64_t flat, uint64_t bits)
{
    int width = garner_dtype_bits(t->dtype);
    if (width < 8)
        pack_put(t->dtype, (unsigned char *)t->data + t->byte_offset, flat, (unsigned)bits);
    else
        integer_store(elements_at(t, flat), width / 8, bits);
}

garner_string value_string(const garner_tensor *t, int64_t flat)
{
    garner_string string;
    memcpy(&string, elements_at(t, flat), sizeof string);
    return string;
}

/* ---- Writing ---- */

static const struct number_format *part_format(garner_dtype complex)
{
    return number_format(complex == GARNER_C64 ? GARNER_F32 : GARNER_F64);
}

static int complex_text(char *buffer, size_t size, const garner_tensor *t, int64_t flat)
{
    char real[NUMBER_TEXT_SIZE], imaginary[NUMBER_TEXT_SIZE];
    int half = garner_dtype_bits(t->dtype) / 16;
    const unsigned char *at = elements_at(t, flat);
    number_text(real, part_format(t->dtype), integer_load(at, half));
    number_text(imaginary, part_format(t->dtype), integer_load(at + half, half));
    return snprintf(buffer, size, "%s%s%sj", real, imaginary[0] == '-' ? "" : "+", imaginary);
}

static void append(char *buffer, size_t size, size_t *length, const char *piece)
{
    size_t more = strlen(piece);
    for (size_t i = 0; i < more && *length + i + 1 < size; i++)
        buffer[*length + i] = piece[i];
    *length += more;
    if (size > 0) buffer[*length < size ? *length : size - 1] = '\0';
}

static int string_text(char *buffer, size_t size, garner_string string)
{
    char piece[ESCAPE_SIZE];
    size_t length = 0, used;
    append(buffer, size, &length, "\"");
    for (uint64_t i = 0; i < string.size && length < INT32_MAX - ESCAPE_SIZE; i += used) {
        escape_next(piece, string.bytes + i, string.size - i, ESCAPE_TEXT, &used);
        append(buffer, size, &length, piece);
    }
    append(buffer, size, &length, "\"");
    return (int)length;
}

static int float_text(char *buffer, size_t size, const garner_tensor *t, int64_t flat)
{
    char text[NUMBER_TEXT_SIZE];
    number_text(text, number_format(t->dtype), get_bits(t, flat));
    return snprintf(buffer, size, "%s", text);
}

int value_text(char *buffer, size_t size, const garner_tensor *t, int64_t flat)
{
    int width = garner_dtype_bits(t->dtype);
    switch (value_class(t->dtype)) {
    case VALUE_SIGNED:
        return snprintf(buffer, size, "%lld", (long long)integer_from_bits(get_bits(t, flat), width));
    case VALUE_UNSIGNED:
        return snprintf(buffer, size, "%llu", (unsigned long long)get_bits(t, flat));
    case VALUE_FLOAT:
        return float_text(buffer, size, t, flat);
    case VALUE_COMPLEX:
        return complex_text(buffer, size, t, flat);
    case VALUE_BOOL:
        return snprintf(buffer, size, "%s", get_bits(t, flat) ? "true" : "false");
    case VALUE_STRING:
        return string_text(buffer, size, value_string(t, flat));
    case VALUE_OPAQUE:
        return snprintf(buffer, size, "<%llu bytes>", (unsigned long long)t->item_bytes);
    default:
        return snprintf(buffer, size, "?");
    }
}

/* ---- Reading ---- */

static const char *store_integer(const garner_tensor *t, int64_t flat, bool negative, uint64_t magnitude)
{
    int width = garner_dtype_bits(t->dtype);
    bool is_signed = value_class(t->dtype) == VALUE_SIGNED;
    uint64_t largest = UINT64_MAX >> (64 - width + is_signed);
    uint64_t least = is_signed ? largest + 1 : 0;
    if (magnitude > (negative ? least : largest)) return "does not fit in this type";
    uint64_t bits = negative ? UINT64_C(0) - magnitude : magnitude;
    set_bits(t, flat, width == 64 ? bits : bits & ((UINT64_C(1) << width) - 1));
    return NULL;
}

static const char *parse_integer(const garner_tensor *t, int64_t flat, const char *begin, const char *end)
{
    int integer;
    if (number_scan(begin, end, &integer) != end || !integer) return "is not an integer";
    bool negative = *begin == '-';
    uint64_t magnitude = 0;
    for (const char *c = begin + (*begin == '-' || *begin == '+'); c < end; c++)
        if (__builtin_mul_overflow(magnitude, 10, &magnitude) ||
            __builtin_add_overflow(magnitude, (uint64_t)(*c - '0'), &magnitude))
            return "does not fit in this type";
    return store_integer(t, flat, negative, magnitude);
}

static const char *parse_float(const garner_tensor *t, int64_t flat, const char *begin, const char *end)
{
    int integer;
    uint64_t bits;
    if (number_scan(begin, end, &integer) != end) return "is not a number";
    const char *wrong = number_parse(number_format(t->dtype), begin, end, &bits);
    if (!wrong) set_bits(t, flat, bits);
    return wrong;
}

/* a, bj, a+bj or a-bj. */
static const char *parse_complex(const garner_tensor *t, int64_t flat, const char *begin, const char *end)
{
    int integer, half = garner_dtype_bits(t->dtype) / 16;
    const struct number_format *format = part_format(t->dtype);
    const char *middle = number_scan(begin, end, &integer), *last = middle;
    uint64_t real = 0, imaginary = 0;
    if (!middle) return "is not a complex number";
    bool alone = middle + 1 == end && *middle == 'j';
    if (middle < end && (*middle == '+' || *middle == '-')) last = number_scan(middle, end, &integer);
    if (!last || (last != end && (last + 1 != end || *last != 'j')) || (last == end && last != middle))
        return "is not a complex number";
    const char *wrong = alone ? NULL : number_parse(format, begin, middle, &real);
    if (!wrong && alone) wrong = number_parse(format, begin, middle, &imaginary);
    if (!wrong && last != middle) wrong = number_parse(format, middle, last, &imaginary);
    if (wrong) return wrong;
    integer_store(elements_at(t, flat), half, real);
    integer_store(elements_at(t, flat) + half, half, imaginary);
    return NULL;
}

static bool is_word(const char *begin, const char *end, const char *word)
{
    return strlen(word) == (size_t)(end - begin) && memcmp(begin, word, strlen(word)) == 0;
}

static const char *parse_bool(const garner_tensor *t, int64_t flat, const char *begin, const char *end)
{
    bool yes = is_word(begin, end, "true") || is_word(begin, end, "1");
    if (!yes && !is_word(begin, end, "false") && !is_word(begin, end, "0"))
        return "is neither true nor false";
    set_bits(t, flat, yes);
    return NULL;
}

const char *value_parse(const garner_tensor *t, int64_t flat, const char *begin, const char *end)
{
    switch (value_class(t->dtype)) {
    case VALUE_SIGNED:
    case VALUE_UNSIGNED:
        return parse_integer(t, flat, begin, end);
    case VALUE_FLOAT:
        return parse_float(t, flat, begin, end);
    case VALUE_COMPLEX:
        return parse_complex(t, flat, begin, end);
    case VALUE_BOOL:
        return parse_bool(t, flat, begin, end);
    default:
        return "is not a string";
    }
}

const char *value_count(const garner_tensor *t, int64_t flat, uint64_t number)
{
    char text[VALUE_TEXT_SIZE];
    enum value_class class = value_class(t->dtype);
    if (class == VALUE_SIGNED || class == VALUE_UNSIGNED) return store_integer(t, flat, false, number);
    if (class == VALUE_FLOAT && number >> 53 == 0) {
        uint64_t bits;
        const char *wrong = number_count(number_format(t->dtype), number, &bits);
        if (!wrong) set_bits(t, flat, bits);
        return wrong;
    }
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return value_parse(t, flat, text, text + length);
}
