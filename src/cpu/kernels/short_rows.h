/* SPDX-License-Identifier: MIT */
/*
 * Short rows joined to a long one: indices and out go on from row to row, so that nothing but the address in
 * data changes in between. Where each row has a table of its own, those of later rows are asked for on the
 * way: no CPU foresees them where a row uses little of its table.
 */
#ifndef GARNER_CPU_JOINED_H
#define GARNER_CPU_JOINED_H

#include "points.h"

enum { HALF_GROUP = GROUP / 2 };

/* The source of one row. */
GARNER_INLINE enum source joined_source(enum source source)
{
    return source == SHORT_UNIT ? UNIT : COLUMNS;
}

/* The next `count` points of a row, a constant. False, with nothing moved, if an index is not inside. */
GARNER_INLINE bool take_next(struct segment *row, int count, enum source source, int width, int64_t constant,
                             bool wraps)
{
    int64_t offset[GROUP];
    const char *at[GROUP];
    if (!load_offsets(row, 0, count, joined_source(source), width, constant, wraps, offset)) return false;
    const int64_t slope = source == SHORT_UNIT ? 0 : constant;
    UNROLL for (int i = 0; i < count; i++) at[i] =
        point_address(row, row->data, offset[i], joined_source(source), constant, i) + i * slope;
    move_elements(row->out, at, count, constant);
    row->index += count * width;
    row->out += count * constant;
    if (source == SHORT_COLUMNS) row->data += count * constant;
    return true;
}

/* The next `left` points, the rest of a row; how many of them are left at an index that is not inside. If it
 * asks, the table of a later row lies `later` bytes away. */
GARNER_INLINE int take_points(struct segment *row, int left, bool asks, uintptr_t later, enum source source,
                              int width, int64_t constant, bool wraps)
{
    const uintptr_t pace = (uintptr_t)(HALF_GROUP * row->table_bytes_per_point);
    uintptr_t asked = (uintptr_t)row->data + later;
    for (; left >= GROUP; left -= GROUP, asked += 2 * pace) {
        if (asks) prefetch_line(asked, true), prefetch_line(asked + pace, true);
        if (!take_next(row, GROUP, source, width, constant, wraps)) return left;
    }
    for (; left >= HALF_GROUP; left -= HALF_GROUP, asked += pace) {
        if (asks) prefetch_line(asked, true);
        if (!take_next(row, HALF_GROUP, source, width, constant, wraps)) return left;
    }
    for (; left > 0; left--)
        if (!take_next(row, 1, source, width, constant, wraps)) return left;
    return 0;
}

/* One row. Negative indices are rare, so wrapping waits until the plain comparison fails; then the rest of
 * the row is wrapped at once. */
GARNER_INLINE bool take_row(struct segment *row, bool asks, uintptr_t later, enum source source, int width,
                            int64_t constant)
{
    if (X86 && asks)
        prefetch_lines((uintptr_t)row->data + later, (int64_t)row->row_points * row->table_bytes_per_point,
                       true);
    const int left = take_points(row, row->row_points, asks && !X86, later, source, width, constant, false);
    if (__builtin_expect(left == 0, 1)) return true;
    return take_points(row, left, false, 0, source, width, constant, true) == 0;
}

/* All rows, until one has an index that is not inside; how many points were moved. */
GARNER_INLINE int64_t take_rows(const struct segment *given, bool asks, enum source source, int width,
                                int64_t constant)
{
    struct axis axis[MOST_AXES];
    struct segment row = own_segment(given, source, axis);
    const char *const end = row.index + row.n * width;
    const uintptr_t later = (uintptr_t)row.prefetch_distance * (uintptr_t)row.row_data_stride;
    const int64_t next = row.row_data_stride - (source == SHORT_COLUMNS ? row.row_points * constant : 0);
    for (; row.index < end; row.data += next)
        if (!take_row(&row, asks, later, source, width, constant)) break;
    return (row.index - given->index) / width;
}

GARNER_INLINE int64_t gather_joined(const struct segment *s, enum source source, int width, int64_t constant)
{
    return source == SHORT_UNIT && s->table_bytes_per_point ? take_rows(s, true, source, width, constant)
                                                            : take_rows(s, false, source, width, constant);
}

#endif
