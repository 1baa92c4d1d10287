/* SPDX-License-Identifier: MIT */
/*
 * Short runs of any length that tuples of indices lead to: tuple_runs.c says how.
 */
#ifndef GARNER_CPU_TUPLE_RUNS_H
#define GARNER_CPU_TUPLE_RUNS_H

#include "aligned_stores.h"

enum { MOST_FOUND = 32 }; /* bytes of a run */

/* Whether runs are found in blocks. Elsewhere than on aarch64 those from tables beyond L2 are, whose runs are
 * prefetched: the others the out-of-order window finds as fast. On aarch64 pairs are found quickly: their
 * longer runs are moved at once. */
GARNER_INLINE bool goes_by_blocks(const struct segment *s, enum source source)
{
    if (source_axes(source) < 2 || s->out_stride != s->run || s->n < LEAST_RUNS || s->run < 2) return false;
#if defined(__aarch64__)
    return s->run <= VECTOR || s->run / VECTOR <= (source == PAIR ? 0 : MOST_VECTORS);
#else
    return s->prefetch_distance > 0 && s->run <= MOST_FOUND;
#endif
}

/* Moves such runs until a point has an index that is not inside, and returns how many it moved. `move_block`
 * is the level's kernel for resolved offsets of runs of any length. */
int64_t garner_gather_tuple_runs(const struct segment *s, enum source source, int index,
                                 kernel_function *move_block);

#endif
