/* SPDX-License-Identifier: MIT */
/* The kernels as device code: an entry for each line of the list, garner_SOURCE_INDEX_VECTOR. */
#include "cuda_bodies.hpp"

extern __shared__ __align__(16) char shared_memory[];

#define CUDA_KERNEL(source, index, vector)                                                                         \
    extern "C" __global__ void __launch_bounds__(source_of<CUDA_##source>::MOST_THREADS,                           \
                                                 source_of<CUDA_##source>::LEAST_BLOCKS)                           \
        garner_##source##_##index##_##vector(const __grid_constant__ source_of<CUDA_##source>::arguments arguments) \
    {                                                                                                              \
        const block b = {(int64_t)blockIdx.x, (int64_t)gridDim.x, (int)blockDim.x, shared_memory};                  \
        body_of<CUDA_##source, index, vector>::run(arguments, b);                                                  \
    }
#include "cuda_kernels.def"
