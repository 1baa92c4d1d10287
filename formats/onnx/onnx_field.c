/* SPDX-License-Identifier: MIT */
/* The fields of a TensorProto that hold elements. */
#include "onnx_field.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct field_rule {
    uint32_t number;
    const char *name;
    enum wire_type type;
} rules[] = {
    {4, "float_data", WIRE_FIXED32},           {5, "int32_data", WIRE_VARINT},
    {ONNX_STRINGS, "string_data", WIRE_BYTES}, {7, "int64_data", WIRE_VARINT},
    {ONNX_RAW, "raw_data", WIRE_BYTES},        {10, "double_data", WIRE_FIXED64},
    {11, "uint64_data", WIRE_VARINT},
};

static const struct field_rule *find_rule(uint32_t number)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].number == number) return &rules[i];
    return NULL;
}

const char *onnx_field_name(uint32_t number)
{
    const struct field_rule *rule = find_rule(number);
    return rule ? rule->name : NULL;
}

enum wire_type onnx_field_type(uint32_t number)
{
    const struct field_rule *rule = find_rule(number);
    return rule ? rule->type : WIRE_BYTES;
}

uint32_t onnx_field_of_type(garner_dtype dtype)
{
    switch (dtype) {
    case GARNER_F32:
    case GARNER_C64:
        return 4;
    case GARNER_STR:
        return ONNX_STRINGS;
    case GARNER_I64:
        return 7;
    case GARNER_F64:
    case GARNER_C128:
        return 10;
    case GARNER_U32:
    case GARNER_U64:
        return 11;
    default:
        return 5;
    }
}

unsigned onnx_number_bytes(garner_dtype dtype)
{
    int bits = garner_dtype_bits(dtype);
    if (dtype == GARNER_C64 || dtype == GARNER_C128) bits /= 2;
    return bits < 8 ? 1 : (unsigned)bits / 8;
}

garner_status onnx_tensor_fail(const struct onnx_tensor *tensor, const struct wire_file *file,
                               garner_status status, const char *format, ...)
{
    char what[256], name[96], shown[96];
    size_t size = tensor->name.size < sizeof name - 1 ? (size_t)tensor->name.size : sizeof name - 1;
    if (size) memcpy(name, tensor->name.bytes, size);
    name[size] = '\0';
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return fail_at(file->error, status, file->path, "tensor '%s': %s", printable(shown, sizeof shown, name),
                   what);
}

garner_status onnx_check_field(const struct onnx_tensor *tensor, const struct wire_file *file)
{
    const struct onnx_field *field = &tensor->field;
    uint64_t numbers = tensor->bytes / onnx_number_bytes(tensor->dtype);
    if (tensor->external) return GARNER_OK;
    if (!field->number && tensor->bytes)
        return onnx_tensor_fail(tensor, file, GARNER_BAD_FILE,
                                "it has no elements, and its shape asks for %llu",
                                (unsigned long long)tensor->count);
    if (field->number == ONNX_RAW && field->most != tensor->bytes)
        return onnx_tensor_fail(tensor, file, GARNER_BAD_FILE,
                                "raw_data has %llu bytes, and its elements take %llu",
                                (unsigned long long)field->most, (unsigned long long)tensor->bytes);
    if (field->number && field->number != ONNX_RAW && field->most < numbers)
        return onnx_tensor_fail(tensor, file, GARNER_BAD_FILE,
                                "%s has no room for the %llu numbers that its shape asks for",
                                onnx_field_name(field->number), (unsigned long long)numbers);
    return GARNER_OK;
}
