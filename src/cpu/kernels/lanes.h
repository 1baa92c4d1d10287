/* SPDX-License-Identifier: MIT */
/*
 * Eight points at a time in the lanes of AVX-512: their indices are checked together and their elements
 * loaded by one gather. A gather reads 4 or 8 bytes, which for elements of 4 or 8 bytes is nothing but those;
 * for smaller ones 4 bytes are chosen that lie within the table.
 */
#ifndef GARNER_CPU_LANES_H
#define GARNER_CPU_LANES_H

#include "tails.h"

#if defined(__x86_64__)
#define AVX512_INLINE GARNER_INLINE AVX512_TARGET

enum {
    LANES = 8, /* of 8 bytes */
    ALL_LANES = 0xff,
    WORD = 4, /* bytes that a gather reads at least */
    LINE_LOG = 6
};
#define RUN_LOG(run) ((run) == 1 ? 0 : (run) == 2 ? 1 : (run) == 4 ? 2 : 3)

/* All lanes, of which the compiler does not know it. A gather keeps the lanes that its mask leaves out, so
 * the CPU waits for the register that it writes: it has to be set to zero first, though no lane is left out.
 */
AVX512_INLINE __mmask8 all_lanes(void)
{
    __mmask8 mask = ALL_LANES;
    __asm__("" : "+k"(mask));
    return mask;
}

/* The indices of a group of points as they lie there, loaded once: after the assembly statement they are just
 * numbers. */
AVX512_INLINE void load_parts(__m512i part[MOST_AXES], const char *at, int bytes)
{
    UNROLL for (int k = 0; k * LINE < bytes; k++, at += LINE)
    {
        part[k] = bytes - k * LINE >= LINE
                      ? _mm512_loadu_si512((const void *)at)
                      : _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)at));
        __asm__("" : "+v"(part[k]));
    }
}

/* Numbers from anywhere for the lanes of the mask: of 8 bytes, of 4, and of 4 by offsets of 4. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion" /* of gcc's own, where nothing is optimised */
AVX512_INLINE __m512i gather_some_wide(__mmask8 mask, __m512i offset, const char *from)
{
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), mask, offset, from, 1);
}

AVX512_INLINE __m256i gather_some_narrow(__mmask8 mask, __m512i offset, const char *from)
{
    return _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), mask, offset, from, 1);
}

AVX512_INLINE __m512i gather_some_words(__mmask16 mask, __m512i offset, const char *from)
{
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, offset, from, 1);
}
#pragma GCC diagnostic pop

/* The same for all eight. */
AVX512_INLINE __m512i gather_wide(__m512i offset, const char *from)
{
    return gather_some_wide(all_lanes(), offset, from);
}

AVX512_INLINE __m256i gather_narrow(__m512i offset, const char *from)
{
    return gather_some_narrow(all_lanes(), offset, from);
}

/* Half a line, or a whole one, to out; non-temporally only to a multiple of its size. */
AVX512_INLINE void store_half(char *out, __m256i bytes, bool non_temporal)
{
    if (non_temporal)
        _mm256_stream_si256((__m256i *)(void *)out, bytes);
    else
        _mm256_storeu_si256((__m256i *)(void *)out, bytes);
}

AVX512_INLINE void store_line(char *out, __m512i bytes, bool non_temporal)
{
    if (non_temporal)
        _mm512_stream_si512((void *)out, bytes);
    else
        _mm512_storeu_si512((void *)out, bytes);
}

/* How many elements of a row of UNIT lie before the first whole line of out, from which on it is stored
 * non-temporally; all of them if it is not. */
AVX512_INLINE int64_t points_before_line(const struct segment *s, const struct kernel_id id)
{
    const bool non_temporal = id.run >= WORD && s->non_temporal && s->n * id.run >= 2 * LINE;
    const int64_t head = -(int64_t)(uintptr_t)s->out & (LINE - 1);
    return non_temporal && head % id.run == 0 ? head / id.run : s->n;
}

/* Out of the parts index number `axis` of each point. */
AVX512_INLINE __m512i axis_lanes(const __m512i part[MOST_AXES], int width, int axis, int axes)
{
    const __m512i at = _mm512_setr_epi64(axis, axis + axes, axis + 2 * axes, axis + 3 * axes, axis + 4 * axes,
                                         axis + 5 * axes, axis + 6 * axes, axis + 7 * axes);
    if (width == 4) {
        const __m512i word = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(at));
        const __m512i index = axes == 1   ? part[0]
                              : axes == 2 ? _mm512_permutexvar_epi32(word, part[0])
                                          : _mm512_permutex2var_epi32(part[0], word, part[1]);
        return _mm512_cvtepi32_epi64(_mm512_castsi512_si256(index));
    }
    if (axes == 1) return part[0];
    const __m512i first = _mm512_permutex2var_epi64(part[0], at, part[1]);
    if (axes == 2) return first;
    const __mmask8 later = _mm512_cmpge_epu64_mask(at, _mm512_set1_epi64(2 * LANES));
    const __m512i second = _mm512_permutex2var_epi64(part[2], at, axes == 3 ? part[2] : part[3]);
    return _mm512_mask_mov_epi64(first, later, second);
}

/* Wraps negative ones; false if one is not inside. */
AVX512_INLINE bool check_lanes(__m512i *index, const struct axis *axis)
{
    const __m512i bound = _mm512_set1_epi64(axis->bound);
    if (_mm512_cmplt_epu64_mask(*index, bound) == ALL_LANES) return true;
    *index =
        _mm512_mask_add_epi64(*index, _mm512_movepi64_mask(*index), *index, _mm512_set1_epi64(axis->wrap));
    return _mm512_cmplt_epu64_mask(*index, bound) == ALL_LANES;
}

/* Where eight points lie: how far from data, and how much of that is due to the last axis. */
struct lanes {
    __m512i offset, along;
};

/* Eight elements of 1 or 2 bytes. Those beyond `last`, from where on the last axis has less than 4 bytes, are
 * the upper part of the last 4. */
AVX512_INLINE void move_small_lanes(char *out, const char *data, struct lanes at, int64_t last, int64_t run)
{
    const __m512i beyond = _mm512_sub_epi64(at.along, _mm512_min_epi64(at.along, _mm512_set1_epi64(last)));
    const __m256i words = gather_narrow(_mm512_sub_epi64(at.offset, beyond), data);
    const __m256i element = _mm256_srlv_epi32(words, _mm512_cvtepi64_epi32(_mm512_slli_epi64(beyond, 3)));
    if (run == 1)
        _mm_storel_epi64((__m128i *)(void *)out, _mm256_cvtepi32_epi8(element));
    else
        _mm_storeu_si128((__m128i *)(void *)out, _mm256_cvtepi32_epi16(element));
}

/* Eight elements of `run` bytes. */
AVX512_INLINE void move_lanes(char *out, const char *data, struct lanes at, int64_t last, int64_t run,
                              bool non_temporal)
{
    if (run == 4)
        store_half(out, gather_narrow(at.offset, data), non_temporal);
    else if (run == 8)
        store_line(out, gather_wide(at.offset, data), non_temporal);
    else
        move_small_lanes(out, data, at, last, run);
}

/* Where eight points lie; false if an index is not inside. */
AVX512_INLINE bool find_lanes(const struct segment *s, int64_t first, struct lanes *at,
                              const struct kernel_id id)
{
    const int axes = source_axes(id.source);
    __m512i part[MOST_AXES];
    load_parts(part, s->index + first * axes * id.index, LANES * axes * id.index);
    at->offset = at->along = _mm512_setzero_si512();
    UNROLL for (int k = 0; k < axes; k++)
    {
        __m512i index = axis_lanes(part, id.index, k, axes);
        if (id.source == BLOCK) {
            at->offset = index;
            return true;
        }
        if (!check_lanes(&index, &s->axis[k])) return false;
        if (id.source == UNIT)
            at->along = _mm512_slli_epi64(index, RUN_LOG(id.run));
        else if (id.source == PANEL)
            at->along = _mm512_slli_epi64(index, LINE_LOG);
        else
            at->along = _mm512_mul_epu32(index, _mm512_set1_epi64(s->axis[k].stride));
        at->offset = _mm512_add_epi64(at->offset, at->along);
    }
    return true;
}

/* Prefetches a part of the next row's table at point number `*next`, and moves that on to the next such
 * point. */
AVX512_INLINE void prefetch_table_part(const struct segment *s, int64_t first, int64_t *next,
                                       const struct kernel_id id)
{
    if (__builtin_expect(first != *next, 1)) return;
    prefetch_next_table(s, first, id);
    *next += TABLE_POINTS;
}

/* As many whole groups of eight from point `i` to `end` as are inside. */
AVX512_INLINE int64_t gather_lanes_between(const struct segment *s, int64_t i, int64_t end, bool non_temporal,
                                           const struct kernel_id id)
{
    const int64_t run = point_bytes(s, id);
    const __m512i column =
        _mm512_mullo_epi64(_mm512_set1_epi64(run), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    const bool cut = run < WORD && id.source != COLUMNS; /* out of 4 bytes of the last axis */
    const int64_t last = cut ? s->axis[source_axes(id.source) - 1].bound * run - WORD : INT64_MAX;
    const char *const data = s->data;
    char *const out = s->out;
    const int pitch = source_axes(id.source) * id.index;
    int64_t next_part = id.source == UNIT && s->table_bytes_per_point ? i : -1;
    for (; end - i >= LANES; i += LANES) {
        struct lanes at;
        if (id.source == UNIT) prefetch_table_part(s, i, &next_part, id);
        prefetch_indices(s, i, LANES * pitch, pitch, true);
        if (!find_lanes(s, i, &at, id)) return i;
        if (id.source == COLUMNS) at.offset = _mm512_add_epi64(at.offset, column);
        if (id.source == PATTERN) at.offset = _mm512_add_epi64(at.offset, _mm512_loadu_si512(s->pattern + i));
        move_lanes(out + i * run, id.source == COLUMNS ? data + i * run : data, at, last, run, non_temporal);
    }
    return i;
}

/* The same for a row. Of small columns some at its end are left over. Where it is stored non-temporally those
 * before the first whole line may be moved twice. */
AVX512_INLINE int64_t gather_lanes(const struct segment *given, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, axis, id), *const s = &own;
    const int64_t n =
        id.source == COLUMNS && id.run < WORD ? s->n - WORD / id.run : s->n; /* which 4 bytes would pass */
    if (id.source != UNIT || id.run < WORD) return gather_lanes_between(s, 0, n, false, id);
    const int64_t head = points_before_line(s, id);
    if (head == s->n) return gather_lanes_between(s, 0, n, false, id);
    const int64_t moved = gather_lanes_between(s, 0, head + LANES - 1, false, id);
    if (moved < head) return moved;
    const int64_t done = gather_lanes_between(s, head, n, true, id);
    _mm_sfence();
    return done;
}

/* Whether these elements can be gathered so: they are written side by side, and wherever one lies 4 bytes
 * that it belongs to may be read. Of columns gather_lanes sees to that, others lie side by side on the last
 * axis. */
AVX512_INLINE bool fit_lanes(const struct segment *s, const struct kernel_id id)
{
    const int64_t run = point_bytes(s, id);
    const struct axis *last = &s->axis[source_axes(id.source) - 1];
    if (s->out_stride != run) return false;
    return run >= WORD || id.source == COLUMNS || (last->stride == run && last->bound >= WORD / run);
}

/* One row: groups in lanes, and one by one what they leave over, unless they stopped at an index. */
AVX512_INLINE int64_t gather_lanes_row(const struct segment *s, const struct kernel_id id)
{
    const int64_t moved = gather_lanes(s, id);
    const struct segment rest = rest_of(s, moved, id);
    int64_t i = 0;
    if (rest.n >= LANES + WORD) return moved;
    for (; i < rest.n; i++)
        if (!move_group(&rest, (struct group){i, 1, true}, false, id)) break;
    return moved + i;
}

/* By the kernel in plain C. */
AVX512_INLINE int64_t gather_plainly(const struct segment *s, const struct kernel_id id)
{
    return garner_scalar_kernels[id.source][INDEX_SLOT(id.index)][RUN_SLOT(point_bytes(s, id))].function(
        s, s->data, s->index, s->out, s->n);
}

#endif
#endif
