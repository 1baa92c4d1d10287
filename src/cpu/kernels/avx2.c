/* SPDX-License-Identifier: MIT */
/* AVX2: rows and slices, whose moves become 32 bytes wide. Its gather instructions win nothing over plain
 * loads. */
#include "tails.h"

#if defined(__x86_64__)
GARNER_INLINE int64_t avx2_segment(const struct segment *s, enum source source, int width, int run,
                                   enum level level)
{
    if (goes_tailed(s, source, run, level)) return gather_tails(s, source, width, level);
    return gather_segment(s, source, width, run, level);
}

#define LEVEL avx2
#define LEVEL_TARGET __attribute__((target("avx2")))
#define LEVEL_KERNEL_AVX2 DEFINE_KERNEL
#define LEVEL_TABLE garner_avx2_kernels
#define LEVEL_BODY avx2_segment
#include "level_tmpl.h"
#else
typedef int garner_avx2_is_for_x86; /* a file may not be empty */
#endif
