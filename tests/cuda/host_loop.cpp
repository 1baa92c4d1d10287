/* SPDX-License-Identifier: MIT */
/* The kernels as plain C++: a loop over the blocks, in each of them over the threads, in either order of
 * blocks. */
#include "cuda_bodies.hpp"

#include <string.h>

#include "host_loop.h"

template <int SOURCE, int INDEX, int VECTOR>
static void run_blocks(const void *arguments, const struct host_grid *grid, char *shared)
{
    const typename source_of<SOURCE>::arguments &given =
        *(const typename source_of<SOURCE>::arguments *)arguments;
    for (int64_t i = 0; i < grid->blocks; i++) {
        const block b = {grid->backwards ? grid->blocks - 1 - i : i, grid->blocks, grid->threads, shared};
        memset(shared, 0xEE, (size_t)grid->shared); /* what the block before left there is not to be used */
        body_of<SOURCE, INDEX, VECTOR>::run(given, b);
    }
}

static const struct host_kernel kernels[] = {
#define CUDA_KERNEL(source, index, vector)                                                  \
    {"garner_" #source "_" #index "_" #vector, sizeof(source_of<CUDA_##source>::arguments), \
     source_of<CUDA_##source>::MOST_THREADS, run_blocks<CUDA_##source, index, vector>},
#include "cuda_kernels.def"
#undef CUDA_KERNEL
};

extern "C" int host_kernel_count(void)
{
    return (int)(sizeof kernels / sizeof kernels[0]);
}

extern "C" const struct host_kernel *host_kernel_at(int i)
{
    return &kernels[i];
}
