/* SPDX-License-Identifier: MIT */
/*
 * Which Gathers are little more than copying inside ONNX Runtime, which does that as fast: of long rows, if
 * they are few, or lie in the caches as far as the model tells. The other nodes of a model drive garner's
 * code out of the caches, and that costs such a gather 3 to 15 microseconds; many rows, short ones, and those
 * of a large table, which are prefetched, earn that back. So rows of 1 KiB must be many, of 2 KiB and more
 * any open number. The numbers are measured: docs/onnxruntime.md.
 */
#ifndef GARNER_PLUGIN_LONG_ROWS_H
#define GARNER_PLUGIN_LONG_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#define LONG_ROWS_OPEN (-1)

/* All in bytes: a row, its open extents counted as 1; the data that an index chooses from, and the result,
 * which may be LONG_ROWS_OPEN. */
static inline bool long_rows_are_left(int64_t row, int64_t table, int64_t out)
{
    const int64_t is_long = 1024, is_little = 128 * is_long, is_cached = 2048 * is_long;
    if (row < is_long) return false;
    if (out < 0 && row < 2 * is_long) return true;
    return (out >= 0 && out < is_little) || (table <= is_cached && out <= is_cached);
}

#endif
