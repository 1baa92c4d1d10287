/* SPDX-License-Identifier: MIT */
/*
 * The way SLIVERS: an axis that is not the last is gathered element by element, so that each one lies on a
 * line of its own. A sliver of the table, a line or half a line wide, is copied together; it stays in the
 * nearest caches while all rows of indices choose from it.
 *
 * Slivers of few rows lie on the stack. For those of more, threads borrow the last rows of out, where there
 * is room for all of them, which are written after all others.
 */
#include "cpu_work.h"

enum {
    NEAREST = 128 * 1024,             /* the smallest table that does not stay in the nearest cache */
    FAR = (X86 ? 2048 : 1024) * 1024, /* the smallest that stays in no cache of a core's own */
    DISTANT = 8 * 1024 * 1024,        /* the smallest out of which elements come slowly */
    CONFLICT = 512,                   /* lines that are a multiple of this apart share few sets of a cache */
    SMALL_RUN = 4,                    /* bytes of the longest element that slivers help anyway, */
    MOST_RUN = 8,                     /* where lines conflict, or slivers are of whole lines */
    LEAST_ROWS = 32,                  /* the fewest rows of a sliver */
    LINE_ROWS = 768,                  /* the most on the stack if they are whole lines, */
    MOST_ROWS = 2 * LINE_ROWS,        /* if they are half a line each, */
    MANY_ROWS = 1024,                 /* and if, so narrow, they are to be worth it for longer elements */
    NEAREST_ROWS = X86 ? 256 : MOST_ROWS, /* the most that stay in the nearest cache */
    LENT_ROWS = 128 * 1024,               /* the most in out, */
    LENT_BYTES = 64 * 1024,               /* of a column, on x86 CPUs that see far */
    LENDERS = 4,                          /* at most one row of out in so many is borrowed */
    MOST_PLACES = 4,                      /* more threads gain more from being dealt small tasks */
    SLIVER_BYTES = LINE_ROWS * LINE,      /* 48 KiB of the 64 that a call may take */
    SLIVER_AHEAD = 8                      /* rows of a table that are asked for while a sliver is copied */
};

_Static_assert(MOST_ROWS *LINE / 2 <= SLIVER_BYTES, "half lines fit as well");

/* The longest elements that slivers of whole lines serve at any distance. */
static int64_t line_run(void)
{
    return X86 || !is_short_sighted() ? MOST_RUN : SMALL_RUN;
}

/* Whether it pays to cut the table into slivers for elements that are `small`. Either it is too large for a
 * core's own caches; or only for the nearest one, and lines of a column, which meet in a few sets of any
 * cache, do fit into that as a sliver. */
static bool is_far_apart(const struct nest *nest, int64_t small)
{
    const struct axis *axis = &nest->axis[0];
    const int64_t bytes = table_bytes(nest);
    const bool meet = axis->stride % CONFLICT == 0 && nest->run <= 2 * small;
    if (bytes >= FAR) return meet || nest->run <= small;
    return bytes >= NEAREST && meet && axis->bound <= NEAREST_ROWS;
}

/* How many times as many rows a table may have as there are rows of indices to choose from it. */
static int64_t most_unused(const struct nest *nest)
{
    if (!X86) return 2;
    if (!is_short_sighted()) return nest->run <= SMALL_RUN ? 2 : 1;
    return table_bytes(nest) < DISTANT ? 2 : 4;
}

static bool has_slivers(const struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t bound = nest->axis[0].bound;
    return work->way == ROWS && work->fused && work->fused->source == COLUMNS && work->fused->run > 0 &&
           nest->run <= MOST_RUN && nest->rank > 1 && inner[-1].data == 0 && inner->n >= LINE / nest->run &&
           bound >= LEAST_ROWS && inner[-1].n >= bound / most_unused(nest);
}

/* How many bytes the rows of slivers on the stack have; 0: there are none. */
static int64_t choose_sliver_row(const struct nest *nest)
{
    const int64_t bound = nest->axis[0].bound, small = bound <= MANY_ROWS ? SMALL_RUN : SMALL_RUN / 2;
    if (bound <= LINE_ROWS) return is_far_apart(nest, line_run()) ? LINE : 0;
    return bound <= MOST_ROWS && is_far_apart(nest, small) ? LINE / 2 : 0;
}

/* How many rows of out hold a sliver of whole lines, and what is left of a line at their end; 0 if they do
 * not lie side by side, or if that does not pay. */
static int64_t choose_lent(const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const int64_t bound = nest->axis[0].bound;
    if (bound <= LINE_ROWS || bound > LENT_ROWS || !is_far_apart(nest, line_run()) ||
        (X86 && !is_short_sighted() && bound * nest->run > LENT_BYTES) ||
        !continues_stride(before->out, inner->n, inner->out))
        return 0;
    return divide_up((bound + 1) * LINE, before->out);
}

void garner_slivers_choose(struct cpu_work *work, const struct nest *nest)
{
    if (!has_slivers(work, nest)) return;
    const struct dim *before = &nest->dim[nest->rank - 2];
    const int64_t row = choose_sliver_row(nest);
    work->lent = choose_lent(nest);
    work->places = work->lent ? at_most(before->n / LENDERS / work->lent, MOST_PLACES) : 0;
    if (row == 0 && work->places == 0) return;
    if (row) work->way = SLIVERS;
    work->sliver = garner_kernel_find(PANEL, nest->index_type.bytes, nest->run);
    work->segment.row_index_stride = before->index * nest->index_type.bytes;
    work->segment.row_out_stride = before->out;
    work->segment.row_points = (uint8_t)(row / nest->run);
}

/* A sliver of a table, its rows side by side. */
static void copy_sliver(char *sliver, int64_t row, const char *from, const struct axis *axis)
{
    const uintptr_t later = (uintptr_t)axis->stride * SLIVER_AHEAD;
    for (int64_t i = 0; i < axis->bound; i++, sliver += row, from += axis->stride) {
        __builtin_prefetch((const void *)((uintptr_t)from + later));
        memcpy(sliver, from, LINE / 2);
        if (row == LINE) memcpy(sliver + LINE / 2, from + LINE / 2, LINE / 2);
    }
}

/* Moves the columns of a sliver of `rows` rows that choose from the same table, from a spot on. A row at
 * which the kernel stops goes as any other. */
static bool move_sliver(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                        const struct segment *like, const char *sliver, struct spot first, int64_t rows)
{
    const struct dim *before = &nest->dim[nest->rank - 2];
    const int64_t points = like->row_points, width = nest->index_type.bytes;
    for (int64_t row = 0; row < rows; row++) {
        const struct spot from = spot_along(first, before, row);
        row += work->sliver->function(like, sliver, buffers->indices + from.index * width,
                                      buffers->out + from.out, (rows - row) * points) /
               points;
        const struct spot stopped = spot_along(first, before, row);
        if (row < rows && !garner_cpu_row(work, nest, buffers, stopped, points)) return false;
    }
    return true;
}

/* The same for all columns, at least a row of a sliver, by slivers whose rows have `bytes`. The last one may
 * reach back over columns that were moved before. */
static bool move_columns(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                         char *sliver, int64_t bytes, struct spot first, int64_t rows, int64_t columns)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t points = bytes / nest->run;
    struct segment like = work->segment;
    like.row_points = (uint8_t)points;
    for (int64_t done = 0; done < columns; done += points) {
        const struct spot column = spot_along(first, inner, at_most(done, columns - points));
        copy_sliver(sliver, bytes, buffers->data + column.data, &nest->axis[0]);
        if (!move_sliver(work, nest, buffers, &like, sliver, column, rows)) return false;
    }
    return true;
}

/* Not inlined: other ways have other uses for the stack. */
GARNER_NOINLINE bool garner_slivers_move(const struct cpu_work *work, const struct nest *nest,
                                         const struct buffers *buffers, struct spot first, int64_t rows,
                                         int64_t columns)
{
    __attribute__((aligned(LINE))) char sliver[SLIVER_BYTES];
    return move_columns(work, nest, buffers, sliver, work->segment.row_points * nest->run, first, rows,
                        columns);
}

bool garner_slivers_borrow(const struct cpu_work *work, const struct nest *nest,
                           const struct buffers *buffers, int64_t place, struct spot first, int64_t rows,
                           int64_t columns)
{
    struct cursor lender;
    cursor_seek(&lender, nest, nest->rank - 1, lent_row(work, nest, place));
    char *lent = buffers->out + lender.spot.out;
    return move_columns(work, nest, buffers, lent + -(uintptr_t)lent % LINE, LINE, first, rows, columns);
}
