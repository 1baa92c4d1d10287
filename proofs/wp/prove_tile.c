/* SPDX-License-Identifier: MIT */
/* A task takes the parts of the grid that its number names: what the proof `tasks` counts is what is run. */
#define _Alignas(...)
#define _Alignof(...) 1 /* which only says that a plan has room */
#include "builtins.h"
#include "run_task.h"

/*@ assigns \nothing;
    ensures \result == (a < b ? a : b); */
static inline int64_t at_most(int64_t a, int64_t b);

#include "../../src/cpu/run_task.c"

/*@ requires \valid_read(work) && \valid_read(nest);
    requires tasks.count == 1 && 0 <= tasks.first < work->tasks;
    requires work->slices >= 1 && work->column_tasks >= 1;
    requires work->tasks == 1 ==> tasks.first == 0;
    assigns \nothing;
    ensures work->tasks == 1 ==> \result.row == 0 && \result.row_end == work->rows;
    ensures work->tasks == 1 ==> \result.column == 0 && \result.column_end == work->columns;
    ensures work->tasks == 1 ==> \result.from == 0 && \result.length == nest->run;
    ensures work->tasks > 1 ==>
      \let row = tasks.first / work->slices / work->column_tasks;
      \result.row == row * work->row_share &&
      \result.row_end == \min((row + 1) * work->row_share, work->rows);
    ensures work->tasks > 1 ==>
      \let column = (tasks.first / work->slices) % work->column_tasks;
      \result.column == column * work->column_share &&
      \result.column_end == \min((column + 1) * work->column_share, work->columns);
    ensures work->tasks > 1 ==>
      \let slice = tasks.first % work->slices;
      \result.from == slice * work->slice &&
      \result.from + \result.length == \min((slice + 1) * work->slice, nest->run); */
static inline struct tile find_tile(const struct cpu_work *work, const struct nest *nest, struct tasks tasks);
