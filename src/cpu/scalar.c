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

static const struct kernel kernels[] = {
#define KERNEL(source, index, run) {"scalar", source, index, run, scalar_##source##_##index##_##run},
#include "kernels.def"
#undef KERNEL
};

const struct kernel *garner_kernel_find(enum source source, int index, int64_t run)
{
    const struct kernel *any = NULL;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const struct kernel *kernel = &kernels[i];
        if (kernel->source != source || kernel->index != index) continue;
        if (kernel->run == run) return kernel;
        if (kernel->run == 0) any = kernel;
    }
    return any;
}
