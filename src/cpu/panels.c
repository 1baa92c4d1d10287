/* SPDX-License-Identifier: MIT */
/*
 * When the strategy PANELS pays: an axis that is not the last is gathered element by element, so that each
 * one lies on a line of its own. A panel of the table, a line or half a line wide, is copied together; it
 * stays in the nearest caches while all rows of indices choose from it.
 *
 * Panels of few rows lie on the stack. For those of more, threads borrow the last rows of out, where there
 * is room for all of them, which are written after all others.
 */
#include "cpu_work.h"

enum {
    NEAREST = 128 * 1024,             /* the smallest table that does not stay in the nearest cache */
    FAR = (X86 ? 2048 : 1024) * 1024, /* the smallest that stays in no cache of a core's own */
    DISTANT = 8 * 1024 * 1024,        /* the smallest out of which elements come slowly */
    CONFLICT = 512,                   /* lines that are a multiple of this apart share few sets of a cache */
    SMALL_RUN = 4,                    /* bytes of the longest element that panels help anyway, */
    MOST_RUN = 8,                     /* where lines conflict, or panels are of whole lines */
    LEAST_ROWS = 32,                  /* the fewest rows of a panel */
    LINE_ROWS = 768,                  /* the most on the stack if they are whole lines, */
    MOST_ROWS = 2 * LINE_ROWS,        /* if they are half a line each, */
    MANY_ROWS = 1024,                 /* and if, so narrow, they are to be worth it for longer elements */
    NEAREST_ROWS = X86 ? 256 : MOST_ROWS, /* the most that stay in the nearest cache */
    LENT_ROWS = 128 * 1024,               /* the most in out, */
    LENT_BYTES = 64 * 1024,               /* of a column, on x86 CPUs that see far */
    LENDERS = 4,                          /* at most one row of out in so many is borrowed */
    MOST_PLACES = 4,                      /* more threads gain more from being dealt small tasks */
};

_Static_assert(LINE_ROWS *LINE <= PANEL_BYTES && MOST_ROWS * LINE / 2 <= PANEL_BYTES, "panels fit the stack");

/* The longest elements that panels of whole lines serve at any distance. */
static int64_t line_run(void)
{
    return X86 || !is_short_sighted() ? MOST_RUN : SMALL_RUN;
}

/* Whether it pays to cut the table into panels for elements that are `small`. Either it is too large for a
 * core's own caches; or only for the nearest one, and lines of a column, which meet in a few sets of any
 * cache, do fit into that as a panel. */
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

static bool has_panels(const struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t bound = nest->axis[0].bound;
    return work->strategy == ROWS && work->kernel && work->kernel->source == COLUMNS &&
           work->kernel->run > 0 && nest->run <= MOST_RUN && nest->rank > 1 && inner[-1].data == 0 &&
           inner->n >= LINE / nest->run && bound >= LEAST_ROWS && inner[-1].n >= bound / most_unused(nest);
}

/* How many bytes the rows of panels on the stack have; 0: there are none. */
static int64_t choose_panel_row(const struct nest *nest)
{
    const int64_t bound = nest->axis[0].bound, small = bound <= MANY_ROWS ? SMALL_RUN : SMALL_RUN / 2;
    if (bound <= LINE_ROWS) return is_far_apart(nest, line_run()) ? LINE : 0;
    return bound <= MOST_ROWS && is_far_apart(nest, small) ? LINE / 2 : 0;
}

/* How many rows of out hold a panel of whole lines, and what is left of a line at their end; 0 if they do
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

void garner_panels_choose(struct cpu_work *work, const struct nest *nest)
{
    if (!has_panels(work, nest)) return;
    const struct dim *before = &nest->dim[nest->rank - 2];
    const int64_t row = choose_panel_row(nest);
    work->scratch_rows = choose_lent(nest);
    work->slots = work->scratch_rows ? at_most(before->n / LENDERS / work->scratch_rows, MOST_PLACES) : 0;
    if (row == 0 && work->slots == 0) return;
    if (row) work->strategy = PANELS;
    work->panel_kernel = garner_kernel_find(PANEL, nest->index_type.bytes, nest->run);
    work->segment.row_index_stride = before->index * nest->index_type.bytes;
    work->segment.row_out_stride = before->out;
    work->segment.row_points = (uint8_t)(row / nest->run);
}
