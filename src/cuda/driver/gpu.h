/* SPDX-License-Identifier: MIT */
/* A device as the library uses it: its primary context, its profile, and the kernels, loaded once. */
#ifndef GARNER_CUDA_GPU_H
#define GARNER_CUDA_GPU_H

#include "../cuda_work.h"
#include "driver.h"

/* The kernels by number, in the order of the list. */
enum cuda_kernel {
#define CUDA_KERNEL(source, index, vector) KERNEL_##source##_##index##_##vector,
#include "../kernels/cuda_kernels.def"
#undef CUDA_KERNEL
    CUDA_KERNELS
};

struct gpu {
    const struct driver *driver;
    int number;
    void *context;               /* the device's primary one */
    struct cuda_profile profile; /* with the device's own sizes */
    void *function[CUDA_KERNELS];
};

/* The device of that number, set up once. */
garner_status garner_gpu_get(const struct gpu **gpu, int number, garner_error *error);

/* What is known of a device without setting it up. */
garner_status garner_gpu_profile(const struct driver *driver, int number, struct cuda_profile *profile,
                                 garner_error *error);

/* Makes the device's context current, if it is not; *pushed says whether gpu_leave has to undo that. */
garner_status garner_gpu_enter(const struct gpu *gpu, bool *pushed, garner_error *error);
void garner_gpu_leave(const struct gpu *gpu, bool pushed);

/* The function of a kernel, NULL if there is no such line. */
void *garner_gpu_function(const struct gpu *gpu, const struct cuda_work *work);

#endif
