/* SPDX-License-Identifier: MIT */
/* What the planner decided about a nest: the kernel, the launch, and the kernel's arguments but for the
 * pointers. */
#ifndef GARNER_CUDA_WORK_H
#define GARNER_CUDA_WORK_H

#include "../line.h"
#include "cuda_profile.h"
#include "kernels/kernel_arguments.h"

/* What the pointers of an execution are multiples of, at most 16. */
struct cuda_alignment {
    int data, indices, out;
};

struct cuda_work {
    enum cuda_source source;
    int index;  /* bytes of an index as the kernel is named: 4, 8, or 0 for any */
    int vector; /* bytes that a thread moves at once */
    int threads;
    int64_t blocks; /* 0: there is nothing to do */
    int64_t shared; /* bytes */
    struct cuda_task task;
};

/* Decides, from these three alone. A nest whose run is 0 has its indices checked and moves nothing. */
void garner_cuda_plan_for(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile,
                          struct cuda_alignment alignment);

/* Whether a source takes any nest, and so its arguments are struct cuda_any, not its task alone. */
bool garner_cuda_takes_any(enum cuda_source source);

/* The arguments of such a launch: what was decided, and the nest. Pointers are the caller's to set. */
void garner_cuda_any(struct cuda_any *any, const struct cuda_work *work, const struct nest *nest);

/* Appends what was decided: ", kernel line-i64-v16, 64 x 256 threads". */
void garner_cuda_describe(const struct cuda_work *work, struct line *line);

#endif
