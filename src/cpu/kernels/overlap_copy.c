/* SPDX-License-Identifier: MIT */
/*
 * Short runs of any length by two overlapping moves each, a group at a time. A group's indices are checked as
 * if none were negative. On x86, which does that by a branch for each, all groups are wrapped from the first
 * one on that has such an index.
 */
#include "overlap_copy.h"

#include "points.h"

/* Offsets of the points of a group; false if one is not inside. */
GARNER_INLINE bool find_halves(const struct segment *s, int64_t first, bool *wraps, int64_t *offset,
                               const struct kernel_id id)
{
    if ((X86 && *wraps) || !load_offsets(s, (struct group){first, GROUP, false}, offset, id)) {
        if (!load_offsets(s, (struct group){first, GROUP, true}, offset, id)) return false;
        *wraps = true;
    }
    if (X86 && s->pattern) UNROLL for (int k = 0; k < GROUP; k++) offset[k] += s->pattern[first + k];
    return true;
}

GARNER_INLINE int64_t gather_halves(const struct segment *given, int each, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, axis, id), *const s = &own;
    int64_t i = 0, offset[MOST_GROUP];
    bool wraps = false;
    for (; s->n - i >= GROUP; i += GROUP) {
        const bool prefetches = !X86 && s->prefetch_distance && s->n - i >= GROUP + s->prefetch_distance;
        char *out = s->out + i * s->out_stride;
        if (!find_halves(s, i, &wraps, offset, id)) return i;
        UNROLL for (int k = 0; k < GROUP; k++, out += s->out_stride)
        {
            if (prefetches) prefetch_run(s, i + k + s->prefetch_distance, each, id);
            move_halves(out, s->data + offset[k], s->run, each);
        }
    }
    return i;
}

/* Runs of UNIT; on x86 of PATTERN, too, whose offsets are added to those of the indices. */
GARNER_INLINE int64_t pick_half(const struct segment *s, int index)
{
    const struct kernel_id id = {SCALAR, UNIT, index, ANY};
    return s->run <= 4    ? gather_halves(s, 2, id)
           : s->run <= 8  ? gather_halves(s, 4, id)
           : s->run <= 16 ? gather_halves(s, 8, id)
                          : gather_halves(s, LONGEST_HALF, id);
}

int64_t garner_gather_overlapping(const struct segment *s, int index)
{
    return index == 4 ? pick_half(s, 4) : pick_half(s, 8);
}
