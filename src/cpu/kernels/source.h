/* SPDX-License-Identifier: MIT */
/*
 * Where the points of a segment lie: offsets of the next ones, from indices that are checked, and addresses
 * of later ones, from indices that are not, to prefetch them.
 */
#ifndef GARNER_CPU_SOURCE_H
#define GARNER_CPU_SOURCE_H

#include "move.h"

enum {
    MOST_AXES = 4,
    MOST_GROUP = 8, /* points whose offsets are found together */
    SHORT_RUN = 16  /* bytes; rarely reaches into a second line */
};

/* A sum and the product of two numbers below 2^32, which aarch64 forms faster than one of 64 bits; in
 * assembly, since compilers multiply 64 bits after all. */
GARNER_INLINE uint64_t add_product32(uint64_t sum, int64_t index, int64_t stride)
{
#if defined(__aarch64__)
    uint64_t added;
    __asm__("umaddl %0, %w1, %w2, %x3" : "=r"(added) : "r"(index), "r"(stride), "rZ"(sum));
    return added;
#else
    return sum + (uint64_t)index * (uint64_t)stride;
#endif
}

/* The same in two steps: some CPUs can begin twice as many products alone as with a sum. */
GARNER_INLINE uint64_t then_add_product32(uint64_t sum, int64_t index, int64_t stride)
{
    uint64_t product = add_product32(0, index, stride);
    return sum + product;
}

#if defined(__aarch64__)
/* Compares one more index, if those before were below the bound. */
#define AND_BELOW(number) "ccmp %" #number ", %[bound], #2, lo\n\t"

GARNER_INLINE bool four_below(const int64_t *index, int64_t bound)
{
    uint32_t below;
    __asm__("cmp %1, %[bound]\n\t" AND_BELOW(2) AND_BELOW(3) AND_BELOW(4) "cset %w0, lo"
            : "=r"(below)
            : "r"(index[0]), "r"(index[1]), "r"(index[2]), "r"(index[3]), [bound] "r"(bound)
            : "cc");
    return below;
}

GARNER_INLINE bool eight_below(const int64_t *index, int64_t bound)
{
    uint32_t below;
    __asm__("cmp %1, %[bound]\n\t" AND_BELOW(2) AND_BELOW(3) AND_BELOW(4) AND_BELOW(5) AND_BELOW(6)
                AND_BELOW(7) AND_BELOW(8) "cset %w0, lo"
            : "=r"(below)
            : "r"(index[0]), "r"(index[1]), "r"(index[2]), "r"(index[3]), "r"(index[4]), "r"(index[5]),
              "r"(index[6]), "r"(index[7]), [bound] "r"(bound)
            : "cc");
    return below;
}
#undef AND_BELOW
#endif

/* Whether all of `count` indices, a constant, lie below the bound; as unsigned numbers, of which negative
 * ones are the greatest. aarch64 can chain comparisons, but compilers make branches of them; to x86 a
 * comparison and its branch are one. */
GARNER_INLINE bool all_inside(const int64_t *index, int count, int64_t bound)
{
#if defined(__aarch64__)
    if (count == 8) return eight_below(index, bound);
    if (count == 4) return four_below(index, bound);
#endif
    /*@ loop invariant 0 <= i <= count;
        loop invariant \forall integer j; 0 <= j < i ==> 0 <= index[j] < bound;
        loop assigns i; */
    UNROLL for (int i = 0; i < count; i++)
    {
        if (__builtin_expect((uint64_t)index[i] >= (uint64_t)bound, 0)) return false;
    }
    return true;
}

/* Points whose offsets are found together: `count`, a constant, from point number `first` on. Negative
 * indices are wrapped if it `wraps`, a constant too; otherwise they are not inside. */
struct group {
    int64_t first;
    int count;
    bool wraps;
};

/* Whether indices are loaded as if none were negative: as unsigned numbers of 32 bits these are too large for
 * any axis. On aarch64, which has no other pairs of such loads without a further step. */
GARNER_INLINE bool loads_unsigned(bool wraps, const struct kernel_id id)
{
    return !X86 && id.index == 4 && !wraps;
}

/* One index of 4 or 8 bytes. */
GARNER_INLINE int64_t load_index(const char *at, int bytes, bool is_unsigned)
{
    return bytes == 4 ? index_load(at, (struct index_type){4, is_unsigned})
                      : index_load(at, (struct index_type){8, false});
}

/* The indices of a group on axis number k; false if one is not inside. */
GARNER_INLINE bool load_axis(const struct segment *s, const struct group group, int k, int64_t *index,
                             const struct kernel_id id)
{
    const int axes = source_axes(id.source);
    const char *at = s->index + group.first * axes * id.index;
    /*@ loop invariant 0 <= i <= group.count;
        loop assigns i, index[0 .. group.count - 1]; */
    UNROLL for (int i = 0; i < group.count; i++)
    {
        index[i] = load_index(at + (i * axes + k) * id.index, id.index, loads_unsigned(group.wraps, id));
        if (group.wraps) index[i] = index_wrap(index[i], s->axis[k].wrap);
    }
    const int64_t bound = s->axis[k].bound, most = (int64_t)INT32_MAX + 1;
    return all_inside(index, group.count, loads_unsigned(group.wraps, id) ? at_most(bound, most) : bound);
}

/* A distance in data, and what an index adds to it on an axis. Of PANEL, and of UNIT and COLUMNS with a
 * constant run, the index alone: the multiplication belongs to the address. Unsigned, because an index that
 * is not inside may be anything. */
GARNER_INLINE uint64_t add_index(uint64_t from, int64_t index, int64_t stride, const struct kernel_id id)
{
    if (id.source == PANEL || (id.run > 0 && (id.source == UNIT || id.source == COLUMNS)))
        return (uint64_t)index;
    if (id.source == UNIT) return (uint64_t)index * (uint64_t)stride;
    return add_product32(from, index, stride);
}

/* Where point number `i` of a group lies, by its offset from load_offsets(). */
GARNER_INLINE const char *point_address(const struct segment *s, const char *data, int64_t offset, int i,
                                        const struct kernel_id id)
{
    if (id.run <= 0 || (id.source != UNIT && id.source != COLUMNS)) return data + offset;
    if (id.source == UNIT) return data + offset * id.run;
    const uint64_t sum = (uintptr_t)data, at = i % 2 ? then_add_product32(sum, offset, s->axis[0].stride)
                                                     : add_product32(sum, offset, s->axis[0].stride);
    return (const char *)(uintptr_t)at;
}

/* What the number of a point adds to its offset, whatever its index is. */
GARNER_INLINE uint64_t point_offset(const struct segment *s, int64_t point, const struct kernel_id id)
{
    if (id.source == PATTERN) return (uint64_t)s->pattern[point];
    return id.source == COLUMNS || id.source == RAMP ? (uint64_t)point * (uint64_t)s->data_stride : 0;
}

/* Offsets of the points of a group; false if an index is not inside. */
GARNER_INLINE bool load_offsets(const struct segment *s, const struct group group, int64_t *offset,
                                const struct kernel_id id)
{
    const int axes = source_axes(id.source);
    int64_t index[MOST_AXES][MOST_GROUP];
    bool inside = true;
    UNROLL for (int k = 0; k < axes; k++) inside &= load_axis(s, group, k, index[k], id);
    UNROLL for (int i = 0; i < group.count; i++)
    {
        uint64_t from = id.source == COLUMNS ? 0 : point_offset(s, group.first + i, id);
        UNROLL for (int k = 0; k < axes; k++) from = add_index(from, index[k][i], s->axis[k].stride, id);
        offset[i] = (int64_t)from;
    }
    return inside;
}

/* The offset of one run of any length, whose index is wrapped at once: next to a run that takes no time. The
 * source and the bytes of an index need not be constants. False if an index is not inside. */
GARNER_INLINE bool find_run(const struct segment *s, int64_t point, int64_t *offset,
                            const struct kernel_id id)
{
    const int axes = source_axes(id.source);
    const char *at = s->index + point * axes * id.index;
    if (source_is_resolved(id.source)) {
        *offset = load_index(at, 8, false);
        return true;
    }
    uint64_t from = point_offset(s, point, id);
    /*@ loop invariant 0 <= k <= axes;
        loop assigns k, at, from; */
    for (int k = 0; k < axes; k++, at += id.index) {
        const int64_t index = index_wrap(load_index(at, id.index, false), s->axis[k].wrap);
        if (__builtin_expect((uint64_t)index >= (uint64_t)s->axis[k].bound, 0)) return false;
        /*@ assert 0 <= index < s->axis[k].bound; */
        from += (uint64_t)index * (uint64_t)s->axis[k].stride;
    }
    *offset = (int64_t)from;
    return true;
}

/* Prefetches later indices. Past the last ones this does nothing. */
GARNER_INLINE void prefetch_indices(const struct segment *s, int64_t first, int64_t bytes, int64_t pitch,
                                    bool to_l1)
{
    prefetch_lines((uintptr_t)s->index + (uintptr_t)(first * pitch) + OWN_DISTANCE, bytes, to_l1);
}

/* Whether these runs are stored non-temporally: the planner wants it, and they are whole lines or long. */
GARNER_INLINE bool is_non_temporal(const struct segment *s, int64_t run)
{
#if defined(__SSE2__)
    return s->non_temporal &&
           (run >= NON_TEMPORAL ||
            (((uintptr_t)s->out | (uintptr_t)run | (uintptr_t)s->out_stride) & (LINE - 1)) == 0);
#else
    (void)s, (void)run;
    return false;
#endif
}

/* Where the run of a point lies whose indices are not checked: an address is only a number here, and a
 * prefetch of nonsense does nothing. */
GARNER_INLINE uintptr_t run_address(const struct segment *s, int64_t point, bool wraps,
                                    const struct kernel_id id)
{
    const int axes = source_axes(id.source);
    const char *index = s->index + point * axes * id.index;
    uintptr_t at = (uintptr_t)s->data;
    if (source_is_resolved(id.source)) return at + (uintptr_t)load_index(index, 8, false);
    at += point_offset(s, point, id);
    for (int k = 0; k < axes; k++) {
        int64_t number = load_index(index + k * id.index, id.index, false);
        if (wraps) number = index_wrap(number, s->axis[k].wrap);
        at += (uintptr_t)number * (uintptr_t)s->axis[k].stride;
    }
    return at;
}

/* Prefetches a short run: its line, and the next one where it may reach into that. */
GARNER_INLINE void prefetch_run(const struct segment *s, int64_t point, int64_t run,
                                const struct kernel_id id)
{
    const uintptr_t at = run_address(s, point, run > SHORT_RUN, id);
    prefetch_line(at, s->points_to_l1);
    if (s->unaligned) prefetch_line(at + (uintptr_t)run - 1, s->points_to_l1);
}

/* A segment of the kernel's own: out may lie anywhere, so what it reads of the caller's after each store it
 * would have to read again. */
GARNER_INLINE struct segment own_segment(const struct segment *s, struct axis *axis,
                                         const struct kernel_id id)
{
    struct segment own = *s;
    uintptr_t bits = (uintptr_t)s->data | (uintptr_t)s->run;
    for (int k = 0; k < source_axes(id.source); k++) {
        axis[k] = s->axis[k];
        bits |= (uintptr_t)axis[k].stride;
    }
    own.axis = axis;
    own.unaligned = s->run > SHORT_RUN && bits % LINE != 0;
    return own;
}

/* What is left of a segment after its first `done` points. */
GARNER_INLINE struct segment rest_of(const struct segment *s, int64_t done, const struct kernel_id id)
{
    struct segment rest = *s;
    rest.index += done * source_axes(id.source) * id.index;
    rest.out += done * s->out_stride;
    rest.n -= done;
    if (id.source == COLUMNS || id.source == RAMP) rest.data += done * s->data_stride;
    if (id.source == PATTERN) rest.pattern += done;
    return rest;
}

#endif
