/* SPDX-License-Identifier: MIT */
/* Blocks of elements. Loops over constant sizes are made of the inlined functions. */
#include "element_block.h"

#include <string.h>

#include "integer.h"
#include "number.h"

static bool is_whole_number(garner_dtype dtype)
{
    return dtype == GARNER_BOOL || integer_is_type(dtype);
}

static bool is_real(garner_dtype dtype)
{
    return garner_dtype_bits(dtype) >= 8 && number_format(dtype) != NULL;
}

/* Every real type and integers of up to 32 bits are doubles. */
static bool is_exact_as_real(garner_dtype dtype)
{
    return is_real(dtype) || (is_whole_number(dtype) && garner_dtype_bits(dtype) <= 32);
}

enum block_kind block_kind_of(garner_dtype a, garner_dtype b)
{
    if (is_whole_number(a) && is_whole_number(b)) return BLOCK_INTEGERS;
    return is_exact_as_real(a) && is_exact_as_real(b) ? BLOCK_REALS : BLOCK_NONE;
}

/* ---- Integers -------------------------------------------------------------------------------- */

union bytes {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
};

static inline int64_t integer_at(const unsigned char *at, int bytes, bool is_signed)
{
    union bytes bits;
    memcpy(&bits, at, (size_t)bytes);
    switch (bytes) {
    case 1:
        return is_signed ? (int8_t)bits.u8 : bits.u8;
    case 2:
        return is_signed ? (int16_t)bits.u16 : bits.u16;
    case 4:
        return is_signed ? (int32_t)bits.u32 : (int64_t)bits.u32;
    default:
        return (int64_t)bits.u64;
    }
}

static inline void load_integers(int64_t *to, const unsigned char *at, int64_t step, int count, int bytes,
                                 bool is_signed)
{
    for (int i = 0; i < count; i++)
        to[i] = integer_at(at + i * step, bytes, is_signed);
}

static void load_bools(int64_t *to, const unsigned char *at, int64_t step, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = at[i * step] != 0;
}

static void load_as_integers(int64_t *to, garner_dtype dtype, const unsigned char *at, int64_t step,
                             int count)
{
    int bytes = garner_dtype_bits(dtype) / 8;
    bool is_signed = integer_is_signed(dtype);
    if (dtype == GARNER_BOOL)
        load_bools(to, at, step, count);
    else if (bytes == 8)
        load_integers(to, at, step, count, 8, false);
    else if (bytes == 4 && is_signed)
        load_integers(to, at, step, count, 4, true);
    else if (bytes == 4)
        load_integers(to, at, step, count, 4, false);
    else if (bytes == 2)
        load_integers(to, at, step, count, 2, is_signed);
    else
        load_integers(to, at, step, count, 1, is_signed);
}

/* ---- Reals ----------------------------------------------------------------------------------- */

static void load_floats(double *to, const unsigned char *at, int64_t step, int count)
{
    for (int i = 0; i < count; i++) {
        float real;
        memcpy(&real, at + i * step, sizeof real);
        to[i] = (double)real;
    }
}

static void load_doubles(double *to, const unsigned char *at, int64_t step, int count)
{
    for (int i = 0; i < count; i++)
        memcpy(&to[i], at + i * step, sizeof *to);
}

static void load_small(double *to, garner_dtype dtype, const unsigned char *at, int64_t step, int count)
{
    const struct number_format *format = number_format(dtype);
    int bytes = garner_dtype_bits(dtype) / 8;
    for (int i = 0; i < count; i++)
        to[i] = number_value(format, (uint64_t)integer_at(at + i * step, bytes, false));
}

static void load_as_reals(union block *block, garner_dtype dtype, const unsigned char *at, int64_t step,
                          int count)
{
    if (dtype == GARNER_F32) {
        load_floats(block->reals, at, step, count);
    } else if (dtype == GARNER_F64) {
        load_doubles(block->reals, at, step, count);
    } else if (is_real(dtype)) {
        load_small(block->reals, dtype, at, step, count);
    } else {
        load_as_integers(block->integers, dtype, at, step, count);
        for (int i = 0; i < count; i++)
            block->reals[i] = (double)block->integers[i];
    }
}

void block_load(union block *block, enum block_kind kind, garner_dtype dtype, const void *first,
                int64_t offset, int64_t stride, int count)
{
    int bytes = garner_dtype_bits(dtype) / 8;
    const unsigned char *at = (const unsigned char *)first + offset * bytes;
    if (kind == BLOCK_INTEGERS)
        load_as_integers(block->integers, dtype, at, stride * bytes, count);
    else
        load_as_reals(block, dtype, at, stride * bytes, count);
}
