/* SPDX-License-Identifier: MIT */
/*
 * Stage 4: a nest on the CPU. Chooses a way and its kernels once, cuts the work into tasks that depend
 * on the nest alone, and runs any one task on its own.
 *
 * The points of a nest are seen as a grid: a row is the innermost dim (for PATTERNS the two innermost
 * dims, which then walk as one), the rows are all dims before it. Tasks are rectangles of that grid, or
 * pieces of a long run. Packed data is cut into whole packing units of out instead.
 */
#ifndef GARNER_CPU_H
#define GARNER_CPU_H

#include "kernel.h"

enum way {
    ROWS,     /* row by row, each with its own indices */
    PATTERNS, /* short rows whose indices follow each other, many at a time by a pattern of offsets */
    REUSES,   /* the same indices serve many rows: resolved once, used on all of them */
    BITS      /* packed elements */
};

struct cpu_work {
    enum way way;
    const struct kernel *fused;             /* reads the caller's indices; NULL: always by way of a block */
    int64_t ahead;                          /* how many points ahead to prefetch */
    bool stream;                            /* write long runs past the caches where the CPU can */
    int64_t sweep;                          /* rows that a resolved block serves before the next one */
    int64_t rows, columns;                  /* the grid */
    int64_t row_share, column_share, piece; /* what a task takes of rows, columns, bytes of a run */
    int64_t column_tasks, pieces;           /* how many tasks lie side by side */
    int64_t tasks;
};

/* The three buffers, each at its element 0. */
struct buffers {
    const char *data;
    const char *indices;
    char *out;
};

/* A place in the nest: the coordinates of a point in the first `rank` dims and where they lead. */
struct cursor {
    int rank;
    int64_t at[GARNER_MAX_RANK];
    int64_t data, index, out;
};

void garner_cpu_choose(struct cpu_work *work, const struct nest *nest);

/* Runs one task; false if it met an index that the policy refuses. */
bool garner_cpu_task(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     int64_t task);

/* The same for packed data: elements [first, end) of out, both at a packing unit or at the end. */
bool garner_bits_task(const struct nest *nest, const struct buffers *buffers, int64_t first, int64_t end);

/* Puts the cursor on a point of the first `rank` dims; moves it by `n` within the last of them, onto the
 * next row at the end of one. */
void garner_cursor_seek(struct cursor *cursor, const struct nest *nest, int rank, int64_t point);
void garner_cursor_advance(struct cursor *cursor, const struct nest *nest, int64_t n);

#endif
