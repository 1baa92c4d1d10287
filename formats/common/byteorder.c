/* SPDX-License-Identifier: MIT */
/* Which bytes are turned round, and turning them. */
#include "byteorder.h"

unsigned byteorder_width(garner_dtype dtype)
{
    int bits = dtype == GARNER_OPAQUE || dtype == GARNER_STR ? 0 : garner_dtype_bits(dtype);
    if (dtype == GARNER_C64 || dtype == GARNER_C128) bits /= 2;
    return bits > 8 ? (unsigned)bits / 8 : 0;
}

unsigned byteorder_swap(garner_dtype dtype)
{
    /* uncovered: only on big-endian machines, which tests/cross has */
    return byteorder_is_little() ? 0 : byteorder_width(dtype);
}

void byteorder_reverse(void *bytes, size_t size, unsigned width)
{
    unsigned char *run = bytes;
    for (size_t at = 0; width > 1 && at + width <= size; at += width, run += width)
        for (unsigned i = 0; i < width / 2; i++) {
            unsigned char byte = run[i];
            run[i] = run[width - 1 - i];
            run[width - 1 - i] = byte;
        }
}
