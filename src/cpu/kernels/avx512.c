/* SPDX-License-Identifier: MIT */
/* AVX-512: rows, whose moves become wider, and tuples, whose many indices are checked in its lanes. */
#include "lanes.h"

#if defined(__x86_64__)
AVX512_INLINE int64_t avx512_segment(const struct segment *s, enum source source, int width, int run,
                                     enum level level)
{
    if (goes_tailed(s, source, run, level)) return gather_tails(s, source, width, level);
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
