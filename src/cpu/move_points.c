/* SPDX-License-Identifier: MIT */
/* Where the kernel of a row stops: a block of indices is resolved, moved, and the kernel goes on. */
#include "move_points.h"

/* Moves points by way of resolved offsets, for which there is room; 0 if the policy refuses one. */
static inline int64_t move_resolved(const struct execution *e, const struct segment *like, struct spot spot,
                                    int64_t n, int64_t *offset)
{
    enum landing landing = garner_resolve(e->nest, e->buffers->indices, spot.index, n, offset);
    if (landing == REFUSED) return 0;
    return garner_kernel_find(landing == NOWHERE ? HOLED : BLOCK, sizeof *offset, e->nest->run)
        ->function(like, e->buffers->data + spot.data, (const char *)offset, e->buffers->out + spot.out, n);
}

/* Not inlined, so that those who need no block, or a little one, have no room for more on their stack. */
GARNER_NOINLINE int64_t garner_move_block(const struct execution *e, const struct segment *like,
                                          struct spot spot, int64_t n)
{
    int64_t offset[BLOCK_POINTS];
    return move_resolved(e, like, spot, at_most(n, BLOCK_POINTS), offset);
}

static GARNER_NOINLINE int64_t move_little_block(const struct execution *e, const struct segment *like,
                                                 struct spot spot, int64_t n)
{
    int64_t offset[LITTLE_BLOCK];
    return move_resolved(e, like, spot, n, offset);
}

GARNER_NOINLINE bool garner_move_rest(const struct execution *e, const struct kernel *kernel,
                                      const struct segment *like, struct spot row, int64_t done, int64_t n)
{
    const struct dim *inner = &e->nest->dim[e->nest->rank - 1];
    while (done < n) {
        const struct spot from = spot_along(row, inner, done);
        const int64_t moved = n - done <= LITTLE_BLOCK ? move_little_block(e, like, from, n - done)
                                                       : garner_move_block(e, like, from, n - done);
        if (moved == 0) return false;
        done += moved;
        if (kernel && done < n) done += move_points(e, kernel, like, spot_along(row, inner, done), n - done);
    }
    return true;
}
