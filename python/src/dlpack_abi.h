/* SPDX-License-Identifier: MIT */
/*
 * DLPack 1.3's structures, as its specification lays them out in memory: what travels in the capsules of
 * __dlpack__, and the table of functions that a type may offer as __dlpack_c_exchange_api__. Programs that
 * have dlpack.h include that instead; the names are the same.
 */
#ifndef GARNER_PYTHON_DLPACK_ABI_H
#define GARNER_PYTHON_DLPACK_ABI_H

#include <stddef.h>
#include <stdint.h>

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 3

typedef struct {
    uint32_t major, minor;
} DLPackVersion;

typedef enum {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLCUDAManaged = 13,
    kDLOneAPI = 14
} DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5,
    kDLBool = 6,
    kDLFloat8_e4m3fn = 10,
    kDLFloat8_e4m3fnuz = 11,
    kDLFloat8_e5m2 = 12,
    kDLFloat8_e5m2fnuz = 13,
    kDLFloat8_e8m0fnu = 14,
    kDLFloat4_e2m1fn = 17
} DLDataTypeCode;

typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides; /* strides in elements; NULL: dense */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#define DLPACK_FLAG_BITMASK_READ_ONLY 1UL
#define DLPACK_FLAG_BITMASK_IS_COPIED 2UL
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED 4UL

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

typedef struct DLPackExchangeAPIHeader {
    DLPackVersion version;
    struct DLPackExchangeAPIHeader *prev_api;
} DLPackExchangeAPIHeader;

typedef struct {
    DLPackExchangeAPIHeader header;
    int (*managed_tensor_allocator)(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
                                    void (*set_error)(void *context, const char *kind, const char *message));
    int (*managed_tensor_from_py_object_no_sync)(void *object, DLManagedTensorVersioned **out);
    int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *tensor, void **out);
    int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *out);
    int (*current_work_stream)(DLDeviceType type, int32_t id, void **out);
} DLPackExchangeAPI;

#endif
