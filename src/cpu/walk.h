/* SPDX-License-Identifier: MIT */
/* Walks through the points of a nest: where they lie in the three buffers. */
#ifndef GARNER_CPU_WALK_H
#define GARNER_CPU_WALK_H

#include "../nest.h"

/* Where a point lies: how far from element 0 of data and of out, and the number of its first index. */
struct spot {
    int64_t data, index, out;
};

/* The spot `n` steps further along a dim. */
static inline struct spot spot_along(struct spot from, const struct dim *dim, int64_t n)
{
    return (struct spot){from.data + n * dim->data, from.index + n * dim->index, from.out + n * dim->out};
}

/* The coordinates of a point in the first `rank` dims, and where they lead. */
struct cursor {
    int rank;
    struct spot spot;
    int64_t at[GARNER_MAX_RANK];
};

/* Puts the cursor on a point of the first `rank` dims. */
static inline void cursor_seek(struct cursor *cursor, const struct nest *nest, int rank, int64_t point)
{
    cursor->rank = rank;
    cursor->spot = (struct spot){0, 0, 0};
    for (int d = rank - 1; d >= 0; d--) {
        const struct dim *dim = &nest->dim[d];
        cursor->at[d] = point % dim->n;
        cursor->spot = spot_along(cursor->spot, dim, cursor->at[d]);
        point /= dim->n;
    }
}

/* Moves the cursor by `n` within the last of its dims, onto the next row at the end of one. */
static inline void cursor_advance(struct cursor *cursor, const struct nest *nest, int64_t n)
{
    for (int d = cursor->rank - 1; d >= 0; d--, n = 1) {
        const struct dim *dim = &nest->dim[d];
        cursor->at[d] += n;
        cursor->spot = spot_along(cursor->spot, dim, n);
        if (cursor->at[d] < dim->n) return;
        cursor->spot = spot_along(cursor->spot, dim, -dim->n);
        cursor->at[d] = 0;
    }
}

#endif
