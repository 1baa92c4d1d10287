/* SPDX-License-Identifier: MIT */
/*
 * A nest on the CPU: what the planner decides about it once. It chooses a strategy and kernels, and cuts the
 * work into tasks that depend on the nest alone; run_task.c runs any one of them on its own.
 *
 * The points of a nest are seen as a grid: a row is the innermost dim, its columns are points (for SHORT_ROWS
 * the dim before that, and short rows), the rows are all dims before it. Tasks are rectangles of that grid,
 * or slices of a long run. Packed data is cut into whole packing units of out instead.
 */
#ifndef GARNER_CPU_WORK_H
#define GARNER_CPU_WORK_H

#include "../backend.h"
#include "profile.h"

enum strategy {
    ROWS,           /* row by row, each with its own indices */
    SHORT_ROWS,     /* short rows whose indices follow each other, many at a time */
    PANELS,         /* many rows choose from one table: a panel of it is packed, then used by all */
    REUSED_INDICES, /* the same indices serve many rows: resolved once, used on all of them */
    BITS,           /* packed elements */
    ONE_BLOCK       /* as REUSED_INDICES, where all rows and columns are one task and one block */
};

enum {
    SHORT_PATTERN = 32,     /* points; a whole nest of no more has its pattern made with the plan */
    PANEL_BYTES = 48 * 1024 /* the most that a panel takes of the stack; a call may take 64 KiB */
};

struct cpu_work {
    enum strategy strategy;
    const struct kernel *panel_kernel;      /* for PANELS, where some rows go by `kernel`, and for slots */
    const struct kernel *kernel;            /* reads the caller's indices; NULL: always by way of a block */
    struct segment segment;                 /* what all segments have in common */
    int64_t table_share;                    /* bytes of the next rows' table that each row prefetches, */
    bool table_share_to_l1;                 /* into L1, else into L2 */
    int64_t block_rows;                     /* rows that a resolved block serves before the next one */
    int64_t rows, columns;                  /* the grid */
    int64_t row_share, column_share, slice; /* what a task takes of rows, columns, bytes of a run */
    int64_t column_tasks, slices;           /* how many tasks lie side by side */
    int64_t tasks;
    int64_t scratch_rows;           /* last rows of out that a thread may keep panels in: a slot; */
    int64_t slots;                  /* how many threads may at once; 0: none */
    int64_t pattern[SHORT_PATTERN]; /* where the segment points to it */
};

_Static_assert(sizeof(struct cpu_work) <= sizeof(struct backend_work), "a plan has room for it");
_Static_assert(_Alignof(struct cpu_work) <= _Alignof(struct backend_work), "and lies as it must");

/* What the CPU keeps in a plan. */
static inline const struct cpu_work *cpu_work_of(const struct backend_work *work)
{
    return (const struct cpu_work *)(const void *)work;
}

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

/* Decides how a nest is run on a CPU, which need not be this one. */
void garner_cpu_plan_for(struct cpu_work *work, const struct nest *nest, const struct cpu_target *target);

/* Appends in words what was decided for that CPU. */
void garner_cpu_describe_for(const struct cpu_work *work, const struct nest *nest,
                             const struct cpu_target *target, struct line *line);

#endif
