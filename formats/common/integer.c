/* SPDX-License-Identifier: MIT */
/* Loads and stores by width; what a type means is done to the bits. */
#include "integer.h"

#include <string.h>

int integer_is_signed(garner_dtype dtype)
{
    return dtype == GARNER_I8 || dtype == GARNER_I16 || dtype == GARNER_I32 || dtype == GARNER_I64;
}

int integer_is_type(garner_dtype dtype)
{
    return integer_is_signed(dtype) || dtype == GARNER_U8 || dtype == GARNER_U16 || dtype == GARNER_U32 ||
           dtype == GARNER_U64;
}

uint64_t integer_load(const void *at, int bytes)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1:
        return memcpy(&one, at, sizeof one), one;
    case 2:
        return memcpy(&two, at, sizeof two), two;
    case 4:
        return memcpy(&four, at, sizeof four), four;
    default:
        return memcpy(&eight, at, sizeof eight), eight;
    }
}

void integer_store(void *at, int bytes, uint64_t bits)
{
    uint8_t one = (uint8_t)bits;
    uint16_t two = (uint16_t)bits;
    uint32_t four = (uint32_t)bits;
    switch (bytes) {
    case 1:
        memcpy(at, &one, sizeof one);
        break;
    case 2:
        memcpy(at, &two, sizeof two);
        break;
    case 4:
        memcpy(at, &four, sizeof four);
        break;
    default:
        memcpy(at, &bits, sizeof bits);
    }
}

int64_t integer_from_bits(uint64_t bits, int width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);
    bits = (bits ^ sign) - sign;
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Extends bits of a type to 64: by their sign or by zeros. */
static uint64_t extend(uint64_t bits, int width, int is_signed)
{
    return is_signed ? (uint64_t)integer_from_bits(bits, width) : bits;
}

int64_t integer_value(const void *at, garner_dtype dtype)
{
    int width = garner_dtype_bits(dtype), is_signed = integer_is_signed(dtype);
    uint64_t bits = extend(integer_load(at, width / 8), width, is_signed);
    return !is_signed && bits > INT64_MAX ? INT64_MAX : integer_from_bits(bits, 64);
}

void integer_convert(void *out, garner_dtype to, const void *in, garner_dtype from, size_t count)
{
    int width = garner_dtype_bits(from), is_signed = integer_is_signed(from);
    int step = width / 8, out_step = garner_dtype_bits(to) / 8;
    const unsigned char *at = in;
    unsigned char *out_at = out;
    for (; count > 0; count--, at += step, out_at += out_step)
        integer_store(out_at, out_step, extend(integer_load(at, step), width, is_signed));
}
