/* SPDX-License-Identifier: MIT */
/*
 * From the fields of a TensorProto to elements. What lies in the file as it lies in memory is used where
 * it is; numbers written as varints, strings and, on big-endian machines, everything else is decoded.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "onnx_field.h"
#include "open_beneath.h"
#include "region.h"

/* ---- Numbers ---- */

struct decoder {
    const struct onnx_tensor *tensor;
    const struct wire_file *file;
    unsigned char *at;
    uint64_t left, done; /* numbers */
    unsigned bytes;      /* that each becomes */
};

static garner_status too_many(const struct decoder *d)
{
    return onnx_tensor_fail(d->tensor, d->file, GARNER_BAD_FILE, "%s holds more than its shape asks for",
                            onnx_field_name(d->tensor->field.number));
}

/* Whether a number of int32_data or uint64_data fits; bool is whatever is not 0. */
static int fits(garner_dtype dtype, uint64_t *value)
{
    int64_t number = (int32_t)(uint32_t)*value;
    int bits = garner_dtype_bits(dtype);
    switch (dtype) {
    case GARNER_U32:
        return *value <= UINT32_MAX;
    case GARNER_I8:
    case GARNER_I16:
        return number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1) << (bits - 1);
    case GARNER_BOOL:
        *value = number != 0;
        return 1;
    default:
        return bits > 16 || (number >= 0 && number < INT64_C(1) << (bits < 8 ? 8 : bits));
    }
}

static garner_status put_number(struct decoder *d, uint64_t value)
{
    if (!d->left) return too_many(d);
    if (!fits(d->tensor->dtype, &value))
        return onnx_tensor_fail(d->tensor, d->file, GARNER_BAD_FILE, "number %llu of %s does not fit in %s",
                                (unsigned long long)d->done, onnx_field_name(d->tensor->field.number),
                                garner_dtype_name(d->tensor->dtype));
    uint8_t one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    memcpy(d->at,
           d->bytes == 1   ? (const void *)&one
           : d->bytes == 2 ? (const void *)&two
           : d->bytes == 4 ? (const void *)&four
                           : (const void *)&value,
           d->bytes);
    d->at += d->bytes;
    d->left--;
    d->done++;
    return GARNER_OK;
}

static garner_status put_string(struct decoder *d, struct wire_span span)
{
    garner_string string = {.address = 0};
    if (!d->left) return too_many(d);
    string.bytes = (const char *)span.bytes;
    string.size = span.size;
    memcpy(d->at, &string, sizeof string);
    d->at += sizeof string;
    d->left--;
    d->done++;
    return GARNER_OK;
}

static garner_status put_field(struct decoder *d, struct wire_field *field)
{
    enum wire_type type = onnx_field_type(field->number);
    uint64_t value;
    int more = 0;
    if (type == WIRE_BYTES) return field->type == WIRE_BYTES ? put_string(d, field->span) : GARNER_OK;
    if (field->type == type) return put_number(d, field->value);
    if (field->type != WIRE_BYTES) return GARNER_OK;
    while ((more = wire_next_packed(d->file, &field->span, type, &value)) > 0) {
        garner_status status = put_number(d, value);
        if (status) return status;
    }
    return more < 0 ? GARNER_BAD_FILE : GARNER_OK;
}

static garner_status decode_fields(struct decoder *d)
{
    struct wire_span message = d->tensor->message;
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0;
    while (!status && (more = wire_next(d->file, &message, &field)) > 0)
        if (field.number == d->tensor->field.number) status = put_field(d, &field);
    if (more < 0) return GARNER_BAD_FILE;
    if (!status && d->left)
        status = onnx_tensor_fail(d->tensor, d->file, GARNER_BAD_FILE,
                                  "%s holds %llu numbers, and its shape asks for %llu",
                                  onnx_field_name(d->tensor->field.number), (unsigned long long)d->done,
                                  (unsigned long long)d->done + d->left);
    return status;
}

static garner_status decode(const struct onnx_tensor *tensor, const struct wire_file *file, void **memory)
{
    struct decoder d = {.tensor = tensor, .file = file, .bytes = onnx_number_bytes(tensor->dtype)};
    /* uncovered: only on 32-bit machines, which tests/cross has */
    *memory = tensor->bytes < SIZE_MAX ? malloc(tensor->bytes ? (size_t)tensor->bytes : 1) : NULL;
    if (!*memory) return fail_memory(file->error, file->path, tensor->bytes);
    d.at = *memory;
    d.left = tensor->bytes / d.bytes;
    garner_status status = decode_fields(&d);
    if (status) {
        free(*memory);
        *memory = NULL;
    }
    return status;
}

/* ---- Where the elements lie ---- */

/* Little-endian bytes, as they lie or turned round. */
static garner_status use_bytes(const struct onnx_tensor *tensor, const struct wire_file *file,
                               const unsigned char *bytes, const void **data, void **memory)
{
    unsigned swap = byteorder_swap(tensor->dtype);
    *data = bytes;
    /* uncovered: only on big-endian machines, which tests/cross has */
    if (!swap || !tensor->bytes) return GARNER_OK;
    /* uncovered: only on big-endian machines, which tests/cross has */
    *memory = tensor->bytes < SIZE_MAX ? malloc((size_t)tensor->bytes) : NULL;
    if (!*memory) return fail_memory(file->error, file->path, tensor->bytes);
    memcpy(*memory, bytes, (size_t)tensor->bytes); /* analysis: a tensor that has bytes has them here */
    byteorder_reverse(*memory, (size_t)tensor->bytes, swap);
    *data = *memory;
    return GARNER_OK;
}

garner_status onnx_tensor_check_external(const struct onnx_tensor *tensor, const struct wire_file *file,
                                         uint64_t size)
{
    if (tensor->offset <= size && tensor->bytes <= size - tensor->offset) return GARNER_OK;
    return onnx_tensor_fail(tensor, file, GARNER_BAD_FILE,
                            "its %llu bytes at offset %llu reach past the end of external data of %llu bytes",
                            (unsigned long long)tensor->bytes, (unsigned long long)tensor->offset,
                            (unsigned long long)size);
}

static garner_status use_external(const struct onnx_tensor *tensor, const struct wire_file *file,
                                  onnx_opener *opener, void *context, const void **data, void **memory)
{
    const unsigned char *bytes = NULL;
    uint64_t size = 0;
    garner_status status = opener(context, tensor->location, &bytes, &size, file->error);
    if (!status) status = onnx_tensor_check_external(tensor, file, size);
    if (status) return status;
    return use_bytes(tensor, file, bytes ? bytes + tensor->offset : NULL, data, memory);
}

const unsigned char *onnx_tensor_bytes(const struct onnx_tensor *tensor)
{
    const struct onnx_field *field = &tensor->field;
    if (tensor->external || !field->number) return NULL;
    if (field->number == ONNX_RAW) return field->piece.bytes;
    int whole = onnx_field_type(field->number) != WIRE_VARINT && field->number != ONNX_STRINGS &&
                field->packed && field->pieces == 1 && field->piece.size == tensor->bytes;
    return whole ? field->piece.bytes : NULL;
}

garner_status onnx_tensor_load(const struct onnx_tensor *tensor, const struct wire_file *file,
                               onnx_opener *opener, void *context, const void **data, void **memory)
{
    *data = *memory = NULL;
    if (tensor->external) return use_external(tensor, file, opener, context, data, memory);
    if (!tensor->field.number) return GARNER_OK;
    const unsigned char *bytes = onnx_tensor_bytes(tensor);
    if (bytes) return use_bytes(tensor, file, bytes, data, memory);
    garner_status status = decode(tensor, file, memory);
    *data = *memory;
    return status;
}

/* ---- As an array ---- */

struct opened {
    const char *path;
    int follow_links;
    void *mapping;
    size_t size;
};

static garner_status open_one(void *context, struct wire_span location, const unsigned char **bytes,
                              uint64_t *size, garner_error *error)
{
    struct opened *opened = context;
    garner_status status = open_beneath_map(opened->path, (const char *)location.bytes, (size_t)location.size,
                                            opened->follow_links, &opened->mapping, &opened->size, error);
    *bytes = opened->mapping;
    *size = opened->size;
    return status;
}

/* Lets the array hold what was opened for it. */
static garner_status hold(struct array *array, const struct opened *opened, garner_error *error)
{
    if (!opened->mapping) return GARNER_OK;
    array->region = region_create(NULL, opened->mapping, opened->size);
    if (array->region) return GARNER_OK;
    region_unmap(opened->mapping, opened->size);
    return fail_memory(error, opened->path, sizeof *opened);
}

garner_status onnx_tensor_load_array(const struct onnx_tensor *tensor, const struct wire_file *file,
                                     int follow_links, struct array *array)
{
    struct opened opened = {.path = file->path, .follow_links = follow_links};
    const void *data;
    memset(array, 0, sizeof *array);
    garner_status status = onnx_tensor_load(tensor, file, open_one, &opened, &data, &array->memory);
    garner_status held = hold(array, &opened, status ? NULL : file->error);
    if (status || held) {
        array_free(array);
        return status ? status : held;
    }
    memcpy(array->shape, tensor->shape, sizeof array->shape);
    array->tensor = (garner_tensor){.data = (void *)(uintptr_t)data,
                                    .shape = array->shape,
                                    .rank = tensor->rank,
                                    .dtype = tensor->dtype,
                                    .bytes = tensor->bytes};
    return GARNER_OK;
}
