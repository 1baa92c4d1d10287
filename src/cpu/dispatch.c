/* SPDX-License-Identifier: MIT */
/* Executes a plan on the CPU: hands its tasks to the executor, and minds who stops it. */
#include <stdatomic.h>

#include "run_task.h"

/* One execution by several tasks, which share it; all they change are its flags. */
struct run {
    struct execution execution;
    const garner_exec *exec;
    atomic_bool refused; /* a task found an index that the policy refuses */
    atomic_bool stopped; /* the executor asked to stop */
    atomic_size_t done;  /* tasks that were run, or needed no running */
    int64_t shares;      /* of threads in the tasks, */
    int64_t parts;       /* each of which is handed out in so many parts */
    int64_t slots;       /* threads that keep panels in out */
};

enum {
    SERIAL_TASKS = 32, /* that one thread runs as one, before it asks whether to go on */
    MOST_PARTS = 6     /* of a thread's share */
};

/* A number of tasks are over; not `right`: they found such an index. */
static void note_tasks(struct run *run, int64_t count, bool right)
{
    if (!right) atomic_store_explicit(&run->refused, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&run->done, (size_t)count, memory_order_relaxed);
}

/* Whether nothing is left to do: the executor wants to stop. */
static bool has_stopped(struct run *run)
{
    if (atomic_load_explicit(&run->stopped, memory_order_relaxed)) return true;
    if (!exec_cancels(run->exec)) return false;
    atomic_store_explicit(&run->stopped, true, memory_order_relaxed);
    return true;
}

/* Once an index is refused the remaining tasks have nothing to add: which index is reported is found
 * afterwards, by a scan of its own. */
static bool is_refused(const struct run *run)
{
    return atomic_load_explicit(&run->refused, memory_order_relaxed);
}

static void run_some(struct run *run, struct tasks tasks)
{
    if (has_stopped(run)) return;
    note_tasks(run, tasks.count, is_refused(run) || garner_cpu_run(&run->execution, tasks));
}

/* How many tasks at a time a thread takes of many: all, since memory is best written without a pause, or a
 * few, if somebody may want to cancel. */
static int64_t serial_tasks(const struct run *run)
{
    return run->exec && run->exec->cancelled ? SERIAL_TASKS : INT64_MAX;
}

/* One part of a thread's share, tasks that lie side by side as one. The first part is half of the share, the
 * next half of the rest: memory is best written without a pause, and the last parts are small enough for
 * threads to end together. */
static void run_part(void *argument, size_t i)
{
    struct run *run = argument;
    const struct cpu_work *work = run->execution.work;
    const int64_t all = work->tasks, most = serial_tasks(run);
    const int64_t share = (int64_t)i / run->parts, part = (int64_t)i % run->parts;
    const int64_t first = all * share / run->shares, last = all * (share + 1) / run->shares;
    const int64_t end = part + 1 == run->parts ? last : last - ((last - first) >> (part + 1));
    for (struct tasks tasks = {last - ((last - first) >> part), 0}; tasks.first < end;
         tasks.first += tasks.count) {
        tasks.count = garner_cpu_joinable(work, tasks.first, at_most(most, end - tasks.first));
        run_some(run, tasks);
    }
}

/* The tasks of a thread that has a slot. */
static void run_in_slot(void *argument, size_t slot)
{
    struct run *run = argument;
    const int64_t all = run->execution.work->tasks, most = serial_tasks(run), at = (int64_t)slot;
    const int64_t end = all * (at + 1) / run->slots;
    for (struct tasks tasks = {all * at / run->slots, 0}; tasks.first < end; tasks.first += tasks.count) {
        tasks.count = at_most(most, end - tasks.first);
        if (has_stopped(run)) return;
        note_tasks(run, tasks.count,
                   is_refused(run) || garner_cpu_run_in_slot(&run->execution, tasks, at, run->slots));
    }
}

/* The rows of a slot are one more task. */
static void run_scratch(void *argument, size_t slot)
{
    struct run *run = argument;
    note_tasks(run, 1, garner_cpu_run_scratch(&run->execution, (int64_t)slot));
}

/* Hands `count` calls to the executor; one alone needs none. */
static void run_parallel(struct run *run, garner_task *task, size_t count)
{
    if (count == 1)
        task(run, 0);
    else if (run->exec->parallel_for(run->exec->context, task, run, count) != 0)
        atomic_store_explicit(&run->stopped, true, memory_order_relaxed);
}

/* Whether all tasks were run, and nobody objects to more. After a fork() in the middle some were run twice.
 */
static bool goes_on(const struct run *run)
{
    return !atomic_load(&run->refused) && !atomic_load(&run->stopped) &&
           atomic_load(&run->done) >= (size_t)run->execution.work->tasks;
}

/* Deals out the tasks to so many threads; where nobody says how many they are each task is a share. */
static void hand_out(struct run *run, int64_t threads)
{
    const int64_t tasks = run->execution.work->tasks;
    run->shares = threads == 0 ? tasks : at_most(threads, tasks);
    run->parts = 1;
    while (threads > 1 && run->parts < MOST_PARTS && (tasks / run->shares) >> run->parts)
        run->parts++;
}

static void run_tasks(struct run *run)
{
    const struct cpu_work *work = run->execution.work;
    const bool alone = work->tasks == 1 || run->exec == NULL || run->exec->parallel_for == NULL;
    const int64_t threads = alone ? 1 : exec_threads(run->exec);
    if (threads > 0 && threads <= work->slots) {
        run->slots = threads;
        run_parallel(run, run_in_slot, (size_t)threads);
        if (goes_on(run)) run_parallel(run, run_scratch, (size_t)threads);
    } else {
        hand_out(run, threads);
        run_parallel(run, run_part, (size_t)(run->shares * run->parts));
    }
}

/* Work of several tasks, or that somebody may want to cancel. */
static GARNER_NOINLINE enum outcome run_with(const struct execution *e, const garner_exec *exec,
                                             struct progress *progress)
{
    struct run run = {.execution = *e, .exec = exec};
    run_tasks(&run);
    if (atomic_load(&run.refused)) return OUTCOME_REFUSED;
    const size_t done = atomic_load(&run.done), tasks = (size_t)(e->work->tasks + run.slots);
    if (!atomic_load(&run.stopped) && done >= tasks) return OUTCOME_DONE;
    *progress = (struct progress){done, tasks};
    return OUTCOME_STOPPED;
}

enum outcome garner_cpu_execute(const struct backend_work *work, const struct nest *nest,
                                const struct buffers *buffers, const garner_exec *exec,
                                struct progress *progress)
{
    const struct execution e = {cpu_work_of(work), nest, buffers};
    if (e.work->tasks != 1 || (exec && exec->cancelled)) return run_with(&e, exec, progress);
    return garner_cpu_run(&e, (struct tasks){0, 1}) ? OUTCOME_DONE : OUTCOME_REFUSED;
}

/* For the CPU that this is, or that GARNER_CPU names. */
void garner_cpu_plan(struct backend_work *work, const struct nest *nest)
{
    garner_cpu_plan_for((struct cpu_work *)(void *)work, nest, garner_cpu_target());
}
