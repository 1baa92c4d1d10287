/* SPDX-License-Identifier: MIT */
/* AVX2: rows, whose moves become 32 bytes wide. Its gather instructions win nothing over plain loads. */
#include "skeleton.h"

#if defined(__x86_64__)
#define LEVEL avx2
#define LEVEL_TARGET __attribute__((target("avx2")))
#define LEVEL_KERNEL_AVX2 DEFINE_KERNEL
#define LEVEL_TABLE garner_avx2_kernels
#define LEVEL_BODY gather_segment
#include "level_tmpl.h"
#else
typedef int garner_avx2_is_for_x86; /* a file may not be empty */
#endif
