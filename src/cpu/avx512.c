/* SPDX-License-Identifier: MIT */
/* AVX-512: single elements by its gather instructions, and rows, whose moves become wider. A gather reads 4
 * or 8 bytes, which for elements of 4 or 8 bytes is nothing but those; for smaller ones 4 bytes are chosen
 * that lie within the table. */
#include "skeleton.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define AVX512_INLINE GARNER_INLINE AVX512_TARGET

enum {
    LANES = 8, /* of 8 bytes, */
    ALL_LANES = 0xff,
    NARROW_LANES = 16, /* and of 4 */
    ALL_NARROW_LANES = 0xffff,
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

/* ---- Elements out of less than 2 GiB, sixteen at a time -------------------------------------------- */

/* Whether these are such: of 1 and 2 bytes, or of 4 whose indices come in lanes of 4. */
AVX512_INLINE bool goes_narrow(const struct segment *s, enum source source, int width, int run)
{
    return source == UNIT && (run < WORD || (run == WORD && width == WORD)) &&
           s->axis[0].bound <= INT32_MAX / run;
}

/* Sixteen places; false if one is not inside as it stands. */
AVX512_INLINE bool place_narrow_lanes(const char *at, int width, int64_t bound, __m512i *place)
{
    __m512i part[MOST_AXES];
    load_parts(part, at, NARROW_LANES * width);
    if (width == WORD) {
        *place = part[0];
        return _mm512_cmplt_epu32_mask(*place, _mm512_set1_epi32((int)bound)) == ALL_NARROW_LANES;
    }
    const __m512i lower = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i worst = _mm512_max_epu64(part[0], part[1]);
    *place = _mm512_permutex2var_epi32(part[0], lower, part[1]);
    return _mm512_cmplt_epu64_mask(worst, _mm512_set1_epi64(bound)) == ALL_LANES;
}

AVX512_INLINE __m512i gather_words(__m512i offset, const char *from)
{
    __mmask16 mask = ALL_NARROW_LANES;
    __asm__("" : "+k"(mask)); /* as in all_lanes */
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, offset, from, 1);
}

/* As move_lanes. */
AVX512_INLINE void move_narrow_lanes(char *out, const char *data, __m512i offset, int last, int run)
{
    if (run == WORD) {
        _mm512_storeu_si512((void *)out, gather_words(offset, data));
        return;
    }
    const __m512i from = _mm512_min_epi32(offset, _mm512_set1_epi32(last));
    const __m512i beyond = _mm512_slli_epi32(_mm512_sub_epi32(offset, from), 3);
    const __m512i element = _mm512_srlv_epi32(gather_words(from, data), beyond);
    if (run == 1)
        _mm_storeu_si128((__m128i *)(void *)out, _mm512_cvtepi32_epi8(element));
    else
        _mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtepi32_epi16(element));
}

/* As many whole groups of sixteen as are inside as they stand. */
AVX512_INLINE int64_t gather_narrow_lanes(const struct segment *s, const char *data, char *out, int width,
                                          int run)
{
    const int64_t n = s->n, bound = s->axis[0].bound;
    const char *index = s->index;
    __m512i place;
    int64_t i = 0;
    for (; n - i >= NARROW_LANES; i += NARROW_LANES) {
        if (!place_narrow_lanes(index + i * width, width, bound, &place)) break;
        move_narrow_lanes(out + i * run, data, _mm512_slli_epi32(place, RUN_LOG(run)),
                          (int)(bound * run - WORD), run);
    }
    return i;
}

/* ---- Any elements, eight at a time ----------------------------------------------------------------- */

/* Eight numbers of 8 or of 4 bytes from anywhere. */
AVX512_INLINE __m512i gather_wide(__m512i offset, const char *from)
{
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), all_lanes(), offset, from, 1);
}

AVX512_INLINE __m256i gather_narrow(__m512i offset, const char *from)
{
    return _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), all_lanes(), offset, from, 1);
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
AVX512_INLINE bool place_lanes(__m512i *place, const struct axis *axis)
{
    const __m512i bound = _mm512_set1_epi64(axis->bound);
    if (_mm512_cmplt_epu64_mask(*place, bound) == ALL_LANES) return true;
    *place =
        _mm512_mask_add_epi64(*place, _mm512_movepi64_mask(*place), *place, _mm512_set1_epi64(axis->wrap));
    return _mm512_cmplt_epu64_mask(*place, bound) == ALL_LANES;
}

/* Where eight points lie: how far from data, and how much of that is due to the last axis. */
struct lanes {
    __m512i offset, along;
};

/* Eight elements of 1 or 2 bytes. Those beyond `last`, from where on the last axis has less than 4 bytes, are
 * the upper part of the last 4. */
AVX512_INLINE void move_small_lanes(char *out, const char *data, struct lanes at, int64_t last, int run)
{
    const __m512i beyond = _mm512_sub_epi64(at.along, _mm512_min_epi64(at.along, _mm512_set1_epi64(last)));
    const __m256i words = gather_narrow(_mm512_sub_epi64(at.offset, beyond), data);
    const __m256i element = _mm256_srlv_epi32(words, _mm512_cvtepi64_epi32(_mm512_slli_epi64(beyond, 3)));
    if (run == 1)
        _mm_storel_epi64((__m128i *)(void *)out, _mm256_cvtepi32_epi8(element));
    else
        _mm_storeu_si128((__m128i *)(void *)out, _mm256_cvtepi32_epi16(element));
}

AVX512_INLINE void move_lanes(char *out, const char *data, struct lanes at, int64_t last, int run)
{
    if (run < WORD)
        move_small_lanes(out, data, at, last, run);
    else if (run == 4)
        _mm256_storeu_si256((__m256i *)(void *)out, gather_narrow(at.offset, data));
    else
        _mm512_storeu_si512((void *)out, gather_wide(at.offset, data));
}

/* Where eight points lie; false if an index is not inside. */
AVX512_INLINE bool find_lanes(const struct segment *s, int64_t first, enum source source, int width, int run,
                              struct lanes *at)
{
    const int axes = source_axes(source);
    __m512i part[MOST_AXES];
    load_parts(part, s->index + first * axes * width, LANES * axes * width);
    at->offset = _mm512_setzero_si512();
    UNROLL for (int k = 0; k < axes; k++)
    {
        __m512i place = axis_lanes(part, width, k, axes);
        if (source == BLOCK) {
            at->offset = place;
            return true;
        }
        if (!place_lanes(&place, &s->axis[k])) return false;
        if (source == UNIT)
            at->along = _mm512_slli_epi64(place, RUN_LOG(run));
        else if (source == SLIVER)
            at->along = _mm512_slli_epi64(place, LINE_LOG);
        else
            at->along = _mm512_mul_epu32(place, _mm512_set1_epi64(s->axis[k].stride));
        at->offset = _mm512_add_epi64(at->offset, at->along);
    }
    return true;
}

/* As many whole groups of eight as are inside. Of small columns some at the end of a row are left over. */
AVX512_INLINE int64_t gather_lanes(const struct segment *given, enum source source, int width, int run)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, source, axis), *const s = &own;
    const __m512i column = _mm512_setr_epi64(0, run, 2 * run, 3 * run, 4 * run, 5 * run, 6 * run, 7 * run);
    const bool cut = run < WORD && source != COLUMNS; /* out of 4 bytes of the last axis */
    const int64_t last = cut ? s->axis[source_axes(source) - 1].bound * run - WORD : INT64_MAX;
    const int64_t n =
        source == COLUMNS && run < WORD ? s->n - WORD / run : s->n; /* which 4 bytes would pass */
    const char *const data = s->data;
    char *const out = s->out;
    int64_t i = 0;
    if (goes_narrow(s, source, width, run)) i = gather_narrow_lanes(s, data, out, width, run);
    for (; n - i >= LANES; i += LANES) {
        struct lanes at;
        if (!find_lanes(s, i, source, width, run, &at)) return i;
        if (source == COLUMNS) at.offset = _mm512_add_epi64(at.offset, column);
        if (source == PATTERN) at.offset = _mm512_add_epi64(at.offset, _mm512_loadu_si512(s->pattern + i));
        move_lanes(out + i * run, source == COLUMNS ? data + i * run : data, at, last, run);
    }
    return i;
}

/* As many numbers of 4 bytes as the mask has lanes. The assembly statement keeps them apart from the masked
 * store that follows: gcc makes one instruction of both, and that faults for lanes which the mask leaves out.
 */
AVX512_INLINE __m256i gather_some_narrow(__mmask8 mask, __m512i offset, const char *from)
{
    __m256i words = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), mask, offset, from, 1);
    __asm__("" : "+v"(words));
    return words;
}

/* Many rows of no more than eight elements of 4 or 8 bytes: their offsets stay where they are. */
AVX512_INLINE void gather_few_lanes(const struct segment *s, int run)
{
    const __mmask8 mask = (__mmask8)(ALL_LANES >> (LANES - s->n));
    const __m512i offset = _mm512_maskz_loadu_epi64(mask, s->index);
    const int64_t rows = s->rows, ramp = s->row_ramp, step = s->row_step;
    const char *data = s->data;
    char *out = s->out;
    for (int64_t row = 0; row < rows; row++, data += ramp, out += step) {
        if (run == 4)
            _mm256_mask_storeu_epi32(out, mask, gather_some_narrow(mask, offset, data));
        else
            _mm512_mask_storeu_epi64(
                out, mask, _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), mask, offset, data, 1));
    }
}

/* ---- Rows of one line out of a sliver ------------------------------------------------------------- */

/* One row; false if an index is not inside as it stands. */
AVX512_INLINE bool gather_sliver_lanes(const struct segment *s, int width, int run)
{
    const int64_t bound = s->axis[0].bound;
    if (run == 8) {
        const __m512i column = _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56);
        struct lanes at;
        if (!find_lanes(s, 0, SLIVER, width, run, &at)) return false;
        _mm512_storeu_si512((void *)s->out, gather_wide(_mm512_add_epi64(at.offset, column), s->data));
        return true;
    }
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i column = _mm512_slli_epi32(lane, RUN_LOG(run));
    UNROLL for (int i = 0; i < LINE / run; i += NARROW_LANES)
    {
        __m512i place;
        if (!place_narrow_lanes(s->index + i * width, width, bound, &place)) return false;
        const __m512i from = _mm512_add_epi32(column, _mm512_set1_epi32(i * run));
        move_narrow_lanes(s->out + i * run, s->data,
                          _mm512_add_epi32(_mm512_slli_epi32(place, LINE_LOG), from),
                          (int)(bound * LINE - WORD), run);
    }
    return true;
}

AVX512_INLINE int64_t gather_sliver_wide(const struct segment *given, int width, int run)
{
    struct axis axis[MOST_AXES];
    struct segment row = own_segment(given, SLIVER, axis);
    const int points = LINE / run;
    int64_t i = 0;
    for (; i < row.n; i += points, row.index += row.row_index, row.out += row.row_step) {
        prefetch_sliver_indices(&row, points * width);
        if (!gather_sliver_lanes(&row, width, run) && !gather_sliver_row(&row, LINE, width, run, true)) break;
    }
    return i;
}

/* ---- Runs shorter than a line, of any length: one masked move each -------------------------------- */

/* `room` is 16, 32 or 64 bytes. No more than needed: of a move that reaches into the next line the CPU asks
 * for that line too, though the mask leaves it out. */
AVX512_INLINE void move_masked(char *out, const char *from, __mmask64 mask, int room)
{
    if (room == 16)
        _mm_mask_storeu_epi8(out, (__mmask16)mask, _mm_maskz_loadu_epi8((__mmask16)mask, from));
    else if (room == 32)
        _mm256_mask_storeu_epi8(out, (__mmask32)mask, _mm256_maskz_loadu_epi8((__mmask32)mask, from));
    else
        _mm512_mask_storeu_epi8(out, mask, _mm512_maskz_loadu_epi8(mask, from));
}

/* `count` points, a constant; false, with nothing moved, if an index is not inside. */
AVX512_INLINE bool masked_group(const struct segment *s, int64_t first, int count, int width, __mmask64 mask,
                                int room)
{
    int64_t offset[MOST_GROUP];
    char *out = s->out + first * s->step;
    if (!load_offsets(s, first, count, UNIT, width, 0, true, offset)) return false;
    for (int i = 0; i < count; i++, out += s->step)
        move_masked(out, s->data + offset[i], mask, room);
    return true;
}

AVX512_INLINE int64_t gather_masked(const struct segment *given, int width, int room)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, UNIT, axis), *const s = &own;
    const __mmask64 mask = (UINT64_C(1) << s->run) - 1;
    int64_t i = 0;
    for (; s->n - i >= GROUP; i += GROUP)
        if (!masked_group(s, i, GROUP, width, mask, room)) return i;
    for (; i < s->n; i++)
        if (!masked_group(s, i, 1, width, mask, room)) return i;
    return i;
}

AVX512_INLINE int64_t gather_masks(const struct segment *s, int width)
{
    return s->run <= 16   ? gather_masked(s, width, 16)
           : s->run <= 32 ? gather_masked(s, width, 32)
                          : gather_masked(s, width, 64);
}

/* Whether wherever an element lies 4 bytes that it belongs to may be read: of columns gather_lanes sees to
 * that, others lie side by side on the last axis. */
AVX512_INLINE bool has_words(const struct segment *s, enum source source, int run)
{
    const struct axis *last = &s->axis[source_axes(source) - 1];
    return source == COLUMNS || (last->stride == run && last->bound >= WORD / run);
}

AVX512_INLINE int64_t avx512_segment(const struct segment *s, enum source source, int width, int run,
                                     enum level level)
{
    const bool elements = run > 0 && run <= 8, words = !elements || run >= WORD || has_words(s, source, run);
    if (source == UNIT && run == 0 && s->run < LINE) return gather_masks(s, width);
    if (source == SLIVER)
        return s->row_points * run == LINE ? gather_sliver_wide(s, width, run) : gather_sliver(s, width, run);
    if (!elements || s->step != run || !words) return gather_segment(s, source, width, run, level);
    if (source == BLOCK && s->n <= LANES) {
        gather_few_lanes(s, run);
        return s->n;
    }
    struct segment row = *s;
    int64_t rows = source == BLOCK ? s->rows : 1, moved = 0;
    for (int64_t k = 0; k < rows; k++, row.data += s->row_ramp, row.out += s->row_step) {
        moved = gather_lanes(&row, source, width, run);
        const struct segment rest = rest_of(&row, moved, source, width);
        if (rest.n < LANES + WORD)
            moved += gather_row(&rest, rest.data, rest.out, source, width, run, AVX512);
    }
    return moved;
}

#define LEVEL avx512
#define LEVEL_TARGET AVX512_TARGET
#define LEVEL_KERNEL_AVX512 DEFINE_KERNEL
#define LEVEL_TABLE garner_avx512_kernels
#define LEVEL_BODY avx512_segment
#include "level_tmpl.h"
#undef RUN_LOG
#undef AVX512_TARGET
#undef AVX512_INLINE
#else
typedef int garner_avx512_is_for_x86; /* a file may not be empty */
#endif
