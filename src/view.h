/* SPDX-License-Identifier: MIT */
/*
 * Stage 0: a caller's tensor, copied and checked once. From here on nobody looks at the caller's
 * shape arrays again, so another thread that changes them changes nothing.
 */
#ifndef GARNER_VIEW_H
#define GARNER_VIEW_H

#include "base.h"
#include "dtype.h"

/* Bytes [low, high) that a view reaches, counted from the caller's pointer. Empty if low == high. */
struct span {
    int64_t low, high;
};

struct view {
    const struct dtype *type;
    garner_dtype dtype;
    int rank;
    bool dense;       /* no strides were given, so they are those of C order */
    int64_t item;     /* bytes of an element; of packed types 1, so that strides stay in elements */
    int64_t count;    /* elements */
    int64_t offset;   /* of element 0 from the caller's pointer, in bytes; 0 if there are no elements */
    uint64_t buffer;  /* bytes that may be reached from the caller's pointer; 0: not known */
    struct span span; /* all zero if there are no elements */
    int64_t n[GARNER_MAX_RANK];      /* extents */
    int64_t stride[GARNER_MAX_RANK]; /* in elements; 0 if there are none, and of extents of 1 if given */
};

/* What can be wrong with a view. */
enum view_fault {
    VIEW_FINE,
    VIEW_IS_NULL,
    VIEW_TYPE,
    VIEW_ITEM,
    VIEW_RANK,
    VIEW_NO_SHAPE,
    VIEW_EXTENT,
    VIEW_COUNT,
    VIEW_OFFSET,
    VIEW_BYTES,
    VIEW_PACKED,
    VIEW_STRIDES,
    VIEW_BUFFER
};

enum view_fault garner_view_make(struct view *view, const garner_tensor *given);

/* The fault in words. `op` and `role` ("data", "indices", "out") begin the sentence. */
garner_status garner_view_fail(enum view_fault fault, const struct view *view, const char *op,
                               const char *role, garner_error *error);

/* The dense view of a shape that is known to fit. */
void garner_view_dense(struct view *view, const garner_shape *shape);

/* The product of extents, zero if any of them is; false if it does not fit. */
bool garner_count(int rank, const int64_t *n, int64_t *count);

/* Whether the strides are those of C order; those of an extent of 1 do not count. */
bool garner_view_is_dense(const struct view *view);

/* Whether two different elements of the view share memory. Exact, but for views so entangled that the
 * search is given up, which counts as sharing. */
bool garner_view_overlaps_itself(const struct view *view);

#endif
