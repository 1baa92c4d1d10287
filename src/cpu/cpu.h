/* SPDX-License-Identifier: MIT */
/*
 * Stage 4: a nest on the CPU. Chooses the kernels once, cuts the work into tasks that depend on the
 * nest alone, and runs any one task on its own.
 */
#ifndef GARNER_CPU_H
#define GARNER_CPU_H

#include "kernel.h"

/* How a nest is run. Tasks cover the grid of points x pieces of the run; packed data is cut into whole
 * packing units of out instead. */
struct cpu_work {
    const struct kernel *fused; /* reads the caller's indices; NULL: always by way of a block */
    const struct kernel *block; /* moves resolved blocks; NULL where data is packed */
    int64_t tasks;
    int64_t share;  /* points of a task; elements of out where data is packed */
    int64_t pieces; /* parts that a run is cut into */
    int64_t piece;  /* bytes of such a part, the last but one */
};

/* The three buffers, each at its element 0. */
struct buffers {
    const char *data;
    const char *indices;
    char *out;
};

/* A place in the nest: the coordinates of a point and where they lead. */
struct cursor {
    int64_t at[GARNER_MAX_RANK];
    int64_t data, index, out;
};

void garner_cpu_choose(struct cpu_work *work, const struct nest *nest);

/* Runs one task; false if it met an index that the policy refuses. */
bool garner_cpu_task(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     int64_t task);

/* The same for packed data: elements [first, end) of out, both at a packing unit or at the end. */
bool garner_bits_task(const struct nest *nest, const struct buffers *buffers, int64_t first, int64_t end);

/* Puts the cursor on a point; moves it over `n` points of the innermost dim, onto the next row at the
 * end of one. */
void garner_cursor_seek(struct cursor *cursor, const struct nest *nest, int64_t point);
void garner_cursor_advance(struct cursor *cursor, const struct nest *nest, int64_t n);

#endif
