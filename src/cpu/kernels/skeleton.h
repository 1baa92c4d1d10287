/* SPDX-License-Identifier: MIT */
/*
 * The kernel skeleton: address source x mover.
 *
 * gather_segment() is inlined into every kernel with a constant id, so that each kernel becomes a loop of its
 * own, compiled for the instruction set of the function it is inlined into. gather_runs_of() is what runs of
 * any length share, to which the source and the bytes of an index are no constants.
 *
 * What a source requires, and the planner has seen to:
 *   ..UNIT, TINY   stride = run, if that is a constant; TINY has a bound of at most TINY_ENTRIES
 *   all others     every bound below 2^31, every stride in [0, 2^32): a product of two 32-bit numbers
 *                  costs a third of one of 64 bits on some CPUs
 *   all            points of out lie side by side: out_stride = run, if that is a constant
 *   ..COLUMNS      so do points of data whose indices are 0: data_stride = run, if that is a constant
 *   SHORT_.., PANEL   there are whole rows; PANEL has less than 2^25 rows of data
 *   BLOCK, HOLED   none of this; to all others indices lie side by side, to PANEL those of a row
 */
#ifndef GARNER_CPU_SKELETON_H
#define GARNER_CPU_SKELETON_H

#include "aligned_stores.h"
#include "overlap_copy.h"
#include "panel.h"
#include "prefetch_ring.h"
#include "shared_offsets.h"
#include "short_rows.h"
#include "tuple_runs.h"

/* The kernel of a level, a constant, for resolved offsets of runs of any length. */
GARNER_INLINE kernel_function *block_kernel(enum level level)
{
    const kernel_table *kernels = &garner_scalar_kernels;
#if defined(__x86_64__)
    if (level == AVX2) kernels = &garner_avx2_kernels;
    if (level >= AVX512) kernels = &garner_avx512_kernels;
#endif
    (void)level;
    return (*kernels)[BLOCK][INDEX_SLOT(sizeof(int64_t))][RUN_SLOT(ANY)].function;
}

/* As many runs of any length as go by overlapping or aligned stores, where that helps; none from the first
 * index that is not inside on. */
GARNER_INLINE int64_t gather_quickly(const struct segment *s, const struct kernel_id id)
{
    if (goes_by_blocks(s, id.source)) {
        const struct segment own = *s; /* so that for all other rows s itself stays in registers */
        return garner_gather_tuple_runs(&own, id.source, id.index, block_kernel(id.level));
    }
#if defined(__aarch64__)
    if (goes_aligned(s, id.source)) return garner_gather_aligned(s, id.source, id.index);
#endif
    return goes_by_halves(s, id) ? garner_gather_overlapping(s, id.index) : 0;
}

/* One row of runs of any length: what is left goes run by run. */
GARNER_INLINE int64_t gather_any(const struct segment *s, const struct kernel_id id)
{
    const int64_t done = gather_quickly(s, id);
    if (done == s->n) return done;
    const struct segment rest = rest_of(s, done, id);
    return done + (goes_by_order(&rest, id) ? gather_long_runs(&rest, id) : gather_runs(&rest, id));
}

/* One row. */
GARNER_INLINE int64_t gather_one(const struct segment *s, const struct kernel_id id)
{
    if (id.run == ANY) return gather_any(s, id);
    if (goes_one_by_one(s, id)) return gather_runs(s, id);
    const int64_t done = goes_round(s, id) ? gather_round(s, id) : 0;
    const struct segment rest = rest_of(s, done, id);
    return done + gather_row(&rest, id);
}

/* Rows that share their offsets, none of which is outside. */
GARNER_INLINE int64_t gather_shared(const struct segment *s, const struct kernel_id id)
{
    if (goes_by_strips(s, s->n, id)) {
        gather_strips(s, id);
    } else if (s->n <= FEW_POINTS && !s->row_by_row) {
        gather_short_rows(s, id);
    } else {
        struct segment row = *s;
        for (int64_t k = 0; k < s->rows; k++, row.data += s->row_data_stride, row.out += s->row_out_stride)
            gather_one(&row, id);
    }
    return s->n;
}

GARNER_INLINE int64_t gather_runs_of(const struct segment *s, const struct kernel_id id)
{
    return id.source == HOLED ? gather_shared(s, id) : gather_any(s, id);
}

GARNER_INLINE int64_t gather_segment(const struct segment *s, const struct kernel_id id)
{
    if (id.source == SHORT_UNIT || id.source == SHORT_COLUMNS) return gather_joined(s, id);
    if (id.source == PANEL) return gather_panel(s, id);
    return id.source == BLOCK ? gather_shared(s, id) : gather_one(s, id);
}

#endif
