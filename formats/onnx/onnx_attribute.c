/* SPDX-License-Identifier: MIT */
/* Attributes of ONNX nodes, and the constants that a Constant node's attribute holds in one of seven forms.
 */
#include <string.h>

#include "onnx_reader.h"

enum {
    NAME = 1,
    REAL = 2,
    INTEGER = 3,
    TEXT = 4,
    TENSOR = 5,
    REALS = 7,
    INTEGERS = 8,
    TEXTS = 9,
    TYPE = 20,
    REFERENCE = 21
};

int onnx_attribute_is(const struct onnx_attribute *attribute, const char *name)
{
    return attribute->name.size == strlen(name) && memcmp(attribute->name.bytes, name, strlen(name)) == 0;
}

static void read_attribute_field(struct onnx_attribute *attribute, const struct wire_field *field)
{
    if (field->type == WIRE_VARINT) {
        if (field->number == INTEGER) attribute->integer = field->value;
        if (field->number == TYPE) attribute->type = field->value;
    } else if (field->type == WIRE_FIXED32) {
        if (field->number == REAL) attribute->real = (uint32_t)field->value;
    } else if (field->type == WIRE_BYTES) {
        if (field->number == NAME) attribute->name = field->span;
        if (field->number == TEXT) attribute->text = field->span;
        if (field->number == REFERENCE) attribute->is_reference = 1;
        if (field->number == TENSOR) {
            attribute->tensor = field->span;
            attribute->has_tensor = 1;
        }
    }
}

garner_status onnx_read_attribute(struct onnx_reader *reader, struct wire_span message,
                                  struct onnx_attribute *attribute)
{
    struct wire_field field;
    int more;
    *attribute = (struct onnx_attribute){.message = message};
    const unsigned char *place = message.bytes;
    while ((more = wire_next(&reader->file, &message, &field)) > 0)
        read_attribute_field(attribute, &field);
    if (more < 0) return GARNER_BAD_FILE;
    if (attribute->is_reference)
        return wire_malformed(&reader->file, place, "an attribute refers to one of a function, outside any");
    return GARNER_OK;
}

/* ---- Constants ---- */

/* Where the elements of a repeated field go; counted first, with data NULL. Those beyond the room are counted
 * only: they were not there the first time. */
struct target {
    unsigned char *data;
    uint64_t room, count;
    unsigned bytes; /* of an element */
};

static void put(struct target *target, const void *element)
{
    if (target->count < target->room)
        memcpy(target->data + target->count * target->bytes, element, target->bytes);
    target->count++;
}

static void put_number(struct target *target, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    put(target, target->bytes == sizeof narrow ? (const void *)&narrow : (const void *)&value);
}

static void put_text(struct target *target, struct wire_span span)
{
    garner_string string = {.address = 0};
    string.bytes = (const char *)span.bytes;
    string.size = span.size;
    put(target, &string);
}

/* Passes what the repeated field `number` holds, packed or not, to the target. */
static garner_status collect(struct onnx_reader *reader, struct wire_span message, uint32_t number,
                             struct target *target)
{
    enum wire_type type = number == REALS ? WIRE_FIXED32 : WIRE_VARINT;
    struct wire_field field;
    uint64_t value;
    int more;
    target->count = 0;
    while ((more = wire_next(&reader->file, &message, &field)) > 0) {
        if (field.number != number) continue;
        if (number == TEXTS && field.type == WIRE_BYTES)
            put_text(target, field.span);
        else if (number != TEXTS && field.type == type)
            put_number(target, field.value);
        else if (number != TEXTS && field.type == WIRE_BYTES)
            while ((more = wire_next_packed(&reader->file, &field.span, type, &value)) > 0)
                put_number(target, value);
        if (more < 0) break;
    }
    return more < 0 ? GARNER_BAD_FILE : GARNER_OK;
}

static garner_status set_constant(struct onnx_reader *reader, size_t value, garner_dtype dtype, void *data,
                                  int32_t rank, uint64_t count)
{
    garner_tensor *constant = graph_alloc(reader->graph, 1, sizeof *constant, reader->error);
    int64_t *shape = graph_alloc(reader->graph, 1, sizeof *shape, reader->error);
    if (!constant || !shape) return GARNER_NO_MEMORY;
    *shape = (int64_t)count;
    *constant = (garner_tensor){.data = data,
                                .shape = shape,
                                .rank = rank,
                                .dtype = dtype,
                                .bytes = (uint64_t)garner_dtype_bytes(dtype, (int64_t)count, 0)};
    reader->graph->values[value].constant = constant;
    return GARNER_OK;
}

static garner_status read_list(struct onnx_reader *reader, const struct onnx_attribute *attribute,
                               size_t value, garner_dtype dtype, uint32_t number)
{
    struct target target = {.bytes = (unsigned)garner_dtype_bits(dtype) / 8};
    garner_status status = collect(reader, attribute->message, number, &target);
    if (status) return status;
    target.room = target.count;
    target.data = graph_alloc(reader->graph, (size_t)target.room, target.bytes, reader->error);
    if (!target.data) return GARNER_NO_MEMORY;
    status = collect(reader, attribute->message, number, &target);
    if (!status && target.count != target.room)
        status = wire_changed(&reader->file, attribute->message.bytes);
    return status ? status : set_constant(reader, value, dtype, target.data, 1, target.count);
}

static garner_status read_single(struct onnx_reader *reader, const struct onnx_attribute *attribute,
                                 size_t value, garner_dtype dtype)
{
    struct target target = {.room = 1, .bytes = (unsigned)garner_dtype_bits(dtype) / 8};
    target.data = graph_alloc(reader->graph, 1, target.bytes, reader->error);
    if (!target.data) return GARNER_NO_MEMORY;
    if (dtype == GARNER_STR)
        put_text(&target, attribute->text);
    else
        put_number(&target, dtype == GARNER_F32 ? attribute->real : attribute->integer);
    return set_constant(reader, value, dtype, target.data, 0, 1);
}

static garner_status read_tensor(struct onnx_reader *reader, const struct onnx_attribute *attribute,
                                 size_t value)
{
    struct onnx_tensor tensor;
    if (!attribute->has_tensor)
        return wire_malformed(&reader->file, attribute->message.bytes, "a Constant's value is no tensor");
    garner_status status = onnx_tensor_read(&tensor, &reader->file, attribute->tensor);
    return status ? status : onnx_read_constant(reader, &tensor, value);
}

garner_status onnx_read_constant_attribute(struct onnx_reader *reader, const struct onnx_attribute *attribute,
                                           size_t value, int *known)
{
    static const struct form {
        const char *name;
        garner_dtype dtype;
        uint32_t list; /* the repeated field, of those that have one */
    } forms[] = {
        {"value_float", GARNER_F32, 0},       {"value_int", GARNER_I64, 0},
        {"value_string", GARNER_STR, 0},      {"value_floats", GARNER_F32, REALS},
        {"value_ints", GARNER_I64, INTEGERS}, {"value_strings", GARNER_STR, TEXTS},
    };
    *known = 1;
    if (onnx_attribute_is(attribute, "value")) return read_tensor(reader, attribute, value);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && reader->opset >= 12; i++) {
        if (!onnx_attribute_is(attribute, forms[i].name)) continue;
        if (forms[i].list) return read_list(reader, attribute, value, forms[i].dtype, forms[i].list);
        return read_single(reader, attribute, value, forms[i].dtype);
    }
    *known = 0;
    return GARNER_OK;
}
