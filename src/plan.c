/* SPDX-License-Identifier: MIT */
/* Makes plans: infer, nest, choose. */
#include "plan.h"

#include <stdlib.h>

#include "error.h"

static inline struct operand operand_of(const struct view *view)
{
    return (struct operand){view->count, view->offset};
}

/* a at pointer p and b at pointer q meet if p + a.low < q + b.high and q + b.low < p + a.high, that is if
 * p - q lies in (b.low - a.high, b.high - a.low), an interval that never covers all addresses. */
static inline struct meeting meeting_of(const struct view *a, const struct view *b)
{
    uintptr_t shift = (uintptr_t)a->span.high - (uintptr_t)b->span.low - 1;
    uintptr_t width = shift + (uintptr_t)b->span.high - (uintptr_t)a->span.low;
    return (struct meeting){shift, width};
}

/* Makes a view, or says in words why not. */
#define MAKE_VIEW(view, tensor, op, role, error)                                                         \
    do {                                                                                                 \
        enum view_fault fault_ = garner_view_make(view, tensor);                                         \
        if (rarely(fault_ != VIEW_FINE)) return garner_view_fail(fault_, view, (op)->name, role, error); \
    } while (0)

garner_status garner_plan_make(struct garner_plan *plan, const struct op *op, const struct tensors *tensors,
                               garner_shape *output, garner_error *error)
{
    struct view from, to, *at = &plan->index_map.view;
    struct map map;
    MAKE_VIEW(&from, tensors->data, op, "data", error);
    MAKE_VIEW(at, tensors->indices, op, "indices", error);
    RETURN_NOT_OK(garner_shape_map(&map, op, &from, at, error));
    if (output) RETURN_NOT_OK(garner_shape_infer(output, &map, op, &from, at, error));
    if (tensors->out)
        MAKE_VIEW(&to, tensors->out, op, "out", error);
    else
        garner_view_dense(&to, output);
    if (to.dtype != from.dtype || to.item != from.item ||
        !garner_nest_build(&plan->nest, &map, op, &from, at, &to))
        return garner_shape_fail_out(&map, op, &from, at, &to, error);
    if (!to.dense) RETURN_NOT_OK(garner_shape_check_overlap(op, &to, error));
    garner_cpu_plan(&plan->work, &plan->nest);
    plan->op = op->name;
    plan->data = operand_of(&from);
    plan->indices = operand_of(at);
    plan->out = operand_of(&to);
    plan->out_data = meeting_of(&to, &from);
    plan->out_indices = meeting_of(&to, at);
    plan->index_map.tuples = map.tuples;
    plan->index_map.gather = map.gather;
    return plan->nest.points == 0 ? garner_scan_check(&plan->index_map, op->name, error) : GARNER_OK;
}

garner_status garner_infer(const garner_op *given, const garner_tensor *data, const garner_tensor *indices,
                           garner_shape *shape, garner_error *error)
{
    garner_error spare;
    struct op op;
    struct view from, at;
    struct map map;
    error = error_begin(error, &spare);
    if (shape == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_infer: shape is NULL");
    RETURN_NOT_OK(garner_op_resolve(&op, given, error));
    MAKE_VIEW(&from, data, &op, "data", error);
    MAKE_VIEW(&at, indices, &op, "indices", error);
    RETURN_NOT_OK(garner_shape_map(&map, &op, &from, &at, error));
    return garner_shape_infer(shape, &map, &op, &from, &at, error);
}

garner_status garner_plan_create(garner_plan **plan, const garner_op *given, const garner_tensor *data,
                                 const garner_tensor *indices, const garner_tensor *out, garner_error *error)
{
    garner_error spare;
    struct op op;
    error = error_begin(error, &spare);
    if (plan == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_plan_create: plan is NULL");
    *plan = NULL;
    RETURN_NOT_OK(garner_op_resolve(&op, given, error));
    garner_plan *made = malloc(sizeof *made);
    if (made == NULL)
        return garner_fail(error, GARNER_NO_MEMORY, "garner_plan_create: no memory for a plan of %zu bytes",
                           sizeof *made);
    const struct tensors tensors = {data, indices, out};
    garner_status status = garner_plan_make(made, &op, &tensors, &made->output, error);
    if (status == GARNER_OK)
        *plan = made;
    else
        free(made);
    return status;
}

void garner_plan_destroy(garner_plan *plan)
{
    free(plan);
}

const garner_shape *garner_plan_output(const garner_plan *plan)
{
    return plan ? &plan->output : NULL;
}
