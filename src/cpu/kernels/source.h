/* SPDX-License-Identifier: MIT */
/*
 * Where the points of a segment lie: offsets of the next ones, from indices that are checked, and addresses
 * of later ones, which are not, to ask for them.
 */
#ifndef GARNER_CPU_SOURCE_H
#define GARNER_CPU_SOURCE_H

#include "move.h"

enum {
    MOST_AXES = 4,
    MOST_GROUP = 8, /* points whose offsets are found together */
    SHORT_RUN = 16  /* rarely reaches into a second line */
};

/* A sum and the product of two numbers below 2^32, which aarch64 forms faster than one of 64 bits; in
 * assembly, since compilers multiply 64 bits after all. */
GARNER_INLINE uint64_t add_product32(uint64_t sum, int64_t place, int64_t stride)
{
#if defined(__aarch64__)
    uint64_t added;
    __asm__("umaddl %0, %w1, %w2, %x3" : "=r"(added) : "r"(place), "r"(stride), "rZ"(sum));
    return added;
#else
    return sum + (uint64_t)place * (uint64_t)stride;
#endif
}

/* The same in two steps: some CPUs can begin twice as many products alone as with a sum. */
GARNER_INLINE uint64_t then_add_product32(uint64_t sum, int64_t place, int64_t stride)
{
    uint64_t product = add_product32(0, place, stride);
    return sum + product;
}

#if defined(__aarch64__)
/* Compares one more place, if those before were below the bound. */
#define AND_BELOW(number) "ccmp %" #number ", %[bound], #2, lo\n\t"

GARNER_INLINE bool four_below(const int64_t *place, int64_t bound)
{
    uint32_t below;
    __asm__("cmp %1, %[bound]\n\t" AND_BELOW(2) AND_BELOW(3) AND_BELOW(4) "cset %w0, lo"
            : "=r"(below)
            : "r"(place[0]), "r"(place[1]), "r"(place[2]), "r"(place[3]), [bound] "r"(bound)
            : "cc");
    return below;
}

GARNER_INLINE bool eight_below(const int64_t *place, int64_t bound)
{
    uint32_t below;
    __asm__("cmp %1, %[bound]\n\t" AND_BELOW(2) AND_BELOW(3) AND_BELOW(4) AND_BELOW(5) AND_BELOW(6)
                AND_BELOW(7) AND_BELOW(8) "cset %w0, lo"
            : "=r"(below)
            : "r"(place[0]), "r"(place[1]), "r"(place[2]), "r"(place[3]), "r"(place[4]), "r"(place[5]),
              "r"(place[6]), "r"(place[7]), [bound] "r"(bound)
            : "cc");
    return below;
}
#undef AND_BELOW
#endif

/* Whether all of `count` places, a constant, lie below the bound; as unsigned numbers, of which negative ones
 * are the greatest. aarch64 can chain comparisons, but compilers make branches of them; to x86 a comparison
 * and its branch are one. */
GARNER_INLINE bool all_inside(const int64_t *place, int count, int64_t bound)
{
#if defined(__aarch64__)
    if (count == 8) return eight_below(place, bound);
    if (count == 4) return four_below(place, bound);
#endif
    UNROLL for (int i = 0; i < count; i++)
    {
        if (__builtin_expect((uint64_t)place[i] >= (uint64_t)bound, 0)) return false;
    }
    return true;
}

/* Whether indices are loaded as if none were negative: as unsigned numbers of 32 bits these are too large for
 * any place. On aarch64, which has no other pairs of such loads without a further step. */
GARNER_INLINE bool loads_unsigned(int width, bool wraps)
{
    return !X86 && width == 4 && !wraps;
}

/* The places of `count` points on the axis number k. */
GARNER_INLINE void load_places(const struct segment *s, const char *at, int count, enum source source,
                               int width, int k, bool wraps, int64_t *place)
{
    const struct index_type type = {width, loads_unsigned(width, wraps)};
    UNROLL for (int i = 0; i < count; i++)
    {
        place[i] = index_load(at + (i * source_axes(source) + k) * width, type);
        if (wraps) place[i] = index_wrap(place[i], s->axis[k].wrap);
    }
}

/* A distance in data, and what a place adds to it on an axis. Of PANEL, and of UNIT and COLUMNS with a
 * constant run, the place alone: the multiplication belongs to the address. Unsigned, because a place that is
 * not inside may be anything. */
GARNER_INLINE uint64_t add_place(uint64_t from, int64_t place, int64_t stride, enum source source,
                                 int64_t constant)
{
    if (source == PANEL || (constant && (source == UNIT || source == COLUMNS))) return (uint64_t)place;
    if (source == UNIT) return (uint64_t)place * (uint64_t)stride;
    return add_product32(from, place, stride);
}

/* Where point number `i` of a group lies, by its offset from load_offsets(). */
GARNER_INLINE const char *point_address(const struct segment *s, const char *data, int64_t offset,
                                        enum source source, int64_t constant, int i)
{
    if (constant == 0 || (source != UNIT && source != COLUMNS)) return data + offset;
    if (source == UNIT) return data + offset * constant;
    const uint64_t sum = (uintptr_t)data, at = i % 2 ? then_add_product32(sum, offset, s->axis[0].stride)
                                                     : add_product32(sum, offset, s->axis[0].stride);
    return (const char *)(uintptr_t)at;
}

/* Offsets of `count` points, a constant, from point number `first` on; false if an index is not inside. */
GARNER_INLINE bool load_offsets(const struct segment *s, int64_t first, int count, enum source source,
                                int width, int64_t constant, bool wraps, int64_t *offset)
{
    const int axes = source_axes(source);
    const char *at = s->index + first * axes * width;
    int64_t place[MOST_AXES][MOST_GROUP];
    bool inside = true;
    UNROLL for (int k = 0; k < axes; k++)
    {
        load_places(s, at, count, source, width, k, wraps, place[k]);
        const int64_t bound = s->axis[k].bound, most = (int64_t)INT32_MAX + 1;
        inside &= all_inside(place[k], count, loads_unsigned(width, wraps) ? at_most(bound, most) : bound);
    }
    uint64_t ramp = (uint64_t)s->data_stride, along = source == RAMP ? (uint64_t)first * ramp : 0;
    UNROLL for (int i = 0; i < count; i++, along += ramp)
    {
        uint64_t from = source == PATTERN ? (uint64_t)s->pattern[first + i] : source == RAMP ? along : 0;
        UNROLL for (int k = 0; k < axes; k++) from =
            add_place(from, place[k][i], s->axis[k].stride, source, constant);
        offset[i] = (int64_t)from;
    }
    return inside;
}

/* The offset of one point of a run of any length, whose index is wrapped at once: next to a run that takes no
 * time. False if an index is not inside. */
GARNER_INLINE bool find_run(const struct segment *s, int64_t point, enum source source, int width,
                            int64_t *offset)
{
    if (source != BLOCK) return load_offsets(s, point, 1, source, width, 0, true, offset);
    *offset = ((const int64_t *)(const void *)s->index)[point];
    return true;
}

/* Asks for later indices. Past the last ones this does nothing. */
GARNER_INLINE void prefetch_indices(const struct segment *s, int64_t first, int count, int64_t pitch,
                                    bool nearest)
{
    prefetch_lines((uintptr_t)s->index + (uintptr_t)(first * pitch) + LOOK, count * pitch, nearest);
}

/* Whether these runs can be streamed: the caller wants it, and they are whole lines or long. */
GARNER_INLINE bool run_streams(const struct segment *s, const char *out, int64_t run)
{
#if defined(__SSE2__)
    return s->non_temporal &&
           (run >= STREAMED ||
            (((uintptr_t)out | (uintptr_t)run | (uintptr_t)s->out_stride) & (LINE - 1)) == 0);
#else
    (void)s, (void)out, (void)run;
    return false;
#endif
}

/* Where the run of a point lies whose indices are not checked: an address is only a number here, and asking
 * for nonsense does nothing. */
GARNER_INLINE uintptr_t run_address(const struct segment *s, int64_t point, enum source source, int width,
                                    bool wraps)
{
    const struct index_type type = {width, false};
    const int axes = source_axes(source);
    const char *index = s->index + point * axes * width;
    uintptr_t at = (uintptr_t)s->data;
    if (source == BLOCK) return at + (uintptr_t)index_load(index, type);
    if (source == COLUMNS || source == RAMP) at += (uintptr_t)point * (uintptr_t)s->data_stride;
    if (source == PATTERN) at += (uintptr_t)s->pattern[point];
    UNROLL for (int k = 0; k < axes; k++)
    {
        int64_t place = index_load(index + k * width, type);
        if (wraps) place = index_wrap(place, s->axis[k].wrap);
        at += (uintptr_t)place * (uintptr_t)s->axis[k].stride;
    }
    return at;
}

/* Asks for a short run: for its line, and for the next one where it may reach into that. */
GARNER_INLINE void prefetch_run(const struct segment *s, int64_t point, enum source source, int width,
                                int64_t run)
{
    uintptr_t at = run_address(s, point, source, width, run > SHORT_RUN);
    prefetch_line(at, s->points_to_l1);
    if (s->unaligned) prefetch_line(at + (uintptr_t)run - 1, s->points_to_l1);
}

/* A segment of the kernel's own: out may lie anywhere, so what it reads of the caller's after each store it
 * would have to read again. */
GARNER_INLINE struct segment own_segment(const struct segment *s, enum source source, struct axis *axis)
{
    struct segment own = *s;
    uintptr_t bits = (uintptr_t)s->data | (uintptr_t)s->run;
    for (int k = 0; k < source_axes(source); k++) {
        axis[k] = s->axis[k];
        bits |= (uintptr_t)axis[k].stride;
    }
    own.axis = axis;
    own.unaligned = s->run > SHORT_RUN && bits % LINE != 0;
    return own;
}

/* What is left of a segment after its first `done` points. */
GARNER_INLINE struct segment rest_of(const struct segment *s, int64_t done, enum source source, int width)
{
    struct segment rest = *s;
    rest.index += done * source_axes(source) * width;
    rest.out += done * s->out_stride;
    rest.n -= done;
    if (source == COLUMNS || source == RAMP) rest.data += done * s->data_stride;
    if (source == PATTERN) rest.pattern += done;
    return rest;
}

#endif
