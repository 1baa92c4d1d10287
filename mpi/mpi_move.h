/* SPDX-License-Identifier: MIT */
/*
 * Copies of rows from scattered places to scattered places, which no plain gather makes.
 */
#ifndef GARNER_MPI_MOVE_H
#define GARNER_MPI_MOVE_H

#include <stddef.h>

/* Copies a row of `bytes` bytes, with non-temporal stores if that is wanted and the machine has them: for a
 * long row of an output larger than the caches, of which nothing need be read before it is written. */
void move_row(unsigned char *to, const unsigned char *from, size_t bytes, int non_temporal);

/* Whether rows of an output of `all` bytes are to be moved so. */
int move_is_non_temporal(size_t bytes, size_t all);

/* Prefetches the first lines of a row that is read soon. */
static inline void move_prefetch(const unsigned char *row, size_t bytes)
{
    enum { LINE = 64, MOST = 512 }; /* what follows the processor prefetches itself */
    for (size_t at = 0; at < bytes && at < MOST; at += LINE)
        __builtin_prefetch(row + at);
}

/* After rows were moved so, and before others may read them. */
void move_finish(void);

#endif
