/* SPDX-License-Identifier: MIT */
/* AVX-512: elements of 4 and 8 bytes by its gather instructions, which read nothing but those bytes, and
 * rows, whose moves become wider. */
#include "skeleton.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define AVX512_INLINE GARNER_INLINE AVX512_TARGET

enum { LANES = 8, ALL_LANES = 0xff };

/* Eight indices, loaded once: after the assembly statement they are just numbers. */
AVX512_INLINE __m512i load_lanes(const char *at, int width)
{
    __m512i index = width == 8 ? _mm512_loadu_si512((const void *)at)
                               : _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)at));
    __asm__("" : "+v"(index));
    return index;
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

AVX512_INLINE void move_lanes(char *out, const char *data, __m512i offset, int run)
{
    if (run == 4)
        _mm256_storeu_si256((__m256i *)(void *)out, _mm512_i64gather_epi32(offset, data, 1));
    else
        _mm512_storeu_si512((void *)out, _mm512_i64gather_epi64(offset, data, 1));
}

/* As many whole groups of eight as are inside. */
AVX512_INLINE int64_t gather_lanes(const struct segment *s, const char *data, char *out, enum source source,
                                   int width, int run)
{
    const __m512i stride = _mm512_set1_epi64(s->axis[0].stride);
    const __m512i column = _mm512_setr_epi64(0, run, 2 * run, 3 * run, 4 * run, 5 * run, 6 * run, 7 * run);
    int64_t i = 0;
    for (; s->n - i >= LANES; i += LANES) {
        __m512i offset = load_lanes(s->index + i * width, width);
        if (source != BLOCK) {
            if (!place_lanes(&offset, s->axis)) return i;
            offset = source == UNIT ? _mm512_slli_epi64(offset, run == 4 ? 2 : 3)
                                    : _mm512_mul_epu32(offset, stride);
        }
        if (source == COLUMNS) offset = _mm512_add_epi64(offset, column);
        if (source == PATTERN) offset = _mm512_add_epi64(offset, _mm512_loadu_si512(s->pattern + i));
        move_lanes(out + i * run, source == COLUMNS ? data + i * run : data, offset, run);
    }
    return i;
}

/* What is left after the whole groups: the same segment from point `done` on, without vectors. */
AVX512_INLINE int64_t gather_rest(const struct segment *s, const char *data, char *out, int64_t done,
                                  enum source source, int width, int run)
{
    struct segment rest = *s;
    rest.index += done * width;
    rest.n -= done;
    if (source == PATTERN) rest.pattern += done;
    if (source == COLUMNS) data += done * run;
    return done + gather_row(&rest, data, out + done * run, source, width, run, AVX512);
}

AVX512_INLINE int64_t avx512_segment(const struct segment *s, enum source source, int width, int run,
                                     enum level level)
{
    bool elements = run == 4 || run == 8;
    if (!elements || s->step != run) return gather_segment(s, source, width, run, level);
    int64_t rows = source == BLOCK ? s->rows : 1, moved = 0;
    for (int64_t row = 0; row < rows; row++) {
        const char *data = source == BLOCK ? s->data + row * s->row_ramp : s->data;
        char *out = source == BLOCK ? s->out + row * s->row_step : s->out;
        moved = gather_lanes(s, data, out, source, width, run);
        if (s->n - moved < LANES) moved = gather_rest(s, data, out, moved, source, width, run);
    }
    return moved;
}

#define LEVEL avx512
#define LEVEL_TARGET AVX512_TARGET
#define LEVEL_KERNEL_AVX512 DEFINE_KERNEL
#define LEVEL_TABLE garner_avx512_kernels
#define LEVEL_BODY avx512_segment
#include "level_tmpl.h"
#undef AVX512_TARGET
#undef AVX512_INLINE
#else
typedef int garner_avx512_is_for_x86; /* a file may not be empty */
#endif
