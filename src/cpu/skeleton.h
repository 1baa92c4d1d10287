/* SPDX-License-Identifier: MIT */
/*
 * The kernel skeleton: address source x mover.
 *
 * gather_segment() is inlined into every kernel with constants for its parameters after the first, so
 * that each kernel becomes a loop of its own, compiled for the instruction set of the function it is
 * inlined into. A group of indices is loaded, each one once, checked together with one comparison each,
 * and then moved.
 *
 * What a source requires, and the chooser has seen to:
 *   UNIT           stride = run, if that is a constant
 *   all but UNIT   every bound below 2^31, every stride in [0, 2^32): a product of two 32-bit numbers
 *                  costs a third of one of 64 bits on some CPUs
 *   all but RAMP   points of out lie side by side: step = run, if that is a constant
 *   COLUMNS        so do points of data whose indices are 0: ramp = run, if that is a constant
 *   BLOCK, HOLED   none of this; to all others indices lie side by side
 */
#ifndef GARNER_CPU_SKELETON_H
#define GARNER_CPU_SKELETON_H

#include "move.h"

enum {
    GROUP = X86 ? 2 : 8,     /* x86 has half the registers */
    ANY_GROUP = X86 ? 4 : 8, /* for runs of any length */
    TUPLE_GROUP = X86 ? 2 : 4,
    MOST_GROUP = 8,
    MOST_AXES = 4,
    AHEAD_ROWS = 4,
    WRAPPED = 64,     /* points that are wrapped once one needs it */
    SHORT_RUN = 16,   /* rarely reaches into a second line */
    MOST_PIECED = 32, /* the longest run of any length that moves as two pieces */
    FEW_ELEMENTS = 8, /* of a row, whose offsets fit into registers */
    STRIP_ROWS = 32,
    FEW_POINTS = 16, /* of a row, for which later rows are asked */
    FEW_BYTES = 256, /* of each of them, at most */
    MOST_ASKED = 512 /* bytes of a later run, where they are asked for at once */
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

/* How many points a source takes at a time: as many as their offsets fit into registers. */
GARNER_INLINE int source_group(enum source source, int64_t constant)
{
    return source_axes(source) > 1 ? TUPLE_GROUP : constant ? GROUP : ANY_GROUP;
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
        if (source == UNIT)
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

/* One point, whose run lies at `from`; or nowhere, in a block with holes. */
GARNER_INLINE void move_point(const struct segment *s, char *out, const char *data, int64_t from,
                              enum source source, int64_t constant, bool streams, enum level level)
{
    int64_t run = constant ? constant : s->run;
    if (source == UNIT && constant) from *= constant;
    if (source == HOLED && from == OFFSET_NOWHERE)
        zero_run(out, (size_t)run);
    else
        move_run(out, data + from, run, constant, streams, level);
}

/* One group of `count` points, a constant. False, with nothing moved, if an index is not inside. */
GARNER_INLINE bool move_group(const struct segment *s, const char *data, char *out, int64_t first, int count,
                              enum source source, int width, int64_t constant, bool wraps, bool streams,
                              bool far, enum level level)
{
    int64_t offset[MOST_GROUP];
    bool resolved = source == BLOCK || source == HOLED, gaps = resolved || source == RAMP;
    int64_t step = gaps || constant == 0 ? s->step : constant;
    int64_t slope = source != COLUMNS ? 0 : constant == 0 ? s->ramp : constant;
    const int64_t *block = (const int64_t *)(const void *)s->index + first;
    if (!X86 && !resolved && count > 1) prefetch_indices(s, first, count, source_axes(source) * width);
    if (!resolved && !load_offsets(s, first, count, source, width, constant, wraps, offset)) return false;
    const int64_t *from = resolved ? block : offset;
    out += first * step;
    data += first * slope;
    if (far && constant && constant <= SHORT_RUN)
        UNROLL for (int i = 0; i < count; i++) prefetch_run(s, first + i + s->ahead, source, width, constant);
    if (constant == 0) {
        for (int i = 0; i < count; i++, out += step) {
            if (far) prefetch_run(s, first + i + s->ahead, source, width, s->run);
            move_point(s, out, data + i * slope, from[i], source, constant, streams, level);
        }
        return true;
    }
    if (moves_fours(constant) && count % 4 == 0 && !gaps) {
        const char *at[MOST_GROUP];
        UNROLL for (int i = 0; i < count; i++) at[i] =
            data + i * slope + from[i] * (source == UNIT ? constant : 1);
        move_elements(out, at, count, constant);
        return true;
    }
    UNROLL for (int i = 0; i < count; i++, out += step)
    {
        if (far && constant > SHORT_RUN) prefetch_run(s, first + i + s->ahead, source, width, constant);
        move_point(s, out, data + i * slope, from[i], source, constant, streams, level);
        keep_apart(i, constant);
    }
    return true;
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

/* Moves points [i, end) until one has an index that is not inside, and returns which. */
GARNER_INLINE int64_t gather_points(const struct segment *s, const char *data, char *out, int64_t i,
                                    int64_t end, enum source source, int width, int64_t constant, bool wraps,
                                    bool streams, enum level level)
{
    const int group = source_group(source, constant);
    bool is_long = constant == 0 || constant >= 32, resolved = source == BLOCK || source == HOLED;
    bool asks = (!X86 || is_long || source_axes(source) > 1) && (constant == 0 || !wraps);
    bool far = asks && !resolved && s->ahead;
    if (far)
        for (; end - i >= group + s->ahead; i += group)
            if (!move_group(s, data, out, i, group, source, width, constant, wraps, streams, true, level))
                return i;
    for (; end - i >= group; i += group)
        if (!move_group(s, data, out, i, group, source, width, constant, wraps, streams, false, level))
            return i;
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
        move_asking(out, from, run, later, s->near, streams, level);
        return;
    }
    prefetch_lines(later, at_most(run, MOST_ASKED), s->near);
    move_run(out, from, run, constant, streams, level);
}

/* Moves all points of a row, one by one, so that nothing but out is written, not even a list of offsets.
 * Indices are wrapped at once: next to a run that takes no time. */
GARNER_INLINE int64_t gather_long(const struct segment *s, const char *data, char *out, enum source source,
                                  int width, int64_t constant, bool streams, enum level level)
{
    const int64_t *block = (const int64_t *)(const void *)s->index;
    const int64_t n = s->n, slope = source == COLUMNS ? s->ramp : 0, run = constant ? constant : s->run;
    const uintptr_t shift = (uintptr_t)data - (uintptr_t)s->data;
    for (int64_t i = 0; i < n; i++, out += s->step, data += slope) {
        int64_t from, later = at_most(i + s->ahead, n - 1);
        if (source == BLOCK)
            from = block[i];
        else if (!load_offsets(s, i, 1, source, width, 0, true, &from))
            return i;
        if (s->ahead)
            move_long(s, out, data + from, shift + run_address(s, later, source, width, true), constant,
                      streams, level);
        else
            move_run(out, data + from, run, constant, streams, level);
    }
    return n;
}

/* Whether a row goes that way: its runs are long, and from far away or of any length. */
GARNER_INLINE bool goes_one_by_one(const struct segment *s, enum source source, int64_t constant)
{
    if (source == PATTERN || source == HOLED) return false;
    return constant ? constant > LINE && s->ahead : s->run >= LINE;
}

/* One row. Negative indices are rare, so wrapping waits until the plain comparison fails; then the next
 * points are loaded, and checked, anew. Runs of any length take so long that they are wrapped at once. */
GARNER_INLINE int64_t gather_row(const struct segment *given, const char *data, char *out, enum source source,
                                 int width, int64_t constant, enum level level)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, source, axis), *const s = &own;
    bool is_long = constant == 0 || constant >= 32, resolved = source == BLOCK || source == HOLED;
    bool streams = is_long && run_streams(s, out, constant ? constant : s->run);
    int64_t i = 0;
    bool one_by_one = goes_one_by_one(s, source, constant);
    if (one_by_one) i = gather_long(s, data, out, source, width, constant, streams, level);
    while (!one_by_one) {
        i = gather_points(s, data, out, i, s->n, source, width, constant, constant == 0, streams, level);
        if (resolved || constant == 0 || __builtin_expect(i == s->n, 1)) break;
        int64_t end = at_most(s->n, i + WRAPPED);
        i = gather_points(s, data, out, i, end, source, width, constant, true, streams, level);
        if (i < end) break;
    }
    if (streams) finish_streaming();
    return i;
}

/* Asks for the points of a later row, where a row has few. */
GARNER_INLINE void prefetch_row(const struct segment *s, const char *data, int64_t run)
{
    const int64_t *offset = (const int64_t *)(const void *)s->index;
    for (int64_t i = 0; i < s->n; i++)
        prefetch_lines((uintptr_t)data + (uintptr_t)offset[i], run, s->near);
}

/* Many rows of `count` elements, a constant as their size is. Their offsets stay in registers, and nothing is
 * asked for: the fewer instructions a row takes, the more rows the CPU has under way. */
GARNER_INLINE void gather_rows_of(const struct segment *s, int count, int64_t constant)
{
    const int64_t *offset = (const int64_t *)(const void *)s->index;
    const int64_t rows = s->rows, ramp = s->row_ramp, step = s->row_step;
    const char *data = s->data;
    char *out = s->out;
    int64_t from[FEW_ELEMENTS];
    UNROLL for (int i = 0; i < count; i++) from[i] = offset[i];
    for (int64_t row = 0; row < rows; row++, data += ramp, out += step) {
        const char *at[FEW_ELEMENTS];
        UNROLL for (int i = 0; i < count; i++) at[i] = data + from[i];
        move_elements(out, at, count, constant);
    }
}

/* The same for a count that is none: each has a loop of its own. */
GARNER_INLINE void gather_columns(const struct segment *s, int64_t count, int64_t constant)
{
    UNROLL for (int k = 1; k <= FEW_ELEMENTS; k++) if (count == k) gather_rows_of(s, k, constant);
}

/* Whether rows go that way: their elements are few, or not far, so that a strip of them stays near for all
 * its columns. */
GARNER_INLINE bool goes_by_strips(const struct segment *s, enum source source, int64_t constant)
{
    return source == BLOCK && constant && constant <= 8 && s->step == constant &&
           (s->n <= FEW_ELEMENTS || s->near || s->ahead == 0);
}

/* A few columns of a few rows at a time. */
GARNER_INLINE void gather_strips(const struct segment *s, int64_t constant)
{
    struct segment part = *s;
    for (int64_t row = 0; row < s->rows; row += part.rows) {
        part.rows = at_most(STRIP_ROWS, s->rows - row);
        part.data = s->data + row * s->row_ramp;
        for (int64_t i = 0; i < s->n; i += FEW_ELEMENTS) {
            part.index = s->index + i * (int64_t)sizeof(int64_t);
            part.out = s->out + row * s->row_step + i * constant;
            gather_columns(&part, at_most(FEW_ELEMENTS, s->n - i), constant);
        }
    }
}

/* Many rows of few points each. */
GARNER_INLINE void gather_short_rows(const struct segment *given, enum source source, int64_t constant,
                                     enum level level)
{
    const struct segment own = *given, *const s = &own;
    const int64_t *offset = (const int64_t *)(const void *)s->index, run = constant ? constant : s->run;
    const int64_t later = AHEAD_ROWS * s->row_ramp;
    const char *data = s->data;
    char *out = s->out;
    bool far = !X86 && s->ahead && run <= FEW_BYTES; /* x86 looks far enough by itself */
    for (int64_t row = 0; row < s->rows; row++, data += s->row_ramp, out += s->row_step) {
        if (far && row + AHEAD_ROWS < s->rows) prefetch_row(s, data + later, run);
        char *to = out;
        for (int64_t i = 0; i < s->n; i++, to += s->step)
            move_point(s, to, data, offset[i], source, constant, false, level);
    }
}

/* ---- Rows of any length up to 32 bytes: two pieces each, of a constant size ------------------------ */

/* A run of `piece` to twice as many bytes, as two pieces that may overlap. */
GARNER_INLINE void move_pieces(char *out, const char *from, int64_t run, int piece)
{
    char first[MOST_PIECED / 2], last[MOST_PIECED / 2];
    memcpy(first, from, (size_t)piece), memcpy(last, from + run - piece, (size_t)piece);
    memcpy(out, first, (size_t)piece), memcpy(out + run - piece, last, (size_t)piece);
}

/* As many whole groups as are inside. Without looking ahead on x86, which by itself looks far enough. */
GARNER_INLINE int64_t gather_pieces(const struct segment *given, int width, int piece)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, UNIT, axis), *const s = &own;
    int64_t i = 0, offset[MOST_GROUP];
    for (; s->n - i >= ANY_GROUP; i += ANY_GROUP) {
        bool far = !X86 && s->ahead && s->n - i >= ANY_GROUP + s->ahead;
        char *out = s->out + i * s->step;
        if (!load_offsets(s, i, ANY_GROUP, UNIT, width, 0, true, offset)) return i;
        for (int k = 0; k < ANY_GROUP; k++, out += s->step) {
            if (far) prefetch_run(s, i + k + s->ahead, UNIT, width, piece);
            move_pieces(out, s->data + offset[k], s->run, piece);
        }
    }
    return i;
}

GARNER_INLINE int64_t pick_piece(const struct segment *s, int width)
{
    return s->run <= 4    ? gather_pieces(s, width, 2)
           : s->run <= 8  ? gather_pieces(s, width, 4)
           : s->run <= 16 ? gather_pieces(s, width, 8)
                          : gather_pieces(s, width, 16);
}

/* Not inlined, so that the kernels of longer runs stay small. */
static GARNER_NOINLINE int64_t gather_short(const struct segment *s, int width)
{
    return width == 4 ? pick_piece(s, 4) : pick_piece(s, 8);
}

/* One row; where that helps most of it in pieces, and the rest, or from the first index that is not inside
 * on, as usual. */
GARNER_INLINE int64_t gather_one(const struct segment *s, enum source source, int width, int64_t constant,
                                 enum level level)
{
    bool pieces = source == UNIT && constant == 0 && s->run > 1 && s->run <= MOST_PIECED;
    int64_t done = pieces ? gather_short(s, width) : 0;
    struct segment rest = *s;
    rest.index += done * width;
    rest.n -= done;
    return done + gather_row(&rest, s->data, s->out + done * s->step, source, width, constant, level);
}

GARNER_INLINE int64_t gather_segment(const struct segment *s, enum source source, int width, int64_t constant,
                                     enum level level)
{
    if (source != BLOCK && source != HOLED) return gather_one(s, source, width, constant, level);
    if (goes_by_strips(s, source, constant)) {
        gather_strips(s, constant);
        return s->n;
    }
    if (s->n <= FEW_POINTS && !s->stream) {
        gather_short_rows(s, source, constant, level);
        return s->n;
    }
    for (int64_t row = 0; row < s->rows; row++)
        gather_row(s, s->data + row * s->row_ramp, s->out + row * s->row_step, source, width, constant,
                   level);
    return s->n;
}

#endif
