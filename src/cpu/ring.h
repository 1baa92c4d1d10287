/* SPDX-License-Identifier: MIT */
/*
 * Single elements whose places take many instructions to find: while one waits for memory the CPU looks too
 * few points ahead. So a point is found, checked and asked for a ring of points before it is moved.
 */
#ifndef GARNER_CPU_RING_H
#define GARNER_CPU_RING_H

#include "points.h"

enum { RING_GROUP = 4, MOST_RING = 32 };

/* How many points before: fewer where each takes longer to find. */
GARNER_INLINE int ring_points(enum source source)
{
    return source_axes(source) > 2 ? MOST_RING / 2 : MOST_RING;
}

/* Whether a row goes that way. On x86 the CPU itself looks far enough. */
GARNER_INLINE bool goes_round(const struct segment *s, enum source source, int64_t constant)
{
    return !X86 && constant > 0 && constant <= SHORT_RUN && s->ahead &&
           (source_axes(source) > 1 || source == COLUMNS || source == PATTERN);
}

/* As many points, in whole groups, as are inside as they stand; how many. */
GARNER_INLINE int64_t gather_round(const struct segment *given, enum source source, int width,
                                   int64_t constant)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, source, axis), *const s = &own;
    const int64_t slope = source == COLUMNS ? constant : 0, before = ring_points(source), n = s->n,
                  pitch = source_axes(source) * (int64_t)width;
    const char *ring[MOST_RING], *data = s->data;
    char *out = s->out;
    int64_t found = 0;
    for (; n - found >= RING_GROUP; found += RING_GROUP, data += RING_GROUP * slope) {
        int64_t offset[RING_GROUP];
        prefetch_indices(s, found, RING_GROUP, pitch);
        if (!load_offsets(s, found, RING_GROUP, source, width, constant, false, offset)) break;
        UNROLL for (int i = 0; i < RING_GROUP; i++)
            prefetch_line((uintptr_t)(data + i * slope + offset[i]), s->near);
        const char **slot = ring + found % before;
        if (found >= before) {
            move_elements(out, slot, RING_GROUP, constant);
            out += RING_GROUP * constant;
        }
        UNROLL for (int i = 0; i < RING_GROUP; i++) slot[i] = data + i * slope + offset[i];
    }
    for (int64_t i = at_least(0, found - before); i < found; i += RING_GROUP, out += RING_GROUP * constant)
        move_elements(out, ring + i % before, RING_GROUP, constant);
    return found;
}

#endif
