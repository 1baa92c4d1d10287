/* SPDX-License-Identifier: MIT */
/*
 * Whether a view's elements share memory: are there steps d, not all zero, with |d[i]| < n[i] and
 * sum of d[i] * stride[i] = 0? A search finds them that keeps only steps from which the smaller strides can
 * still return to zero. In ordinary views they reach less far than one step of a larger stride, so it looks
 * at each axis once.
 */
#include <stdlib.h>

#include "view.h"

struct step {
    int64_t stride; /* its size; the sign does not matter, since d may be negative */
    int64_t most;   /* n - 1 */
    int64_t reach;  /* how far this and all smaller strides reach together */
    int64_t common; /* greatest common divisor of this and all smaller strides */
};

/* For proofs: `home`, steps from s on, none or some, bring sum to zero; `returning`, some steps from s on
 * bring zero to zero. */
/*@ axiomatic Search {
      predicate home{L}(struct step *s, integer sum) reads s[0 .. 64];
      predicate returning{L}(struct step *s) reads s[0 .. 64]; } */

static int by_stride_descending(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->stride < y->stride) - (x->stride > y->stride);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    /*@ ghost law_of_rests(); */
    /*@ loop invariant a >= 0 && b >= 0 && (a > 0 || b > 0);
        loop invariant \forall integer g; divides(g, a) && divides(g, b) ==>
          divides(g, \at(a, Pre)) && divides(g, \at(b, Pre));
        loop assigns a, b; */
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Sorts the axes that have a choice, largest stride first. */
static int sort_steps(struct step *step, const struct view *view)
{
    int count = 0;
    for (int i = 0; i < view->rank; i++)
        if (view->n[i] > 1)
            step[count++] = (struct step){.stride = llabs(view->stride[i]), .most = view->n[i] - 1};
    qsort(step, (size_t)count, sizeof step[0], by_stride_descending);
    return count;
}

/* Adds a step to the smaller ones, which follow it. */
static void add_step(struct step *here)
{
    const struct step *next = here + 1;
    /*@ ghost laws_of_multiples(); */
    /*@ admit multiple(here->most, here->stride) <= INT64_MAX - next->reach; */
    here->reach = next->reach + walk_steps(here->most, here->stride);
    here->common = common_divisor(here->stride, next->common);
}

/* Adds up from the smallest on. After the last comes one that takes no step. */
static void add_up_steps(struct step *step, int count)
{
    step[count] = (struct step){0};
    for (int i = count - 1; i >= 0; i--)
        add_step(&step[i]);
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
    /*@ ghost mean_facts(here); */
    if (here->most == 0) return moved;
    /*@ ghost descend(here); */
    int64_t first = at_least(moved ? -here->most : 0, -divide_down(next->reach + sum, here->stride));
    int64_t last = at_most(here->most, divide_down(next->reach - sum, here->stride));
    /*@ loop invariant first <= d && (d <= last + 1 || d == first);
        loop invariant \forall integer e; first <= e < d && (moved || e != 0) ==>
          !home(next, sum + multiple(e, here->stride));
        loop invariant !moved && first <= 0 < d ==> !returning(next);
        loop invariant *patience >= 0;
        loop assigns d, *patience; */
    for (int64_t d = first; d <= last; d++) {
        int64_t there = sum + walk_steps(d, here->stride);
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
    add_up_steps(step, count);
    int patience = 100000;
    return returns_to_zero(step, 0, false, &patience);
}
