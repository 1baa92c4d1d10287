/* SPDX-License-Identifier: MIT */
/*
 * Stage 4: a nest on the CPU. Chooses a strategy and its kernels once, cuts the work into tasks that depend
 * on the nest alone, and runs any one task on its own.
 *
 * The points of a nest are seen as a grid: a row is the innermost dim, its columns are points (for SHORT_ROWS
 * the dim before that, and short rows), the rows are all dims before it. Tasks are rectangles of that grid,
 * or slices of a long run. Packed data is cut into whole packing units of out instead.
 */
#ifndef GARNER_CPU_H
#define GARNER_CPU_H

#include "kernels/kernel.h"

enum strategy {
    ROWS,           /* row by row, each with its own indices */
    SHORT_ROWS,     /* short rows whose indices follow each other, many at a time */
    PANELS,         /* many rows choose from one table: a panel of it is packed, then used by all */
    REUSED_INDICES, /* the same indices serve many rows: resolved once, used on all of them */
    BITS,           /* packed elements */
    ONE_BLOCK       /* as REUSED_INDICES, where all rows and columns are one task and one block */
};

enum {
    SHORT_PATTERN = 32, /* points; a whole nest of no more has its pattern made ahead */
    PATTERN_RUN = 32,   /* no longer runs go by a pattern */
    MOST_ELEMENT = 16,  /* bytes of what counts as a single element */
    LITTLE = 1024,      /* bytes of out for which nothing but the strategy and the kernel matters */
    LEAST_SWEEP = 8,    /* rows that a resolved block serves at least */
    NEAR = (X86 ? 2048 : 256) * 1024, /* bytes of a table that stays near enough to a core, */
    SHARED = 32 * 1024 * 1024         /* and of one that stays in the cache that cores share */
};

struct cpu_work {
    enum strategy strategy;
    const struct kernel *panel_kernel;      /* for PANELS, where some rows go by `kernel`, and for slots */
    const struct kernel *kernel;            /* reads the caller's indices; NULL: always by way of a block */
    struct segment segment;                 /* what all segments have in common */
    int64_t table_share;                    /* bytes of the next rows' table that each row prefetches */
    int64_t block_rows;                     /* rows that a resolved block serves before the next one */
    int64_t rows, columns;                  /* the grid */
    int64_t row_share, column_share, slice; /* what a task takes of rows, columns, bytes of a run */
    int64_t column_tasks, slices;           /* how many tasks lie side by side */
    int64_t tasks;
    int64_t scratch_rows;           /* last rows of out that a thread may keep panels in: a slot; */
    int64_t slots;                  /* how many threads may at once; 0: none */
    int64_t pattern[SHORT_PATTERN]; /* where the segment points to it */
};

/* The three buffers, each at its element 0. */
struct buffers {
    const char *data;
    const char *indices;
    char *out;
};

/* Where a point lies: how far from element 0 of data and of out, and the number of its first index. */
struct spot {
    int64_t data, index, out;
};

/* The spot `n` steps further along a dim. */
static inline struct spot spot_along(struct spot from, const struct dim *dim, int64_t n)
{
    return (struct spot){from.data + n * dim->data, from.index + n * dim->index, from.out + n * dim->out};
}

/* A place in the nest: the coordinates of a point in the first `rank` dims and where they lead. */
struct cursor {
    int rank;
    struct spot spot;
    int64_t at[GARNER_MAX_RANK];
};

/* SHORT_ROWS: how far each of the first `points` points of short rows lies from the first in data. */
static inline void make_pattern(int64_t *pattern, const struct nest *nest, int64_t points)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    uint64_t row = 0; /* goes one step beyond the last row, which may be anywhere */
    for (int64_t i = 0; i < points; row += (uint64_t)before->data) {
        uint64_t from = row;
        for (int64_t k = 0; k < inner->n; k++, from += (uint64_t)inner->data)
            pattern[i++] = (int64_t)from;
    }
}

/* How many bytes of data the gathered axes span. */
static inline int64_t table_bytes(const struct nest *nest)
{
    int64_t bytes = nest->run, axis;
    for (int k = 0; k < nest->axes; k++)
        if (multiply_fits(nest->axis[k].bound, nest->axis[k].stride, &axis)) bytes = at_least(bytes, axis);
    return bytes;
}

/* How many bytes the tables of all rows reach over. */
static inline int64_t spanned_bytes(const struct nest *nest)
{
    int64_t bytes = table_bytes(nest), span;
    for (int d = 0; d < nest->rank - 1; d++) {
        const struct dim *dim = &nest->dim[d];
        int64_t pitch = dim->data < 0 ? -(dim->data + 1) : dim->data;
        if (multiply_fits(dim->n, pitch, &span)) bytes = at_least(bytes, span);
    }
    return bytes;
}

/* Whether the kernel joins short rows. */
static inline bool is_joined(const struct cpu_work *work)
{
    return work->strategy == SHORT_ROWS && work->kernel->source != PATTERN;
}

void garner_cpu_plan(struct cpu_work *work, const struct nest *nest);

/* For what is not little: how far to look ahead, how often to serve, where to write. */
void garner_cpu_tune(struct cpu_work *work, const struct nest *nest);

/* The first of these; `stream`: out is better written past the caches. */
void garner_cpu_look_ahead(struct cpu_work *work, const struct nest *nest, bool stream);

/* A part of that: tables of later rows, where the points choose from `touched` bytes. */
void garner_cpu_look_onward(struct cpu_work *work, const struct nest *nest, int64_t touched);

/* And into how many tasks it is cut. */
void garner_cpu_cut(struct cpu_work *work, const struct nest *nest);

/* Packed data in tasks. */
void garner_cpu_cut_elements(struct cpu_work *work, const struct nest *nest);

/* Tasks that lie side by side: together they are a rectangle of the grid too. Where a number of threads have
 * `slots` for panels in the last rows of out, a task is a part of the columns of all other rows, and `slot`
 * the one that its thread has; 0 slots: none has any. */
struct tasks {
    int64_t first, count;
    int64_t slot, slots;
};

/* How many tasks from this one on, no more than `most`, can be run as one: they make a rectangle. */
int64_t garner_cpu_joinable(const struct cpu_work *work, int64_t task, int64_t most);

/* Runs such tasks as one; false if it met an index that the policy refuses. */
bool garner_cpu_run(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                    struct tasks tasks);

/* The same for packed data: elements [first, end) of out, both at a packing unit or at the end. */
bool garner_bits_task(const struct nest *nest, const struct buffers *buffers, int64_t first, int64_t end);

/* Moves the rows of a slot, when nobody needs it any more. */
bool garner_cpu_run_scratch(const struct cpu_work *work, const struct nest *nest,
                            const struct buffers *buffers, int64_t slot);

/* Moves `n` points of a row by the plan's kernel, or by way of a block where that stops. */
bool garner_cpu_row(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                    struct spot row, int64_t n);

/* Makes the strategy PANELS, if that pays. */
void garner_panels_choose(struct cpu_work *work, const struct nest *nest);

/* Moves columns of rows that choose from the same table, at least a row of a panel. */
bool garner_panels_move(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                        struct spot first, int64_t rows, int64_t columns);

/* The same by panels that lie in a slot in the last rows of out. */
bool garner_panels_borrow(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                          int64_t slot, struct spot first, int64_t rows, int64_t columns);

/* The first row of a slot. */
static inline int64_t scratch_row(const struct cpu_work *work, const struct nest *nest, int64_t slot)
{
    return nest->rows - (slot + 1) * work->scratch_rows;
}

/* Puts the cursor on a point of the first `rank` dims. */
static inline void cursor_seek(struct cursor *cursor, const struct nest *nest, int rank, int64_t point)
{
    cursor->rank = rank;
    cursor->spot = (struct spot){0, 0, 0};
    for (int d = rank - 1; d >= 0; d--) {
        const struct dim *dim = &nest->dim[d];
        cursor->at[d] = point % dim->n;
        cursor->spot = spot_along(cursor->spot, dim, cursor->at[d]);
        point /= dim->n;
    }
}

/* Moves the cursor by `n` within the last of its dims, onto the next row at the end of one. */
static inline void cursor_advance(struct cursor *cursor, const struct nest *nest, int64_t n)
{
    for (int d = cursor->rank - 1; d >= 0; d--, n = 1) {
        const struct dim *dim = &nest->dim[d];
        cursor->at[d] += n;
        cursor->spot = spot_along(cursor->spot, dim, n);
        if (cursor->at[d] < dim->n) return;
        cursor->spot = spot_along(cursor->spot, dim, -dim->n);
        cursor->at[d] = 0;
    }
}

#endif
