/* SPDX-License-Identifier: MIT */
/*
 * Runs of any length to addresses side by side, written by aligned stores on aarch64: aligned_stores.c says
 * how. It is a file of its own, and each length a function of its own there, since compilers take long over
 * them.
 */
#ifndef GARNER_CPU_ALIGNED_STORES_H
#define GARNER_CPU_ALIGNED_STORES_H

#include "kernel.h"

enum {
    VECTOR = 16,       /* bytes that are stored at once */
    MOST_VECTORS = 19, /* whole ones of a run: longer ones hardly gain */
    LEAST_RUNS = 4     /* runs that are worth it */
};

#if defined(__aarch64__)
/* Whether runs are moved by aligned stores. */
GARNER_INLINE bool goes_aligned(const struct segment *s, enum source source)
{
    const bool has_it = source == UNIT || source == PAIR || source == BLOCK;
    return has_it && s->out_stride == s->run && s->n >= LEAST_RUNS && s->run > VECTOR &&
           s->run / VECTOR <= MOST_VECTORS;
}

/* Moves such runs until a point has an index that is not inside, and returns how many it moved. */
int64_t garner_gather_aligned(const struct segment *s, enum source source, int index);
#endif

#endif
