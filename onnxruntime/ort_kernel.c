/* SPDX-License-Identifier: MIT */
/*
 * A kernel reads its attributes when it is made, and plans then if the model states its shapes. Each run
 * finds its plan by shape, asks the runtime for the output, and lets the runtime's own threads do the tasks.
 */
#include "ort_kernel.h"

#include <stdlib.h>

#include "ort_operand.h"
#include "ort_strings.h"
#include "plans.h"

struct kernel {
    OrtKernelImpl impl; /* first: the runtime knows no other part */
    const struct ort *ort;
    garner_op op;
    struct plans plans;
};

/* ---- Plans ------------------------------------------------------------------------------------ */

/* The attributes are the kernel's, the same for all its plans. */
static struct plan_key key_of(const garner_tensor *data, const garner_tensor *indices)
{
    return (struct plan_key){.data = data, .indices = indices};
}

/* Strides of a dense tensor, times `step`. Where they would not fit garner refuses the shape. */
static void spread(int64_t *strides, const garner_tensor *tensor, int64_t step)
{
    uint64_t stride = (uint64_t)step;
    for (int32_t d = tensor->rank - 1; d >= 0; d--) {
        strides[d] = (int64_t)stride;
        stride *= (uint64_t)tensor->shape[d];
    }
}

static garner_status plan_for(const struct kernel *kernel, const garner_tensor *data,
                              const garner_tensor *indices, garner_plan **plan, garner_error *error)
{
    int64_t strides[GARNER_MAX_RANK];
    garner_tensor placed = *data;
    if (data->dtype == GARNER_STR && data->rank <= GARNER_MAX_RANK) {
        spread(strides, data, ort_strings_step(kernel->ort));
        placed.strides = strides;
    }
    return garner_plan_create(plan, &kernel->op, &placed, indices, NULL, error);
}

/* ---- A run ------------------------------------------------------------------------------------ */

/* One run of a kernel. */
struct run {
    const struct ort *ort;
    OrtKernelContext *context;
    garner_tensor data, indices;
    const OrtValue *data_value;
};

/* The runtime's threads as an executor. A failure leaves tasks undone, which the library notices. */
static int parallel_for(void *context, garner_task *task, void *argument, size_t count)
{
    const struct run *run = context;
    return ort_failed(run->ort, run->ort->KernelContext_ParallelFor(run->context, task, count, 0, argument));
}

static OrtStatus *begin(struct run *run)
{
    const OrtValue *indices;
    RETURN_FAILURE(run->ort->KernelContext_GetInput(run->context, 0, &run->data_value));
    RETURN_FAILURE(run->ort->KernelContext_GetInput(run->context, 1, &indices));
    RETURN_FAILURE(ort_operand_read(run->ort, run->data_value, &run->data));
    return ort_operand_read(run->ort, indices, &run->indices);
}

static OrtStatus *get_output(const struct run *run, const garner_shape *shape, OrtValue **out)
{
    return run->ort->KernelContext_GetOutput(run->context, 0, shape->extents, (size_t)shape->rank, out);
}

static int64_t count_of(const garner_tensor *tensor) /* which exists, so it fits */
{
    int64_t count = 1;
    for (int32_t d = 0; d < tensor->rank; d++)
        count *= tensor->shape[d];
    return count;
}

static OrtStatus *run_planned(struct run *run, const garner_plan *plan)
{
    garner_exec exec = {.parallel_for = parallel_for, .context = run};
    const garner_shape *shape = garner_plan_output(plan);
    garner_error error;
    OrtValue *value;
    void *out;
    RETURN_FAILURE(get_output(run, shape, &value));
    if (run->data.dtype == GARNER_STR) {
        const struct strings strings = {run->ort, run->data_value, value, &exec};
        return ort_strings_gather(&strings, plan, count_of(&run->data), run->indices.data);
    }
    RETURN_FAILURE(run->ort->GetTensorMutableData(value, &out));
    if (garner_execute(plan, run->data.data, run->indices.data, out, &exec, &error) == GARNER_OK) return NULL;
    return ort_refuse(run->ort, &error);
}

/* A shape that was not met before. */
static OrtStatus *run_new(struct run *run, struct kernel *kernel, const struct plan_key *key)
{
    garner_error error;
    garner_plan *plan;
    if (plan_for(kernel, &run->data, &run->indices, &plan, &error) != GARNER_OK)
        return ort_refuse(run->ort, &error);
    bool kept = plans_keep(&kernel->plans, key, plan);
    OrtStatus *status = run_planned(run, plan);
    if (!kept) garner_plan_destroy(plan);
    return status;
}

static OrtStatus *compute(OrtKernelImpl *impl, OrtKernelContext *context)
{
    struct kernel *kernel = (struct kernel *)impl;
    struct run run = {.ort = kernel->ort, .context = context};
    RETURN_FAILURE(begin(&run));
    const struct plan_key key = key_of(&run.data, &run.indices);
    const garner_plan *plan = plans_find(&kernel->plans, &key);
    return plan ? run_planned(&run, plan) : run_new(&run, kernel, &key);
}

/* ---- Made and freed --------------------------------------------------------------------------- */

/* Plans ahead, where the model says what will come. Where it is wrong, a run will say so. */
static void foresee(struct kernel *kernel, const OrtKernelInfo *info)
{
    const struct ort *ort = kernel->ort;
    garner_tensor tensor[2];
    int64_t extents[2][GARNER_MAX_RANK];
    bool known = true;
    for (size_t i = 0; i < 2 && known; i++) {
        OrtTypeInfo *type = NULL;
        known = !ort_failed(ort, ort->KernelInfo_GetInputTypeInfo(info, i, &type)) &&
                ort_operand_foresee(ort, type, &tensor[i], extents[i]);
        if (type) ort->ReleaseTypeInfo(type);
    }
    if (!known) return;
    const struct plan_key key = key_of(&tensor[0], &tensor[1]);
    garner_plan *plan;
    if (plan_for(kernel, &tensor[0], &tensor[1], &plan, NULL) != GARNER_OK) return;
    if (!plans_keep(&kernel->plans, &key, plan)) garner_plan_destroy(plan);
}

static void release(OrtKernelImpl *impl)
{
    struct kernel *kernel = (struct kernel *)impl;
    plans_close(&kernel->plans);
    free(kernel);
}

static OrtStatus *read_op(const struct version *version, const OrtKernelInfo *info, garner_op *op)
{
    const struct ort *ort = version->ort;
    garner_error error;
    if (garner_op_from_spec(op, version->spec, version->kind, &error) != GARNER_OK)
        return ort_refuse(ort, &error);
    /* What a node does not say is 0. */
    ort_failed(ort, ort->KernelInfoGetAttribute_int64(info, "axis", &op->axis));
    ort_failed(ort, ort->KernelInfoGetAttribute_int64(info, "batch_dims", &op->batch_dims));
    return NULL;
}

OrtStatus *ort_kernel_create(void *state, const OrtKernelInfo *info, OrtKernelImpl **made)
{
    const struct version *version = state;
    struct kernel *kernel = calloc(1, sizeof *kernel);
    *made = NULL;
    if (kernel == NULL) return ort_no_memory(version->ort);
    plans_open(&kernel->plans);
    kernel->impl =
        (OrtKernelImpl){.ort_version_supported = ORT_API_VERSION, .Compute = compute, .Release = release};
    kernel->ort = version->ort;
    OrtStatus *status = read_op(version, info, &kernel->op);
    if (status) {
        release(&kernel->impl);
        return status;
    }
    foresee(kernel, info);
    *made = &kernel->impl;
    return NULL;
}
