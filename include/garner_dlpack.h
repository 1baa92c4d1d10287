/* SPDX-License-Identifier: MIT */
/*
 * Between DLPack's tensors and garner's. Header only: include dlpack.h first, then this.
 *
 *     garner_tensor data;
 *     if (garner_from_dlpack(&data, &managed->dl_tensor, &error) != GARNER_OK) ...
 *     garner_gather(&data, &indices, 0, &out, &error);
 *
 * Nothing is copied and nothing is owned: shape and strides stay where they are, so the one struct is
 * valid as long as the other. Types that one side lacks are GARNER_BAD_TYPE with a sentence.
 */
#ifndef GARNER_DLPACK_H
#define GARNER_DLPACK_H

#include <stdarg.h>
#include <stdio.h>

#include "garner.h"

#ifndef DLPACK_MAJOR_VERSION
#error "include dlpack.h before garner_dlpack.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One line for each element type that both sides have; the numbers are those of DLPack 1.1, so that an
 * older dlpack.h, which lacks the names of the later ones, will do. */
typedef struct garner_dlpack_type {
    garner_dtype dtype;
    uint8_t code, bits;
} garner_dlpack_type;

static const garner_dlpack_type garner_dlpack_types[] = {
    {GARNER_I8, 0, 8},          {GARNER_I16, 0, 16},    {GARNER_I32, 0, 32},        {GARNER_I64, 0, 64},
    {GARNER_U8, 1, 8},          {GARNER_U16, 1, 16},    {GARNER_U32, 1, 32},        {GARNER_U64, 1, 64},
    {GARNER_F16, 2, 16},        {GARNER_F32, 2, 32},    {GARNER_F64, 2, 64},        {GARNER_BF16, 4, 16},
    {GARNER_C64, 5, 64},        {GARNER_C128, 5, 128},  {GARNER_BOOL, 6, 8},        {GARNER_I4, 0, 4},
    {GARNER_U4, 1, 4},          {GARNER_I2, 0, 2},      {GARNER_U2, 1, 2},          {GARNER_F8E4M3FN, 10, 8},
    {GARNER_F8E4M3FNUZ, 11, 8}, {GARNER_F8E5M2, 12, 8}, {GARNER_F8E5M2FNUZ, 13, 8}, {GARNER_F8E8M0, 14, 8},
    {GARNER_F4E2M1, 17, 4},
};

enum { GARNER_DLPACK_TYPES = sizeof garner_dlpack_types / sizeof garner_dlpack_types[0] };

/* Devices whose memory the CPU can read, the type of pointers, and the last type that is known to hold
 * values, by the same numbers. */
enum {
    GARNER_DLPACK_CPU = 1,
    GARNER_DLPACK_CUDA_HOST = 3,
    GARNER_DLPACK_ROCM_HOST = 11,
    GARNER_DLPACK_HANDLE = 3,
    GARNER_DLPACK_LAST = 17
};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline garner_status
garner_dlpack_fail(garner_error *error, garner_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        error->has = 0;
        (void)vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

static inline garner_status garner_dlpack_succeed(garner_error *error)
{
    if (error) {
        error->status = GARNER_OK;
        error->has = 0;
        error->message[0] = '\0';
    }
    return GARNER_OK;
}

/* The garner type of a DLPack one, or 0. */
static inline garner_dtype garner_dtype_from_dlpack(DLDataType type)
{
    for (int i = 0; i < GARNER_DLPACK_TYPES && type.lanes == 1; i++)
        if (garner_dlpack_types[i].code == type.code && garner_dlpack_types[i].bits == type.bits)
            return garner_dlpack_types[i].dtype;
    return 0;
}

/* The DLPack type of a garner one; its lanes are 0 if there is none. */
static inline DLDataType garner_dtype_to_dlpack(garner_dtype dtype)
{
    DLDataType type = {0, 0, 0};
    for (int i = 0; i < GARNER_DLPACK_TYPES; i++)
        if (garner_dlpack_types[i].dtype == dtype) {
            type.code = garner_dlpack_types[i].code;
            type.bits = garner_dlpack_types[i].bits;
            type.lanes = 1;
        }
    return type;
}

/*
 * Describes a DLPack tensor on the CPU as a garner tensor. A type of DLPack 1.1 that garner does not have but
 * whose elements are whole bytes becomes GARNER_OPAQUE; one whose code is unknown is refused, since it may
 * mean anything. Ranks, extents, strides and byte_offset are checked later, by the gather.
 */
static inline garner_status garner_from_dlpack(garner_tensor *tensor, const DLTensor *given,
                                               garner_error *error)
{
    int device = (int)given->device.device_type;
    DLDataType type = given->dtype;
    if (device != GARNER_DLPACK_CPU && device != GARNER_DLPACK_CUDA_HOST && device != GARNER_DLPACK_ROCM_HOST)
        return garner_dlpack_fail(error, GARNER_BAD_TYPE,
                                  "DLPack: the tensor is on device type %d, number %d; it must be in the "
                                  "CPU's memory",
                                  device, (int)given->device.device_id);
    garner_dtype dtype = garner_dtype_from_dlpack(type);
    int whole = type.lanes == 1 && type.bits > 0 && type.bits % 8 == 0 && type.code <= GARNER_DLPACK_LAST &&
                type.code != GARNER_DLPACK_HANDLE;
    if (dtype == 0 && !whole)
        return garner_dlpack_fail(error, GARNER_BAD_TYPE,
                                  "DLPack: type code %d of %d bits and %d lanes is not one of garner's",
                                  type.code, type.bits, type.lanes);
    tensor->data = given->data;
    tensor->shape = given->shape;
    tensor->strides = given->strides;
    tensor->rank = given->ndim;
    tensor->dtype = dtype ? dtype : GARNER_OPAQUE;
    tensor->bytes = 0;
    tensor->item_bytes = dtype ? 0 : type.bits / 8u;
    tensor->byte_offset = given->byte_offset;
    return garner_dlpack_succeed(error);
}

/* Describes a garner tensor as a DLPack one on the CPU. */
static inline garner_status garner_to_dlpack(DLTensor *made, const garner_tensor *tensor, garner_error *error)
{
    DLDataType type = garner_dtype_to_dlpack(tensor->dtype);
    if (type.lanes == 0)
        return garner_dlpack_fail(error, GARNER_BAD_TYPE, "DLPack: it has no type for garner's number %d",
                                  (int)tensor->dtype);
    made->data = tensor->data;
    made->device.device_type = kDLCPU;
    made->device.device_id = 0;
    made->ndim = tensor->rank;
    made->dtype = type;
    made->shape = (int64_t *)(uintptr_t)tensor->shape;
    made->strides = (int64_t *)(uintptr_t)tensor->strides;
    made->byte_offset = tensor->byte_offset;
    return garner_dlpack_succeed(error);
}

#ifdef __cplusplus
}
#endif

#endif /* GARNER_DLPACK_H */
