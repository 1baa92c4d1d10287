/* SPDX-License-Identifier: MIT */
/*
 * Short runs of any length: two moves each, of a constant size, which may overlap.
 */
#ifndef GARNER_CPU_OVERLAP_COPY_H
#define GARNER_CPU_OVERLAP_COPY_H

#include "points.h"

enum {
    LONGEST_HALF = X86 ? 16 : 8, /* aligned_stores.h has what is longer */
    MOST_OVERLAPPED = 2 * LONGEST_HALF
};

/* A run of `half` to twice as many bytes, as two halves that may overlap. */
GARNER_INLINE void move_halves(char *out, const char *from, int64_t run, int half)
{
    char first[LONGEST_HALF], last[LONGEST_HALF];
    memcpy(first, from, (size_t)half), memcpy(last, from + run - half, (size_t)half);
    memcpy(out, first, (size_t)half), memcpy(out + run - half, last, (size_t)half);
}

/* As many whole groups as are inside. Nothing is prefetched on x86, whose out-of-order window reaches far
 * enough. */
GARNER_INLINE int64_t gather_halves(const struct segment *given, int half, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, axis, id), *const s = &own;
    int64_t i = 0, offset[MOST_GROUP];
    for (; s->n - i >= GROUP; i += GROUP) {
        const bool prefetches = !X86 && s->prefetch_distance && s->n - i >= GROUP + s->prefetch_distance;
        char *out = s->out + i * s->out_stride;
        if (!load_offsets(s, (struct group){i, GROUP, false}, offset, id) &&
            !load_offsets(s, (struct group){i, GROUP, true}, offset, id))
            return i;
        UNROLL for (int k = 0; k < GROUP; k++, out += s->out_stride)
        {
            if (prefetches) prefetch_run(s, i + k + s->prefetch_distance, half, id);
            move_halves(out, s->data + offset[k], s->run, half);
        }
    }
    return i;
}

GARNER_INLINE int64_t pick_half(const struct segment *s, const struct kernel_id id)
{
    return s->run <= 4    ? gather_halves(s, 2, id)
           : s->run <= 8  ? gather_halves(s, 4, id)
           : s->run <= 16 ? gather_halves(s, 8, id)
                          : gather_halves(s, LONGEST_HALF, id);
}

/* Whether the runs of a row, of any length, are moved by two moves each. */
GARNER_INLINE bool goes_by_halves(const struct segment *s, const struct kernel_id id)
{
    return id.source == UNIT && s->run > 1 && s->run <= MOST_OVERLAPPED;
}

/* Not inlined, so that the kernels of longer runs stay small. */
static GARNER_NOINLINE __attribute__((unused)) int64_t gather_overlapping(const struct segment *s, int index)
{
    return index == 4 ? pick_half(s, (struct kernel_id){SCALAR, UNIT, 4, ANY})
                      : pick_half(s, (struct kernel_id){SCALAR, UNIT, 8, ANY});
}

#endif
