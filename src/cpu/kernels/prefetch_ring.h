/* SPDX-License-Identifier: MIT */
/*
 * Single elements whose places take many instructions to find: while one waits for memory the CPU looks too
 * few points ahead. So a point is found, checked and asked for a ring of points before it is moved.
 */
#ifndef GARNER_CPU_RING_H
#define GARNER_CPU_RING_H

#include "points.h"

enum { RING_GROUP = 4, MOST_RING = 64 };

/* Whether a row goes that way. On x86 the CPU itself looks far enough. */
GARNER_INLINE bool goes_round(const struct segment *s, enum source source, int64_t constant)
{
    return !X86 && constant > 0 && constant <= SHORT_RUN && s->prefetch_distance &&
           (source_axes(source) > 1 || source == COLUMNS || source == PATTERN);
}

/* How many points: as many as are looked ahead, in whole groups. */
GARNER_INLINE int64_t ring_points(const struct segment *s)
{
    return at_least(at_most(s->prefetch_distance, MOST_RING) & -RING_GROUP, RING_GROUP);
}

/* As many points, in whole groups, as are inside as they stand; how many. */
GARNER_INLINE int64_t gather_round(const struct segment *given, enum source source, int width,
                                   int64_t constant)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, source, axis), *const s = &own;
    const int64_t slope = source == COLUMNS ? constant : 0, n = s->n,
                  pitch = source_axes(source) * (int64_t)width;
    const char *ring[MOST_RING], **const end = ring + ring_points(s), **slot = ring, *data = s->data;
    char *out = s->out;
    int64_t found = 0;
    for (; n - found >= RING_GROUP; found += RING_GROUP, data += RING_GROUP * slope) {
        int64_t offset[RING_GROUP];
        prefetch_indices(s, found, RING_GROUP, pitch, s->indices_to_l1);
        if (!load_offsets(s, found, RING_GROUP, source, width, constant, false, offset)) break;
        const char *at[RING_GROUP];
        UNROLL for (int i = 0; i < RING_GROUP; i++)
        {
            at[i] = point_address(s, data, offset[i], source, constant, i) + i * slope;
            prefetch_line((uintptr_t)at[i], s->points_to_l1);
        }
        if (found >= end - ring) {
            move_elements(out, slot, RING_GROUP, constant);
            out += RING_GROUP * constant;
        }
        UNROLL for (int i = 0; i < RING_GROUP; i++) slot[i] = at[i];
        slot = slot + RING_GROUP == end ? ring : slot + RING_GROUP;
    }
    int64_t kept = at_most(found, end - ring);
    for (slot = kept == end - ring ? slot : ring; kept > 0;
         kept -= RING_GROUP, out += RING_GROUP * constant) {
        move_elements(out, slot, RING_GROUP, constant);
        slot = slot + RING_GROUP == end ? ring : slot + RING_GROUP;
    }
    return found;
}

#endif
