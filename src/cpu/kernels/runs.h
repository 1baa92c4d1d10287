/* SPDX-License-Identifier: MIT */
/*
 * Runs one by one, so that nothing but out is written, not even a list of offsets: runs of any length, and
 * those of a constant length that are long and prefetched, or stored non-temporally.
 */
#ifndef GARNER_CPU_RUNS_H
#define GARNER_CPU_RUNS_H

#include "points.h"

static GARNER_COLD void zero_run(char *out, size_t run)
{
    memset(out, 0, run);
}

/* Moves one run and prefetches that of a later point, at `later`. The prefetcher of x86 goes on by itself, so
 * there the first lines are enough. */
GARNER_INLINE void move_run_prefetching(const struct segment *s, char *out, const char *from, uintptr_t later,
                                        const struct kernel_id id)
{
    const int64_t run = point_bytes(s, id);
    if (id.run == ANY && run < LINE) {
        prefetch_line(later, s->points_to_l1);
        if (s->unaligned) prefetch_line(later + (uintptr_t)run - 1, s->points_to_l1);
        move_any(out, from, run, id.level);
    } else if (!X86 && id.run == ANY) {
        move_prefetching(out, from, run, later, s->points_to_l1, id.level);
    } else {
        const bool is_there = later == (uintptr_t)from; /* since it is moved now */
        if (__builtin_expect(!is_there, 1))
            prefetch_lines(later, at_most(run, MOST_PREFETCH), s->points_to_l1);
        move_run(out, from, run, id.run, id.level);
    }
}

/* Moves one run. Of those that stay in the caches the C library moves long ones by instructions of their own.
 */
GARNER_INLINE void move_run_alone(const struct segment *s, char *out, const char *from,
                                  const struct kernel_id id)
{
    if (id.run == ANY && s->by_memcpy)
        memcpy(out, from, (size_t)s->run);
    else
        move_run(out, from, point_bytes(s, id), id.run, id.level);
}

/* Moves points until one has an index that is not inside, and returns how many. */
GARNER_INLINE int64_t gather_runs(const struct segment *given, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, axis, id), *const s = &own;
    const int64_t n = s->n, distance = s->prefetch_distance;
    const bool non_temporal = is_non_temporal(s, point_bytes(s, id));
    char *out = s->out;
    int64_t i = 0;
    for (; i < n; i++, out += s->out_stride) {
        int64_t offset;
        if (!find_run(s, i, &offset, id)) break;
        if (id.source == HOLED && offset == OFFSET_NOWHERE) {
            zero_run(out, (size_t)s->run);
            continue;
        }
        const char *from = s->data + offset;
        const uintptr_t later = distance ? run_address(s, at_most(i + distance, n - 1), true, id) : 0;
        if (non_temporal)
            move_non_temporal(out, from, point_bytes(s, id), later, s->points_to_l1);
        else if (distance)
            move_run_prefetching(s, out, from, later, id);
        else
            move_run_alone(s, out, from, id);
    }
    if (non_temporal) finish_non_temporal();
    return i;
}

/* Whether runs are so long that it pays to look how they follow each other in data. */
GARNER_INLINE bool goes_by_order(const struct segment *s, const struct kernel_id id)
{
    enum { LONG_RUN = 4096 };
    return !X86 && id.source == UNIT && s->run >= LONG_RUN && s->prefetch_distance != 0;
}

/* The same for long runs. One that is the run before once more, or lies right behind it, as sorted indices
 * have it, is left to the hardware prefetcher: prefetches would only take its time. */
GARNER_INLINE int64_t gather_long_runs(const struct segment *s, const struct kernel_id id)
{
    const int64_t n = s->n, run = s->run;
    const char *before = NULL, *next = NULL; /* the last run, and what lies behind it */
    int64_t i = 0, offset;
    char *out = s->out;
    for (; i < n && find_run(s, i, &offset, id); i++, out += s->out_stride) {
        const char *from = s->data + offset;
        const uintptr_t later = run_address(s, at_most(i + s->prefetch_distance, n - 1), true, id);
        if (from == before || from == next) {
            if (later != (uintptr_t)from && later != (uintptr_t)from + (uintptr_t)run)
                prefetch_lines(later, OWN_DISTANCE, s->points_to_l1);
            memcpy(out, from, (size_t)run);
        } else {
            move_run_prefetching(s, out, from, later, id);
        }
        before = from;
        next = from + run;
    }
    return i;
}

/* Whether the runs of a row, of a known length, are moved one by one. */
GARNER_INLINE bool goes_one_by_one(const struct segment *s, const struct kernel_id id)
{
    return id.run > SHORT_RUN && ((id.run > LINE && s->prefetch_distance) || is_non_temporal(s, id.run));
}

#endif
