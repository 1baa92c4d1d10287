/* SPDX-License-Identifier: MIT */
/* The resolver adds to an offset only what an index in range contributes. */
#include "index_contracts.h"

#include "kernel.h"

/*@ requires \valid_read(nest) && 1 <= nest->rank <= GARNER_MAX_RANK && 1 <= nest->axes <= GARNER_MAX_RANK;
    requires \forall integer k; 0 <= k < nest->axes ==> is_axis(&nest->axis[k]);
    requires 0 <= n && \valid(offset + (0 .. n - 1)) && \separated(nest, offset + (0 .. n - 1));
    assigns offset[0 .. n - 1]; */
static inline enum landing resolve_as(const struct nest *nest, const char *at, int64_t n, int64_t *offset,
                                      struct index_type type);

#include "../../src/cpu/resolve.c"
