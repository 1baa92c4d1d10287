/* SPDX-License-Identifier: MIT */
/* Stage 3: a plan, all that is known before the pointers are. Immutable once made, one block of memory. */
#ifndef GARNER_PLAN_H
#define GARNER_PLAN_H

#include "backend.h"
#include "scan.h"
#include "shape.h"

/* What execute must know of one of the caller's pointers. */
struct operand {
    int64_t count;  /* elements; if there are none the pointer may be NULL */
    int64_t offset; /* of element 0 */
};

/* Two views that have elements share memory if the distance between their pointers plus `shift`, as unsigned
 * numbers, is below `width`. */
struct meeting {
    uintptr_t shift, width;
};

struct garner_plan {
    const char *op; /* the operator's name, for messages */
    struct operand data, indices, out;
    struct meeting out_data, out_indices;
    struct backend_work work;
    struct nest nest;
    struct index_map index_map; /* the index tensor, for error reports */
    garner_shape output;        /* of planned calls; a one-call's caller has it already */
};

/* The caller's three tensors. */
struct tensors {
    const garner_tensor *data, *indices, *out;
};

/* Makes a plan in memory that is given: the heap for planned calls, the stack for one-call functions. The
 * shape of out is put into `output`, unless that is NULL; then `out` must not be NULL, which otherwise means
 * dense. */
garner_status garner_plan_make(struct garner_plan *plan, const struct op *op, const struct tensors *tensors,
                               garner_shape *output, garner_error *error);

/* Reports the lowest index that the policy refuses, after one was met. */
garner_status garner_plan_refused(const struct garner_plan *plan, const char *indices,
                                  const garner_exec *exec, garner_error *error);

/* Appends the first words of a description: the operator and its nest. */
void garner_describe_nest(struct line *line, const char *op, const struct nest *nest);

#endif
