/* SPDX-License-Identifier: MIT */
/* What there is, for those who ask. */
#include <string.h>

#include "../../error.h"
#include "garner_cuda.h"
#include "gpu.h"

garner_status garner_cuda_devices(int *count, garner_error *error)
{
    garner_error spare;
    const struct driver *driver;
    error = error_begin(error, &spare);
    if (count == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_devices: count is NULL");
    *count = 0;
    RETURN_NOT_OK(garner_driver_load(&driver, error));
    const int result = driver->cuDeviceGetCount(count);
    if (result != 0) return garner_driver_fail(driver, result, "counting devices", error);
    return *count > 0 ? GARNER_OK : garner_fail(error, GARNER_SYSTEM, "cuda: the driver knows of no device");
}

static garner_status describe(garner_cuda_device *info, const struct driver *driver, int number,
                              garner_error *error)
{
    struct cuda_profile profile;
    int device;
    size_t memory = 0;
    RETURN_NOT_OK(garner_gpu_profile(driver, number, &profile, error));
    *info = (garner_cuda_device){.size = sizeof *info,
                                 .major = profile.capability / 10,
                                 .minor = profile.capability % 10,
                                 .multiprocessors = (int32_t)profile.multiprocessors,
                                 .measured = profile.measured,
                                 .l2 = (uint64_t)profile.l2,
                                 .shared = (uint64_t)profile.shared,
                                 .profile = profile.name,
                                 .profile_for = profile.devices};
    int result = driver->cuDeviceGet(&device, number);
    if (result == 0) result = driver->cuDeviceGetName(info->name, (int)sizeof info->name, device);
    if (result == 0) result = driver->cuDeviceTotalMem_v2(&memory, device);
    if (result == 0) result = driver->cuDriverGetVersion(&info->driver);
    info->memory = memory;
    return result == 0 ? GARNER_OK : garner_driver_fail(driver, result, "the device", error);
}

garner_status garner_cuda_device_info(int device, garner_cuda_device *info, garner_error *error)
{
    garner_error spare;
    const struct driver *driver;
    int count;
    error = error_begin(error, &spare);
    if (info == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_device_info: info is NULL");
    if (info->size != sizeof *info)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_device_info: size %u is not %zu",
                           info->size, sizeof *info);
    RETURN_NOT_OK(garner_cuda_devices(&count, error));
    if (device < 0 || device >= count)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "cuda: device %d is not among the %d that there are",
                           device, count);
    RETURN_NOT_OK(garner_driver_load(&driver, error));
    return describe(info, driver, device, error);
}
