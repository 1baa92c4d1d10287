/* SPDX-License-Identifier: MIT */
/* AVX-512: runs, whose moves become wider; tuples, whose many indices are checked in its lanes; tiny tables,
 * which stay in its registers. */
#include "tiny_table.h"

#if defined(__x86_64__)
AVX512_INLINE int64_t avx512_segment(const struct segment *s, const struct kernel_id id)
{
    if (id.source == TINY) return gather_tiny(s, id);
    if (id.run == ELEMENT) return fit_lanes(s, id) ? gather_lanes_row(s, id) : gather_plainly(s, id);
    return goes_tailed(s, id) ? gather_tails(s, id) : gather_segment(s, id);
}

#define LEVEL avx512
#define LEVEL_ENUM AVX512
#define LEVEL_TARGET AVX512_TARGET
#define LEVEL_IS_AVX512 DO
#define LEVEL_TABLE garner_avx512_kernels
#define LEVEL_BODY avx512_segment
#define LEVEL_RUNS avx512_segment
#include "level_tmpl.h"
#else
typedef int garner_avx512_is_for_x86; /* a file may not be empty */
#endif
