/* SPDX-License-Identifier: MIT */
/* AVX-512: rows, whose moves become wider, and tuples, whose many indices are checked in its lanes. */
#include "lanes.h"

#if defined(__x86_64__)
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
    if (s->ahead)
        for (; s->n - i >= GROUP + s->ahead; i += GROUP) {
            prefetch_lines((uintptr_t)s->out + (uintptr_t)(i * s->step) + OUT_AHEAD, GROUP * s->step, true);
            UNROLL for (int k = 0; k < GROUP; k++) prefetch_run(s, i + k + s->ahead, UNIT, width, s->run);
            if (!masked_group(s, i, GROUP, width, mask, room)) return i;
        }
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

AVX512_INLINE int64_t avx512_segment(const struct segment *s, enum source source, int width, int run,
                                     enum level level)
{
    if (source == UNIT && run == 0 && s->run < LINE) return gather_masks(s, width);
    if (source_axes(source) > 1 && fit_lanes(s, source, run))
        return gather_lanes_row(s, source, width, run, level);
    return gather_segment(s, source, width, run, level);
}

#define LEVEL avx512
#define LEVEL_TARGET AVX512_TARGET
#define LEVEL_KERNEL_AVX512 DEFINE_KERNEL
#define LEVEL_TABLE garner_avx512_kernels
#define LEVEL_BODY avx512_segment
#include "level_tmpl.h"
#else
typedef int garner_avx512_is_for_x86; /* a file may not be empty */
#endif
