/* SPDX-License-Identifier: MIT */
/*
 * A tensor that owns its memory, or holds the file that it lies in. What every reader gives and every
 * writer takes. `tensor.shape` and `tensor.strides` point into the array itself, so an array is
 * passed by address and never copied.
 */
#ifndef GARNER_FORMATS_ARRAY_H
#define GARNER_FORMATS_ARRAY_H

#include "garner.h"

struct region;

struct array {
    garner_tensor tensor;
    int64_t shape[GARNER_MAX_RANK];
    int64_t strides[GARNER_MAX_RANK];
    char *descr;           /* of opaque elements read from .npy: the type as written there; else NULL */
    void *memory;          /* freed by array_free */
    struct region *region; /* dropped by array_free: bytes that others may hold, too */
};

/* What array_count answers if there is no count: it does not fit in 63 bits, or an extent is negative. */
enum { ARRAY_TOO_LARGE = -1, ARRAY_NEGATIVE_EXTENT = -2 };

/* Elements of a shape, or one of the above. An extent of 0 makes it 0, however large the others are. */
int64_t array_count(int32_t rank, const int64_t *shape);

/* Makes a dense array with zeroed elements. Messages begin with `name`. `shape` may be NULL if rank is 0. */
garner_status array_create(struct array *array, const char *name, garner_dtype dtype, uint64_t item_bytes,
                           int32_t rank, const int64_t *shape, garner_error *error);

/* Releases what the array owns and zeroes it. A zeroed array is fine. */
void array_free(struct array *array);

#endif
