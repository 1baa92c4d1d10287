/* SPDX-License-Identifier: MIT */
/* Memory of a device for programs that know no other way to it. */
#include "../../error.h"
#include "garner_cuda.h"
#include "gpu.h"

static garner_status allocate(void **memory, const struct gpu *gpu, uint64_t bytes, garner_error *error)
{
    uint64_t address = 0;
    bool pushed;
    RETURN_NOT_OK(garner_gpu_enter(gpu, &pushed, error));
    const int result = gpu->driver->cuMemAlloc_v2(&address, bytes ? (size_t)bytes : 1);
    garner_gpu_leave(gpu, pushed);
    if (result == DRIVER_NO_MEMORY)
        return garner_fail(error, GARNER_NO_MEMORY, "cuda: device %d has no memory for %llu bytes",
                           gpu->number, (unsigned long long)bytes);
    if (result != 0) return garner_driver_fail(gpu->driver, result, "memory of the device", error);
    *memory = (void *)(uintptr_t)address;
    return GARNER_OK;
}

garner_status garner_cuda_allocate(void **memory, int device, uint64_t bytes, garner_error *error)
{
    garner_error spare;
    const struct gpu *gpu;
    error = error_begin(error, &spare);
    if (memory == NULL)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_allocate: memory is NULL");
    *memory = NULL;
    RETURN_NOT_OK(garner_gpu_get(&gpu, device, error));
    return allocate(memory, gpu, bytes, error);
}

void garner_cuda_free(void *memory)
{
    garner_error ignored;
    const struct driver *driver;
    const struct gpu *gpu;
    bool pushed;
    if (memory == NULL || garner_driver_load(&driver, &ignored) != GARNER_OK) return;
    const int device = garner_driver_device_of(driver, memory);
    if (device < 0 || garner_gpu_get(&gpu, device, &ignored) != GARNER_OK) return;
    if (garner_gpu_enter(gpu, &pushed, &ignored) != GARNER_OK) return;
    driver->cuMemFree_v2((uintptr_t)memory);
    garner_gpu_leave(gpu, pushed);
}

garner_status garner_cuda_copy(void *to, const void *from, uint64_t bytes, struct CUstream_st *stream,
                               garner_error *error)
{
    garner_error spare;
    const struct driver *driver;
    const struct gpu *gpu;
    bool pushed;
    error = error_begin(error, &spare);
    if (bytes == 0) return GARNER_OK;
    RETURN_NOT_OK(garner_driver_load(&driver, error));
    if (to == NULL || from == NULL)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_copy: a pointer is NULL");
    const int there = garner_driver_device_of(driver, to), here = garner_driver_device_of(driver, from);
    if (there < 0 && here < 0)
        return garner_fail(error, GARNER_BAD_ARGUMENT,
                           "garner_cuda_copy: neither pointer is memory of a device");
    RETURN_NOT_OK(garner_gpu_get(&gpu, there < 0 ? here : there, error));
    RETURN_NOT_OK(garner_gpu_enter(gpu, &pushed, error));
    int result = driver->cuMemcpyAsync((uintptr_t)to, (uintptr_t)from, (size_t)bytes, stream);
    if (result == 0 && (there < 0 || here < 0)) result = driver->cuStreamSynchronize(stream);
    garner_gpu_leave(gpu, pushed);
    return result == 0 ? GARNER_OK : garner_driver_fail(driver, result, "copying", error);
}
