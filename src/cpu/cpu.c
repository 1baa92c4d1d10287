/* SPDX-License-Identifier: MIT */
/* Runs one task: walks its rectangle of the grid the chosen way, segment by segment. */
#include "cpu.h"

enum { PATTERN_POINTS = 1024 };

/* A rectangle of the grid, and a piece of the run. */
struct tile {
    int64_t row, row_end, column, column_end, from, length;
};

void garner_cursor_seek(struct cursor *cursor, const struct nest *nest, int rank, int64_t point)
{
    cursor->rank = rank;
    cursor->data = cursor->index = cursor->out = 0;
    for (int d = rank - 1; d >= 0; d--) {
        const struct dim *dim = &nest->dim[d];
        int64_t at = point % dim->n;
        point /= dim->n;
        cursor->at[d] = at;
        cursor->data += at * dim->data;
        cursor->index += at * dim->index;
        cursor->out += at * dim->out;
    }
}

void garner_cursor_advance(struct cursor *cursor, const struct nest *nest, int64_t n)
{
    for (int d = cursor->rank - 1; d >= 0; d--, n = 1) {
        const struct dim *dim = &nest->dim[d];
        cursor->at[d] += n;
        cursor->data += n * dim->data;
        cursor->index += n * dim->index;
        cursor->out += n * dim->out;
        if (cursor->at[d] < dim->n) return;
        cursor->data -= dim->n * dim->data;
        cursor->index -= dim->n * dim->index;
        cursor->out -= dim->n * dim->out;
        cursor->at[d] = 0;
    }
}

/* What all segments of a tile have in common. */
static struct segment begin_segment(const struct cpu_work *work, const struct nest *nest,
                                    const struct tile *tile)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    return (struct segment){
        .ramp = inner->data,
        .step = inner->out,
        .run = tile->length,
        .ahead = work->ahead,
        .stream = work->stream,
        .axis = nest->axis,
    };
}

/* Moves the first points of a segment, at most a block, by way of resolved offsets, on `s->rows` rows.
 * Returns how many, or 0 if the policy refuses one. `index` is the number of the first index. */
static int64_t move_block(const struct nest *nest, const struct buffers *buffers, const struct segment *s,
                          int64_t index)
{
    int64_t offset[BLOCK_POINTS];
    struct segment block = *s;
    block.n = at_most(s->n, BLOCK_POINTS);
    block.index = (const char *)offset;
    enum landing landing = garner_resolve(nest, buffers->indices, index, block.n, offset);
    if (landing == REFUSED) return 0;
    return garner_kernel_find(landing == NOWHERE ? HOLED : BLOCK, sizeof *offset, nest->run)
        ->function(&block);
}

/* Moves `n` points of one row, from column `column` on. */
static bool move_row(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     struct segment *s, const struct cursor *row, int64_t column, int64_t n)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    s->rows = 1;
    for (int64_t end = column + n, moved; column < end; column += moved) {
        int64_t index = row->index + column * inner->index;
        s->data = buffers->data + row->data + column * inner->data;
        s->index = buffers->indices + index * nest->index_type.bytes;
        s->out = buffers->out + row->out + column * inner->out;
        s->n = end - column;
        moved = work->fused && work->fused->source != PATTERN ? work->fused->function(s) : 0;
        if (moved == 0) moved = move_block(nest, buffers, s, index);
        if (moved == 0) return false;
    }
    return true;
}

static bool run_rows(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     const struct tile *tile)
{
    struct segment s = begin_segment(work, nest, tile);
    struct buffers shifted = {buffers->data + tile->from, buffers->indices, buffers->out + tile->from};
    struct cursor row;
    garner_cursor_seek(&row, nest, nest->rank - 1, tile->row);
    for (int64_t i = tile->row; i < tile->row_end; i++) {
        if (!move_row(work, nest, &shifted, &s, &row, tile->column, tile->column_end - tile->column))
            return false;
        garner_cursor_advance(&row, nest, 1);
    }
    return true;
}

/* Moves short rows that follow each other, from point `first` of `base` on, as one long row. Where the
 * kernel stops the rest of that short row goes by way of a block. */
static bool move_pattern(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                         struct segment *s, const struct cursor *base, int64_t first, int64_t n)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const int64_t *pattern = s->pattern;
    for (int64_t done = 0; done < n;) {
        struct cursor row = {.data = base->data + first / inner->n * before->data,
                             .index = base->index + first,
                             .out = base->out + first * nest->run};
        struct segment here = *s;
        here.pattern = pattern + done;
        here.data = buffers->data + row.data;
        here.index = buffers->indices + (row.index + done) * nest->index_type.bytes;
        here.out = buffers->out + row.out + done * nest->run;
        here.n = n - done;
        done += work->fused->function(&here);
        if (done == n) break;
        int64_t start = done / inner->n * inner->n, rest = inner->n - (done - start);
        row.data += start / inner->n * before->data;
        row.index += start;
        row.out += start * nest->run;
        if (!move_row(work, nest, buffers, s, &row, done - start, rest)) return false;
        done += rest;
    }
    return true;
}

static bool run_patterns(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                         const struct tile *tile)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    int64_t pattern[PATTERN_POINTS], columns = tile->column_end - tile->column;
    int64_t whole = at_most(PATTERN_POINTS / inner->n * inner->n, columns);
    for (int64_t i = 0, from = 0; i < whole; from += before->data)
        for (int64_t k = 0; k < inner->n; k++)
            pattern[i++] = from + k * inner->data;
    struct segment s = begin_segment(work, nest, tile);
    struct cursor base;
    s.pattern = pattern;
    garner_cursor_seek(&base, nest, nest->rank - 2, tile->row);
    for (int64_t i = tile->row; i < tile->row_end; i++) {
        for (int64_t column = tile->column; column < tile->column_end; column += whole)
            if (!move_pattern(work, nest, buffers, &s, &base, column,
                              at_most(whole, tile->column_end - column)))
                return false;
        garner_cursor_advance(&base, nest, 1);
    }
    return true;
}

/* Columns [column, column_end) of `rows` rows that share their indices. */
static bool move_reused(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                        const struct tile *tile, const struct cursor *row, int64_t rows)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    struct segment s = begin_segment(work, nest, tile);
    s.rows = rows;
    s.row_ramp = before->data;
    s.row_step = before->out;
    for (int64_t column = tile->column, moved; column < tile->column_end; column += moved) {
        s.data = buffers->data + row->data + column * inner->data + tile->from;
        s.out = buffers->out + row->out + column * inner->out + tile->from;
        s.n = tile->column_end - column;
        moved = move_block(nest, buffers, &s, row->index + column * inner->index);
        if (moved == 0) return false;
    }
    return true;
}

static bool run_reuses(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                       const struct tile *tile)
{
    int64_t shared = nest->dim[nest->rank - 2].n;
    struct cursor row;
    garner_cursor_seek(&row, nest, nest->rank - 1, tile->row);
    for (int64_t i = tile->row; i < tile->row_end;) {
        int64_t rows = at_most(at_most(work->sweep, tile->row_end - i), shared - i % shared);
        if (!move_reused(work, nest, buffers, tile, &row, rows)) return false;
        garner_cursor_advance(&row, nest, rows);
        i += rows;
    }
    return true;
}

/* The rectangle of a task. */
static struct tile find_tile(const struct cpu_work *work, const struct nest *nest, int64_t task)
{
    if (work->tasks == 1) return (struct tile){0, work->rows, 0, work->columns, 0, nest->run};
    int64_t piece = task % work->pieces, column = task / work->pieces % work->column_tasks;
    int64_t row = task / work->pieces / work->column_tasks;
    return (struct tile){
        .row = row * work->row_share,
        .row_end = at_most((row + 1) * work->row_share, work->rows),
        .column = column * work->column_share,
        .column_end = at_most((column + 1) * work->column_share, work->columns),
        .from = piece * work->piece,
        .length = at_most(work->piece, nest->run - piece * work->piece),
    };
}

bool garner_cpu_task(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     int64_t task)
{
    struct tile tile = find_tile(work, nest, task);
    switch (work->way) {
    case ROWS:
        return run_rows(work, nest, buffers, &tile);
    case PATTERNS:
        return run_patterns(work, nest, buffers, &tile);
    case REUSES:
        return run_reuses(work, nest, buffers, &tile);
    case BITS:
        return garner_bits_task(nest, buffers, tile.row, tile.row_end);
    }
    return false;
}
