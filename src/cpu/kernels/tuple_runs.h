/* SPDX-License-Identifier: MIT */
/*
 * Short runs of any length that tuples of indices lead to, on aarch64: tuple_runs.c says how.
 */
#ifndef GARNER_CPU_TUPLE_RUNS_H
#define GARNER_CPU_TUPLE_RUNS_H

#include "aligned_stores.h"

#if defined(__aarch64__)
/* Whether runs are found in blocks. Pairs are found quickly: their longer runs are moved at once. */
GARNER_INLINE bool goes_by_blocks(const struct segment *s, enum source source)
{
    const int most = source == PAIR ? 0 : MOST_VECTORS;
    return source_axes(source) > 1 && s->out_stride == s->run && s->n >= LEAST_RUNS && s->run > 1 &&
           (s->run <= VECTOR || s->run / VECTOR <= most);
}

/* Moves such runs until a point has an index that is not inside, and returns how many it moved. */
int64_t garner_gather_tuple_runs(const struct segment *s, enum source source, int index);
#endif

#endif
