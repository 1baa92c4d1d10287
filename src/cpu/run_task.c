/* SPDX-License-Identifier: MIT */
/* Runs one task: walks its rectangle of the grid the chosen strategy, segment by segment. */
#include "cpu_work.h"
#include "kernels/move.h"

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

/* Moves `n` points of a row from a spot on, until the kernel stops; returns how many. */
static inline int64_t move_points(const struct kernel *kernel, const struct nest *nest,
                                  const struct buffers *buffers, const struct segment *like, struct spot spot,
                                  int64_t n)
{
    return kernel->function(like, buffers->data + spot.data,
                            buffers->indices + spot.index * nest->index_type.bytes, buffers->out + spot.out,
                            n);
}

/* The same by way of resolved offsets, for which there is room; 0 if the policy refuses one. */
static inline int64_t move_resolved(const struct nest *nest, const struct buffers *buffers,
                                    const struct segment *like, struct spot spot, int64_t n, int64_t *offset)
{
    enum landing landing = garner_resolve(nest, buffers->indices, spot.index, n, offset);
    if (landing == REFUSED) return 0;
    return garner_kernel_find(landing == NOWHERE ? HOLED : BLOCK, sizeof *offset, nest->run)
        ->function(like, buffers->data + spot.data, (const char *)offset, buffers->out + spot.out, n);
}

/* At most a block of them. Not inlined, so that those who need no block, or a little one, have no room for
 * more on their stack. */
static GARNER_NOINLINE int64_t move_block(const struct nest *nest, const struct buffers *buffers,
                                          const struct segment *like, struct spot spot, int64_t n)
{
    int64_t offset[BLOCK_POINTS];
    return move_resolved(nest, buffers, like, spot, at_most(n, BLOCK_POINTS), offset);
}

static GARNER_NOINLINE int64_t move_little_block(const struct nest *nest, const struct buffers *buffers,
                                                 const struct segment *like, struct spot spot, int64_t n)
{
    int64_t offset[LITTLE_BLOCK];
    return move_resolved(nest, buffers, like, spot, n, offset);
}

/* Moves points [done, n) of a row: a block where the kernel stopped, then the kernel again. */
static GARNER_NOINLINE bool move_rest(const struct kernel *kernel, const struct nest *nest,
                                      const struct buffers *buffers, const struct segment *like,
                                      struct spot row, int64_t done, int64_t n)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    while (done < n) {
        const struct spot from = spot_along(row, inner, done);
        const int64_t moved = n - done <= LITTLE_BLOCK
                                  ? move_little_block(nest, buffers, like, from, n - done)
                                  : move_block(nest, buffers, like, from, n - done);
        if (moved == 0) return false;
        done += moved;
        if (kernel && done < n)
            done += move_points(kernel, nest, buffers, like, spot_along(row, inner, done), n - done);
    }
    return true;
}

/* Moves the `n` points of a row, or of a part of it; `kernel` is NULL where none reads such indices. */
static inline bool move_row(const struct kernel *kernel, const struct nest *nest,
                            const struct buffers *buffers, const struct segment *like, struct spot row,
                            int64_t n)
{
    int64_t moved = kernel ? move_points(kernel, nest, buffers, like, row, n) : 0;
    return __builtin_expect(moved == n, 1) || move_rest(kernel, nest, buffers, like, row, moved, n);
}

bool garner_cpu_row(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                    struct spot row, int64_t n)
{
    return move_row(work->kernel, nest, buffers, &work->segment, row, n);
}

/* Row number `row` asks for its share of the table from which rows choose after those that share its own. */
static void prefetch_share(const struct cpu_work *work, const struct nest *nest,
                           const struct buffers *buffers, struct spot spot, int64_t row)
{
    const struct dim *before = &nest->dim[nest->rank - 2], *block = before - 1;
    const uintptr_t at = (uintptr_t)buffers->data + (uintptr_t)(spot.data + block->data) +
                         (uintptr_t)(row % before->n * work->table_share);
    prefetch_lines(at, work->table_share, is_short_sighted());
}

static bool run_rows(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     struct tile tile)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    struct segment like = work->segment;
    struct cursor row;
    like.run = tile.length;
    like.next_table += tile.column * like.table_bytes_per_point; /* the same part of the next row's table */
    cursor_seek(&row, nest, nest->rank - 1, tile.row);
    row.spot = spot_along(row.spot, inner, tile.column);
    row.spot.data += tile.from;
    row.spot.out += tile.from;
    for (int64_t i = tile.row; i < tile.row_end; i++) {
        if (work->table_share) prefetch_share(work, nest, buffers, row.spot, i);
        if (!move_row(work->kernel, nest, buffers, &like, row.spot, tile.column_end - tile.column))
            return false;
        cursor_advance(&row, nest, 1);
    }
    return true;
}

enum { ON_STACK = -1 }; /* no slot among the rows that are lent */

/* Moves a tile by panels, of one table after the other; on the stack, or in a slot. */
static bool move_panels(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                        const struct tile *tile, int64_t slot)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const int64_t columns = tile->column_end - tile->column;
    struct cursor row;
    cursor_seek(&row, nest, nest->rank - 1, tile->row);
    for (int64_t i = tile->row, served; i < tile->row_end; i += served) {
        served = at_most(tile->row_end - i, before->n - i % before->n);
        const struct spot first = spot_along(row.spot, inner, tile->column);
        if (!(slot == ON_STACK ? garner_panels_move(work, nest, buffers, first, served, columns)
                               : garner_panels_borrow(work, nest, buffers, slot, first, served, columns)))
            return false;
        cursor_advance(&row, nest, served);
    }
    return true;
}

static bool run_panels(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                       struct tasks tasks)
{
    const struct tile tile = find_tile(work, nest, tasks);
    if (tile.column_end - tile.column < work->segment.row_points) return run_rows(work, nest, buffers, tile);
    return move_panels(work, nest, buffers, &tile, ON_STACK);
}

/* The column with which a task begins where tasks are parts of the columns, at whole lines: no part but an
 * empty one is less than a line. */
static int64_t first_column(const struct cpu_work *work, int64_t task, int64_t grain)
{
    if (task == work->tasks) return work->columns;
    return at_most(work->columns * task / work->tasks, work->columns - grain) / grain * grain;
}

/* Moves columns of all rows but those that are lent. */
static bool run_borrowing(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                          struct tasks tasks)
{
    const int64_t grain = LINE / nest->run, kept = scratch_row(work, nest, tasks.slots - 1);
    const int64_t column = first_column(work, tasks.first, grain);
    const int64_t end = first_column(work, tasks.first + tasks.count, grain);
    const struct tile part = {0, kept, column, end, 0, nest->run};
    return move_panels(work, nest, buffers, &part, tasks.slot);
}

bool garner_cpu_run_scratch(const struct cpu_work *work, const struct nest *nest,
                            const struct buffers *buffers, int64_t slot)
{
    const int64_t row = scratch_row(work, nest, slot);
    const struct tile lent = {row, row + work->scratch_rows, 0, work->columns, 0, nest->run};
    return run_rows(work, nest, buffers, lent);
}

/* Moves short rows that follow each other, from `first` on, as one long row; `pattern` is theirs, if the
 * kernel needs one. Where it stops the rest of that row goes by way of a block. */
static bool move_short_rows(const struct cpu_work *work, const struct nest *nest,
                            const struct buffers *buffers, const int64_t *pattern, struct spot first,
                            int64_t rows)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    struct segment like = work->segment;
    like.pattern = pattern;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t left = (rows - row) * inner->n;
        const int64_t moved =
            move_points(work->kernel, nest, buffers, &like, spot_along(first, before, row), left);
        if (moved == left) break;
        const int64_t column = moved % inner->n;
        row += moved / inner->n;
        const struct spot stopped = spot_along(spot_along(first, before, row), inner, column);
        if (!move_row(NULL, nest, buffers, &like, stopped, inner->n - column)) return false;
    }
    return true;
}

/* Whether all is one row to the kernel, and its pattern, if it needs one, is made. */
static inline bool is_ready(const struct cpu_work *work)
{
    return work->segment.pattern || (work->segment.row_points && work->rows == 1 && work->tasks == 1);
}

static GARNER_NOINLINE bool run_short_rows(const struct cpu_work *work, const struct nest *nest,
                                           const struct buffers *buffers, struct tasks tasks)
{
    const struct tile tile = find_tile(work, nest, tasks);
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const bool patterned = work->kernel->source == PATTERN;
    const int64_t rows = tile.column_end - tile.column;
    const int64_t most = patterned ? at_most(rows, PATTERN_POINTS / inner->n) : rows;
    int64_t pattern[PATTERN_POINTS];
    if (patterned) make_pattern(pattern, nest, most * inner->n);
    struct cursor base;
    cursor_seek(&base, nest, nest->rank - 2, tile.row);
    for (int64_t i = tile.row; i < tile.row_end; i++) {
        for (int64_t row = tile.column; row < tile.column_end; row += most)
            if (!move_short_rows(work, nest, buffers, pattern, spot_along(base.spot, before, row),
                                 at_most(most, tile.column_end - row)))
                return false;
        cursor_advance(&base, nest, 1);
    }
    return true;
}

/* A tile's columns of `rows` rows that share their indices. */
static bool move_reused(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                        const struct tile *tile, struct spot row, int64_t rows)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    struct segment like = work->segment;
    like.run = tile->length;
    like.rows = rows;
    like.row_data_stride = before->data;
    like.row_out_stride = before->out;
    for (int64_t column = tile->column, moved; column < tile->column_end; column += moved) {
        moved = move_block(nest, buffers, &like, spot_along(row, inner, column), tile->column_end - column);
        if (moved == 0) return false;
    }
    return true;
}

static bool run_reused(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                       struct tasks tasks)
{
    const struct tile tile = find_tile(work, nest, tasks);
    int64_t shared = nest->dim[nest->rank - 2].n;
    struct cursor row;
    cursor_seek(&row, nest, nest->rank - 1, tile.row);
    row.spot.data += tile.from;
    row.spot.out += tile.from;
    for (int64_t i = tile.row, rows; i < tile.row_end; i += rows) {
        rows = at_most(at_most(work->block_rows, tile.row_end - i), shared - i % shared);
        if (!move_reused(work, nest, buffers, &tile, row.spot, rows)) return false;
        cursor_advance(&row, nest, rows);
    }
    return true;
}

static bool run_bits(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     struct tasks tasks)
{
    const struct tile tile = find_tile(work, nest, tasks);
    return garner_bits_task(nest, buffers, tile.row, tile.row_end);
}

int64_t garner_cpu_joinable(const struct cpu_work *work, int64_t task, int64_t most)
{
    const int64_t row = work->slices * work->column_tasks;
    if (task % row == 0 && most >= row) return most - most % row;
    const int64_t in_row = at_most(most, row - task % row);
    if (task % work->slices == 0 && in_row >= work->slices) return in_row - in_row % work->slices;
    return at_most(most, work->slices - task % work->slices);
}

bool garner_cpu_run(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                    struct tasks tasks)
{
    if (tasks.slots > 0) return run_borrowing(work, nest, buffers, tasks);
    switch (work->strategy) {
    case ROWS:
        if (work->rows == 1 && work->tasks == 1) /* nothing to walk along */
            return move_row(work->kernel, nest, buffers, &work->segment, (struct spot){.data = 0},
                            work->columns);
        return run_rows(work, nest, buffers, find_tile(work, nest, tasks));
    case SHORT_ROWS:
        if (is_ready(work) && move_points(work->kernel, nest, buffers, &work->segment,
                                          (struct spot){.data = 0}, nest->points) == nest->points)
            return true;
        return run_short_rows(work, nest, buffers, tasks);
    case ONE_BLOCK:
        return move_block(nest, buffers, &work->segment, (struct spot){.data = 0}, work->columns) > 0;
    case PANELS:
        return run_panels(work, nest, buffers, tasks);
    case REUSED_INDICES:
        return run_reused(work, nest, buffers, tasks);
    case BITS:
        return run_bits(work, nest, buffers, tasks);
    }
    return false;
}
