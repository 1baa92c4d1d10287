/* SPDX-License-Identifier: MIT */
/*
 * Short rows joined to a long one: indices and out go on from row to row, so that nothing but the address in
 * data changes in between. Where each row has a table of its own, those of later rows are prefetched on the
 * way: no hardware prefetcher finds them where a row uses little of its table.
 */
#ifndef GARNER_CPU_SHORT_ROWS_H
#define GARNER_CPU_SHORT_ROWS_H

#include "points.h"

enum { HALF_GROUP = GROUP / 2 };

/* The same kernel for one row. */
GARNER_INLINE struct kernel_id row_id(const struct kernel_id id)
{
    return (struct kernel_id){id.level, id.source == SHORT_UNIT ? UNIT : COLUMNS, id.index, id.run};
}

/* The next `count` points of a row, a constant. False, with nothing moved, if an index is not inside. */
GARNER_INLINE bool take_next(struct segment *row, int count, bool wraps, const struct kernel_id id)
{
    const char *at[GROUP];
    if (!find_points(row, (struct group){0, count, wraps}, at, row_id(id))) return false;
    move_elements(row->out, at, count, id.run);
    row->index += count * id.index;
    row->out += count * id.run;
    if (id.source == SHORT_COLUMNS) row->data += count * id.run;
    return true;
}

/* The next `left` points, the rest of a row; how many of them are left at an index that is not inside.
 * `later` is how far away the table of a later row lies that is prefetched on the way, 0 if none is. */
GARNER_INLINE int take_points(struct segment *row, int left, bool wraps, uintptr_t later,
                              const struct kernel_id id)
{
    const uintptr_t bytes = (uintptr_t)(HALF_GROUP * row->table_bytes_per_point); /* analysis: a few KB */
    const bool prefetches = id.source == SHORT_UNIT && !wraps && later != 0;
    uintptr_t next_table = (uintptr_t)row->data + later;
    for (; left >= GROUP; left -= GROUP, next_table += 2 * bytes) {
        if (prefetches) prefetch_line(next_table, true), prefetch_line(next_table + bytes, true);
        if (!take_next(row, GROUP, wraps, id)) return left;
    }
    for (; left >= HALF_GROUP; left -= HALF_GROUP, next_table += bytes) {
        if (prefetches) prefetch_line(next_table, true);
        if (!take_next(row, HALF_GROUP, wraps, id)) return left;
    }
    for (; left > 0; left--)
        if (!take_next(row, 1, wraps, id)) return left;
    return 0;
}

/* One row. Negative indices are rare, so wrapping waits until the plain comparison fails; then the rest of
 * the row is wrapped at once. */
GARNER_INLINE bool take_row(struct segment *row, uintptr_t later, const struct kernel_id id)
{
    if (X86 && later)
        prefetch_lines((uintptr_t)row->data + later, (int64_t)row->row_points * row->table_bytes_per_point,
                       true);
    const int left = take_points(row, row->row_points, false, X86 ? 0 : later, id);
    if (__builtin_expect(left == 0, 1)) return true;
    return take_points(row, left, true, 0, id) == 0;
}

/* All rows, until one has an index that is not inside; how many points were moved. */
GARNER_INLINE int64_t take_rows(const struct segment *given, bool prefetches, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    struct segment row = own_segment(given, axis, id);
    const char *const end = row.index + row.n * id.index;
    const uintptr_t later = prefetches ? (uintptr_t)row.prefetch_rows * (uintptr_t)row.row_data_stride : 0;
    const int64_t next = row.row_data_stride - (id.source == SHORT_COLUMNS ? row.row_points * id.run : 0);
    for (; row.index < end; row.data += next)
        if (!take_row(&row, later, id)) break;
    return (row.index - given->index) / id.index;
}

GARNER_INLINE int64_t gather_joined(const struct segment *s, const struct kernel_id id)
{
    return id.source == SHORT_UNIT && s->table_bytes_per_point ? take_rows(s, true, id)
                                                               : take_rows(s, false, id);
}

#endif
