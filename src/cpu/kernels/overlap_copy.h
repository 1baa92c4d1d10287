/* SPDX-License-Identifier: MIT */
/*
 * Short runs of any length: two moves each, of a constant size, which may overlap. overlap_copy.c is a file
 * of its own, so that the levels of instruction sets share one function.
 */
#ifndef GARNER_CPU_OVERLAP_COPY_H
#define GARNER_CPU_OVERLAP_COPY_H

#include <string.h>

#include "kernel.h"

enum {
    LONGEST_HALF = X86 ? 16 : 8, /* aligned_stores.h has what is longer */
    MOST_OVERLAPPED = 2 * LONGEST_HALF
};

/* A run of `half` to twice as many bytes, as two halves that may overlap. */
GARNER_INLINE void move_halves(char *out, const char *from, int64_t run, int half)
{
    char first[LONGEST_HALF], last[LONGEST_HALF];
    memcpy(first, from, (size_t)half), memcpy(last, from + run - half, (size_t)half);
    memcpy(out, first, (size_t)half), memcpy(out + run - half, last, (size_t)half);
}

/* Whether the runs of a row, of any length, are moved by two moves each. Those of a pattern are on x86 alone,
 * where nothing is prefetched: its out-of-order window reaches far enough. */
GARNER_INLINE bool goes_by_halves(const struct segment *s, const struct kernel_id id)
{
    return (id.source == UNIT || (X86 && id.source == PATTERN)) && s->run > 1 && s->run <= MOST_OVERLAPPED;
}

/* Moves as many whole groups of such runs as are inside, and returns how many runs that were. */
int64_t garner_gather_overlapping(const struct segment *s, int index);

#endif
