/* SPDX-License-Identifier: MIT */
/*
 * Rows of any length to places side by side, written without a seam on aarch64: aligned_stores.c says how. It
 * is a file of its own, and each length of row a function of its own there, since compilers take long over
 * them.
 */
#ifndef GARNER_CPU_SEAMLESS_H
#define GARNER_CPU_SEAMLESS_H

#include "kernel.h"

enum {
    PIECE = 16,       /* bytes that are stored at once */
    MOST_PIECES = 19, /* whole ones of a row: longer ones hardly gain */
    LEAST_SEAMS = 4   /* rows that are worth it */
};

/* Whether a row goes that way. */
GARNER_INLINE bool goes_seamless(const struct segment *s, enum source source, int64_t constant)
{
#if defined(__aarch64__)
    const bool has_it = source == UNIT || source == PAIR || source == BLOCK;
    return has_it && constant == 0 && s->out_stride == s->run && s->n >= LEAST_SEAMS && s->run > PIECE &&
           s->run / PIECE <= MOST_PIECES;
#else
    (void)s, (void)source, (void)constant;
    return false;
#endif
}

/* Moves such a row until a point has an index that is not inside, and returns how many it moved. */
int64_t garner_gather_seamless(const struct segment *s, enum source source, int width);

#endif
