/* SPDX-License-Identifier: MIT */
/* Compares onnxruntime/abi.def with the runtime's own header, while compiling. There is nothing to run. */
#include <onnxruntime_c_api.h>
#include <stddef.h>

#define FUNCTION(table, place, result, name, ...) \
    _Static_assert(offsetof(table, name) == (place) * sizeof(void *), #table "." #name);
#include "abi.def"
#undef FUNCTION

#define FIELD(type, name, offset) _Static_assert(offsetof(type, name) == (offset), #type "." #name);
#include "abi.def"
#undef FIELD

_Static_assert(ORT_FAIL == 1 && ORT_INVALID_ARGUMENT == 2, "codes of a status");
_Static_assert(OrtHardwareDeviceType_CPU == 0, "types of devices");
_Static_assert(ORT_OP_ATTR_INT == 1, "types of attributes");
_Static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING == 8 && ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 == 6 &&
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 == 7 && ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2 == 24 &&
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2 == 25,
               "element types");

/* A file must declare something. */
extern int garner_onnxruntime_header;
