/* SPDX-License-Identifier: MIT */
/* Sets devices up: context, kernels, profile. A device that failed is tried again by the next call. */
#include "gpu.h"

#include <pthread.h>

#include "../../error.h"
#include "image.h"

enum { MOST_DEVICES = 128 };

static struct gpu gpus[MOST_DEVICES];
static bool ready[MOST_DEVICES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Hands a failure of the driver's on, with what was tried. */
#define RETURN_DRIVER(driver, step, what)                                                  \
    do {                                                                                   \
        int result_ = (driver)->step;                                                      \
        if (rarely(result_ != 0)) return garner_driver_fail(driver, result_, what, error); \
    } while (0)

garner_status garner_gpu_profile(const struct driver *driver, int number, struct cuda_profile *profile,
                                 garner_error *error)
{
    int device, major, minor, multiprocessors, shared, l2, resident;
    RETURN_DRIVER(driver, cuDeviceGet(&device, number), "the device");
    RETURN_DRIVER(driver, cuDeviceGetAttribute(&major, DRIVER_CAPABILITY_MAJOR, device), "the device");
    RETURN_DRIVER(driver, cuDeviceGetAttribute(&minor, DRIVER_CAPABILITY_MINOR, device), "the device");
    RETURN_DRIVER(driver, cuDeviceGetAttribute(&multiprocessors, DRIVER_MULTIPROCESSORS, device),
                  "the device");
    RETURN_DRIVER(driver, cuDeviceGetAttribute(&shared, DRIVER_SHARED, device), "the device");
    RETURN_DRIVER(driver, cuDeviceGetAttribute(&l2, DRIVER_L2, device), "the device");
    RETURN_DRIVER(driver, cuDeviceGetAttribute(&resident, DRIVER_RESIDENT, device), "the device");
    *profile = *garner_cuda_profile_for(major * 10 + minor);
    profile->capability = major * 10 + minor;
    profile->multiprocessors = multiprocessors;
    profile->shared = shared;
    profile->l2 = l2;
    profile->resident = resident;
    return GARNER_OK;
}

/* The kernels; those that stage may use all shared memory that a block can have. */
static garner_status find_kernels(struct gpu *gpu, void *module, garner_error *error)
{
#define CUDA_KERNEL(source, index, vector)                                                          \
    RETURN_DRIVER(gpu->driver,                                                                      \
                  cuModuleGetFunction(&gpu->function[KERNEL_##source##_##index##_##vector], module, \
                                      "garner_" #source "_" #index "_" #vector),                    \
                  "a kernel");                                                                      \
    if (CUDA_##source == CUDA_TABLE || CUDA_##source == CUDA_PANEL)                                 \
        RETURN_DRIVER(gpu->driver,                                                                  \
                      cuFuncSetAttribute(gpu->function[KERNEL_##source##_##index##_##vector],       \
                                         DRIVER_FUNCTION_SHARED, (int)gpu->profile.shared),         \
                      "shared memory of a kernel");
#include "../kernels/cuda_kernels.def"
#undef CUDA_KERNEL
    return GARNER_OK;
}

static garner_status load_kernels(struct gpu *gpu, garner_error *error)
{
    void *module;
    RETURN_DRIVER(gpu->driver, cuModuleLoadData(&module, garner_cuda_image), "loading the kernels");
    return find_kernels(gpu, module, error);
}

static garner_status set_up(struct gpu *gpu, int number, garner_error *error)
{
    int device, count = 0;
    bool pushed;
    RETURN_NOT_OK(garner_driver_load(&gpu->driver, error));
    RETURN_DRIVER(gpu->driver, cuDeviceGetCount(&count), "counting devices");
    if (number < 0 || number >= count)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "cuda: device %d is not among the %d that there are",
                           number, count);
    gpu->number = number;
    RETURN_NOT_OK(garner_gpu_profile(gpu->driver, number, &gpu->profile, error));
    RETURN_DRIVER(gpu->driver, cuDeviceGet(&device, number), "the device");
    if (gpu->context == NULL)
        RETURN_DRIVER(gpu->driver, cuDevicePrimaryCtxRetain(&gpu->context, device),
                      "the device's primary context");
    RETURN_NOT_OK(garner_gpu_enter(gpu, &pushed, error));
    const garner_status status = load_kernels(gpu, error);
    garner_gpu_leave(gpu, pushed);
    return status;
}

garner_status garner_gpu_get(const struct gpu **gpu, int number, garner_error *error)
{
    const int slot = number >= 0 && number < MOST_DEVICES ? number : 0;
    garner_status status = GARNER_OK;
    pthread_mutex_lock(&mutex);
    if (!ready[slot] || slot != number) {
        status = set_up(&gpus[slot], number, error);
        ready[slot] = ready[slot] || status == GARNER_OK;
    }
    pthread_mutex_unlock(&mutex);
    *gpu = &gpus[slot];
    return status;
}

garner_status garner_gpu_enter(const struct gpu *gpu, bool *pushed, garner_error *error)
{
    void *current = NULL;
    *pushed = false;
    RETURN_DRIVER(gpu->driver, cuCtxGetCurrent(&current), "the current context");
    if (current == gpu->context) return GARNER_OK;
    RETURN_DRIVER(gpu->driver, cuCtxPushCurrent_v2(gpu->context), "the device's primary context");
    *pushed = true;
    return GARNER_OK;
}

void garner_gpu_leave(const struct gpu *gpu, bool pushed)
{
    void *context;
    if (pushed) gpu->driver->cuCtxPopCurrent_v2(&context);
}

void *garner_gpu_function(const struct gpu *gpu, const struct cuda_work *work)
{
    void *function = NULL;
#define CUDA_KERNEL(line_source, line_index, line_vector)                                               \
    if (work->source == CUDA_##line_source && work->index == line_index && work->vector == line_vector) \
        function = gpu->function[KERNEL_##line_source##_##line_index##_##line_vector];
#include "../kernels/cuda_kernels.def"
#undef CUDA_KERNEL
    return function;
}
