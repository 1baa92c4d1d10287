/* SPDX-License-Identifier: MIT */
/*
 * Rows of a line or half a line of elements each, out of a sliver of a table: a few columns of it that were
 * copied together, so that they stay in the nearest caches while all rows of indices go by.
 */
#ifndef GARNER_CPU_SLIVER_H
#define GARNER_CPU_SLIVER_H

#include "points.h"

enum { ROWS_AHEAD = 8 /* whose indices are asked for: rows lie far apart */ };

GARNER_INLINE void prefetch_sliver_indices(const struct segment *row, int64_t bytes)
{
    prefetch_lines((uintptr_t)row->index + (uintptr_t)(ROWS_AHEAD * row->row_index_stride), bytes, true);
}

/* One row of `bytes`, a constant; false if an index is not inside. */
GARNER_INLINE bool gather_sliver_row(const struct segment *row, int bytes, int width, int64_t constant,
                                     bool wraps)
{
    const int points = (int)(bytes / constant), group = points < ROW_GROUP ? points : ROW_GROUP;
    UNROLL for (int i = 0; i < points; i += group)
    {
        int64_t place[ROW_GROUP];
        const char *at[ROW_GROUP];
        if (!load_offsets(row, i, group, PANEL, width, constant, wraps, place)) return false;
        UNROLL for (int k = 0; k < group; k++) at[k] = row->data + place[k] * bytes + (i + k) * constant;
        move_elements(row->out + i * constant, at, group, constant);
    }
    return true;
}

GARNER_INLINE int64_t gather_sliver_rows(const struct segment *given, int bytes, int width, int64_t constant)
{
    struct axis axis[MOST_AXES];
    struct segment row = own_segment(given, PANEL, axis);
    const int points = (int)(bytes / constant);
    int64_t i = 0;
    for (; i < row.n; i += points, row.index += row.row_index_stride, row.out += row.row_out_stride) {
        prefetch_sliver_indices(&row, points * width);
        if (!gather_sliver_row(&row, bytes, width, constant, false) &&
            !gather_sliver_row(&row, bytes, width, constant, true))
            break;
    }
    return i;
}

/* Moves rows until one has an index that is not inside, and returns how many points they have. */
GARNER_INLINE int64_t gather_sliver(const struct segment *s, int width, int64_t constant)
{
    return s->row_points * constant == LINE ? gather_sliver_rows(s, LINE, width, constant)
                                            : gather_sliver_rows(s, LINE / 2, width, constant);
}

#endif
