/* SPDX-License-Identifier: MIT */
/* A caller's three pointers, held against the plan that they are for. Whoever executes plans begins with it.
 */
#ifndef GARNER_OPERANDS_H
#define GARNER_OPERANDS_H

#include "error.h"
#include "plan.h"

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
                             const struct operand *operand, const void *to, const void *from)
{
    return rarely((uintptr_t)to - (uintptr_t)from + meeting->shift < meeting->width) && plan->out.count > 0 &&
           operand->count > 0;
}

/* A pointer's element 0. As numbers, because the offset of an empty tensor may lead anywhere. NULL becomes an
 * address of which nothing is read or written: to count on from NULL is undefined even by 0. */
static inline char *first_element(const struct operand *operand, const void *pointer)
{
    static char nothing;
    return pointer ? (char *)((uintptr_t)pointer + (uintptr_t)operand->offset) : &nothing;
}

/* Checks the pointers and gives their first elements. */
static inline garner_status operands_take(struct buffers *buffers, const struct garner_plan *plan,
                                          const void *data, const void *indices, void *out,
                                          garner_error *error)
{
    if (data == NULL || indices == NULL || out == NULL)
        RETURN_NOT_OK(check_nulls(plan, data, indices, out, error));
    if (out_meets(plan, &plan->out_data, &plan->data, out, data)) return fail_shared(plan, "data", error);
    if (out_meets(plan, &plan->out_indices, &plan->indices, out, indices))
        return fail_shared(plan, "indices", error);
    *buffers = (struct buffers){first_element(&plan->data, data), first_element(&plan->indices, indices),
                                first_element(&plan->out, out)};
    return GARNER_OK;
}

#endif
