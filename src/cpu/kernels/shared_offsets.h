/* SPDX-License-Identifier: MIT */
/*
 * Many rows that use the same offsets: they stay in registers while short rows go by, a strip of rows at a
 * time.
 */
#ifndef GARNER_CPU_SHARED_OFFSETS_H
#define GARNER_CPU_SHARED_OFFSETS_H

#include "runs.h"

enum { STRIP_ROWS = 32 };

/* Prefetches the points of a later row, where a row has few. */
GARNER_INLINE void prefetch_row(const struct segment *s, const char *data, int64_t run)
{
    const int64_t *offset = (const int64_t *)(const void *)s->index;
    for (int64_t i = 0; i < s->n; i++)
        prefetch_lines((uintptr_t)data + (uintptr_t)offset[i], run, s->points_to_l1);
}

/* Many rows of `count` elements, a constant as their size is. Their offsets stay in registers, and as a rule
 * nothing is prefetched: the fewer instructions a row takes, the more rows the out-of-order window holds. */
GARNER_INLINE void gather_rows_of(const struct segment *s, int count, const struct kernel_id id)
{
    const int64_t *offset = (const int64_t *)(const void *)s->index;
    const int64_t rows = s->rows, data_stride = s->row_data_stride, out_stride = s->row_out_stride;
    const char *data = s->data;
    char *out = s->out;
    const uintptr_t later = X86 ? (uintptr_t)s->prefetch_rows * (uintptr_t)data_stride : 0;
    int64_t from[FEW_ELEMENTS];
    UNROLL for (int i = 0; i < count; i++) from[i] = offset[i];
    for (int64_t row = 0; row < rows; row++, data += data_stride, out += out_stride) {
        const char *at[FEW_ELEMENTS];
        UNROLL for (int i = 0; i < count; i++) at[i] = data + from[i];
        if (later) UNROLL for (int i = 0; i < count; i++) prefetch_line((uintptr_t)at[i] + later, true);
        move_elements(out, at, count, id.run);
    }
}

/* The same for a count that is none: each has a loop of its own. */
GARNER_INLINE void gather_columns(const struct segment *s, int64_t count, const struct kernel_id id)
{
    UNROLL for (int k = 1; k <= FEW_ELEMENTS; k++) if (count == k) gather_rows_of(s, k, id);
}

/* A few columns of a few rows at a time; of all rows if there are no more columns. */
GARNER_INLINE void gather_strips(const struct segment *s, const struct kernel_id id)
{
    const int64_t strip = s->n <= FEW_ELEMENTS ? s->rows : STRIP_ROWS;
    struct segment part = *s;
    for (int64_t row = 0; row < s->rows; row += part.rows) {
        part.rows = at_most(strip, s->rows - row);
        part.data = s->data + row * s->row_data_stride;
        for (int64_t i = 0; i < s->n; i += FEW_ELEMENTS) {
            part.index = s->index + i * (int64_t)sizeof(int64_t);
            part.out = s->out + row * s->row_out_stride + i * id.run;
            gather_columns(&part, at_most(FEW_ELEMENTS, s->n - i), id);
        }
    }
}

/* One point, whose offset is given; HOLED has some that lie nowhere. */
GARNER_INLINE void move_point(const struct segment *s, char *out, const char *data, int64_t offset,
                              const struct kernel_id id)
{
    if (id.source == HOLED && offset == OFFSET_NOWHERE)
        zero_run(out, (size_t)s->run);
    else
        move_run_alone(s, out, data + offset, id);
}

/* Many rows of few points each. */
GARNER_INLINE void gather_short_rows(const struct segment *given, const struct kernel_id id)
{
    const struct segment own = *given, *const s = &own;
    const int64_t *offset = (const int64_t *)(const void *)s->index, run = point_bytes(s, id);
    const int64_t later = ROW_DISTANCE * s->row_data_stride;
    const char *data = s->data;
    char *out = s->out;
    /* the out-of-order window of x86 CPUs reaches far enough */
    const bool prefetches = !X86 && s->prefetch_distance && run <= FEW_BYTES;
    for (int64_t row = 0; row < s->rows; row++, data += s->row_data_stride, out += s->row_out_stride) {
        if (prefetches && row + ROW_DISTANCE < s->rows) prefetch_row(s, data + later, run);
        char *to = out;
        for (int64_t i = 0; i < s->n; i++, to += s->out_stride)
            move_point(s, to, data, offset[i], id);
    }
}

#endif
