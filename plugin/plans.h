/* SPDX-License-Identifier: MIT */
/*
 * What a gather inside a runtime keeps: its plans, by the shapes that it met. They are only ever added to and
 * live as long as their owner, so that finding one takes no lock. A model has stated shapes, which is one
 * plan, or a few; what meets more shapes than there is room for plans the others anew each time.
 */
#ifndef GARNER_PLUGIN_PLANS_H
#define GARNER_PLUGIN_PLANS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "garner.h"

enum { MOST_PLANS = 32 };

/* What a plan is for: an operator with these attributes, on tensors of these types and dense shapes. */
struct plan_key {
    int64_t axis, batch_dims;
    const garner_tensor *data, *indices;
};

struct plans {
    _Atomic(struct kept_plan *) first;
    atomic_int count;
};

void plans_open(struct plans *plans);
void plans_close(struct plans *plans);

/* The plan for a key, or NULL. */
const garner_plan *plans_find(const struct plans *plans, const struct plan_key *key);

/* Takes a plan into its care. False if there is no room or no memory; then it stays the caller's. */
bool plans_keep(struct plans *plans, const struct plan_key *key, garner_plan *plan);

#endif
