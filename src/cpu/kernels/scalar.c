/* SPDX-License-Identifier: MIT */
/* The plain C kernels, which run on every machine: the skeleton as it is. */
#include "skeleton.h"

#define LEVEL scalar
#define LEVEL_ENUM SCALAR
#define LEVEL_TARGET
#define LEVEL_IS_SCALAR DO
#define LEVEL_TABLE garner_scalar_kernels
#define LEVEL_BODY gather_segment
#define LEVEL_RUNS gather_runs_of
#include "level_tmpl.h"
