/* SPDX-License-Identifier: MIT */
/*
 * The way SLIVERS: an axis that is not the last is gathered element by element, so that each one lies on a
 * line of its own. A sliver of the table, a line or half a line wide, is copied together; it stays in the
 * nearest caches while all rows of indices choose from it.
 */
#include "cpu.h"

enum {
    LINE_BYTES = 64,
    NEAREST = 128 * 1024,             /* a table of this size does not stay in the nearest cache, */
    FAR = (X86 ? 2048 : 1024) * 1024, /* one of this size in no cache of a core's own */
    CONFLICT = 512,                   /* lines that are a multiple of this apart share few sets of a cache */
    SMALL_RUN = 4,                    /* slivers help elements of no more bytes, or of twice as many; */
    LESS_USED = X86 ? 1 : 2,          /* they have this many times as many rows as use them, at most, */
    LEAST_ROWS = 32,                  /* but this many at least, */
    LINE_ROWS = 768,                  /* no more than this where rows are whole lines, */
    MOST_ROWS = 2 * LINE_ROWS,        /* or than this, of half a line each, */
    MANY_ROWS = 1024,                 /* of which more than this are worth it for smaller elements alone, */
    NEAREST_ROWS = X86 ? 256 : MOST_ROWS,  /* and than this to stay in the nearest cache */
    SLIVER_BYTES = LINE_ROWS * LINE_BYTES, /* 48 KiB of the 64 that a call may take */
    SLIVER_AHEAD = 8                       /* rows of a table that are asked for while a sliver is copied */
};

_Static_assert(MOST_ROWS *LINE_BYTES / 2 <= SLIVER_BYTES, "half lines fit as well");

/* Whether it pays to cut the table into slivers. Either it is too large for a core's own caches; or only for
 * the nearest one, and lines of a column, which meet in a few sets of any cache, do fit into that as a
 * sliver. */
static bool is_far_apart(const struct nest *nest)
{
    const struct axis *axis = &nest->axis[0];
    const int64_t bytes = table_bytes(nest);
    const int64_t small = axis->bound <= MANY_ROWS ? SMALL_RUN : SMALL_RUN / 2;
    const bool meet = axis->stride % CONFLICT == 0 && nest->run <= 2 * small;
    if (bytes >= FAR) return meet || nest->run <= small;
    return bytes >= NEAREST && meet && axis->bound <= NEAREST_ROWS;
}

/* And its rows are neither few nor many, and there are enough rows of indices that all choose from it. */
static bool has_slivers(const struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t bound = nest->axis[0].bound;
    return work->way == ROWS && work->fused && work->fused->source == COLUMNS && work->fused->run > 0 &&
           nest->rank > 1 && inner[-1].data == 0 && inner[-1].n >= bound / LESS_USED &&
           inner->n >= LINE_BYTES / nest->run && bound >= LEAST_ROWS && bound <= MOST_ROWS &&
           is_far_apart(nest);
}

void garner_slivers_choose(struct cpu_work *work, const struct nest *nest)
{
    if (!has_slivers(work, nest)) return;
    const struct dim *before = &nest->dim[nest->rank - 2];
    work->way = SLIVERS;
    work->sliver = garner_kernel_find(SLIVER, nest->index_type.bytes, nest->run);
    work->segment.row_index = before->index * nest->index_type.bytes;
    work->segment.row_step = before->out;
    const int64_t row = nest->axis[0].bound <= LINE_ROWS ? LINE_BYTES : LINE_BYTES / 2;
    work->segment.row_points = (uint8_t)(row / nest->run);
}

/* A sliver of a table, its rows side by side. */
static void copy_sliver(char *sliver, int64_t row, const char *from, const struct axis *axis)
{
    const uintptr_t later = (uintptr_t)axis->stride * SLIVER_AHEAD;
    for (int64_t i = 0; i < axis->bound; i++, sliver += row, from += axis->stride) {
        __builtin_prefetch((const void *)((uintptr_t)from + later));
        memcpy(sliver, from, LINE_BYTES / 2);
        if (row == LINE_BYTES) memcpy(sliver + LINE_BYTES / 2, from + LINE_BYTES / 2, LINE_BYTES / 2);
    }
}

/* Moves the columns of a sliver of `rows` rows that choose from the same table, from a spot on. A row at
 * which the kernel stops goes as any other. */
static bool move_sliver(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                        const char *sliver, struct spot first, int64_t rows)
{
    const struct dim *before = &nest->dim[nest->rank - 2];
    const int64_t points = work->segment.row_points, width = nest->index_type.bytes;
    for (int64_t row = 0; row < rows; row++) {
        const struct spot from = spot_along(first, before, row);
        row += work->sliver->function(&work->segment, sliver, buffers->indices + from.index * width,
                                      buffers->out + from.out, (rows - row) * points) /
               points;
        const struct spot stopped = spot_along(first, before, row);
        if (row < rows && !garner_cpu_row(work, nest, buffers, stopped, points)) return false;
    }
    return true;
}

/* The columns of the last sliver may overlap those of the one before. Not inlined: other ways have other uses
 * for the stack. */
GARNER_NOINLINE bool garner_slivers_move(const struct cpu_work *work, const struct nest *nest,
                                         const struct buffers *buffers, struct spot first, int64_t rows,
                                         int64_t columns)
{
    __attribute__((aligned(LINE_BYTES))) char sliver[SLIVER_BYTES];
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t points = work->segment.row_points;
    for (int64_t done = 0; done < columns; done += points) {
        const struct spot column = spot_along(first, inner, at_most(done, columns - points));
        copy_sliver(sliver, points * nest->run, buffers->data + column.data, &nest->axis[0]);
        if (!move_sliver(work, nest, buffers, sliver, column, rows)) return false;
    }
    return true;
}
