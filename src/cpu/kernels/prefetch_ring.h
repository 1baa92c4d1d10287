/* SPDX-License-Identifier: MIT */
/*
 * Single elements whose addresses take many instructions to find: while one waits for memory the out-of-order
 * window holds too few points. So a point is found, checked and prefetched a ring of points before it is
 * moved.
 */
#ifndef GARNER_CPU_PREFETCH_RING_H
#define GARNER_CPU_PREFETCH_RING_H

#include "points.h"

enum { RING_GROUP = 4, MOST_RING = 64 };

/* Whether a row of elements, or of runs of a known length, is moved by a ring. The out-of-order window of x86
 * CPUs is large enough without. */
GARNER_INLINE bool goes_round(const struct segment *s, const struct kernel_id id)
{
    return !X86 && id.run <= SHORT_RUN && s->prefetch_distance &&
           (source_axes(id.source) > 1 || id.source == COLUMNS || id.source == PATTERN);
}

/* How many points: the prefetch distance, in whole groups. */
GARNER_INLINE int64_t ring_points(const struct segment *s)
{
    return at_least(at_most(s->prefetch_distance, MOST_RING) & -RING_GROUP, RING_GROUP);
}

/* As many points, in whole groups, as are inside as they stand; how many. */
GARNER_INLINE int64_t gather_round(const struct segment *given, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, axis, id), *const s = &own;
    const int64_t n = s->n, bytes = point_bytes(s, id), pitch = source_axes(id.source) * (int64_t)id.index;
    const char *ring[MOST_RING], **const end = ring + ring_points(s), **slot = ring;
    char *out = s->out;
    int64_t found = 0;
    for (; n - found >= RING_GROUP; found += RING_GROUP) {
        const char *at[RING_GROUP];
        prefetch_indices(s, found, RING_GROUP * pitch, pitch, s->indices_to_l1);
        if (!find_points(s, (struct group){found, RING_GROUP, false}, at, id)) break;
        if (s->points_to_l1)
            UNROLL for (int i = 0; i < RING_GROUP; i++) prefetch_line((uintptr_t)at[i], true);
        else
            UNROLL for (int i = 0; i < RING_GROUP; i++) prefetch_line((uintptr_t)at[i], false);
        if (found >= end - ring) {
            move_sized(out, slot, RING_GROUP, bytes, id);
            out += RING_GROUP * bytes;
        }
        UNROLL for (int i = 0; i < RING_GROUP; i++) slot[i] = at[i];
        slot = slot + RING_GROUP == end ? ring : slot + RING_GROUP;
    }
    int64_t kept = at_most(found, end - ring);
    for (slot = kept == end - ring ? slot : ring; kept > 0; kept -= RING_GROUP, out += RING_GROUP * bytes) {
        move_sized(out, slot, RING_GROUP, bytes, id);
        slot = slot + RING_GROUP == end ? ring : slot + RING_GROUP;
    }
    return found;
}

#endif
