/* SPDX-License-Identifier: MIT */
/* Draws strides, leads and offsets for the views of cases. */
#include "arrange.h"

void arrange_scattered(struct random *random, struct case_view *view)
{
    size_t order[GARNER_MAX_RANK];
    for (size_t d = 0; d < (size_t)view->rank; d++)
        order[d] = d;
    if (random_chance(random, 50)) random_shuffle(random, order, (size_t)view->rank);
    int64_t step = random_between(random, 1, 3);
    for (int i = view->rank - 1; i >= 0; i--) {
        const size_t d = order[i];
        view->strides[d] = random_chance(random, 25) ? -step : step;
        step *= view->shape[d] ? view->shape[d] : 1;
        if (view->shape[d] > 1 && step < 20000) step += random_between(random, 0, 2);
    }
    view->strided = true;
}

/* Inputs may also repeat themselves. */
static void repeat_strides(struct random *random, struct case_view *view)
{
    for (int d = 0; d < view->rank; d++) {
        if (random_chance(random, 20)) view->strides[d] = 0;
        if (random_chance(random, 10)) view->strides[d] = random_between(random, -3, 3);
    }
}

void arrange(struct random *random, struct case_view *view, bool packed, bool input)
{
    view->lead = random_chance(random, 50) ? 0 : (size_t)random_between(random, 1, 63);
    view->use_offset = random_chance(random, 30);
    view->state_bytes = random_chance(random, 50);
    if (random_chance(random, 40)) return;
    if (packed) {
        ref_dense_strides(view->rank, view->shape, view->strides);
        view->strided = ref_count(view->rank, view->shape) > 0;
        return;
    }
    arrange_scattered(random, view);
    for (int d = 0; d < view->rank; d++) /* an extent of 1 is never stepped over */
        if (view->shape[d] == 1 && random_chance(random, 10)) view->strides[d] = (int64_t)random_bits(random);
    if (input && random_chance(random, 30)) repeat_strides(random, view);
}
