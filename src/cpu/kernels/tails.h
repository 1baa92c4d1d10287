/* SPDX-License-Identifier: MIT */
/*
 * Runs of any length with wide registers: whole lines, and a tail by few moves.
 *
 * The tail is one half of a line or two, which may overlap what was moved before. AVX-512 has masked moves as
 * well, which are better where the run is in L1 or L2; elsewhere the CPU also fetches the next line if such a
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

/* The last bytes of a run, less than a line. The kind of tail is a constant to runs of less than a line; to
 * others a branch is nothing, if only the compiler does not make a loop of its own for each kind. */
GARNER_INLINE void move_last(char *out, const char *from, int64_t bytes, enum tail tail)
{
    int kind = (int)tail;
    /* uncovered: a constant in optimised code alone */
    if (!__builtin_constant_p(tail)) __asm__("" : "+r"(kind));
    if (kind == TWO_HALVES)
        move_two_halves(out, from, bytes);
    else if (kind == ONE_HALF)
        *(half *)(void *)(out + bytes - HALF) = *(const half *)(const void *)(from + bytes - HALF);
    else if (kind != NO_TAIL)
        move_masked(out, from, (UINT64_C(1) << bytes) - 1, (enum tail)kind);
}

/* How a run is moved: `whole` bytes of lines, then the tail. */
struct tailed {
    int64_t whole;
    enum tail tail;
};

GARNER_INLINE void move_run_tailed(const struct segment *s, char *out, const char *from, struct tailed how,
                                   const struct kernel_id id)
{
    for (int64_t k = 0; k < how.whole; k += LINE)
        move_line(out + k, from + k, id.level);
    move_last(out + how.whole, from + how.whole, s->run - how.whole, how.tail);
}

/* `count` points of UNIT, a constant; false, with nothing moved, if an index is not inside. */
GARNER_INLINE bool move_tailed(const struct segment *s, int64_t first, int count, struct tailed how,
                               const struct kernel_id id)
{
    int64_t offset[MOST_GROUP];
    char *out = s->out + first * s->out_stride;
    if (id.source != UNIT) {
        if (!find_run(s, first, offset, id)) return false;
    } else if (!load_offsets(s, (struct group){first, count, true}, offset, id)) {
        return false;
    }
    for (int i = 0; i < count; i++, out += s->out_stride)
        move_run_tailed(s, out, s->data + offset[i], how, id);
    return true;
}

/* Prefetches the runs of later points, and out where move_line() does not do that. */
GARNER_INLINE void prefetch_tailed(const struct segment *s, int64_t first, int count, struct tailed how,
                                   const struct kernel_id id)
{
    if (how.whole == 0) {
        prefetch_lines((uintptr_t)s->out + (uintptr_t)(first * s->out_stride) + OUT_DISTANCE,
                       count * s->out_stride, true);
        UNROLL for (int k = 0; k < count; k++) prefetch_run(s, first + k + s->prefetch_distance, s->run, id);
        return;
    }
    const uintptr_t later = run_address(s, first + s->prefetch_distance, true, id);
    prefetch_lines(later, at_most(how.tail == TWO_HALVES ? s->run : how.whole, MOST_PREFETCH),
                   s->points_to_l1);
    if (s->unaligned) prefetch_line(later + (uintptr_t)s->run - 1, s->points_to_l1);
}

/* Rows that share their offsets, none of which is outside. */
GARNER_INLINE int64_t gather_tailed_rows(const struct segment *s, struct tailed how,
                                         const struct kernel_id id)
{
    const struct segment own = *s;
    const int64_t *offset = (const int64_t *)(const void *)own.index;
    const char *data = own.data;
    char *out = own.out;
    for (int64_t row = 0; row < own.rows; row++, data += own.row_data_stride, out += own.row_out_stride)
        for (int64_t i = 0; i < own.n; i++)
            move_run_tailed(&own, out + i * own.out_stride, data + offset[i], how, id);
    return own.n;
}

/* How many points are found together: runs of several lines go one by one, since each prefetches as many; so
 * do tuples, whose source is no constant. */
GARNER_INLINE int tailed_group(struct tailed how, const struct kernel_id id)
{
    if (id.source != UNIT) return 1;
    return how.whole == 0 && how.tail != TWO_HALVES ? GROUP : ROW_GROUP;
}

/* One row, until an index is not inside; returns which. */
GARNER_INLINE int64_t gather_tailed(const struct segment *given, int64_t whole, enum tail tail,
                                    const struct kernel_id id)
{
    const struct tailed how = {whole, tail};
    if (id.source == BLOCK) return gather_tailed_rows(given, how, id);
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, axis, id), *const s = &own;
    const int group = tailed_group(how, id), prefetching = whole ? 1 : group;
    int64_t i = 0;
    if (s->prefetch_distance)
        for (; s->n - i >= prefetching + s->prefetch_distance; i += prefetching) {
            prefetch_tailed(s, i, prefetching, how, id);
            if (!move_tailed(s, i, prefetching, how, id)) return i;
        }
    for (; s->n - i >= group; i += group)
        if (!move_tailed(s, i, group, how, id)) return i;
    for (; i < s->n; i++)
        if (!move_tailed(s, i, 1, how, id)) return i;
    return i;
}

/* Whether a kernel for runs of any length moves these as lines and a tail. Short runs from beyond L2 to which
 * tuples lead are better prefetched less often; and rows that share many offsets would prefetch nothing. */
GARNER_INLINE bool goes_tailed(const struct segment *s, const struct kernel_id id)
{
    if (id.run != ANY) return false;
    if (id.source == BLOCK && s->prefetch_distance && s->n > FEW_POINTS) return false;
    bool masked = id.source == UNIT || !s->prefetch_distance;
    if (id.level < AVX512) masked = false;
    return (s->run > HALF || masked) && s->run < MOST_TAILED && !is_non_temporal(s, s->run);
}

/* The tail of a run of some lines and `rest` bytes. */
GARNER_INLINE enum tail tail_of_lines(int64_t rest, bool masked)
{
    if (rest == 0) return NO_TAIL;
    if (!masked) return rest <= HALF ? ONE_HALF : TWO_HALVES;
    return rest <= 16 ? MASK_16 : rest <= HALF ? MASK_32 : MASK_64;
}

GARNER_INLINE int64_t gather_tails(const struct segment *s, const struct kernel_id id)
{
    const int64_t whole = s->run & -LINE, rest = s->run - whole;
    if (whole == 0) {
        if (id.level < AVX512) return gather_tailed(s, 0, TWO_HALVES, id);
        if (rest <= 16) return gather_tailed(s, 0, MASK_16, id);
        if (rest <= HALF) return gather_tailed(s, 0, MASK_32, id);
        return gather_tailed(s, 0, TWO_HALVES, id);
    }
    bool masked = !s->prefetch_distance;
    if (id.level < AVX512) masked = false;
    return gather_tailed(s, whole, tail_of_lines(rest, masked), id);
}
#endif

#endif
