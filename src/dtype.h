/* SPDX-License-Identifier: MIT */
/* What the core knows of an element type: its size, its packing, and whether it may index. */
#ifndef GARNER_DTYPE_H
#define GARNER_DTYPE_H

#include "base.h"

enum packing { WHOLE, LOW_FIRST, HIGH_FIRST, SPLIT };
enum indexing { NONE, SIGNED, UNSIGNED };

struct dtype {
    const char *name;
    const char *others; /* further names, separated by spaces */
    uint8_t bits;       /* of one element; 0: opaque */
    uint8_t per_unit;   /* elements in a packing unit */
    uint8_t unit_bytes; /* bytes of a packing unit; 0: opaque */
    uint8_t item;       /* bytes of an element; 1 where it is packed, 0: opaque */
    uint8_t packing;    /* enum packing */
    uint8_t index;      /* enum indexing */
};

enum { DTYPES = 64 };

/* By number; those that are no type have no name. */
extern const struct dtype garner_dtypes[DTYPES] GARNER_HIDDEN;

/* The type's row, or NULL if there is no such type. */
static inline const struct dtype *dtype_row(garner_dtype dtype)
{
    const struct dtype *row = &garner_dtypes[dtype & (DTYPES - 1)];
    PIN(row); /* or its address is computed for each column */
    return dtype == (dtype & (DTYPES - 1)) && row->name ? row : NULL;
}

/* Bytes of `count` dense elements, of `item` bytes each unless they are packed; false if that does not
 * fit. */
static inline bool dtype_size(const struct dtype *type, int64_t count, int64_t item, int64_t *bytes)
{
    if (__builtin_expect(type->packing == WHOLE, 1)) return multiply_fits(count, item, bytes);
    return multiply_fits(divide_up(count, type->per_unit), type->unit_bytes, bytes);
}

#endif
