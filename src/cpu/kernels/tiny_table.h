/* SPDX-License-Identifier: MIT */
/*
 * Elements out of a table of few entries, which the registers of AVX-512 hold: a permutation looks up eight
 * at a time. What is left of a row goes as a group of fewer, whose other lanes are masked.
 */
#ifndef GARNER_CPU_TINY_TABLE_H
#define GARNER_CPU_TINY_TABLE_H

#include "lanes.h"

#if defined(__x86_64__)
/* Entries of 8 bytes fill both registers; smaller ones have 4 bytes each in the lower one. */
struct tiny_table {
    __m512i lower, upper;
};

AVX512_INLINE struct tiny_table load_tiny_table(const char *data, int64_t entries, int64_t run)
{
    const __mmask16 mask = (__mmask16)((1u << entries) - 1);
    __m512i lower, upper = _mm512_setzero_si512();
    if (run == 8) {
        lower = _mm512_maskz_loadu_epi64((__mmask8)mask, data);
        upper = _mm512_maskz_loadu_epi64((__mmask8)(mask >> LANES), data + LINE);
    } else if (run == 4) {
        lower = _mm512_maskz_loadu_epi32(mask, data);
    } else if (run == 2) {
        lower = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, data));
    } else {
        lower = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, data));
    }
    return (struct tiny_table){lower, upper};
}

/* The indices of a group; 0 in lanes that are masked, which is inside. */
AVX512_INLINE __m512i load_tiny_group(const char *at, int width, __mmask8 mask)
{
    __m512i index = width == 8 ? _mm512_maskz_loadu_epi64(mask, at)
                               : _mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(mask, at));
    __asm__("" : "+v"(index)); /* loaded once, checked and used */
    return index;
}

/* Non-temporally a whole group of 4 or 8 bytes each, to a multiple of its size. */
AVX512_INLINE void move_tiny_group(char *out, struct tiny_table table, __m512i index, int64_t run,
                                   __mmask8 mask, bool non_temporal)
{
    if (run == 8) {
        const __m512i element = _mm512_permutex2var_epi64(table.lower, index, table.upper);
        if (non_temporal)
            store_line(out, element, true);
        else
            _mm512_mask_storeu_epi64(out, mask, element);
        return;
    }
    const __m512i word = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(index));
    const __m256i element = _mm512_castsi512_si256(_mm512_permutexvar_epi32(word, table.lower));
    if (non_temporal)
        store_half(out, element, true);
    else if (run == 4)
        _mm256_mask_storeu_epi32(out, mask, element);
    else if (run == 2)
        _mm_mask_storeu_epi16(out, mask, _mm256_cvtepi32_epi16(element));
    else
        _mm_mask_storeu_epi8(out, mask, _mm256_cvtepi32_epi8(element));
}

/* `count` points, at most LANES; false, with nothing moved, if an index is not inside. */
AVX512_INLINE bool take_tiny_group(const struct segment *s, struct tiny_table table, int64_t first,
                                   int64_t count, const struct kernel_id id)
{
    const __mmask8 mask = (__mmask8)(ALL_LANES >> (LANES - count));
    __m512i group = load_tiny_group(s->index + first * id.index, id.index, mask);
    if (!check_lanes(&group, s->axis)) return false;
    move_tiny_group(s->out + first * s->run, table, group, s->run, mask, s->non_temporal && count == LANES);
    return true;
}

/* How many points lie before the first group that can be stored non-temporally. */
AVX512_INLINE int64_t points_before_group(const struct segment *s)
{
    const int64_t ahead = -(int64_t)(uintptr_t)s->out & (LANES * s->run - 1);
    return s->non_temporal ? at_most(ahead / s->run, s->n) : 0;
}

AVX512_INLINE int64_t gather_tiny_groups(const struct segment *s, const struct kernel_id id)
{
    const struct tiny_table table = load_tiny_table(s->data, s->axis[0].bound, s->run);
    int64_t i = points_before_group(s);
    if (i > 0 && !take_tiny_group(s, table, 0, i, id)) return 0;
    for (; s->n - i >= LANES; i += LANES) {
        prefetch_indices(s, i, LANES * id.index, id.index, true);
        if (!take_tiny_group(s, table, i, LANES, id)) return i;
    }
    return i < s->n && !take_tiny_group(s, table, i, s->n - i, id) ? i : s->n;
}

AVX512_INLINE int64_t gather_tiny(const struct segment *given, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    struct segment own = own_segment(given, axis, id), *const s = &own;
    s->non_temporal = s->non_temporal && s->run >= WORD && (uintptr_t)s->out % (uintptr_t)s->run == 0;
    const int64_t done = gather_tiny_groups(s, id);
    if (s->non_temporal) _mm_sfence();
    return done;
}
#endif

#endif
