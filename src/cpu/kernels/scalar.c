/* SPDX-License-Identifier: MIT */
/* The plain C kernels, which run on every machine: the skeleton as it is. */
#include "skeleton.h"

#define LEVEL scalar
#define LEVEL_TARGET
#define LEVEL_KERNEL_SCALAR DEFINE_KERNEL
#define LEVEL_TABLE garner_scalar_kernels
#define LEVEL_BODY gather_segment
#include "level_tmpl.h"
