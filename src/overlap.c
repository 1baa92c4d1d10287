/* SPDX-License-Identifier: MIT */
/*
 * Whether a view's elements share memory: are there steps d, not all zero, with |d[i]| < n[i] and
 * sum of d[i] * stride[i] = 0? Ordinary views are answered by one look at the sorted strides; the rest
 * by a search that keeps only steps from which the remaining strides can still return to zero.
 */
#include <stdlib.h>

#include "view.h"

struct step {
    int64_t stride; /* its size; the sign does not matter, since d may be negative */
    int64_t most;   /* n - 1 */
    int64_t reach;  /* how far this and all smaller strides reach together */
    int64_t common; /* greatest common divisor of this and all smaller strides */
};

static int by_stride_descending(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->stride < y->stride) - (x->stride > y->stride);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Sorts the axes that have a choice, largest stride first; step[count] is the end: it takes no step. */
static int sort_steps(struct step *step, const struct view *view)
{
    int count = 0;
    for (int i = 0; i < view->rank; i++)
        if (view->n[i] > 1)
            step[count++] = (struct step){.stride = llabs(view->stride[i]), .most = view->n[i] - 1};
    qsort(step, (size_t)count, sizeof step[0], by_stride_descending);
    step[count] = (struct step){0};
    for (int i = count - 1; i >= 0; i--) {
        step[i].reach = step[i + 1].reach + step[i].most * step[i].stride;
        step[i].common = common_divisor(step[i].stride, step[i + 1].common);
    }
    return count;
}

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/*
 * Whether the steps from here on can bring `sum` back to zero, some step being taken somewhere. The last step
 * is only taken where it does, so that `sum` is zero at the end.
 * Depth is at most the rank. When patience runs out the answer is yes, the safe one.
 */
static bool returns_to_zero(const struct step *here, int64_t sum, bool moved, int *patience)
{
    const struct step *next = here + 1;
    if (here->most == 0) return moved;
    int64_t first = at_least(moved ? -here->most : 0, -divide_down(next->reach + sum, here->stride));
    int64_t last = at_most(here->most, divide_down(next->reach - sum, here->stride));
    for (int64_t d = first; d <= last; d++) {
        int64_t there = sum + d * here->stride;
        if (--*patience < 0) return true;
        if (next->common != 0 && there % next->common != 0) continue;
        if (returns_to_zero(next, there, moved || d != 0, patience)) return true;
    }
    return false;
}

bool garner_view_overlaps_itself(const struct view *view)
{
    struct step step[GARNER_MAX_RANK + 1];
    if (garner_view_is_dense(view)) return false;
    if (view->count == 0) return false;
    int count = sort_steps(step, view); /* at least one, since what is not dense has an extent above 1 */
    if (step[count - 1].stride == 0) return true;
    bool nested = true;
    for (int i = 0; i < count; i++)
        nested = nested && step[i].stride > step[i + 1].reach;
    int patience = 100000;
    return !nested && returns_to_zero(step, 0, false, &patience);
}
