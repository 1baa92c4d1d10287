/* SPDX-License-Identifier: MIT */
/*
 * Reads what a TensorProto says about itself. Fields may come in any order, in several pieces and more
 * than once; which of them hold elements is known only when the type is, so all are noted, and the wrong
 * ones are refused in the end. Sizes are held against the file before anything believes them.
 */
#include "onnx_tensor.h"

#include <string.h>

#include "fail.h"
#include "onnx_field.h"

enum {
    DIMS = 1,
    DATA_TYPE = 2,
    SEGMENT = 3,
    NAME = 8,
    EXTERNAL = 13,
    LOCATION = 14,
    KEY = 1,
    VALUE = 2,
    FIELDS = ONNX_RAW + 3, /* one more than the last that may hold elements: uint64_data */
};

/* Everything of interest in a message. */
struct scan {
    const struct wire_file *file;
    struct onnx_tensor *tensor;
    struct onnx_field fields[FIELDS];
    uint64_t data_type, location;
    int segmented, has_location;
};

static const struct wire_schema leaf[] = {{0, NULL}};
static const struct wire_schema tensor_schema[] = {{SEGMENT, leaf}, {EXTERNAL, leaf}, {16, leaf}, {0, NULL}};

/* ---- Fields ---- */

/* Extents beyond the last that fits are counted, and refused when the tensor's name is known. */
static void add_dim(struct scan *scan, uint64_t value)
{
    struct onnx_tensor *tensor = scan->tensor;
    if (tensor->rank < GARNER_MAX_RANK) memcpy(&tensor->shape[tensor->rank], &value, sizeof value);
    if (tensor->rank <= GARNER_MAX_RANK) tensor->rank++;
}

static garner_status read_dims(struct scan *scan, struct wire_field *field)
{
    uint64_t value;
    int more = 0;
    if (field->type == WIRE_VARINT) add_dim(scan, field->value);
    if (field->type != WIRE_BYTES) return GARNER_OK;
    while ((more = wire_next_packed(scan->file, &field->span, WIRE_VARINT, &value)) > 0)
        add_dim(scan, value);
    return more < 0 ? GARNER_BAD_FILE : GARNER_OK;
}

/* A decimal number and nothing else. */
static int read_decimal(struct wire_span text, uint64_t *number)
{
    *number = 0;
    for (uint64_t i = 0; i < text.size; i++) {
        unsigned digit = text.bytes[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, digit, number))
            return 0;
    }
    return text.size > 0;
}

static int is_key(struct wire_span key, const char *word)
{
    return key.size == strlen(word) && memcmp(key.bytes, word, strlen(word)) == 0;
}

/* One entry of external_data: a key and a value, both texts. Keys that are not known are passed over. */
static garner_status read_external(struct scan *scan, struct wire_span entry)
{
    struct wire_span key = {0}, value = {0};
    struct wire_field field;
    struct onnx_tensor *tensor = scan->tensor;
    int more;
    while ((more = wire_next(scan->file, &entry, &field)) > 0) {
        if (field.type == WIRE_BYTES && field.number == KEY) key = field.span;
        if (field.type == WIRE_BYTES && field.number == VALUE) value = field.span;
    }
    if (more < 0) return GARNER_BAD_FILE;
    int right = 1;
    if (is_key(key, "location")) {
        tensor->location = value;
        scan->has_location = 1;
    } else if (is_key(key, "offset")) {
        right = read_decimal(value, &tensor->offset);
    } else if (is_key(key, "length")) {
        right = tensor->has_length = read_decimal(value, &tensor->length);
    }
    if (right) return GARNER_OK;
    return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE,
                            "the %s of its external data is no decimal number",
                            is_key(key, "offset") ? "offset" : "length");
}

/* Notes a field that may hold elements. */
static void note_elements(struct scan *scan, const struct wire_field *field)
{
    struct onnx_field *noted = &scan->fields[field->number];
    enum wire_type type = onnx_field_type(field->number);
    if (type == WIRE_BYTES && field->type != WIRE_BYTES) return;
    if (type != WIRE_BYTES && field->type != type && field->type != WIRE_BYTES) return;
    noted->number = field->number;
    noted->pieces++;
    noted->packed = field->type == WIRE_BYTES && field->number != ONNX_STRINGS;
    noted->piece = field->span;
    if (field->number == ONNX_RAW)
        noted->most = field->span.size; /* the last one counts */
    else
        noted->most += noted->packed ? field->span.size / (type == WIRE_FIXED64   ? 8
                                                           : type == WIRE_FIXED32 ? 4
                                                                                  : 1)
                                     : 1;
}

static garner_status read_field(struct scan *scan, struct wire_field *field)
{
    switch (field->number) {
    case DIMS:
        return read_dims(scan, field);
    case DATA_TYPE:
        if (field->type == WIRE_VARINT) scan->data_type = field->value;
        return GARNER_OK;
    case SEGMENT:
        scan->segmented = 1;
        return GARNER_OK;
    case NAME:
        if (field->type == WIRE_BYTES) scan->tensor->name = field->span;
        return GARNER_OK;
    case EXTERNAL:
        return field->type == WIRE_BYTES ? read_external(scan, field->span) : GARNER_OK;
    case LOCATION:
        if (field->type == WIRE_VARINT) scan->location = field->value;
        return GARNER_OK;
    default:
        if (field->number < FIELDS && onnx_field_name(field->number)) note_elements(scan, field);
        return GARNER_OK;
    }
}

/* ---- What they say together ---- */

static garner_status check_shape(const struct scan *scan)
{
    struct onnx_tensor *tensor = scan->tensor;
    if (tensor->rank > GARNER_MAX_RANK)
        return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE, "its rank is above %d", GARNER_MAX_RANK);
    if (scan->data_type == 0)
        return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE, "it has no element type");
    if (scan->data_type > GARNER_I2)
        return onnx_tensor_fail(tensor, scan->file, GARNER_UNSUPPORTED,
                                "element type %llu is not known here; those known are 1 to %d",
                                (unsigned long long)scan->data_type, GARNER_I2);
    tensor->dtype = (garner_dtype)scan->data_type;
    tensor->count = array_count(tensor->rank, tensor->shape);
    if (tensor->count == ARRAY_NEGATIVE_EXTENT)
        return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE, "an extent is negative");
    int64_t bytes = tensor->count < 0 ? -1 : garner_dtype_bytes(tensor->dtype, tensor->count, 0);
    if (bytes < 0)
        return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE, "its size does not fit in 63 bits");
    tensor->bytes = (uint64_t)bytes;
    if (scan->segmented)
        return onnx_tensor_fail(tensor, scan->file, GARNER_UNSUPPORTED,
                                "it is a segment of a larger one, which garner does not put together");
    return GARNER_OK;
}

/* The field that the type asks for, or raw_data; no other may hold anything. */
static garner_status choose_field(struct scan *scan)
{
    struct onnx_tensor *tensor = scan->tensor;
    uint32_t typed = onnx_field_of_type(tensor->dtype);
    for (uint32_t i = 0; i < FIELDS; i++) {
        const struct onnx_field *field = &scan->fields[i];
        if (!field->most) continue;
        if (tensor->external || tensor->field.number || (i != typed && i != ONNX_RAW) ||
            (i == ONNX_RAW && tensor->dtype == GARNER_STR))
            return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE,
                                    "%s holds elements, which for %s%s belong elsewhere", onnx_field_name(i),
                                    garner_dtype_name(tensor->dtype),
                                    tensor->external ? " in an external file" : "");
        tensor->field = *field;
    }
    return GARNER_OK;
}

static garner_status check_external(struct scan *scan)
{
    struct onnx_tensor *tensor = scan->tensor;
    tensor->external = scan->location == 1;
    if (!tensor->external) return GARNER_OK;
    if (!scan->has_location)
        return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE, "its external data have no location");
    if (tensor->dtype == GARNER_STR)
        return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE, "strings cannot be external data");
    if (tensor->has_length && tensor->length != tensor->bytes)
        return onnx_tensor_fail(tensor, scan->file, GARNER_BAD_FILE,
                                "its external data have %llu bytes, and its elements take %llu",
                                (unsigned long long)tensor->length, (unsigned long long)tensor->bytes);
    return GARNER_OK;
}

garner_status onnx_tensor_read(struct onnx_tensor *tensor, const struct wire_file *file,
                               struct wire_span message)
{
    struct scan scan = {.file = file, .tensor = tensor};
    struct wire_field field;
    garner_status status = wire_check(file, message, tensor_schema);
    memset(tensor, 0, sizeof *tensor);
    tensor->message = message;
    tensor->name.bytes = (const unsigned char *)""; /* until there is one */
    int more = 0;
    while (!status && (more = wire_next(file, &message, &field)) > 0)
        status = read_field(&scan, &field);
    if (more < 0) return GARNER_BAD_FILE;
    if (!status) status = check_shape(&scan);
    if (!status) status = check_external(&scan);
    if (!status) status = choose_field(&scan);
    return status ? status : onnx_check_field(tensor, file);
}
