/* SPDX-License-Identifier: MIT */
/* Runs plans: checks the pointers, lets the backend execute, reports; and the one-call functions. */
#include "error.h"
#include "fast_path.h"
#include "operands.h"

GARNER_COLD garner_status garner_plan_refused(const struct garner_plan *plan, const char *indices,
                                              const garner_exec *exec, garner_error *error)
{
    RETURN_NOT_OK(garner_scan(&plan->index_map, &plan->nest, plan->op, indices, exec, error));
    return garner_fail(error, GARNER_OUT_OF_RANGE,
                       "%s: an index was out of range, and was changed by another thread before it could be "
                       "reported",
                       plan->op);
}

static GARNER_COLD garner_status fail_exec(const garner_exec *exec, garner_error *error)
{
    return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_exec: size %u is none of 0, %zu and %zu",
                       exec->size, FIRST_EXEC_SIZE, sizeof *exec);
}

static GARNER_COLD garner_status fail_stopped(const struct garner_plan *plan, const struct progress *progress,
                                              garner_error *error)
{
    return garner_fail(error, GARNER_CANCELLED, "%s: the executor stopped after %zu of %zu tasks", plan->op,
                       progress->done, progress->tasks);
}

/* Executes, and finds the words for what went wrong. */
static inline garner_status run_backend(const struct garner_plan *plan, const struct buffers *buffers,
                                        const garner_exec *exec, garner_error *error)
{
    struct progress progress;
    if (exec && rarely(!exec_is_known(exec))) return fail_exec(exec, error);
    if (rarely(plan->nest.points == 0))
        return garner_scan(&plan->index_map, &plan->nest, plan->op, buffers->indices, exec, error);
    const enum outcome outcome = garner_cpu_execute(&plan->work, &plan->nest, buffers, exec, &progress);
    if (__builtin_expect(outcome == OUTCOME_DONE, 1)) return GARNER_OK;
    return outcome == OUTCOME_REFUSED ? garner_plan_refused(plan, buffers->indices, exec, error)
                                      : fail_stopped(plan, &progress, error);
}

static inline garner_status run_plan(const struct garner_plan *plan, const void *data, const void *indices,
                                     void *out, const garner_exec *exec, garner_error *error)
{
    struct buffers buffers;
    RETURN_NOT_OK(operands_take(&buffers, plan, data, indices, out, error));
    return run_backend(plan, &buffers, exec, error);
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
    struct backend_work work;
    if (!garner_small_nest(&nest, &buffers, op, data, indices, out)) return false;
    garner_cpu_plan(&work, &nest);
    return garner_cpu_execute(&work, &nest, &buffers, NULL, NULL) == OUTCOME_DONE;
}

/* Plans on the stack, and runs. */
static inline garner_status run_once(const struct op *op, const garner_tensor *data,
                                     const garner_tensor *indices, const garner_tensor *out,
                                     const garner_exec *exec, garner_error *error)
{
    struct garner_plan plan;
    if (exec == NULL && run_small(op, data, indices, out)) return GARNER_OK;
    if (out == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: out is NULL", op->name);
    RETURN_NOT_OK(garner_plan_make(&plan, op, &(struct tensors){data, indices, out}, NULL, error));
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

GARNER_INLINE garner_status run_default(const struct op *op, const garner_tensor *data,
                                        const garner_tensor *indices, const garner_tensor *out,
                                        garner_error *error)
{
    garner_error spare;
    return run_once(op, data, indices, out, NULL, error_begin(error, &spare));
}

garner_status garner_gather(const garner_tensor *data, const garner_tensor *indices, int64_t axis,
                            const garner_tensor *out, garner_error *error)
{
    struct op op;
    garner_op_default(&op, GARNER_GATHER, axis, 0);
    return run_default(&op, data, indices, out, error);
}

garner_status garner_gather_elements(const garner_tensor *data, const garner_tensor *indices, int64_t axis,
                                     const garner_tensor *out, garner_error *error)
{
    struct op op;
    garner_op_default(&op, GARNER_GATHER_ELEMENTS, axis, 0);
    return run_default(&op, data, indices, out, error);
}

garner_status garner_gather_nd(const garner_tensor *data, const garner_tensor *indices, int64_t batch_dims,
                               const garner_tensor *out, garner_error *error)
{
    struct op op;
    garner_op_default(&op, GARNER_GATHER_ND, 0, batch_dims);
    return run_default(&op, data, indices, out, error);
}
