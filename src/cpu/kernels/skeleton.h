/* SPDX-License-Identifier: MIT */
/*
 * The kernel skeleton: address source x mover.
 *
 * gather_segment() is inlined into every kernel with constants for its parameters after the first, so
 * that each kernel becomes a loop of its own, compiled for the instruction set of the function it is
 * inlined into.
 *
 * What a source requires, and the chooser has seen to:
 *   ..UNIT         stride = run, if that is a constant
 *   all others     every bound below 2^31, every stride in [0, 2^32): a product of two 32-bit numbers
 *                  costs a third of one of 64 bits on some CPUs
 *   all but RAMP   points of out lie side by side: step = run, if that is a constant
 *   ..COLUMNS      so do points of data whose indices are 0: ramp = run, if that is a constant
 *   SHORT_.., PANEL   there are whole rows; PANEL has less than 2^25 places
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

/* One row: where that helps most of it in pieces, without a seam or by way of a ring, and the rest, or from
 * the first index that is not inside on, point by point. */
GARNER_INLINE int64_t gather_one(const struct segment *s, enum source source, int width, int64_t constant,
                                 enum level level)
{
    int64_t done = 0;
    if (goes_seamless(s, source, constant))
        done = garner_gather_seamless(s, source, width);
    else if (goes_in_pieces(s, source, constant))
        done = gather_short(s, width);
    else if (goes_round(s, source, constant))
        done = gather_round(s, source, width, constant);
    const struct segment rest = rest_of(s, done, source, width);
    return done + gather_row(&rest, rest.data, rest.out, source, width, constant, level);
}

/* Rows that share their offsets, none of which is outside. */
GARNER_INLINE void gather_shared(const struct segment *s, enum source source, int width, int64_t constant,
                                 enum level level)
{
    if (goes_by_strips(s, source, constant)) {
        gather_strips(s, constant);
    } else if (s->n <= FEW_POINTS && !s->non_temporal) {
        gather_short_rows(s, source, constant, level);
    } else {
        struct segment row = *s;
        for (int64_t k = 0; k < s->rows; k++, row.data += s->row_data_stride, row.out += s->row_out_stride)
            gather_one(&row, source, width, constant, level);
    }
}

GARNER_INLINE int64_t gather_segment(const struct segment *s, enum source source, int width, int64_t constant,
                                     enum level level)
{
    if (source == SHORT_UNIT || source == SHORT_COLUMNS) return gather_joined(s, source, width, constant);
    if (source == PANEL) return gather_sliver(s, width, constant);
    if (!source_is_resolved(source)) return gather_one(s, source, width, constant, level);
    gather_shared(s, source, width, constant, level);
    return s->n;
}

#endif
