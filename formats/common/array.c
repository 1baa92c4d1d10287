/* SPDX-License-Identifier: MIT */
/* Making and releasing arrays: the one place that knows how an array owns its memory. */
#include "array.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "region.h"

int64_t array_count(int32_t rank, const int64_t *shape)
{
    int64_t count = 1;
    int empty = 0, overflow = 0;
    for (int32_t i = 0; i < rank; i++) {
        if (shape[i] < 0) return ARRAY_NEGATIVE_EXTENT;
        empty |= shape[i] == 0;
        overflow |= __builtin_mul_overflow(count, shape[i], &count);
    }
    return empty ? 0 : overflow ? ARRAY_TOO_LARGE : count;
}

static garner_status array_bytes(const char *name, garner_dtype dtype, uint64_t item_bytes, int32_t rank,
                                 const int64_t *shape, int64_t *bytes, garner_error *error)
{
    if (rank < 0 || rank > GARNER_MAX_RANK)
        return fail(error, GARNER_BAD_SHAPE, "%s: rank %d is outside [0, %d]", name, (int)rank,
                    GARNER_MAX_RANK);
    if (rank > 0 && !shape) return fail(error, GARNER_BAD_ARGUMENT, "%s: shape is NULL", name);
    if (!garner_dtype_name(dtype) || (dtype == GARNER_OPAQUE && !item_bytes))
        return fail(error, GARNER_BAD_TYPE, "%s: no element type %d of size %llu", name, (int)dtype,
                    (unsigned long long)item_bytes);
    int64_t count = array_count(rank, shape);
    if (count == ARRAY_NEGATIVE_EXTENT)
        return fail(error, GARNER_BAD_SHAPE, "%s: an extent is negative", name);
    *bytes = count < 0 ? -1 : garner_dtype_bytes(dtype, count, item_bytes);
    if (*bytes < 0) return fail(error, GARNER_TOO_LARGE, "%s: the size does not fit in 63 bits", name);
    return GARNER_OK;
}

garner_status array_create(struct array *array, const char *name, garner_dtype dtype, uint64_t item_bytes,
                           int32_t rank, const int64_t *shape, garner_error *error)
{
    int64_t bytes = 0;
    memset(array, 0, sizeof *array);
    garner_status status = array_bytes(name, dtype, item_bytes, rank, shape, &bytes, error);
    if (status) return status;
    /* uncovered: only on 32-bit machines, which tests/cross has */
    array->memory = (uint64_t)bytes > SIZE_MAX ? NULL : calloc(1, bytes ? (size_t)bytes : 1);
    if (!array->memory) return fail_memory(error, name, (uint64_t)bytes);
    if (rank) memcpy(array->shape, shape, (size_t)rank * sizeof *shape);
    array->tensor = (garner_tensor){.data = array->memory,
                                    .shape = array->shape,
                                    .rank = rank,
                                    .dtype = dtype,
                                    .bytes = (uint64_t)bytes,
                                    .item_bytes = dtype == GARNER_OPAQUE ? item_bytes : 0};
    return succeed(error);
}

void array_free(struct array *array)
{
    free(array->memory);
    free(array->descr);
    region_drop(array->region);
    memset(array, 0, sizeof *array);
}
