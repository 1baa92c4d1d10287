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
    SHARED = 32 * 1024 * 1024,        /* and of one that stays in the cache that cores share */
    PANEL_BYTES = 48 * 1024           /* the most that a panel takes of the stack; a call may take 64 KiB */
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

_Static_assert(sizeof(struct cpu_work) <= sizeof(struct backend_work), "a plan has room for it");

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

/* Makes the strategy PANELS, if that pays. */
void garner_panels_choose(struct cpu_work *work, const struct nest *nest);

#endif
