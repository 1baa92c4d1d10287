/* SPDX-License-Identifier: MIT */
/* Makes plans for a device. */
#include "cuda_plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../../error.h"
#include "garner_cuda.h"

static garner_status choose_device(const struct gpu **gpu, const garner_tensor *data, garner_error *error)
{
    const struct driver *driver;
    RETURN_NOT_OK(garner_driver_load(&driver, error));
    int number = data ? garner_driver_device_of(driver, data->data) : -1, current;
    if (number < 0 && driver->cuCtxGetDevice(&current) == 0) number = current;
    return garner_gpu_get(gpu, number < 0 ? 0 : number, error);
}

static garner_status make(struct garner_cuda_plan *plan, const struct op *op, const struct tensors *tensors,
                          garner_error *error)
{
    const struct cuda_alignment aligned = {16, 16, 16};
    RETURN_NOT_OK(garner_plan_make(&plan->core, op, tensors, &plan->core.output, error));
    if (plan->core.output.dtype == GARNER_STR)
        return garner_fail(
            error, GARNER_UNSUPPORTED,
            "%s: data of type str cannot be gathered on a GPU: its characters lie in memory of the host",
            op->name);
    if (plan->core.nest.points > 0)
        plan->nest = plan->core.nest;
    else
        garner_cuda_check_nest(&plan->nest, &plan->core.nest, &plan->core.index_map);
    garner_cuda_plan_for(&plan->work, &plan->nest, &plan->gpu->profile, aligned);
    plan->function = garner_gpu_function(plan->gpu, &plan->work);
    return GARNER_OK;
}

garner_status garner_cuda_plan_create(garner_cuda_plan **plan, const garner_op *given,
                                      const garner_tensor *data, const garner_tensor *indices,
                                      const garner_tensor *out, garner_error *error)
{
    garner_error spare;
    struct op op;
    const struct gpu *gpu;
    error = error_begin(error, &spare);
    if (plan == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_plan_create: plan is NULL");
    *plan = NULL;
    RETURN_NOT_OK(garner_op_resolve(&op, given, error));
    RETURN_NOT_OK(choose_device(&gpu, data, error));
    garner_cuda_plan *made = malloc(sizeof *made);
    if (made == NULL)
        return garner_fail(error, GARNER_NO_MEMORY,
                           "garner_cuda_plan_create: no memory for a plan of %zu bytes", sizeof *made);
    made->gpu = gpu;
    const garner_status status = make(made, &op, &(struct tensors){data, indices, out}, error);
    if (status == GARNER_OK)
        *plan = made;
    else
        free(made);
    return status;
}

void garner_cuda_plan_destroy(garner_cuda_plan *plan)
{
    free(plan);
}

const garner_shape *garner_cuda_plan_output(const garner_cuda_plan *plan)
{
    return plan ? &plan->core.output : NULL;
}

int garner_cuda_plan_device(const garner_cuda_plan *plan)
{
    return plan ? plan->gpu->number : -1;
}

size_t garner_cuda_plan_describe(const garner_cuda_plan *plan, char *buffer, size_t size)
{
    struct line line = {buffer, buffer ? size : 0, 0};
    if (line.size > 0) buffer[0] = '\0';
    if (plan == NULL) return 0;
    garner_describe_nest(&line, plan->core.op, &plan->core.nest);
    garner_line_add(&line, ", device %s", plan->gpu->profile.name);
    garner_cuda_describe(&plan->work, &line);
    return line.length;
}
