/* SPDX-License-Identifier: MIT */
/* The plain C kernels, one function for each line of kernels.def. They run on every machine. */
#include <string.h>

#include "kernel.h"

#define KERNEL_TARGET
#include "gather_tmpl.h"

#define KERNEL(source, index, run)                                                  \
    static int64_t scalar_##source##_##index##_##run(const struct segment *segment) \
    {                                                                               \
        return gather_segment(segment, source, index, run);                         \
    }
#include "kernels.def"
#undef KERNEL

/* Slots of the table: runs of 0 (any) and of powers of two up to 64; indices of 4 and 8 bytes. */
#define RUN_SLOT(run) ((run) == 0 ? 0 : __builtin_ctz((unsigned)(run) | 128) + 1)
enum { RUNS = RUN_SLOT(64) + 1, SOURCES = HOLED + 1 };

static const struct kernel kernels[SOURCES][2][RUNS] = {
#define KERNEL(source, index, run) \
    [source][(index) / 8][RUN_SLOT(run)] = {"scalar", source, index, run, scalar_##source##_##index##_##run},
#include "kernels.def"
#undef KERNEL
};

const struct kernel *garner_kernel_find(enum source source, int index, int64_t run)
{
    const struct kernel *row = kernels[source][index / 8];
    bool power = run <= 64 && (run & (run - 1)) == 0;
    return power && row[RUN_SLOT(run)].function ? &row[RUN_SLOT(run)] : &row[0];
}
