/* SPDX-License-Identifier: MIT */
/* Cuts the work into tasks, by what it costs: as many as are worth being handed out, however many threads
 * there are to take them. */
#include "planner.h"

enum {
    TASK_COST = 128 * 1024, /* bytes moved, or as good as moved, that make a task worth handing out */
    SMALL_COST = 64 * 1024, /* the same while tasks are few, so that they come out even on many threads: */
    FEW_TASKS = 64,
    POINT_COST = 16, /* what finding a point costs, in bytes moved */
    MOST_TASKS = 64 * 1024,
    LEAST_SLICE = 512 * 1024, /* of a long run: each begins slowly */
    SLICE_ALIGNMENT = 4096,
    REUSED_ROWS = 32,   /* rows that a task takes at least, so that resolving pays, */
    REUSED_BYTES = 4096 /* or as many as use each index for so many bytes */
};

_Static_assert(LITTLE + LITTLE * POINT_COST < TASK_COST, "what is little is not cut into tasks");
_Static_assert((int)PATTERN_RUN < LEAST_SLICE, "runs that go by a pattern are never cut into slices");

static int64_t round_up(int64_t a, int64_t multiple)
{
    return divide_up(a, multiple) * multiple;
}

/* How many tasks `count` things of a cost each are worth. */
static int64_t worth(int64_t count, int64_t cost)
{
    int64_t total;
    if (!multiply_fits(count, cost, &total)) return MOST_TASKS;
    if (total < TASK_COST) return 1;
    return at_most(at_least(total / TASK_COST, at_most(total / SMALL_COST, FEW_TASKS)), MOST_TASKS);
}

/* Rows are dealt out first; where they are too few columns are too; then slices of a run. */
void garner_plan_tasks(struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    int64_t grain = work->strategy == PANELS ? work->segment.row_points : 1;
    int64_t together = work->strategy == PANELS ? inner[-1].n : 1,
            least = work->strategy == REUSED_INDICES
                        ? at_most(REUSED_ROWS, divide_up(REUSED_BYTES, nest->run))
                        : 1;
    int64_t blocks = work->rows / together, cost;
    if (!add_fits(nest->run, POINT_COST, &cost)) cost = nest->run;
    int64_t wanted = worth(nest->points, cost);
    if (wanted == 1) return;
    work->row_share = at_least(least, divide_up(blocks, at_most(wanted, blocks)) * together);
    int64_t row_tasks = divide_up(work->rows, work->row_share);
    int64_t columns = at_most(at_least(1, wanted / row_tasks), divide_up(work->columns, grain));
    work->column_share = round_up(divide_up(work->columns, columns), grain);
    work->column_tasks = divide_up(work->columns, work->column_share);
    int64_t slices = at_least(1, wanted / (row_tasks * work->column_tasks));
    work->slice = at_least(LEAST_SLICE, round_up(divide_up(nest->run, slices), SLICE_ALIGNMENT));
    work->slices = divide_up(nest->run, work->slice);
    work->tasks = row_tasks * work->column_tasks * work->slices;
}

/* The rows of the grid are the elements of out, and each costs about as much as a point. */
void garner_plan_packed_tasks(struct cpu_work *work, const struct nest *nest)
{
    work->rows = nest->points * nest->run;
    work->columns = work->column_share = work->column_tasks = work->slices = 1;
    work->slice = nest->run;
    work->row_share = round_up(divide_up(work->rows, worth(work->rows, POINT_COST)), nest->packed->per_unit);
    work->tasks = divide_up(work->rows, work->row_share);
}
