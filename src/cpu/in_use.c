/* SPDX-License-Identifier: MIT */
/* The level and the kernels of the CPU that this is, or that GARNER_CPU names. */
#include "profile.h"

enum level garner_cpu_level(void)
{
    return garner_cpu_target()->profile.level;
}

const struct kernel *garner_kernel_find(enum source source, int index, int64_t run)
{
    return target_kernel(garner_cpu_target(), source, index, run);
}
