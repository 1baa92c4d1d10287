/* SPDX-License-Identifier: MIT */
/*
 * One row of points, each an element or a run of a constant length. A group of indices is loaded, each one
 * once, checked together with one comparison each, and then moved.
 */
#ifndef GARNER_CPU_POINTS_H
#define GARNER_CPU_POINTS_H

#include "combine_stores.h"
#include "source.h"

enum {
    GROUP = X86 ? 4 : 8,     /* x86 has half the registers, */
    ROW_GROUP = X86 ? 2 : 8, /* and runs of 32 bytes and more want some for themselves, as panels do */
    TUPLE_GROUP = X86 ? 2 : 4,
    WRAPPED = 64,       /* points that are wrapped once one needs it; then twice as many, if one does again */
    TABLE_POINTS = 64,  /* points that prefetch together a part of the next row's table, */
    TABLE_ELEMENT = 4,  /* on aarch64 those of up to so many bytes: not too much is prefetched at once */
    MOST_PREFETCH = 512 /* bytes of a later run, where they are prefetched at once */
};

/* How many points a source takes at a time: as many as their offsets fit into registers. */
GARNER_INLINE int source_group(const struct kernel_id id)
{
    if (source_axes(id.source) > 1) return TUPLE_GROUP;
    return id.run > SHORT_RUN ? ROW_GROUP : GROUP;
}

/* Bytes of a point: a constant, unless one kernel serves several sizes. */
GARNER_INLINE int64_t point_bytes(const struct segment *s, const struct kernel_id id)
{
    return id.run > 0 ? id.run : s->run;
}

/* Keeps the moves of single elements apart: a compiler that joins them into a vector register, element by
 * element, makes them slower. On aarch64 two of 4 or 8 bytes may leave by one store. */
GARNER_INLINE void keep_apart(int i, int64_t constant)
{
    const bool paired = !X86 && constant >= 4 && i % 2 == 0;
    if (constant <= 8 && !paired) __asm__ volatile("" ::: "memory");
}

/* `count` elements from anywhere to addresses side by side; both numbers are constants. */
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

/* The same where the size is one of 1, 2, 4, 8 and 16. */
GARNER_INLINE void move_sized(char *out, const char *const *at, int count, int64_t bytes,
                              const struct kernel_id id)
{
    if (id.run > 0)
        move_elements(out, at, count, id.run);
    else if (bytes == 4)
        move_elements(out, at, count, 4);
    else if (bytes == 8)
        move_elements(out, at, count, 8);
    else if (bytes == 1)
        move_elements(out, at, count, 1);
    else if (bytes == 2)
        move_elements(out, at, count, 2);
    else
        move_elements(out, at, count, 16);
}

/* How many elements of a row prefetch together a part of the next row's table. */
GARNER_INLINE int table_points(const struct kernel_id id)
{
    return X86 || id.run <= TABLE_ELEMENT ? TABLE_POINTS : GROUP;
}

/* Prefetches as large a part of that table as these elements are of their row. */
GARNER_INLINE void prefetch_next_table(const struct segment *s, int64_t first, const struct kernel_id id)
{
    const uintptr_t next = (uintptr_t)s->data + (uintptr_t)(s->next_part + first * s->table_bytes_per_point);
    prefetch_lines(next, table_points(id) * s->table_bytes_per_point, s->table_to_l1);
}

/* The addresses of a group's points; false if an index is not inside. */
GARNER_INLINE bool find_points(const struct segment *s, const struct group group, const char **at,
                               const struct kernel_id id)
{
    int64_t offset[MOST_GROUP];
    const int64_t slope = id.source == COLUMNS ? id.run : 0;
    const char *const data = s->data + group.first * slope;
    const int64_t *const block = (const int64_t *)(const void *)s->index + group.first;
    if (id.source == BLOCK) {
        UNROLL for (int i = 0; i < group.count; i++) at[i] = data + block[i];
        return true;
    }
    if (!load_offsets(s, group, offset, id)) return false;
    UNROLL for (int i = 0; i < group.count; i++) at[i] = point_address(s, data, offset[i], i, id) + i * slope;
    return true;
}

/* Moves `count` runs of a constant length; on the way it prefetches those of later points. */
GARNER_INLINE void move_runs(const struct segment *s, const struct group group, const char *const *at,
                             bool prefetches, const struct kernel_id id)
{
    const int64_t step = id.source == BLOCK ? s->out_stride : id.run;
    char *out = s->out + group.first * step;
    UNROLL for (int i = 0; i < group.count; i++, out += step)
    {
        if (id.run > SHORT_RUN)
            if (prefetches) prefetch_run(s, group.first + i + s->prefetch_distance, id.run, id);
        move_run(out, at[i], id.run, id.run, id.level);
        keep_apart(i, id.run);
    }
}

/* One group of points. False, with nothing moved, if an index is not inside. */
GARNER_INLINE bool move_group(const struct segment *s, const struct group group, bool prefetches,
                              const struct kernel_id id)
{
    const char *at[MOST_GROUP];
    const int64_t bytes = point_bytes(s, id);
    const bool is_element = id.run == ELEMENT || (id.source != BLOCK && moves_fours(id.run));
    if (!find_points(s, group, at, id)) return false;
    if (prefetches && id.run <= SHORT_RUN)
        UNROLL for (int i = 0; i < group.count; i++)
            prefetch_run(s, group.first + i + s->prefetch_distance, bytes, id);
    if (is_element)
        move_sized(s->out + group.first * bytes, at, group.count, bytes, id);
    else
        move_runs(s, group, at, prefetches, id);
    return true;
}

/* Prefetches the indices of a later group, on aarch64. */
GARNER_INLINE void prefetch_group(const struct segment *s, int64_t first, int count, bool to_l1,
                                  const struct kernel_id id)
{
    const int pitch = source_axes(id.source) * id.index;
    if (!X86 && id.source != BLOCK) prefetch_indices(s, first, count * pitch, pitch, to_l1);
}

/* Whether groups of single elements go two at a time: x86 has its small groups for the sake of registers. */
GARNER_INLINE bool pairs_groups(const struct kernel_id id)
{
    return X86 && id.source != BLOCK && source_group(id) == GROUP;
}

/* Two such groups. Indices and out are prefetched further on where these use up or fill whole lines of them.
 * How many points were moved. */
GARNER_INLINE int move_two_groups(const struct segment *s, int64_t first, bool wraps,
                                  const struct kernel_id id)
{
    const int count = 2 * GROUP;
    if (count * id.index >= LINE) prefetch_indices(s, first, count * id.index, id.index, true);
    if (count * id.run >= LINE)
        prefetch_lines((uintptr_t)s->out + (uintptr_t)(first * id.run) + OUT_DISTANCE, count * id.run, true);
    UNROLL for (int moved = 0; moved < count; moved += GROUP)
    {
        if (!move_group(s, (struct group){first + moved, GROUP, wraps}, false, id)) return moved;
    }
    return count;
}

/* As many points as prefetch together a part of the next row's table, and that part. How many of them were
 * moved. */
GARNER_INLINE int move_with_table(const struct segment *s, int64_t first, bool wraps,
                                  const struct kernel_id id)
{
    const int points = table_points(id);
    prefetch_next_table(s, first, id);
    int done = 0;
    for (; !X86 && done < points; done += GROUP) {
        prefetch_group(s, first + done, GROUP, true, id);
        if (!move_group(s, (struct group){first + done, GROUP, wraps}, false, id)) return done;
    }
    for (int moved = 2 * GROUP; moved == 2 * GROUP && done < points; done += moved)
        moved = move_two_groups(s, first + done, wraps, id);
    return done;
}

/* Moves points from number `i` on, as long as later ones are to be prefetched; returns where it ended. */
GARNER_INLINE int64_t gather_prefetching(const struct segment *s, int64_t i, bool indices_to_l1,
                                         const struct kernel_id id)
{
    const int group = source_group(id);
    for (; s->n - i >= group + s->prefetch_distance; i += group) {
        prefetch_group(s, i, group, indices_to_l1, id);
        if (!move_group(s, (struct group){i, group, false}, true, id)) break;
    }
    return i;
}

/* Moves points [i, end) until one has an index that is not inside, and returns which. */
GARNER_INLINE int64_t gather_groups(const struct segment *s, int64_t i, int64_t end, bool wraps,
                                    const struct kernel_id id)
{
    const int group = source_group(id);
    const bool indices_to_l1 = id.source != UNIT || s->indices_to_l1;
    if (pairs_groups(id))
        while (end - i >= 2 * group) {
            const int moved = move_two_groups(s, i, wraps, id);
            i += moved;
            if (moved < 2 * group) return i;
        }
    for (; end - i >= group; i += group) {
        prefetch_group(s, i, group, indices_to_l1, id);
        if (!move_group(s, (struct group){i, group, wraps}, false, id)) return i;
    }
    for (; i < end; i++)
        if (!move_group(s, (struct group){i, 1, wraps}, false, id)) return i;
    return i;
}

/* Moves as many points as are inside and have later ones to prefetch; returns where it stopped. The two loops
 * for runs differ in the cache level alone, which elements choose group by group. */
GARNER_INLINE int64_t gather_and_prefetch(const struct segment *s, int64_t i, const struct kernel_id id)
{
    const bool indices_to_l1 = id.source != UNIT || s->indices_to_l1;
    if (id.run <= SHORT_RUN) return gather_prefetching(s, i, indices_to_l1, id);
    struct segment to_l1 = *s, to_l2 = *s;
    to_l1.points_to_l1 = true;
    to_l2.points_to_l1 = false;
    return s->points_to_l1 ? gather_prefetching(&to_l1, i, indices_to_l1, id)
                           : gather_prefetching(&to_l2, i, indices_to_l1, id);
}

/* Moves points [i, end) until one has an index that is not inside, and returns which. */
GARNER_INLINE int64_t gather_points(const struct segment *s, int64_t i, int64_t end, bool wraps,
                                    const struct kernel_id id)
{
    const bool has_table = id.source == UNIT && id.run <= SHORT_RUN;
    const int together = table_points(id);
    if (id.source != BLOCK && id.run <= LINE && !wraps && s->prefetch_distance) {
        i = gather_and_prefetch(s, i, id);
        if (end - i >= source_group(id) + s->prefetch_distance) return i; /* it stopped at an index */
    }
    if (has_table && s->table_bytes_per_point)
        for (; end - i >= together; i += together) {
            const int moved = move_with_table(s, i, wraps, id);
            if (moved < together) return i + moved;
        }
    return gather_groups(s, i, end, wraps, id);
}

/* Moves all points of a row. Negative indices are rare, so wrapping waits until the plain comparison fails;
 * then the next points are loaded, and checked, anew. */
GARNER_INLINE int64_t gather_row(const struct segment *given, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, axis, id), *const s = &own;
    int64_t i = 0;
    for (int64_t wrapped = WRAPPED;;) {
        const int64_t begin = i;
        i = gather_points(s, i, s->n, false, id);
        if (id.source == BLOCK || __builtin_expect(i == s->n, 1)) break;
        wrapped = i == begin ? at_most(s->n, 2 * wrapped) : WRAPPED;
        const int64_t end = at_most(s->n, i + wrapped);
        i = gather_points(s, i, end, true, id);
        if (i < end) break;
    }
    return i;
}

#endif
