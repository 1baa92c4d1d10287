/* SPDX-License-Identifier: MIT */
/*
 * Writes a tensor as TensorProto, with its fields in the order and form in which the onnx package writes
 * them: the same tensor gives the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "elements.h"
#include "fail.h"
#include "file.h"
#include "onnx_tensor.h"

/* Tags: field number and wire type. */
enum { DIM = 0x08, DATA_TYPE = 0x10, STRING = 0x32, NAME = 0x42, RAW = 0x4a, LONGEST_VARINT = 10 };

struct content {
    const garner_tensor *tensor;
    const char *name;
    uint64_t bytes;
    struct sink *sink;
};

static garner_status write_varint(struct sink *sink, unsigned tag, uint64_t value, garner_error *error)
{
    unsigned char bytes[1 + LONGEST_VARINT] = {(unsigned char)tag};
    size_t size = 1;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    return sink_write(sink, bytes, size, error);
}

static garner_status write_header(const struct content *content, struct sink *sink, garner_error *error)
{
    const garner_tensor *tensor = content->tensor;
    garner_status status = GARNER_OK;
    for (int32_t i = 0; i < tensor->rank && !status; i++)
        status = write_varint(sink, DIM, (uint64_t)tensor->shape[i], error);
    return status ? status : write_varint(sink, DATA_TYPE, (uint64_t)tensor->dtype, error);
}

static garner_status write_name(const struct content *content, struct sink *sink, garner_error *error)
{
    size_t size = content->name ? strlen(content->name) : 0;
    if (!size) return GARNER_OK;
    garner_status status = write_varint(sink, NAME, size, error);
    return status ? status : sink_write(sink, content->name, size, error);
}

static garner_status take_bytes(void *context, const void *bytes, size_t size, garner_error *error)
{
    const struct content *content = context;
    return sink_write(content->sink, bytes, size, error);
}

static garner_status take_strings(void *context, const void *bytes, size_t size, garner_error *error)
{
    const struct content *content = context;
    garner_status status = GARNER_OK;
    for (size_t at = 0; at + sizeof(garner_string) <= size && !status; at += sizeof(garner_string)) {
        garner_string string;
        memcpy(&string, (const char *)bytes + at, sizeof string);
        status = write_varint(content->sink, STRING, string.size, error);
        if (!status && string.size)
            status = sink_write(content->sink, string.bytes, (size_t)string.size, error);
    }
    return status;
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    struct content *content = context;
    const garner_tensor *tensor = content->tensor;
    int strings = tensor->dtype == GARNER_STR;
    content->sink = sink;
    garner_status status = write_header(content, sink, error);
    if (!status && strings) status = elements_walk(tensor, 0, take_strings, content, error);
    if (!status) status = write_name(content, sink, error);
    if (status || strings) return status;
    status = write_varint(sink, RAW, content->bytes, error);
    unsigned swap = byteorder_swap(tensor->dtype);
    return status ? status : elements_walk(tensor, swap, take_bytes, content, error);
}

garner_status onnx_tensor_save(const char *path, const char *name, const garner_tensor *tensor,
                               garner_error *error)
{
    struct content content = {.tensor = tensor, .name = name};
    garner_status status = elements_bytes(tensor, path, &content.bytes, error);
    if (status) return status;
    if (tensor->dtype > GARNER_I2)
        return fail_at(error, GARNER_UNSUPPORTED, path, "ONNX has no type for %s elements",
                       garner_dtype_name(tensor->dtype));
    return file_save(path, produce, &content, error);
}
