/* SPDX-License-Identifier: MIT */
/* Says where the points of a plan lie, for whoever moves them by other means than a backend. */
#include "error.h"
#include "plan.h"

int64_t garner_plan_points(const garner_plan *plan)
{
    return plan ? plan->nest.points : 0;
}

int64_t garner_plan_run(const garner_plan *plan)
{
    return plan && !plan->nest.packed ? plan->nest.run : 0;
}

/* A point of the nest, and what it adds up to. */
struct walker {
    int64_t at[GARNER_MAX_RANK];
    int64_t data, index, out;
};

static void walker_begin(struct walker *walker, const struct nest *nest, int64_t point)
{
    walker->data = walker->index = walker->out = 0;
    for (int d = nest->rank - 1; d >= 0; d--) {
        const struct dim *dim = &nest->dim[d];
        int64_t p = walker->at[d] = point % dim->n;
        point /= dim->n;
        walker->data += p * dim->data;
        walker->index += p * dim->index;
        walker->out += p * dim->out;
    }
}

static inline void walker_step(struct walker *walker, const struct nest *nest)
{
    for (int d = nest->rank - 1; d >= 0; d--) {
        const struct dim *dim = &nest->dim[d];
        int64_t back = dim->n - 1;
        if (walker->at[d]++ < back) {
            walker->data += dim->data;
            walker->index += dim->index;
            walker->out += dim->out;
            return;
        }
        walker->at[d] = 0;
        walker->data -= back * dim->data;
        walker->index -= back * dim->index;
        walker->out -= back * dim->out;
    }
}

/* Adds to `from` what the indices of a point pick. Every component is looked at: one that is refused counts,
 * whatever the others give. */
static inline enum landing land(const struct nest *nest, const char *index, int64_t *from)
{
    enum landing landed = INSIDE;
    for (int k = 0; k < nest->axes; k++) {
        int64_t picked = 0,
                value = index_load(index + k * nest->step * nest->index_type.bytes, nest->index_type);
        enum landing one = index_land(value, nest->index_type, &nest->axis[k], nest->policy, &picked);
        if (one > landed) landed = one;
        if (one == INSIDE) *from += picked * nest->axis[k].stride;
    }
    return landed;
}

/* False if an index is refused. */
static bool locate(const struct nest *nest, const char *indices, int64_t first, int64_t count,
                   garner_point *points)
{
    struct walker walker;
    walker_begin(&walker, nest, first);
    for (int64_t i = 0; i < count; i++) {
        int64_t from = walker.data;
        enum landing landed = land(nest, indices + walker.index * nest->index_type.bytes, &from);
        if (landed == REFUSED) return false;
        points[i] = (garner_point){landed == NOWHERE ? GARNER_NOWHERE : from, walker.out};
        walker_step(&walker, nest);
    }
    return true;
}

garner_status garner_plan_locate(const garner_plan *plan, const void *indices, int64_t first, int64_t count,
                                 garner_point *points, garner_error *error)
{
    garner_error spare;
    error = error_begin(error, &spare);
    if (plan == NULL || (points == NULL && count > 0))
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_plan_locate: %s is NULL",
                           plan ? "points" : "plan");
    if (first < 0 || count < 0 || first > plan->nest.points || count > plan->nest.points - first)
        return garner_fail(error, GARNER_BAD_ARGUMENT,
                           "garner_plan_locate: %lld points from %lld on are not within the %lld of the plan",
                           (long long)count, (long long)first, (long long)plan->nest.points);
    if (indices == NULL && plan->indices.count > 0)
        return garner_fail(error, GARNER_BAD_ARGUMENT,
                           "%s: the pointer of indices is NULL, but it has elements", plan->op);
    const char *base = indices ? (const char *)indices + plan->indices.offset : NULL;
    if (plan->nest.points > 0 && (count == 0 || locate(&plan->nest, base, first, count, points)))
        return GARNER_OK;
    return plan->nest.points > 0 ? garner_plan_refused(plan, base, NULL, error)
                                 : garner_scan(&plan->index_map, &plan->nest, plan->op, base, NULL, error);
}
