/* SPDX-License-Identifier: MIT */
/* AVX-512 on CPUs whose gather instructions are faster than as many loads: single elements. */
#include "lanes.h"

#if defined(__x86_64__)
enum {
    NARROW_LANES = 16, /* of 4 bytes */
    ALL_NARROW_LANES = 0xffff
};

/* ---- Elements out of less than 2 GiB, sixteen at a time -------------------------------------------- */

/* Whether these are such: of 1 and 2 bytes, or of 4 whose indices come in lanes of 4. */
AVX512_INLINE bool goes_narrow(const struct segment *s, const struct kernel_id id)
{
    return id.source == UNIT && (id.run < WORD || (id.run == WORD && id.index == WORD)) &&
           s->axis[0].bound <= INT32_MAX / id.run;
}

/* Sixteen indices; false if one is not inside as it stands. */
AVX512_INLINE bool load_narrow_lanes(const char *at, int width, int64_t bound, __m512i *index)
{
    __m512i part[MOST_AXES];
    load_parts(part, at, NARROW_LANES * width);
    if (width == WORD) {
        *index = part[0];
        return _mm512_cmplt_epu32_mask(*index, _mm512_set1_epi32((int)bound)) == ALL_NARROW_LANES;
    }
    const __m512i lower = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i worst = _mm512_max_epu64(part[0], part[1]);
    *index = _mm512_permutex2var_epi32(part[0], lower, part[1]);
    return _mm512_cmplt_epu64_mask(worst, _mm512_set1_epi64(bound)) == ALL_LANES;
}

AVX512_INLINE __m512i gather_words(__m512i offset, const char *from)
{
    __mmask16 mask = ALL_NARROW_LANES;
    __asm__("" : "+k"(mask)); /* as in all_lanes */
    return gather_some_words(mask, offset, from);
}

/* As move_lanes. */
AVX512_INLINE void move_narrow_lanes(char *out, const char *data, __m512i offset, int last, int run,
                                     bool non_temporal)
{
    if (run == WORD) {
        store_line(out, gather_words(offset, data), non_temporal);
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

/* As many whole groups of sixteen from point `i` to `end` as are inside as they stand. */
AVX512_INLINE int64_t gather_narrow_between(const struct segment *s, int64_t i, int64_t end,
                                            bool non_temporal, const struct kernel_id id)
{
    const int64_t bound = s->axis[0].bound;
    const char *const indices = s->index, *const data = s->data;
    char *const out = s->out;
    const int run = id.run;
    __m512i index;
    int64_t next_part = s->table_bytes_per_point ? i : -1;
    for (; end - i >= NARROW_LANES; i += NARROW_LANES) {
        prefetch_table_part(s, i, &next_part, id);
        if (!load_narrow_lanes(indices + i * id.index, id.index, bound, &index)) break;
        move_narrow_lanes(out + i * run, data, _mm512_slli_epi32(index, RUN_LOG(run)),
                          (int)(bound * run - WORD), run, non_temporal);
    }
    return i;
}

/* The same for a row, as gather_lanes. */
AVX512_INLINE int64_t gather_narrow_lanes(const struct segment *s, const struct kernel_id id)
{
    const int64_t head = points_before_line(s, id);
    if (id.run < WORD || head == s->n) return gather_narrow_between(s, 0, s->n, false, id);
    const int64_t moved = gather_narrow_between(s, 0, head + NARROW_LANES - 1, false, id);
    if (moved < head) return moved;
    const int64_t done = gather_narrow_between(s, head, s->n, true, id);
    _mm_sfence();
    return done;
}

/* ---- Offsets that many rows share ------------------------------------------------------------------ */

/* Many rows of no more than eight elements of 4 or 8 bytes: their offsets stay where they are. The assembly
 * statement keeps a gather of 4 bytes apart from the masked store after it: gcc makes one instruction of
 * both, and that faults for lanes which the mask leaves out. */
AVX512_INLINE void gather_few_lanes(const struct segment *s, int run)
{
    const __mmask8 mask = (__mmask8)(ALL_LANES >> (LANES - s->n));
    const __m512i offset = _mm512_maskz_loadu_epi64(mask, s->index);
    const int64_t rows = s->rows, data_stride = s->row_data_stride, out_stride = s->row_out_stride;
    const char *data = s->data;
    char *out = s->out;
    for (int64_t row = 0; row < rows; row++, data += data_stride, out += out_stride) {
        if (run == 4) {
            __m256i words = gather_some_narrow(mask, offset, data);
            __asm__("" : "+v"(words));
            _mm256_mask_storeu_epi32(out, mask, words);
        } else {
            _mm512_mask_storeu_epi64(out, mask, gather_some_wide(mask, offset, data));
        }
    }
}

/* ---- Rows of one line out of a packed panel ----------------------------------------------------------- */

/* One row; false if an index is not inside as it stands. */
AVX512_INLINE bool gather_panel_lanes(const struct segment *s, const struct kernel_id id)
{
    const int run = id.run;
    const int64_t bound = s->axis[0].bound;
    if (run == 8) {
        const __m512i column = _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56);
        struct lanes at;
        if (!find_lanes(s, 0, &at, id)) return false;
        _mm512_storeu_si512((void *)s->out, gather_wide(_mm512_add_epi64(at.offset, column), s->data));
        return true;
    }
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i column = _mm512_slli_epi32(lane, RUN_LOG(run));
    for (int i = 0; i < LINE / run; i += NARROW_LANES) {
        __m512i index;
        if (!load_narrow_lanes(s->index + i * id.index, id.index, bound, &index)) return false;
        const __m512i from = _mm512_add_epi32(column, _mm512_set1_epi32(i * run));
        move_narrow_lanes(s->out + i * run, s->data,
                          _mm512_add_epi32(_mm512_slli_epi32(index, LINE_LOG), from),
                          (int)(bound * LINE - WORD), run, false);
    }
    return true;
}

AVX512_INLINE int64_t gather_panel_wide(const struct segment *given, const struct kernel_id id)
{
    struct axis axis[MOST_AXES];
    struct segment row = own_segment(given, axis, id);
    const int points = LINE / id.run;
    int64_t i = 0;
    for (; i < row.n; i += points, row.index += row.row_index_stride, row.out += row.row_out_stride) {
        prefetch_panel_indices(&row, points * id.index);
        if (!gather_panel_lanes(&row, id) && !gather_panel_row(&row, LINE, true, id)) break;
    }
    return i;
}

/* ---- All of them ----------------------------------------------------------------------------------- */

AVX512_INLINE int64_t gather_lanes_rows(const struct segment *s, const struct kernel_id id)
{
    struct segment row = *s;
    if (s->n <= LANES) gather_few_lanes(s, id.run);
    for (int64_t k = 0; s->n > LANES && k < s->rows; k++) {
        gather_lanes_row(&row, id);
        row.data += s->row_data_stride;
        row.out += s->row_out_stride;
    }
    return s->n;
}

AVX512_INLINE int64_t gather512_segment(const struct segment *s, const struct kernel_id id)
{
    if (id.source == PANEL && s->row_points * id.run == LINE) return gather_panel_wide(s, id);
    if (id.source == PANEL || !fit_lanes(s, id)) return gather_plainly(s, id);
    if (id.source == BLOCK) return gather_lanes_rows(s, id);
    const int64_t done = goes_narrow(s, id) ? gather_narrow_lanes(s, id) : 0;
    const struct segment rest = rest_of(s, done, id);
    return done + gather_lanes_row(&rest, id);
}

#define LEVEL avx512_gather
#define LEVEL_ENUM AVX512_GATHER /* uncovered: none of its kernels is for runs of any length */
#define LEVEL_TARGET AVX512_TARGET
#define LEVEL_IS_AVX512_GATHER DO
#define LEVEL_TABLE garner_avx512_gather_kernels
#define LEVEL_BODY gather512_segment
#define LEVEL_RUNS gather512_segment /* uncovered: the same */
#include "level_tmpl.h"
#else
typedef int garner_avx512_gather_is_for_x86; /* a file may not be empty */
#endif
