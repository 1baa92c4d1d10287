/* SPDX-License-Identifier: MIT */
/* Stage 3: a plan, all that is known before the pointers are. Immutable once made, one piece of memory. */
#ifndef GARNER_PLAN_H
#define GARNER_PLAN_H

#include "cpu/cpu.h"
#include "nest.h"
#include "scan.h"

/* What execute checks and adds to one of the caller's pointers. */
struct reach {
    struct span span;
    int64_t offset;
    bool empty;
};

struct garner_plan {
    const char *op; /* the operator's name, for messages */
    struct reach data, indices, out;
    struct cpu_work work;
    garner_shape output;
    struct index_map index_map; /* the index tensor, for error reports */
    struct nest nest;
};

/* Makes a plan in memory that is given: the heap for planned calls, the stack for one-call functions.
 * `out` may be NULL, which means dense. */
garner_status garner_plan_make(struct garner_plan *plan, const garner_op *given, const garner_tensor *data,
                               const garner_tensor *indices, const garner_tensor *out, garner_error *error);

#endif
