/* SPDX-License-Identifier: MIT */
/* Runs one task: walks its rectangle of the grid by the chosen strategy, segment by segment. */
#include "run_task.h"

#include "bits.h"
#include "kernels/move.h"
#include "run_panels.h"

#include <string.h>

enum { PATTERN_POINTS = 1024 };

/* A rectangle of the grid, and a slice of the run. */
struct tile {
    int64_t row, row_end, column, column_end, from, length;
};

/* The rectangle of a task, or of several that lie side by side. */
static inline struct tile find_tile(const struct cpu_work *work, const struct nest *nest, struct tasks tasks)
{
    if (work->tasks == 1) return (struct tile){0, work->rows, 0, work->columns, 0, nest->run};
    const int64_t last = tasks.first + tasks.count - 1;
    int64_t slice = tasks.first % work->slices, column = tasks.first / work->slices % work->column_tasks;
    int64_t row = tasks.first / work->slices / work->column_tasks;
    int64_t last_slice = last % work->slices, last_column = last / work->slices % work->column_tasks;
    int64_t last_row = last / work->slices / work->column_tasks;
    return (struct tile){
        .row = row * work->row_share,
        .row_end = at_most((last_row + 1) * work->row_share, work->rows),
        .column = column * work->column_share,
        .column_end = at_most((last_column + 1) * work->column_share, work->columns),
        .from = slice * work->slice,
        .length = at_most((last_slice + 1) * work->slice, nest->run) - slice * work->slice,
    };
}

/* Row number `row` prefetches its share of the table from which rows choose after those that share its own.
 */
static void prefetch_share(const struct execution *e, struct spot spot, int64_t row)
{
    const struct dim *before = &e->nest->dim[e->nest->rank - 2], *block = before - 1;
    const uintptr_t at = (uintptr_t)e->buffers->data + (uintptr_t)(spot.data + block->data) +
                         (uintptr_t)(row % before->n * e->work->table_share);
    prefetch_lines(at, e->work->table_share, e->work->table_share_to_l1);
}

static bool run_rows(const struct execution *e, struct tile tile)
{
    const struct cpu_work *work = e->work;
    const struct nest *nest = e->nest;
    struct segment like = work->segment;
    struct cursor row;
    like.run = tile.length;
    like.next_part += tile.column * like.table_bytes_per_point;
    cursor_seek(&row, nest, nest->rank - 1, tile.row);
    row.spot = spot_along(row.spot, &nest->dim[nest->rank - 1], tile.column);
    row.spot.data += tile.from;
    row.spot.out += tile.from;
    for (int64_t i = tile.row; i < tile.row_end; i++) {
        if (work->table_share) prefetch_share(e, row.spot, i);
        if (!move_row(e, work->kernel, &like, row.spot, tile.column_end - tile.column)) return false;
        cursor_advance(&row, nest, 1);
    }
    return true;
}

/* ---- Panels --------------------------------------------------------------------------------------- */

enum { ON_STACK = -1 }; /* no slot */

/* Whether each row seems to use one index for all its columns, as indices do that were expanded along them: a
 * few rows are looked at, a panel's width of each. Such rows are copies of rows of the table, which no panel
 * makes faster. What the indices are decides the order alone; each is loaded again where it is used. */
static bool rows_repeat_indices(const struct execution *e, const struct strip *strip)
{
    enum { LOOKED_AT = 4 };
    const struct nest *nest = e->nest;
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const int64_t points = at_most(strip->columns, LINE / nest->run), bytes = nest->index_type.bytes;
    if (inner->data != nest->run) return false;
    for (int64_t k = 0; k < LOOKED_AT; k++) {
        const struct spot row = spot_along(strip->first, before, (strip->rows - 1) * k / (LOOKED_AT - 1));
        const struct spot at = spot_along(row, inner, (strip->columns - points) * k / (LOOKED_AT - 1));
        const char *first = e->buffers->indices + at.index * bytes;
        if (memcmp(first, first + bytes, (size_t)((points - 1) * bytes)) != 0) return false;
    }
    return true;
}

/* Moves rows that choose from one table by panels; on the stack, or in a slot. */
static bool move_table_rows(const struct execution *e, const struct tile *tile, const struct strip *strip,
                            int64_t slot)
{
    if (rows_repeat_indices(e, strip)) return run_rows(e, *tile);
    return slot == ON_STACK ? garner_panels_on_stack(e, strip) : garner_panels_in_slot(e, strip, slot);
}

/* A tile, one table after the other. */
static bool move_panels(const struct execution *e, const struct tile *tile, int64_t slot)
{
    const struct nest *nest = e->nest;
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    struct cursor row;
    cursor_seek(&row, nest, nest->rank - 1, tile->row);
    for (int64_t i = tile->row, served; i < tile->row_end; i += served) {
        served = at_most(tile->row_end - i, before->n - i % before->n);
        const struct strip strip = {spot_along(row.spot, inner, tile->column), served,
                                    tile->column_end - tile->column};
        const struct tile part = {i, i + served, tile->column, tile->column_end, 0, nest->run};
        if (!move_table_rows(e, &part, &strip, slot)) return false;
        cursor_advance(&row, nest, served);
    }
    return true;
}

static bool run_panels(const struct execution *e, struct tasks tasks)
{
    const struct tile tile = find_tile(e->work, e->nest, tasks);
    if (tile.column_end - tile.column < e->work->segment.row_points) return run_rows(e, tile);
    return move_panels(e, &tile, ON_STACK);
}

/* The column with which a task begins where tasks are parts of the columns, at whole lines: no part but an
 * empty one is less than a line. Where there are more tasks than lines some are empty. */
static int64_t first_column(const struct cpu_work *work, int64_t task, int64_t line)
{
    if (task == work->tasks) return work->columns;
    return at_most(work->columns * task / work->tasks, work->columns - line) / line * line;
}

bool garner_cpu_run_in_slot(const struct execution *e, struct tasks tasks, int64_t slot, int64_t slots)
{
    const int64_t line = LINE / e->nest->run, kept = slot_row(e, slots - 1);
    const int64_t column = first_column(e->work, tasks.first, line);
    const int64_t end = first_column(e->work, tasks.first + tasks.count, line);
    const struct tile part = {0, kept, column, end, 0, e->nest->run};
    return column == end || move_panels(e, &part, slot);
}

bool garner_cpu_run_scratch(const struct execution *e, int64_t slot)
{
    const int64_t row = slot_row(e, slot);
    const struct tile scratch = {row, row + e->work->scratch_rows, 0, e->work->columns, 0, e->nest->run};
    return run_rows(e, scratch);
}

/* ---- Short rows ----------------------------------------------------------------------------------- */

/* Moves short rows that follow each other, from `first` on, as one long row; `pattern` is theirs, if the
 * kernel needs one. Where it stops the rest of that row goes by way of a block. */
static bool move_short_rows(const struct execution *e, const int64_t *pattern, struct spot first,
                            int64_t rows)
{
    const struct dim *inner = &e->nest->dim[e->nest->rank - 1], *before = inner - 1;
    struct segment like = e->work->segment;
    like.pattern = pattern;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t left = (rows - row) * inner->n;
        const int64_t moved = move_points(e, e->work->kernel, &like, spot_along(first, before, row), left);
        if (moved == left) break;
        const int64_t column = moved % inner->n;
        row += moved / inner->n;
        const struct spot stopped = spot_along(spot_along(first, before, row), inner, column);
        if (!move_row(e, NULL, &like, stopped, inner->n - column)) return false;
    }
    return true;
}

/* Whether all is one row to the kernel, and its pattern, if it needs one, is made. */
static inline bool is_ready(const struct cpu_work *work)
{
    return work->segment.pattern || (work->segment.row_points && work->rows == 1 && work->tasks == 1);
}

static GARNER_NOINLINE bool run_short_rows(const struct execution *e, struct tasks tasks)
{
    const struct nest *nest = e->nest;
    const struct tile tile = find_tile(e->work, nest, tasks);
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const bool patterned = e->work->kernel->id.source == PATTERN;
    const int64_t rows = tile.column_end - tile.column;
    const int64_t most = patterned ? at_most(rows, PATTERN_POINTS / inner->n) : rows;
    int64_t pattern[PATTERN_POINTS];
    if (patterned) make_pattern(pattern, nest, most * inner->n);
    struct cursor base;
    cursor_seek(&base, nest, nest->rank - 2, tile.row);
    for (int64_t i = tile.row; i < tile.row_end; i++) {
        for (int64_t row = tile.column; row < tile.column_end; row += most)
            if (!move_short_rows(e, pattern, spot_along(base.spot, before, row),
                                 at_most(most, tile.column_end - row)))
                return false;
        cursor_advance(&base, nest, 1);
    }
    return true;
}

/* ---- Reused indices ------------------------------------------------------------------------------- */

/* A tile's columns of `rows` rows that share their indices. */
static bool move_reused(const struct execution *e, const struct tile *tile, struct spot row, int64_t rows)
{
    const struct dim *inner = &e->nest->dim[e->nest->rank - 1], *before = inner - 1;
    struct segment like = e->work->segment;
    like.run = tile->length;
    like.rows = rows;
    like.row_data_stride = before->data;
    like.row_out_stride = before->out;
    for (int64_t column = tile->column, moved; column < tile->column_end; column += moved) {
        moved = garner_move_block(e, &like, spot_along(row, inner, column), tile->column_end - column);
        if (moved == 0) return false;
    }
    return true;
}

static bool run_reused(const struct execution *e, struct tasks tasks)
{
    const struct nest *nest = e->nest;
    const struct tile tile = find_tile(e->work, nest, tasks);
    int64_t shared = nest->dim[nest->rank - 2].n;
    struct cursor row;
    cursor_seek(&row, nest, nest->rank - 1, tile.row);
    row.spot.data += tile.from;
    row.spot.out += tile.from;
    for (int64_t i = tile.row, rows; i < tile.row_end; i += rows) {
        rows = at_most(at_most(e->work->block_rows, tile.row_end - i), shared - i % shared);
        if (!move_reused(e, &tile, row.spot, rows)) return false;
        cursor_advance(&row, nest, rows);
    }
    return true;
}

/* ---- Any task ------------------------------------------------------------------------------------- */

static bool run_bits(const struct execution *e, struct tasks tasks)
{
    const struct tile tile = find_tile(e->work, e->nest, tasks);
    return garner_bits_task(e->nest, e->buffers, tile.row, tile.row_end);
}

int64_t garner_cpu_joinable(const struct cpu_work *work, int64_t task, int64_t most)
{
    const int64_t row = work->slices * work->column_tasks;
    if (task % row == 0 && most >= row) return most - most % row;
    const int64_t in_row = at_most(most, row - task % row);
    if (task % work->slices == 0 && in_row >= work->slices) return in_row - in_row % work->slices;
    return at_most(most, work->slices - task % work->slices);
}

bool garner_cpu_run(const struct execution *e, struct tasks tasks)
{
    const struct cpu_work *work = e->work;
    const struct spot first = {0, 0, 0};
    switch (work->strategy) {
    case ROWS:
        if (work->rows == 1 && work->tasks == 1) /* nothing to walk along */
            return move_row(e, work->kernel, &work->segment, first, work->columns);
        return run_rows(e, find_tile(work, e->nest, tasks));
    case SHORT_ROWS:
        if (is_ready(work) &&
            move_points(e, work->kernel, &work->segment, first, e->nest->points) == e->nest->points)
            return true;
        return run_short_rows(e, tasks);
    case ONE_BLOCK:
        return garner_move_block(e, &work->segment, first, work->columns) > 0;
    case PANELS:
        return run_panels(e, tasks);
    case REUSED_INDICES:
        return run_reused(e, tasks);
    default: /* BITS */
        return run_bits(e, tasks);
    }
}
