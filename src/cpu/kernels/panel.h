/* SPDX-License-Identifier: MIT */
/*
 * Rows of a line or half a line of elements each, out of a packed panel: a few columns of a table that were
 * copied together, so that they stay in L1 or L2 while all rows choose from them.
 */
#ifndef GARNER_CPU_PANEL_H
#define GARNER_CPU_PANEL_H

#include "points.h"

enum { INDEX_ROWS = 8 /* prefetch distance of indices, in rows: these lie far apart */ };

GARNER_INLINE void prefetch_panel_indices(const struct segment *row, int64_t bytes)
{
    prefetch_lines((uintptr_t)row->index + (uintptr_t)(INDEX_ROWS * row->row_index_stride), bytes, true);
}

/* One row of `bytes`, a constant; false if an index is not inside. */
GARNER_INLINE bool gather_panel_row(const struct segment *row, int bytes, bool wraps,
                                    const struct kernel_id id)
{
    const int points = bytes / id.run, group = points < ROW_GROUP ? points : ROW_GROUP;
    for (int i = 0; i < points; i += group) {
        int64_t index[ROW_GROUP];
        const char *at[ROW_GROUP];
        if (!load_offsets(row, (struct group){i, group, wraps}, index, id)) return false;
        UNROLL for (int k = 0; k < group; k++) at[k] = row->data + index[k] * bytes + (i + k) * id.run;
        move_elements(row->out + i * id.run, at, group, id.run);
    }
    return true;
}

GARNER_INLINE int64_t gather_panel_rows(const struct segment *given, int bytes, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    struct segment row = own_segment(given, axis, id);
    const int points = bytes / id.run;
    int64_t i = 0;
    for (; i < row.n; i += points, row.index += row.row_index_stride, row.out += row.row_out_stride) {
        prefetch_panel_indices(&row, points * id.index);
        if (!gather_panel_row(&row, bytes, false, id) && !gather_panel_row(&row, bytes, true, id)) break;
    }
    return i;
}

/* Moves rows until one has an index that is not inside, and returns how many points they have. */
GARNER_INLINE int64_t gather_panel(const struct segment *s, const struct kernel_id id)
{
    return s->row_points * id.run == LINE ? gather_panel_rows(s, LINE, id)
                                          : gather_panel_rows(s, LINE / 2, id);
}

#endif
