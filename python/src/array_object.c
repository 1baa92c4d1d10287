/* SPDX-License-Identifier: MIT */
/* Making objects of garner.Array, and copying them. */
#include "array_object.h"

#include <stdlib.h>
#include <string.h>

#include "buffer_format.h"
#include "errors.h"
#include "operand.h"

static void fill_numbers(struct array_object *made, const garner_tensor *tensor, int64_t item)
{
    int32_t rank = tensor->rank;
    int64_t *shape = made->numbers, *strides = shape + rank;
    made->buffer_shape = (Py_ssize_t *)(void *)(strides + rank);
    made->buffer_strides = made->buffer_shape + rank;
    dense_strides(rank, tensor->shape, 1, strides);
    for (int32_t i = 0; i < rank; i++) {
        shape[i] = tensor->shape[i];
        if (tensor->strides) strides[i] = tensor->strides[i];
        made->buffer_shape[i] = (Py_ssize_t)shape[i];
        if (made->count == 0) strides[i] = 0; /* of extents without elements any product may be too large */
        made->buffer_strides[i] = (Py_ssize_t)(strides[i] * item);
    }
    made->tensor.shape = shape;
    made->tensor.strides = strides;
}

struct array_object *array_object_new(struct state *state, struct counted_memory *block,
                                      const garner_tensor *tensor, const char *format, const char *descr,
                                      bool writable)
{
    size_t words = strlen(format ? format : "") + 1, more = strlen(descr ? descr : "") + 1;
    size_t extra = (size_t)tensor->rank * 2 * (sizeof(int64_t) + sizeof(Py_ssize_t)) + words + more;
    struct array_object *made = PyObject_Malloc(sizeof *made + extra);
    if (made == NULL) {
        counted_memory_drop(block);
        PyErr_NoMemory();
        return NULL;
    }
    PyObject_Init((PyObject *)made, state->array_type);
    int64_t item = tensor->dtype == GARNER_OPAQUE ? (int64_t)tensor->item_bytes
                                                  : (garner_dtype_bits(tensor->dtype) + 7) / 8;
    made->weak_references = NULL;
    made->block = block;
    made->tensor = *tensor;
    made->count = count_elements(tensor->rank, tensor->shape);
    made->bytes = garner_dtype_bytes(tensor->dtype, made->count, tensor->item_bytes);
    made->writable = writable;
    made->dlpack_type = (DLDataType){0, 0, 0};
    fill_numbers(made, tensor, item);
    char *text = (char *)(made->buffer_strides + tensor->rank);
    made->format = format_of_type(tensor->dtype);
    if (format) made->format = memcpy(text, format, words);
    made->descr = descr ? memcpy(text + words, descr, more) : NULL;
    return made;
}

struct array_object *array_object_allocate(struct state *state, const garner_shape *shape, const char *format,
                                           const char *descr)
{
    struct counted_memory *block = counted_memory_allocate((size_t)shape->bytes);
    if (block == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    garner_tensor tensor = {.data = block->memory,
                            .shape = shape->extents,
                            .rank = shape->rank,
                            .dtype = shape->dtype,
                            .bytes = (uint64_t)shape->bytes,
                            .item_bytes = shape->item_bytes};
    return array_object_new(state, block, &tensor, format, descr, true);
}

bool array_object_is_dense(const struct array_object *array)
{
    int64_t stride = 1;
    for (int32_t i = array->tensor.rank - 1; i >= 0 && array->count > 0; i--) {
        if (array->tensor.shape[i] != 1 && array->tensor.strides[i] != stride) return false;
        stride *= array->tensor.shape[i];
    }
    return true;
}

bool array_object_own_strings(struct array_object *array)
{
    garner_string *views = array->tensor.data;
    uint64_t bytes = 0;
    for (int64_t i = 0; i < array->count; i++)
        if (__builtin_add_overflow(bytes, views[i].size, &bytes)) bytes = UINT64_MAX;
    char *text = bytes < PTRDIFF_MAX ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (text == NULL) {
        PyErr_NoMemory();
        return false;
    }
    array->block->context = text;
    for (int64_t i = 0; i < array->count; i++) {
        if (views[i].size) memcpy(text, views[i].bytes, (size_t)views[i].size);
        views[i] = (garner_string){.bytes = text, .size = views[i].size};
        text += views[i].size;
    }
    return true;
}

/* Copies the elements of one Array into another, which is dense. */
static bool copy_array(struct state *state, struct array_object *made, const struct array_object *array)
{
    const garner_tensor *tensor = &array->tensor;
    if (array->count == 0) return true; /* it may have no memory */
    const char *from = (const char *)tensor->data + tensor->byte_offset;
    garner_error error = {.status = GARNER_OK};
    if (array_object_is_dense(array)) {
        memcpy(made->tensor.data, from, (size_t)array->bytes);
        return true;
    }
    int64_t to_strides[GARNER_MAX_RANK], from_strides[GARNER_MAX_RANK];
    for (int32_t i = 0; i < tensor->rank; i++) {
        to_strides[i] = made->buffer_strides[i];
        from_strides[i] = array->buffer_strides[i];
    }
    int64_t item = tensor->rank > 0 ? made->buffer_strides[tensor->rank - 1] : 1;
    if (copy_elements(made->tensor.data, to_strides, from, from_strides, tensor->rank, tensor->shape, item,
                      NULL, &error) == GARNER_OK)
        return true;
    if (!PyErr_Occurred()) raise_record(state, &error);
    return false;
}

struct array_object *array_object_copy(struct state *state, const struct array_object *array)
{
    const garner_tensor *tensor = &array->tensor;
    garner_shape shape = {.rank = tensor->rank,
                          .dtype = tensor->dtype,
                          .item_bytes = tensor->item_bytes,
                          .count = array->count,
                          .bytes = array->bytes};
    for (int32_t i = 0; i < tensor->rank; i++)
        shape.extents[i] = tensor->shape[i];
    struct array_object *made = array_object_allocate(state, &shape, array->format, array->descr);
    if (made == NULL) return NULL;
    made->dlpack_type = array->dlpack_type;
    if (copy_array(state, made, array) && (tensor->dtype != GARNER_STR || array_object_own_strings(made)))
        return made;
    Py_DECREF((PyObject *)made);
    return NULL;
}
