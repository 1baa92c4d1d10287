/* SPDX-License-Identifier: MIT */
/*
 * The reference's own idea of the element types: how many bits, how packed, how an index is read.
 * Written from the words of the specifications, one element at a time.
 */
#include "reference.h"

#include <string.h>

enum packing { WHOLE, LOW_FIRST, HIGH_FIRST, UNITS_OF_3 };

static const struct type {
    garner_dtype dtype;
    const char *name;
    int bits;
    enum packing packing;
} types[REF_TYPES] = {
    {GARNER_F32, "f32", 32, WHOLE},
    {GARNER_U8, "u8", 8, WHOLE},
    {GARNER_I8, "i8", 8, WHOLE},
    {GARNER_U16, "u16", 16, WHOLE},
    {GARNER_I16, "i16", 16, WHOLE},
    {GARNER_I32, "i32", 32, WHOLE},
    {GARNER_I64, "i64", 64, WHOLE},
    {GARNER_STR, "str", 128, WHOLE},
    {GARNER_BOOL, "bool", 8, WHOLE},
    {GARNER_F16, "f16", 16, WHOLE},
    {GARNER_F64, "f64", 64, WHOLE},
    {GARNER_U32, "u32", 32, WHOLE},
    {GARNER_U64, "u64", 64, WHOLE},
    {GARNER_C64, "c64", 64, WHOLE},
    {GARNER_C128, "c128", 128, WHOLE},
    {GARNER_BF16, "bf16", 16, WHOLE},
    {GARNER_F8E4M3FN, "f8e4m3fn", 8, WHOLE},
    {GARNER_F8E4M3FNUZ, "f8e4m3fnuz", 8, WHOLE},
    {GARNER_F8E5M2, "f8e5m2", 8, WHOLE},
    {GARNER_F8E5M2FNUZ, "f8e5m2fnuz", 8, WHOLE},
    {GARNER_U4, "u4", 4, LOW_FIRST},
    {GARNER_I4, "i4", 4, LOW_FIRST},
    {GARNER_F4E2M1, "f4e2m1", 4, LOW_FIRST},
    {GARNER_F8E8M0, "f8e8m0", 8, WHOLE},
    {GARNER_U2, "u2", 2, LOW_FIRST},
    {GARNER_I2, "i2", 2, LOW_FIRST},
    {GARNER_U1, "u1", 1, HIGH_FIRST},
    {GARNER_U3, "u3", 3, UNITS_OF_3},
    {GARNER_U6, "u6", 6, UNITS_OF_3},
    {GARNER_NF4, "nf4", 4, LOW_FIRST},
    {GARNER_OPAQUE, "opaque", 0, WHOLE},
};

const garner_dtype ref_types[REF_TYPES] = {
    GARNER_F32,    GARNER_U8,         GARNER_I8,   GARNER_U16,  GARNER_I16,      GARNER_I32,
    GARNER_I64,    GARNER_STR,        GARNER_BOOL, GARNER_F16,  GARNER_F64,      GARNER_U32,
    GARNER_U64,    GARNER_C64,        GARNER_C128, GARNER_BF16, GARNER_F8E4M3FN, GARNER_F8E4M3FNUZ,
    GARNER_F8E5M2, GARNER_F8E5M2FNUZ, GARNER_U4,   GARNER_I4,   GARNER_F4E2M1,   GARNER_F8E8M0,
    GARNER_U2,     GARNER_I2,         GARNER_U1,   GARNER_U3,   GARNER_U6,       GARNER_NF4,
    GARNER_OPAQUE,
};

const garner_dtype ref_index_types[REF_INDEX_TYPES] = {GARNER_I8, GARNER_I16, GARNER_I32, GARNER_I64,
                                                       GARNER_U8, GARNER_U16, GARNER_U32, GARNER_U64};

static const struct type *find(garner_dtype dtype)
{
    for (int i = 0; i < REF_TYPES; i++)
        if (types[i].dtype == dtype) return &types[i];
    return NULL;
}

const char *ref_type_name(garner_dtype dtype)
{
    const struct type *type = find(dtype);
    return type ? type->name : "?";
}

int ref_bits(garner_dtype dtype)
{
    const struct type *type = find(dtype);
    return type ? type->bits : 0;
}

bool ref_is_packed(garner_dtype dtype)
{
    const struct type *type = find(dtype);
    return type && type->packing != WHOLE;
}

bool ref_is_unsigned(garner_dtype dtype)
{
    return dtype == GARNER_U8 || dtype == GARNER_U16 || dtype == GARNER_U32 || dtype == GARNER_U64;
}

size_t ref_bytes(garner_dtype dtype, size_t item_bytes, int64_t count)
{
    const size_t n = (size_t)count;
    switch (dtype) {
    case GARNER_OPAQUE:
        return n * item_bytes;
    case GARNER_U3:
        return (n + 7) / 8 * 3;
    case GARNER_U6:
        return (n + 3) / 4 * 3;
    default:
        return (n * (size_t)ref_bits(dtype) + 7) / 8;
    }
}

ref_int ref_least(garner_dtype index_dtype)
{
    const ref_int one = 1;
    return ref_is_unsigned(index_dtype) ? 0 : -(one << (ref_bits(index_dtype) - 1));
}

ref_int ref_most(garner_dtype index_dtype)
{
    const ref_int one = 1;
    return (one << (ref_bits(index_dtype) - !ref_is_unsigned(index_dtype))) - 1;
}

/* ---- Packed elements, bit by bit ---- */

/* Where bit `bit` (0: lowest) of element n lies: which byte, which bit of it (0: lowest). */
static void locate(garner_dtype dtype, int64_t n, int bit, int64_t *byte, int *place)
{
    const struct type *type = find(dtype);
    const int64_t per_byte = 8 / type->bits;
    switch (type->packing) {
    case LOW_FIRST:
        *byte = n / per_byte;
        *place = (int)(n % per_byte) * type->bits + bit;
        return;
    case HIGH_FIRST:
        *byte = n / 8;
        *place = 7 - (int)(n % 8);
        return;
    default:
        break;
    }
    /* u3: low 2 bits of 8 elements in a 16-bit word, then 1 high bit of each in a byte;
     * u6: low 4 bits of 4 elements in a 16-bit word, then 2 high bits of each in a byte. */
    const int low = dtype == GARNER_U3 ? 2 : 4, high = dtype == GARNER_U3 ? 1 : 2;
    const int64_t per_unit = dtype == GARNER_U3 ? 8 : 4;
    const int e = (int)(n % per_unit);
    if (bit < low) {
        const int from_top = e * low + (low - 1 - bit);
        *byte = n / per_unit * 3 + from_top / 8;
        *place = 7 - from_top % 8;
    } else {
        const int from_top = e * high + (high - 1 - (bit - low));
        *byte = n / per_unit * 3 + 2;
        *place = 7 - from_top;
    }
}

unsigned ref_get_code(garner_dtype dtype, const unsigned char *first, int64_t n)
{
    unsigned code = 0;
    for (int bit = 0; bit < ref_bits(dtype); bit++) {
        int64_t byte;
        int place;
        locate(dtype, n, bit, &byte, &place);
        code |= (unsigned)(first[byte] >> place & 1) << bit;
    }
    return code;
}

void ref_put_code(garner_dtype dtype, unsigned char *first, int64_t n, unsigned code)
{
    for (int bit = 0; bit < ref_bits(dtype); bit++) {
        int64_t byte;
        int place;
        locate(dtype, n, bit, &byte, &place);
        const unsigned mask = 1u << place;
        first[byte] = (unsigned char)((first[byte] & ~mask) | (code >> bit & 1) << place);
    }
}

/* ---- Indices ---- */

#define LOAD(type)                \
    do {                          \
        type x;                   \
        memcpy(&x, at, sizeof x); \
        return x;                 \
    } while (0)

ref_int ref_load_index(garner_dtype dtype, const unsigned char *at)
{
    switch (dtype) {
    case GARNER_I8:
        LOAD(int8_t);
    case GARNER_I16:
        LOAD(int16_t);
    case GARNER_I32:
        LOAD(int32_t);
    case GARNER_I64:
        LOAD(int64_t);
    case GARNER_U8:
        LOAD(uint8_t);
    case GARNER_U16:
        LOAD(uint16_t);
    case GARNER_U32:
        LOAD(uint32_t);
    default:
        LOAD(uint64_t);
    }
}

#define STORE(type)                 \
    do {                            \
        const type x = (type)value; \
        memcpy(at, &x, sizeof x);   \
        return;                     \
    } while (0)

void ref_store_index(garner_dtype dtype, unsigned char *at, ref_int value)
{
    switch (dtype) {
    case GARNER_I8:
        STORE(int8_t);
    case GARNER_I16:
        STORE(int16_t);
    case GARNER_I32:
        STORE(int32_t);
    case GARNER_I64:
        STORE(int64_t);
    case GARNER_U8:
        STORE(uint8_t);
    case GARNER_U16:
        STORE(uint16_t);
    case GARNER_U32:
        STORE(uint32_t);
    default:
        STORE(uint64_t);
    }
}
