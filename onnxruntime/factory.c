/* SPDX-License-Identifier: MIT */
/*
 * The plug-in's two doors, by the names that ONNX Runtime looks for. A factory belongs to the runtime that
 * loaded it and holds all there is: there are no globals, so that two runtimes may share one process.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "ort_strings.h"
#include "provider.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT OrtStatus *CreateEpFactories(const char *registered_name, const OrtApiBase *base,
                                    const OrtLogger *logger, OrtEpFactory **factories, size_t room,
                                    size_t *count);
EXPORT OrtStatus *ReleaseEpFactory(OrtEpFactory *factory);

struct factory {
    OrtEpFactory base; /* first: the runtime knows no other part */
    struct ort ort;
    struct registry registry;
    atomic_int users; /* the runtime, and the providers that it has not released */
};

/* A program may take the plug-in back before its sessions are gone; the last who leaves puts out the light.
 */
static void leave(struct factory *factory)
{
    if (atomic_fetch_sub(&factory->users, 1) > 1) return;
    registry_close(&factory->registry, &factory->ort);
    free(factory);
}

static const char *get_name(const OrtEpFactory *factory)
{
    (void)factory;
    return EP_NAME;
}

static const char *get_vendor(const OrtEpFactory *factory)
{
    (void)factory;
    return "garner";
}

static uint32_t get_vendor_id(const OrtEpFactory *factory)
{
    (void)factory;
    return 0;
}

static const char *get_version(const OrtEpFactory *factory)
{
    (void)factory;
    return garner_version();
}

static bool is_stream_aware(const OrtEpFactory *factory)
{
    (void)factory;
    return false;
}

/* Memory is the CPU's and needs no transfer. */
static OrtStatus *create_data_transfer(OrtEpFactory *factory, void **transfer)
{
    (void)factory;
    *transfer = NULL;
    return NULL;
}

static OrtStatus *get_supported_devices(OrtEpFactory *base, const OrtHardwareDevice *const *hardware,
                                        size_t hardware_count, OrtEpDevice **devices, size_t room,
                                        size_t *count)
{
    const struct ort *ort = &((struct factory *)base)->ort;
    *count = 0;
    for (size_t i = 0; i < hardware_count && *count < room; i++)
        if (ort->HardwareDevice_Type(hardware[i]) == ORT_CPU) {
            RETURN_FAILURE(ort->CreateEpDevice(base, hardware[i], NULL, NULL, &devices[*count]));
            ++*count;
        }
    return NULL;
}

static OrtStatus *create_ep(OrtEpFactory *base, const OrtHardwareDevice *const *hardware,
                            const OrtKeyValuePairs *const *metadata, size_t count,
                            const OrtSessionOptions *options, const OrtLogger *logger, OrtEp **ep)
{
    struct factory *factory = (struct factory *)base;
    (void)hardware, (void)metadata, (void)count, (void)logger;
    RETURN_FAILURE(provider_create(&factory->ort, &factory->registry, options, ep));
    atomic_fetch_add(&factory->users, 1);
    return NULL;
}

static void release_ep(OrtEpFactory *factory, OrtEp *ep)
{
    provider_release(ep);
    leave((struct factory *)factory);
}

static const OrtEpFactory functions = {
    .ort_version_supported = ORT_API_VERSION,
    .GetName = get_name,
    .GetVendor = get_vendor,
    .GetSupportedDevices = get_supported_devices,
    .CreateEp = create_ep,
    .ReleaseEp = release_ep,
    .GetVendorId = get_vendor_id,
    .GetVersion = get_version,
    .CreateDataTransfer = create_data_transfer,
    .IsStreamAware = is_stream_aware,
};

OrtStatus *ReleaseEpFactory(OrtEpFactory *base)
{
    if (base) leave((struct factory *)base);
    return NULL;
}

OrtStatus *CreateEpFactories(const char *registered_name, const OrtApiBase *base, const OrtLogger *logger,
                             OrtEpFactory **factories, size_t room, size_t *count)
{
    struct ort ort;
    (void)registered_name, (void)logger;
    *count = 0;
    RETURN_FAILURE(ort_open(&ort, base));
    if (room < 1)
        return ort.CreateStatus(ORT_INVALID_ARGUMENT, EP_NAME ": there is no room for its one factory");
    struct factory *factory = calloc(1, sizeof *factory);
    if (factory == NULL) return ort_no_memory(&ort);
    factory->base = functions;
    factory->ort = ort;
    atomic_init(&factory->users, 1);
    factory->ort.plain_strings = ort_strings_are_plain(&ort);
    OrtStatus *status = registry_open(&factory->registry, &factory->ort);
    if (status) {
        ReleaseEpFactory(&factory->base);
        return status;
    }
    factories[0] = &factory->base;
    *count = 1;
    return NULL;
}
