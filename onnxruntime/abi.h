/* SPDX-License-Identifier: MIT */
/*
 * ONNX Runtime as a plug-in sees it: the types by the names of its C interface, the structs that a plug-in
 * fills, and the functions of abi.def as members of one struct. No package carries the runtime's own headers
 * dependably, and of thousands of lines this is what is needed.
 */
#ifndef GARNER_ONNXRUNTIME_ABI_H
#define GARNER_ONNXRUNTIME_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORT_API_VERSION = 24 };                   /* what is used came, at the latest, with 1.24 */
enum { ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2 }; /* codes of an OrtStatus */
enum { ORT_CPU = 0 };                            /* a type of OrtHardwareDevice */
enum { ORT_ATTRIBUTE_INT = 1 };                  /* a type of OrtOpAttr */
enum {
    ORT_STRING = 8,
    ORT_INT32 = 6,
    ORT_INT64 = 7,
    ORT_TYPES = 27
}; /* element types; ORT_TYPES is one beyond the last */

typedef struct OrtAllocator OrtAllocator;
typedef struct OrtDataType OrtDataType;
typedef struct OrtEpApi OrtEpApi;
typedef struct OrtEpDevice OrtEpDevice;
typedef struct OrtEpGraphSupportInfo OrtEpGraphSupportInfo;
typedef struct OrtGraph OrtGraph;
typedef struct OrtHardwareDevice OrtHardwareDevice;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtKernelDef OrtKernelDef;
typedef struct OrtKernelDefBuilder OrtKernelDefBuilder;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelRegistry OrtKernelRegistry;
typedef struct OrtKeyValuePairs OrtKeyValuePairs;
typedef struct OrtLogger OrtLogger;
typedef struct OrtNode OrtNode;
typedef struct OrtOpAttr OrtOpAttr;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtStatus OrtStatus;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtValue OrtValue;
typedef struct OrtValueInfo OrtValueInfo;

/* The door: tables by version (NULL where the runtime is older), and the runtime's version as text. */
typedef struct OrtApiBase {
    const void *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
} OrtApiBase;

/* A kernel: one node of a model. */
typedef struct OrtKernelImpl {
    uint32_t ort_version_supported;
    uint32_t flags;
    OrtStatus *(*Compute)(struct OrtKernelImpl *kernel, OrtKernelContext *context);
    void (*Release)(struct OrtKernelImpl *kernel);
    void *unused[2];
} OrtKernelImpl;

typedef OrtStatus *(*OrtKernelCreateFunc)(void *state, const OrtKernelInfo *info, OrtKernelImpl **kernel);

/* An execution provider: one for each session. */
typedef struct OrtEp {
    uint32_t ort_version_supported;
    const char *(*GetName)(const struct OrtEp *ep);
    OrtStatus *(*GetCapability)(struct OrtEp *ep, const OrtGraph *graph, OrtEpGraphSupportInfo *support);
    void *unused[10];
    OrtStatus *(*GetKernelRegistry)(struct OrtEp *ep, const OrtKernelRegistry **registry);
    OrtStatus *(*IsConcurrentRunSupported)(struct OrtEp *ep, bool *supported);
} OrtEp;

/* What a plug-in library offers: it finds devices and makes execution providers. */
typedef struct OrtEpFactory {
    uint32_t ort_version_supported;
    const char *(*GetName)(const struct OrtEpFactory *factory);
    const char *(*GetVendor)(const struct OrtEpFactory *factory);
    OrtStatus *(*GetSupportedDevices)(struct OrtEpFactory *factory, const OrtHardwareDevice *const *hardware,
                                      size_t hardware_count, OrtEpDevice **devices, size_t room,
                                      size_t *count);
    OrtStatus *(*CreateEp)(struct OrtEpFactory *factory, const OrtHardwareDevice *const *hardware,
                           const OrtKeyValuePairs *const *metadata, size_t count,
                           const OrtSessionOptions *options, const OrtLogger *logger, OrtEp **ep);
    void (*ReleaseEp)(struct OrtEpFactory *factory, OrtEp *ep);
    uint32_t (*GetVendorId)(const struct OrtEpFactory *factory);
    const char *(*GetVersion)(const struct OrtEpFactory *factory);
    void *unused_compatibility_and_allocators[3];
    OrtStatus *(*CreateDataTransfer)(struct OrtEpFactory *factory, void **transfer);
    bool (*IsStreamAware)(const struct OrtEpFactory *factory);
    void *unused[5];
} OrtEpFactory;

#if UINTPTR_MAX > UINT32_MAX
#define FIELD(type, name, offset) _Static_assert(offsetof(type, name) == (offset), #type "." #name);
#include "abi.def"
#undef FIELD
#endif

/* The runtime: its functions, out of their tables, and what was found out about it. */
struct ort {
    bool plain_strings; /* its strings are laid out as ort_strings.h says */
#define FUNCTION(table, place, result, name, ...) result (*name)(__VA_ARGS__);
#include "abi.def"
#undef FUNCTION
};

#endif
