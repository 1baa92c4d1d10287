/* SPDX-License-Identifier: MIT */
/* Reads type, shape and place of the runtime's tensors. */
#include "ort_operand.h"

OrtStatus *ort_operand_read(const struct ort *ort, const OrtValue *value, garner_tensor *tensor)
{
    int type;
    size_t rank;
    *tensor = (garner_tensor){0};
    RETURN_FAILURE(ort->GetTensorElementTypeAndShapeDataReference(value, &type, &tensor->shape, &rank));
    tensor->dtype = ort_dtype(type);
    tensor->rank =
        rank <= GARNER_MAX_RANK ? (int32_t)rank : GARNER_MAX_RANK + 1; /* which garner refuses in words */
    if (type == ORT_STRING) return NULL;
    const void *data;
    RETURN_FAILURE(ort->GetTensorData(value, &data));
    tensor->data = (void *)(uintptr_t)data;
    return NULL;
}

bool ort_operand_expect(const struct ort *ort, const OrtTypeInfo *type, garner_tensor *tensor,
                        int64_t extents[GARNER_MAX_RANK])
{
    const OrtTensorTypeAndShapeInfo *info = NULL;
    int element;
    size_t rank;
    if (ort_failed(ort, ort->CastTypeInfoToTensorInfo(type, &info)) || info == NULL) return false;
    if (ort_failed(ort, ort->GetTensorElementType(info, &element)) ||
        ort_failed(ort, ort->GetDimensionsCount(info, &rank)) || rank > GARNER_MAX_RANK ||
        ort_failed(ort, ort->GetDimensions(info, extents, rank)))
        return false;
    *tensor = (garner_tensor){.shape = extents, .rank = (int32_t)rank, .dtype = ort_dtype(element)};
    return tensor->dtype != 0;
}

bool ort_operand_foresee(const struct ort *ort, const OrtTypeInfo *type, garner_tensor *tensor,
                         int64_t extents[GARNER_MAX_RANK])
{
    if (!ort_operand_expect(ort, type, tensor, extents)) return false;
    for (int32_t d = 0; d < tensor->rank; d++)
        if (extents[d] < 0) return false;
    return true;
}
