/* SPDX-License-Identifier: MIT */
/*
 * One row of points. A group of indices is loaded, each one once, checked together with one comparison each,
 * and then moved; long runs go one by one.
 */
#ifndef GARNER_CPU_POINTS_H
#define GARNER_CPU_POINTS_H

#include "combine_stores.h"
#include "source.h"

enum {
    GROUP = X86 ? 4 : 8,     /* x86 has half the registers, */
    ROW_GROUP = X86 ? 2 : 8, /* and runs of 32 bytes and more want some for themselves, as slivers do */
    TUPLE_GROUP = X86 ? 2 : 4,
    WRAPPED = 64,     /* points that are wrapped once one needs it; then twice as many, if one does again */
    ONWARD = 64,      /* points that ask together for a part of the next row's table, */
    ONWARD_BYTES = 4, /* on aarch64 those of up to so many bytes: not too much is asked for at once */
    MOST_ASKED = 512  /* bytes of a later run, where they are asked for at once */
};

/* How many points a source takes at a time: as many as their offsets fit into registers. */
GARNER_INLINE int source_group(enum source source, int64_t constant)
{
    if (source_axes(source) > 1) return TUPLE_GROUP;
    return constant > SHORT_RUN ? ROW_GROUP : GROUP;
}

static GARNER_COLD void zero_run(char *out, size_t run)
{
    memset(out, 0, run);
}

/* Keeps the moves of single elements apart: a compiler that joins them into a vector register, element by
 * element, makes them slower. On aarch64 two of 4 or 8 bytes may leave by one store. */
GARNER_INLINE void keep_apart(int i, int64_t constant)
{
    bool paired = !X86 && constant >= 4 && i % 2 == 0;
    if (constant <= 8 && !paired) __asm__ volatile("" ::: "memory");
}

/* `count` elements from anywhere to places side by side; both numbers are constants. */
GARNER_INLINE void move_elements(char *out, const char *const *at, int count, int64_t constant)
{
    const int fours = moves_fours(constant) ? count & -4 : 0;
    UNROLL for (int i = 0; i < fours; i += 4) move_four(out + i * constant, at + i, constant);
    UNROLL for (int i = fours; i < count; i++)
    {
        memcpy(out + i * constant, at[i], (size_t)constant);
        keep_apart(i, constant);
    }
}

/* One run. Of those that stay in the caches the C library moves long ones by instructions of their own. */
GARNER_INLINE void move_whole(const struct segment *s, char *out, const char *from, int64_t constant,
                              bool streams, enum level level)
{
    if (constant == 0 && s->by_memcpy)
        memcpy(out, from, (size_t)s->run);
    else
        move_run(out, from, constant ? constant : s->run, constant, streams, level);
}

/* One point, whose run lies at `from`; or nowhere, in a block with holes. */
GARNER_INLINE void move_point(const struct segment *s, char *out, const char *data, int64_t from,
                              enum source source, int64_t constant, bool streams, enum level level)
{
    if (source == HOLED && from == OFFSET_NOWHERE)
        zero_run(out, (size_t)(constant ? constant : s->run));
    else
        move_whole(s, out, point_address(s, data, from, source, constant, 0), constant, streams, level);
}

/* How many elements of a row ask together for a part of the next row's table. */
GARNER_INLINE int onward_points(int64_t constant)
{
    return X86 || constant <= ONWARD_BYTES ? ONWARD : GROUP;
}

/* Asks for as large a part of that table as these elements are of their row. */
GARNER_INLINE void prefetch_next_table(const struct segment *s, const char *data, int64_t first,
                                       int64_t constant)
{
    const uintptr_t next = (uintptr_t)data + (uintptr_t)(s->next_table + first * s->table_bytes_per_point);
    prefetch_lines(next, onward_points(constant) * s->table_bytes_per_point, s->table_to_l1);
}

/* One group of `count` points, a constant. False, with nothing moved, if an index is not inside. */
GARNER_INLINE bool move_group(const struct segment *s, const char *data, char *out, int64_t first, int count,
                              enum source source, int width, int64_t constant, bool wraps, bool streams,
                              bool far, enum level level)
{
    int64_t offset[MOST_GROUP];
    bool resolved = source_is_resolved(source), gaps = resolved || source == RAMP;
    int64_t step = gaps || constant == 0 ? s->out_stride : constant;
    int64_t slope = source != COLUMNS ? 0 : constant == 0 ? s->data_stride : constant;
    const int64_t *block = (const int64_t *)(const void *)s->index + first;
    if (!resolved && !load_offsets(s, first, count, source, width, constant, wraps, offset)) return false;
    const int64_t *from = resolved ? block : offset;
    out += first * step;
    data += first * slope;
    if (far && constant && constant <= SHORT_RUN)
        UNROLL for (int i = 0; i < count; i++)
            prefetch_run(s, first + i + s->prefetch_distance, source, width, constant);
    if (constant == 0) {
        for (int i = 0; i < count; i++, out += step) {
            if (far) prefetch_run(s, first + i + s->prefetch_distance, source, width, s->run);
            move_point(s, out, data + i * slope, from[i], source, constant, streams, level);
        }
        return true;
    }
    if (moves_fours(constant) && count % 4 == 0 && !gaps) {
        const char *at[MOST_GROUP];
        UNROLL for (int i = 0; i < count; i++) at[i] =
            point_address(s, data, from[i], source, constant, i) + i * slope;
        move_elements(out, at, count, constant);
        return true;
    }
    UNROLL for (int i = 0; i < count; i++, out += step)
    {
        if (far && constant > SHORT_RUN)
            prefetch_run(s, first + i + s->prefetch_distance, source, width, constant);
        move_point(s, out, data + i * slope, from[i], source, constant, streams, level);
        keep_apart(i, constant);
    }
    return true;
}

/* Asks for the indices of a later group, on aarch64. */
GARNER_INLINE void prefetch_group(const struct segment *s, int64_t first, int count, enum source source,
                                  int width, bool nearest)
{
    const bool resolved = source_is_resolved(source);
    if (!X86 && !resolved) prefetch_indices(s, first, count, source_axes(source) * width, nearest);
}

/* Whether groups of single elements go two at a time: x86 has its small groups for the sake of registers. */
GARNER_INLINE bool pairs_groups(enum source source, int64_t constant)
{
    const bool resolved = source_is_resolved(source);
    return X86 && !resolved && constant && source_group(source, constant) == GROUP;
}

/* Two such groups. Indices and out are asked for further on where these use up or fill whole lines of them.
 * How many points were moved. */
GARNER_INLINE int move_two_groups(const struct segment *s, const char *data, char *out, int64_t first,
                                  enum source source, int width, int64_t constant, bool wraps,
                                  enum level level)
{
    const int count = 2 * GROUP;
    if (count * width >= LINE) prefetch_indices(s, first, count, width, true);
    if (count * constant >= LINE)
        prefetch_lines((uintptr_t)out + (uintptr_t)(first * constant) + OUT_AHEAD, count * constant, true);
    UNROLL for (int moved = 0; moved < count; moved += GROUP)
    {
        const int64_t next = first + moved;
        if (!move_group(s, data, out, next, GROUP, source, width, constant, wraps, false, false, level))
            return moved;
    }
    return count;
}

/* As many points as ask together for a part of the next row's table, which is asked for. How many of them
 * were moved. */
GARNER_INLINE int move_onward(const struct segment *s, const char *data, char *out, int64_t first,
                              enum source source, int width, int64_t constant, bool wraps, enum level level)
{
    const int points = onward_points(constant);
    prefetch_next_table(s, data, first, constant);
    int done = 0;
    for (; !X86 && done < points; done += GROUP) {
        prefetch_group(s, first + done, GROUP, source, width, true);
        if (!move_group(s, data, out, first + done, GROUP, source, width, constant, wraps, false, false,
                        level))
            return done;
    }
    for (int moved = 2 * GROUP; moved == 2 * GROUP && done < points; done += moved)
        moved = move_two_groups(s, data, out, first + done, source, width, constant, wraps, level);
    return done;
}

/* Moves points [i, end) until one has an index that is not inside, and returns which. */
GARNER_INLINE int64_t gather_points(const struct segment *s, const char *data, char *out, int64_t i,
                                    int64_t end, enum source source, int width, int64_t constant, bool wraps,
                                    bool streams, enum level level)
{
    const int group = source_group(source, constant);
    const bool resolved = source_is_resolved(source);
    const bool onward = source == UNIT && constant && constant <= SHORT_RUN && s->table_bytes_per_point;
    const bool nearest = source != UNIT || s->indices_to_l1;
    const int together = onward_points(constant);
    const bool far = (constant == 0 || !wraps) && !resolved && s->prefetch_distance;
    if (far)
        for (; end - i >= group + s->prefetch_distance; i += group) {
            prefetch_group(s, i, group, source, width, nearest);
            if (!move_group(s, data, out, i, group, source, width, constant, wraps, streams, true, level))
                return i;
        }
    if (end - i >= together && onward)
        for (; end - i >= together; i += together) {
            const int moved = move_onward(s, data, out, i, source, width, constant, wraps, level);
            if (moved < together) return i + moved;
        }
    if (pairs_groups(source, constant))
        while (end - i >= 2 * group) {
            const int moved = move_two_groups(s, data, out, i, source, width, constant, wraps, level);
            i += moved;
            if (moved < 2 * group) return i;
        }
    for (; end - i >= group; i += group) {
        prefetch_group(s, i, group, source, width, nearest);
        if (!move_group(s, data, out, i, group, source, width, constant, wraps, streams, false, level))
            return i;
    }
    for (; i < end; i++)
        if (!move_group(s, data, out, i, 1, source, width, constant, wraps, streams, false, level)) return i;
    return i;
}

/* Moves one run of a line and more, and asks for the run of a later point. On x86, whose own look-ahead goes
 * on by itself, its first lines are enough, unless the run streams. */
GARNER_INLINE void move_long(const struct segment *s, char *out, const char *from, uintptr_t later,
                             int64_t constant, bool streams, enum level level)
{
    const int64_t run = constant ? constant : s->run;
    if (streams || (!X86 && constant == 0)) {
        move_asking(out, from, run, later, s->points_to_l1, streams, level);
        return;
    }
    const bool is_there = later == (uintptr_t)from; /* since it is moved now */
    if (__builtin_expect(!is_there, 1)) prefetch_lines(later, at_most(run, MOST_ASKED), s->points_to_l1);
    move_run(out, from, run, constant, streams, level);
}

/* Moves all points of a row, one by one, so that nothing but out is written, not even a list of offsets. */
GARNER_INLINE int64_t gather_long(const struct segment *s, const char *data, char *out, enum source source,
                                  int width, int64_t constant, bool streams, enum level level)
{
    const int64_t n = s->n, slope = source == COLUMNS ? s->data_stride : 0;
    const uintptr_t shift = (uintptr_t)data - (uintptr_t)s->data;
    for (int64_t i = 0; i < n; i++, out += s->out_stride, data += slope) {
        int64_t from, later = at_most(i + s->prefetch_distance, n - 1);
        if (!find_run(s, i, source, width, &from)) return i;
        if (s->prefetch_distance)
            move_long(s, out, data + from, shift + run_address(s, later, source, width, true), constant,
                      streams, level);
        else
            move_whole(s, out, data + from, constant, streams, level);
    }
    return n;
}

/* Whether a row goes that way: its runs are long, and from far away or of any length. */
GARNER_INLINE bool goes_one_by_one(const struct segment *s, enum source source, int64_t constant)
{
    if (source == PATTERN || source == HOLED) return false;
    return constant ? constant > LINE && s->prefetch_distance : s->run >= LINE;
}

/* One row. Negative indices are rare, so wrapping waits until the plain comparison fails; then the next
 * points are loaded, and checked, anew. Runs of any length take so long that they are wrapped at once. */
GARNER_INLINE int64_t gather_row(const struct segment *given, const char *data, char *out, enum source source,
                                 int width, int64_t constant, enum level level)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, source, axis), *const s = &own;
    bool is_long = constant == 0 || constant >= 32, resolved = source_is_resolved(source);
    bool streams = is_long && run_streams(s, out, constant ? constant : s->run);
    int64_t i = 0;
    bool one_by_one = goes_one_by_one(s, source, constant);
    if (one_by_one) i = gather_long(s, data, out, source, width, constant, streams, level);
    for (int64_t wrapped = WRAPPED; !one_by_one;) {
        const int64_t begin = i;
        i = gather_points(s, data, out, i, s->n, source, width, constant, constant == 0, streams, level);
        if (resolved || constant == 0 || __builtin_expect(i == s->n, 1)) break;
        wrapped = i == begin ? at_most(s->n, 2 * wrapped) : WRAPPED;
        int64_t end = at_most(s->n, i + wrapped);
        i = gather_points(s, data, out, i, end, source, width, constant, true, streams, level);
        if (i < end) break;
    }
    if (streams) finish_streaming();
    return i;
}

#endif
