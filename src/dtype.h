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
    int bits;           /* of one element; 0: opaque */
    int per_unit;       /* elements in a packing unit */
    int unit_bytes;     /* bytes of a packing unit; 0: opaque */
    enum packing packing;
    enum indexing index;
};

/* The type's row, or NULL if there is no such type. */
const struct dtype *garner_dtype_row(garner_dtype dtype);

/* Bytes of `count` dense elements; false if the type's size is not known or the result does not fit. */
bool garner_dtype_size(const struct dtype *type, int64_t count, uint64_t item_bytes, int64_t *bytes);

#endif
