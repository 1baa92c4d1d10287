/* SPDX-License-Identifier: MIT */
/* The kernels of the CPU that this is, or that GARNER_CPU names. */
#include "profile.h"

const struct kernel *garner_kernel_find(enum source source, int index, int64_t run)
{
    return target_kernel(garner_cpu_target(), source, index, run);
}
