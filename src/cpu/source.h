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
    SHORT_RUN = 16 /* rarely reaches into a second line */
};

/* The product of two numbers below 2^32. The assembly statements make the compiler forget where they came
 * from; otherwise it multiplies 64 bits after all. */
GARNER_INLINE uint64_t product32(int64_t place, int64_t stride)
{
    uint32_t a = (uint32_t)place, b = (uint32_t)stride;
    __asm__("" : "+r"(a));
    __asm__("" : "+r"(b));
    return (uint64_t)a * b;
}

/* How many axes a source gathers. */
GARNER_INLINE int source_axes(enum source source)
{
    return source == PAIR ? 2 : source == TRIPLE ? 3 : source == QUAD ? 4 : 1;
}

/* Whether each place is compared with the bound, not only the greatest of a group: 32-bit indices come two at
 * a time on aarch64, and a chain of comparisons takes fewer instructions than finding the greatest. */
GARNER_INLINE bool compares_each(enum source source, int width)
{
    return !X86 && source == UNIT && width == 4;
}

/* The distance in data of one point, from its indices. Of UNIT with a constant run it is the place itself:
 * the multiplication belongs to the address. worst[k] becomes the greatest place on axis k so far, negative
 * ones being the greatest of all, or whether one was outside where each is compared. Unsigned, because until
 * all are known to be inside the sum may be anything.
 */
GARNER_INLINE uint64_t point_offset(const struct segment *s, const char *at, enum source source, int width,
                                    int64_t constant, bool wraps, uint64_t *worst)
{
    const struct index_type type = {width, false};
    uint64_t offset = 0;
    UNROLL for (int k = 0; k < source_axes(source); k++)
    {
        const struct axis *axis = &s->axis[k];
        int64_t place = index_load(at + k * width, type);
        if (wraps) place = index_wrap(place, axis->wrap);
        if (compares_each(source, width))
            worst[k] = worst[k] || (uint64_t)place >= (uint64_t)axis->bound;
        else
            worst[k] = (uint64_t)place > worst[k] ? (uint64_t)place : worst[k];
        if (source == SLIVER)
            offset = (uint64_t)place * LINE;
        else if (source == UNIT)
            offset = (uint64_t)place * (constant ? 1 : (uint64_t)axis->stride);
        else
            offset += product32(place, axis->stride);
    }
    return offset;
}

/* Offsets of `count` points from point number `first` on; false if an index is not inside. */
GARNER_INLINE bool load_offsets(const struct segment *s, int64_t first, int count, enum source source,
                                int width, int64_t constant, bool wraps, int64_t *offset)
{
    int64_t pitch = source_axes(source) * (int64_t)width;
    uint64_t ramp = (uint64_t)s->ramp, along = source == RAMP ? (uint64_t)first * ramp : 0;
    uint64_t worst[MOST_AXES] = {0};
    const char *at = s->index + first * pitch;
    UNROLL for (int i = 0; i < count; i++, along += ramp)
    {
        uint64_t from = point_offset(s, at + i * pitch, source, width, constant, wraps, worst);
        if (source == PATTERN) from += (uint64_t)s->pattern[first + i];
        if (source == RAMP) from += along;
        offset[i] = (int64_t)from;
    }
    bool inside = true;
    UNROLL for (int k = 0; k < source_axes(source); k++) inside &=
        worst[k] < (compares_each(source, width) ? 1 : (uint64_t)s->axis[k].bound);
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
GARNER_INLINE void prefetch_indices(const struct segment *s, int64_t first, int count, int64_t pitch)
{
    prefetch_lines((uintptr_t)s->index + (uintptr_t)(first * pitch) + LOOK, count * pitch, true);
}

/* Whether these runs can be streamed: the caller wants it, and they are whole lines or long. */
GARNER_INLINE bool run_streams(const struct segment *s, const char *out, int64_t run)
{
#if defined(__SSE2__)
    return s->stream &&
           (run >= STREAMED || (((uintptr_t)out | (uintptr_t)run | (uintptr_t)s->step) & (LINE - 1)) == 0);
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
    if (source == COLUMNS || source == RAMP) at += (uintptr_t)point * (uintptr_t)s->ramp;
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
    prefetch_line(at, s->near);
    if (s->ragged) prefetch_line(at + (uintptr_t)run - 1, s->near);
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
    own.ragged = s->run > SHORT_RUN && bits % LINE != 0;
    return own;
}

/* What is left of a segment after its first `done` points. */
GARNER_INLINE struct segment rest_of(const struct segment *s, int64_t done, enum source source, int width)
{
    struct segment rest = *s;
    rest.index += done * source_axes(source) * width;
    rest.out += done * s->step;
    rest.n -= done;
    if (source == COLUMNS || source == RAMP) rest.data += done * s->ramp;
    if (source == PATTERN) rest.pattern += done;
    return rest;
}

#endif
