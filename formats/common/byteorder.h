/* SPDX-License-Identifier: MIT */
/*
 * Numbers whose lowest byte comes first, and those whose highest does.
 */
#ifndef GARNER_FORMATS_BYTEORDER_H
#define GARNER_FORMATS_BYTEORDER_H

#include <string.h>

#include "garner.h"

/* Whether the lowest byte of a number comes first on this machine. */
static inline int byteorder_is_little(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first;
}

/* How wide the runs are that differ between the two orders: 4 for f32 and c64, 0 for bytes. */
unsigned byteorder_width(garner_dtype dtype);

/* How wide the runs are that differ between this machine and a file whose lowest bytes come first; 0: none.
 */
unsigned byteorder_swap(garner_dtype dtype);

/* Reverses each run of `width` bytes; a width below 2 changes nothing. */
void byteorder_reverse(void *bytes, size_t size, unsigned width);

#endif
