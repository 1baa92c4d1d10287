/* SPDX-License-Identifier: MIT */
/* AVX2: runs, whose moves become 32 bytes wide. Its gather instructions win nothing over plain
 * loads. */
#include "tails.h"

#if defined(__x86_64__)
GARNER_INLINE int64_t avx2_segment(const struct segment *s, const struct kernel_id id)
{
    return goes_tailed(s, id) ? gather_tails(s, id) : gather_segment(s, id);
}

#define LEVEL avx2
#define LEVEL_ENUM AVX2
#define LEVEL_TARGET __attribute__((target("avx2")))
#define LEVEL_IS_AVX2 DO
#define LEVEL_TABLE garner_avx2_kernels
#define LEVEL_BODY avx2_segment
#define LEVEL_RUNS avx2_segment
#include "level_tmpl.h"
#else
typedef int garner_avx2_is_for_x86; /* a file may not be empty */
#endif
