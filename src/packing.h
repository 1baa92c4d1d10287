/* SPDX-License-Identifier: MIT */
/* How packed elements lie in a packing unit: one is read, or a whole unit written. For kernels of every
 * backend. */
#ifndef GARNER_PACKING_H
#define GARNER_PACKING_H

#include "dtype.h"

/* The most elements of a unit, and the bits of the word of a SPLIT one. */
enum { MOST_PER_UNIT = 8, SPLIT_WORD = 16 };

/* A SPLIT element keeps two thirds of its bits in the word and one third in the third byte. */
GARNER_ANYWHERE static inline int high_bits(const struct dtype *type)
{
    return type->bits / 3;
}

GARNER_ANYWHERE static inline int low_bits(const struct dtype *type)
{
    return type->bits - high_bits(type);
}

/* Element number `at` of packed data. */
GARNER_ANYWHERE static inline unsigned get_code(const unsigned char *data, const struct dtype *type,
                                                int64_t at)
{
    const unsigned char *unit = data + at / type->per_unit * type->unit_bytes;
    int i = (int)(at % type->per_unit), high = high_bits(type), low = low_bits(type);
    unsigned mask = (1u << type->bits) - 1;
    switch (type->packing) {
    case LOW_FIRST:
        return unit[0] >> (i * type->bits) & mask;
    case HIGH_FIRST:
        return unit[0] >> (8 - (i + 1) * type->bits) & mask;
    default:
        break;
    }
    unsigned word = (unsigned)unit[0] << 8 | unit[1];
    unsigned bottom = word >> (SPLIT_WORD - (i + 1) * low) & ((1u << low) - 1);
    unsigned top = (unsigned)unit[2] >> (8 - (i + 1) * high) & ((1u << high) - 1);
    return top << low | bottom;
}

/* Writes a unit whose missing elements are 0. */
GARNER_ANYWHERE static inline void put_unit(unsigned char *unit, const struct dtype *type,
                                            const unsigned *code)
{
    unsigned word = 0, last = 0;
    int high = high_bits(type), low = low_bits(type);
    for (int i = 0; i < type->per_unit; i++) {
        if (type->packing == LOW_FIRST) word |= code[i] << (i * type->bits);
        if (type->packing == HIGH_FIRST) word |= code[i] << (8 - (i + 1) * type->bits);
        if (type->packing != SPLIT) continue;
        word |= (code[i] & ((1u << low) - 1)) << (SPLIT_WORD - (i + 1) * low);
        last |= code[i] >> low << (8 - (i + 1) * high);
    }
    if (type->packing == SPLIT) {
        unit[0] = (unsigned char)(word >> 8);
        unit[1] = (unsigned char)word;
        unit[2] = (unsigned char)last;
    } else {
        unit[0] = (unsigned char)word;
    }
}

#endif
