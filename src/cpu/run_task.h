/* SPDX-License-Identifier: MIT */
/* Runs the tasks of a nest: rectangles of its grid (cpu_work.h). */
#ifndef GARNER_CPU_RUN_TASK_H
#define GARNER_CPU_RUN_TASK_H

#include "move_points.h"

/* Tasks that lie side by side: together they are a rectangle of the grid too. */
struct tasks {
    int64_t first, count;
};

/* How many tasks from this one on, no more than `most`, can be run as one: they make a rectangle. */
int64_t garner_cpu_joinable(const struct cpu_work *work, int64_t task, int64_t most);

/* Runs such tasks as one; false if it found an index that the policy refuses. */
bool garner_cpu_run(const struct execution *e, struct tasks tasks);

/* Where `slots` threads keep panels in the last rows of out, tasks are parts of the columns of all other
 * rows: runs those of the thread that has a slot. */
bool garner_cpu_run_in_slot(const struct execution *e, struct tasks tasks, int64_t slot, int64_t slots);

/* Moves the rows of a slot, when nobody needs it any more. */
bool garner_cpu_run_scratch(const struct execution *e, int64_t slot);

#endif
