/* SPDX-License-Identifier: MIT */
/* Runs plans: checks the pointers, hands the tasks to the executor, reports; and the one-call functions. */
#include <stdatomic.h>

#include "error.h"
#include "fast_path.h"
#include "plan.h"
#include "pool.h"

/* One execution. Tasks share it; all they change are its flags. */
struct run {
    const struct garner_plan *plan;
    struct buffers buffers;
    const garner_exec *exec;
    atomic_bool refused; /* a task met an index that the policy refuses */
    atomic_bool stopped; /* the executor asked to stop */
    atomic_size_t done;  /* tasks that were run, or needed no running */
    int64_t places;      /* threads that have a place in out */
};

enum { SERIAL_TASKS = 32 }; /* that one thread runs as one, before it asks whether to go on */

/* A number of tasks are over; not `right`: they met such an index. */
static void note_tasks(struct run *run, int64_t count, bool right)
{
    if (!right) atomic_store_explicit(&run->refused, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&run->done, (size_t)count, memory_order_relaxed);
}

/* Once an index is refused the remaining tasks have nothing to add: which index is reported is found
 * afterwards, by a scan of its own. */
static void run_some(struct run *run, struct tasks tasks)
{
    const garner_exec *exec = run->exec;
    if (atomic_load_explicit(&run->stopped, memory_order_relaxed)) return;
    if (exec && exec->cancelled && exec->cancelled(exec->context)) {
        atomic_store_explicit(&run->stopped, true, memory_order_relaxed);
        return;
    }
    note_tasks(run, tasks.count,
               atomic_load_explicit(&run->refused, memory_order_relaxed) ||
                   garner_cpu_run(&run->plan->work, &run->plan->nest, &run->buffers, tasks));
}

static void run_task(void *run, size_t i)
{
    run_some(run, (struct tasks){.first = (int64_t)i, .count = 1});
}

/* Alone a thread takes many at a time: memory is best written without a pause. */
static void run_alone(struct run *run, struct tasks all)
{
    const int64_t end = all.first + all.count;
    const int64_t most = run->exec && run->exec->cancelled ? SERIAL_TASKS : end;
    for (struct tasks tasks = all; tasks.first < end; tasks.first += tasks.count) {
        tasks.count = at_most(most, end - tasks.first);
        if (!tasks.slots) tasks.count = garner_cpu_joinable(&run->plan->work, tasks.first, tasks.count);
        run_some(run, tasks);
    }
}

/* The tasks of a thread that has a place in out. */
static void run_in_place(void *argument, size_t place)
{
    struct run *run = argument;
    const int64_t tasks = run->plan->work.tasks, places = run->places, at = (int64_t)place;
    const int64_t first = tasks * at / places, end = tasks * (at + 1) / places;
    run_alone(run, (struct tasks){first, end - first, .slot = at, .slots = places});
}

/* The rows of a place are one more task. */
static void return_place(void *argument, size_t place)
{
    struct run *run = argument;
    const struct garner_plan *plan = run->plan;
    note_tasks(run, 1, garner_cpu_run_scratch(&plan->work, &plan->nest, &run->buffers, (int64_t)place));
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
static bool goes_on(struct run *run)
{
    return !atomic_load(&run->refused) && !atomic_load(&run->stopped) &&
           atomic_load(&run->done) >= (size_t)run->plan->work.tasks;
}

static void run_tasks(struct run *run, size_t tasks)
{
    const garner_exec *exec = run->exec;
    const bool alone = tasks == 1 || exec == NULL || exec->parallel_for == NULL;
    const int64_t threads = alone ? 1 : garner_pool_width(exec);
    if (threads > 0 && threads <= run->plan->work.slots) {
        run->places = threads;
        run_parallel(run, run_in_place, (size_t)threads);
        if (goes_on(run)) run_parallel(run, return_place, (size_t)threads);
    } else if (threads == 1) {
        run_alone(run, (struct tasks){.count = (int64_t)tasks});
    } else {
        run_parallel(run, run_task, tasks);
    }
}

static GARNER_COLD garner_status report_refused(const struct garner_plan *plan, const char *indices,
                                                const garner_exec *exec, garner_error *error)
{
    RETURN_NOT_OK(garner_scan(&plan->index_map, &plan->nest, plan->op, indices, exec, error));
    return garner_fail(error, GARNER_OUT_OF_RANGE,
                       "%s: an index was out of range, and was changed by another thread before it could be "
                       "reported",
                       plan->op);
}

/* Whether an executor is of a version that is not known here. */
static inline bool has_wrong_size(const garner_exec *exec)
{
    return exec->size != 0 && exec->size != sizeof *exec;
}

/* Whether an executor has a say even in a single task: it may cancel it, or has to be refused. */
static inline bool has_a_say(const garner_exec *exec)
{
    return exec && (exec->cancelled || has_wrong_size(exec));
}

/* Work of several tasks, of none, or that somebody may want to cancel. */
static GARNER_NOINLINE garner_status run_with(const struct garner_plan *plan, const struct buffers *buffers,
                                              const garner_exec *exec, garner_error *error)
{
    struct run run = {.plan = plan, .buffers = *buffers, .exec = exec};
    size_t tasks = (size_t)plan->work.tasks;
    if (exec && has_wrong_size(exec))
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_exec: size %u is neither 0 nor %zu",
                           exec->size, sizeof *exec);
    if (tasks == 0)
        return garner_scan(&plan->index_map, &plan->nest, plan->op, buffers->indices, exec, error);
    run_tasks(&run, tasks);
    if (atomic_load(&run.refused)) return report_refused(plan, buffers->indices, exec, error);
    size_t done = atomic_load(&run.done);
    tasks += (size_t)run.places;
    if (atomic_load(&run.stopped) || done < tasks)
        return garner_fail(error, GARNER_CANCELLED, "%s: the executor stopped after %zu of %zu tasks",
                           plan->op, done, tasks);
    return GARNER_OK;
}

/* Only a tensor without elements may lie at NULL. */
static GARNER_COLD garner_status check_nulls(const struct garner_plan *plan, const void *data,
                                             const void *indices, const void *out, garner_error *error)
{
    const char *missing = data == NULL && plan->data.count > 0         ? "data"
                          : indices == NULL && plan->indices.count > 0 ? "indices"
                          : out == NULL && plan->out.count > 0         ? "out"
                                                                       : NULL;
    if (missing == NULL) return GARNER_OK;
    return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: the pointer of %s is NULL, but it has elements",
                       plan->op, missing);
}

static GARNER_COLD garner_status fail_shared(const struct garner_plan *plan, const char *with,
                                             garner_error *error)
{
    return garner_fail(error, GARNER_BAD_SHAPE, "%s: out overlaps %s; they must not share memory", plan->op,
                       with);
}

/* Whether out, at `to`, shares memory with a view at `from`. */
static inline bool out_meets(const struct garner_plan *plan, const struct meeting *meeting,
                             const struct place *place, const void *to, const void *from)
{
    return rarely((uintptr_t)to - (uintptr_t)from + meeting->shift < meeting->width) && plan->out.count > 0 &&
           place->count > 0;
}

/* A pointer's element 0. As numbers, because the offset of an empty tensor may lead anywhere. NULL becomes a
 * place of which nothing is read or written: to count on from NULL is undefined even by 0. */
static inline char *first_element(const struct place *place, const void *pointer)
{
    static char nothing;
    return pointer ? (char *)((uintptr_t)pointer + (uintptr_t)place->offset) : &nothing;
}

static inline garner_status run_plan(const struct garner_plan *plan, const void *data, const void *indices,
                                     void *out, const garner_exec *exec, garner_error *error)
{
    if (data == NULL || indices == NULL || out == NULL)
        RETURN_NOT_OK(check_nulls(plan, data, indices, out, error));
    if (out_meets(plan, &plan->out_data, &plan->data, out, data)) return fail_shared(plan, "data", error);
    if (out_meets(plan, &plan->out_indices, &plan->indices, out, indices))
        return fail_shared(plan, "indices", error);
    const struct buffers buffers = {first_element(&plan->data, data), first_element(&plan->indices, indices),
                                    first_element(&plan->out, out)};
    if (plan->work.tasks != 1 || has_a_say(exec)) return run_with(plan, &buffers, exec, error);
    if (garner_cpu_run(&plan->work, &plan->nest, &buffers, (struct tasks){.count = 1})) return GARNER_OK;
    return report_refused(plan, buffers.indices, NULL, error);
}

garner_status garner_execute(const garner_plan *plan, const void *data, const void *indices, void *out,
                             const garner_exec *exec, garner_error *error)
{
    garner_error spare;
    error = error_begin(error, &spare);
    if (plan == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_execute: plan is NULL");
    return run_plan(plan, data, indices, out, exec, error);
}

/* Runs a small call without a plan. False if it is none, or if an index was refused, which the long way then
 * finds too, and reports. */
static inline bool run_small(const struct op *op, const garner_tensor *data, const garner_tensor *indices,
                             const garner_tensor *out)
{
    struct nest nest;
    struct buffers buffers;
    struct cpu_work work;
    if (!garner_small_nest(&nest, &buffers, op, data, indices, out)) return false;
    garner_cpu_plan(&work, &nest);
    return garner_cpu_run(&work, &nest, &buffers, (struct tasks){.count = 1});
}

/* Plans on the stack, and runs. */
static inline garner_status run_once(const struct op *op, const garner_tensor *data,
                                     const garner_tensor *indices, const garner_tensor *out,
                                     const garner_exec *exec, garner_error *error)
{
    struct garner_plan plan;
    if (exec == NULL && run_small(op, data, indices, out)) return GARNER_OK;
    if (out == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: out is NULL", op->name);
    RETURN_NOT_OK(garner_plan_make(&plan, op, data, indices, out, NULL, error));
    return run_plan(&plan, data->data, indices->data, out->data, exec, error);
}

garner_status garner_run(const garner_op *given, const garner_tensor *data, const garner_tensor *indices,
                         const garner_tensor *out, const garner_exec *exec, garner_error *error)
{
    garner_error spare;
    struct op op;
    error = error_begin(error, &spare);
    RETURN_NOT_OK(garner_op_resolve(&op, given, error));
    return run_once(&op, data, indices, out, exec, error);
}

GARNER_INLINE garner_status run_default(garner_kind kind, int64_t axis, int64_t batch_dims,
                                        const garner_tensor *data, const garner_tensor *indices,
                                        const garner_tensor *out, garner_error *error)
{
    garner_error spare;
    struct op op;
    garner_op_default(&op, kind, axis, batch_dims);
    return run_once(&op, data, indices, out, NULL, error_begin(error, &spare));
}

garner_status garner_gather(const garner_tensor *data, const garner_tensor *indices, int64_t axis,
                            const garner_tensor *out, garner_error *error)
{
    return run_default(GARNER_GATHER, axis, 0, data, indices, out, error);
}

garner_status garner_gather_elements(const garner_tensor *data, const garner_tensor *indices, int64_t axis,
                                     const garner_tensor *out, garner_error *error)
{
    return run_default(GARNER_GATHER_ELEMENTS, axis, 0, data, indices, out, error);
}

garner_status garner_gather_nd(const garner_tensor *data, const garner_tensor *indices, int64_t batch_dims,
                               const garner_tensor *out, garner_error *error)
{
    return run_default(GARNER_GATHER_ND, 0, batch_dims, data, indices, out, error);
}
