/* SPDX-License-Identifier: MIT */
/*
 * Runs of any length with wide registers: whole lines, and a tail that takes no branch.
 *
 * The tail is one half of a line or two, which may overlap what was moved before. AVX-512 has masked moves as
 * well, which are better where the run is near; where it is not the CPU asks for the next line too if such a
 * move reaches into that, though the mask leaves it out.
 */
#ifndef GARNER_CPU_TAILS_H
#define GARNER_CPU_TAILS_H

#include "skeleton.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

enum {
    HALF = LINE / 2,
    MOST_TAILED = 1024 /* bytes of a run; to longer ones the tail does not matter */
};

enum tail { NO_TAIL, ONE_HALF, TWO_HALVES, MASK_16, MASK_32, MASK_64 };

/* As many bytes as the mask has bits, within 16, 32 or 64. Not forced to be inlined: those who call it become
 * AVX-512 only where they are inlined themselves. */
static inline AVX512_TARGET void move_masked(char *out, const char *from, uint64_t mask, enum tail room)
{
    if (room == MASK_16)
        _mm_mask_storeu_epi8(out, (__mmask16)mask, _mm_maskz_loadu_epi8((__mmask16)mask, from));
    else if (room == MASK_32)
        _mm256_mask_storeu_epi8(out, (__mmask32)mask, _mm256_maskz_loadu_epi8((__mmask32)mask, from));
    else
        _mm512_mask_storeu_epi8(out, mask, _mm512_maskz_loadu_epi8(mask, from));
}

typedef uint8_t half __attribute__((vector_size(HALF), aligned(1), may_alias));

/* More bytes than half a line, less than a whole one. */
GARNER_INLINE void move_two_halves(char *out, const char *from, int64_t bytes)
{
    const half first = *(const half *)(const void *)from;
    const half last = *(const half *)(const void *)(from + bytes - HALF);
    *(half *)(void *)out = first;
    *(half *)(void *)(out + bytes - HALF) = last;
}

/* The last bytes of a run, less than a line. */
GARNER_INLINE void move_last(char *out, const char *from, int64_t bytes, enum tail tail)
{
    if (tail >= MASK_16) move_masked(out, from, (UINT64_C(1) << bytes) - 1, tail);
    if (tail == TWO_HALVES) move_two_halves(out, from, bytes);
    if (tail == ONE_HALF)
        *(half *)(void *)(out + bytes - HALF) = *(const half *)(const void *)(from + bytes - HALF);
}

/* One run: `whole` bytes of lines, then the tail. */
GARNER_INLINE void move_run_tailed(const struct segment *s, char *out, const char *from, int64_t whole,
                                   enum tail tail, enum level level)
{
    for (int64_t k = 0; k < whole; k += LINE)
        move_line(out + k, from + k, level);
    move_last(out + whole, from + whole, s->run - whole, tail);
}

/* `count` points, a constant; false, with nothing moved, if an index is not inside. */
GARNER_INLINE bool move_tailed(const struct segment *s, int64_t first, int count, enum source source,
                               int width, int64_t whole, enum tail tail, enum level level)
{
    int64_t offset[MOST_GROUP];
    char *out = s->out + first * s->out_stride;
    if (!load_offsets(s, first, count, source, width, 0, true, offset)) return false;
    for (int i = 0; i < count; i++, out += s->out_stride)
        move_run_tailed(s, out, s->data + offset[i], whole, tail, level);
    return true;
}

/* Asks for the runs of later points, and for out where they do not do that themselves. */
GARNER_INLINE void ask_for_tailed(const struct segment *s, int64_t first, int count, enum source source,
                                  int width, int64_t whole, enum tail tail)
{
    if (whole == 0) {
        prefetch_lines((uintptr_t)s->out + (uintptr_t)(first * s->out_stride) + OUT_AHEAD,
                       count * s->out_stride, true);
        UNROLL for (int k = 0; k < count; k++)
            prefetch_run(s, first + k + s->prefetch_distance, source, width, s->run);
        return;
    }
    const uintptr_t later = run_address(s, first + s->prefetch_distance, source, width, true);
    prefetch_lines(later, at_most(tail == TWO_HALVES ? s->run : whole, MOST_ASKED), s->points_to_l1);
    if (s->unaligned) prefetch_line(later + (uintptr_t)s->run - 1, s->points_to_l1);
}

/* Rows that share their offsets, none of which is outside. */
GARNER_INLINE int64_t gather_tailed_rows(const struct segment *s, int64_t whole, enum tail tail,
                                         enum level level)
{
    const struct segment own = *s;
    const int64_t *offset = (const int64_t *)(const void *)own.index;
    const char *data = own.data;
    char *out = own.out;
    for (int64_t row = 0; row < own.rows; row++, data += own.row_data_stride, out += own.row_out_stride)
        for (int64_t i = 0; i < own.n; i++)
            move_run_tailed(&own, out + i * own.out_stride, data + offset[i], whole, tail, level);
    return own.n;
}

/* One row, until an index is not inside; returns which. Runs of several lines from afar go one by one, since
 * each asks for as many. */
GARNER_INLINE int64_t gather_tailed(const struct segment *given, enum source source, int width, int64_t whole,
                                    enum tail tail, enum level level)
{
    if (source == BLOCK) return gather_tailed_rows(given, whole, tail, level);
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, source, axis), *const s = &own;
    const bool is_short = whole == 0 && tail != TWO_HALVES;
    const int group = is_short && source_axes(source) < 3 ? GROUP : ROW_GROUP, asking = whole ? 1 : group;
    int64_t i = 0;
    if (s->prefetch_distance)
        for (; s->n - i >= asking + s->prefetch_distance; i += asking) {
            ask_for_tailed(s, i, asking, source, width, whole, tail);
            if (!move_tailed(s, i, asking, source, width, whole, tail, level)) return i;
        }
    for (; s->n - i >= group; i += group)
        if (!move_tailed(s, i, group, source, width, whole, tail, level)) return i;
    for (; i < s->n; i++)
        if (!move_tailed(s, i, 1, source, width, whole, tail, level)) return i;
    return i;
}

/* Whether a kernel for runs of any length takes these that way. Short ones from afar to which several indices
 * lead are better asked for less often; and rows that share many offsets ask for nothing this way. */
GARNER_INLINE bool goes_tailed(const struct segment *s, enum source source, int64_t constant,
                               enum level level)
{
    if (constant != 0 || (source == BLOCK && s->prefetch_distance && s->n > FEW_POINTS)) return false;
    if (source != UNIT && source != BLOCK && source_axes(source) == 1) return false;
    const bool masked = level >= AVX512 && (source == UNIT || !s->prefetch_distance);
    return (s->run > HALF || masked) && s->run < MOST_TAILED && !run_streams(s, s->out, s->run);
}

GARNER_INLINE int64_t gather_tails(const struct segment *s, enum source source, int width, enum level level)
{
    const int64_t whole = s->run & -LINE, rest = s->run - whole;
    if (whole == 0) {
        if (level >= AVX512 && rest <= 16) return gather_tailed(s, source, width, 0, MASK_16, level);
        if (level >= AVX512 && rest <= HALF) return gather_tailed(s, source, width, 0, MASK_32, level);
        return gather_tailed(s, source, width, 0, TWO_HALVES, level);
    }
    if (rest == 0) return gather_tailed(s, source, width, whole, NO_TAIL, level);
    if (level < AVX512 || s->prefetch_distance)
        return rest <= HALF ? gather_tailed(s, source, width, whole, ONE_HALF, level)
                            : gather_tailed(s, source, width, whole, TWO_HALVES, level);
    return rest <= 16     ? gather_tailed(s, source, width, whole, MASK_16, level)
           : rest <= HALF ? gather_tailed(s, source, width, whole, MASK_32, level)
                          : gather_tailed(s, source, width, whole, MASK_64, level);
}
#endif

#endif
