/* SPDX-License-Identifier: MIT */
/* Inputs, initializers and outputs of an ONNX graph, and the types and shapes that it declares. */
#include <string.h>

#include "onnx_reader.h"

/* ---- Types ---- */

/* A ValueInfoProto, its type unfolded. */
struct info {
    struct wire_span name;
    uint64_t element_type;
    const char *foreign;
    int has_shape;
    int32_t rank;
    struct graph_extent shape[GARNER_MAX_RANK];
};

static garner_status read_dim(struct onnx_reader *reader, struct info *info, struct wire_span message)
{
    struct graph_extent *extent = &info->shape[info->rank];
    struct wire_field field;
    int more;
    if (info->rank == GARNER_MAX_RANK)
        return wire_malformed(&reader->file, message.bytes, "a shape has a rank above 64");
    info->rank++;
    *extent = (struct graph_extent){0, -1, NULL};
    while ((more = wire_next(&reader->file, &message, &field)) > 0) {
        if (field.number == 1 && field.type == WIRE_VARINT) {
            int64_t value = (int64_t)field.value;
            if (value < -1) return wire_malformed(&reader->file, field.place, "an extent is negative");
            *extent = (struct graph_extent){value < 0 ? 0 : value, value, NULL}; /* some write -1: unknown */
        } else if (field.number == 2 && field.type == WIRE_BYTES) {
            const char *symbol = onnx_text(reader, field.span, "an extent's name");
            if (!symbol) return reader->error->status;
            *extent = (struct graph_extent){0, -1, *symbol ? symbol : NULL};
        }
    }
    return more < 0 ? GARNER_BAD_FILE : GARNER_OK;
}

static garner_status read_shape(struct onnx_reader *reader, struct info *info, struct wire_span message)
{
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0;
    info->has_shape = 1;
    while (!status && (more = wire_next(&reader->file, &message, &field)) > 0)
        if (field.number == 1 && field.type == WIRE_BYTES) status = read_dim(reader, info, field.span);
    return more < 0 ? GARNER_BAD_FILE : status;
}

static garner_status read_tensor_type(struct onnx_reader *reader, struct info *info, struct wire_span message)
{
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0;
    while (!status && (more = wire_next(&reader->file, &message, &field)) > 0) {
        if (field.number == 1 && field.type == WIRE_VARINT) info->element_type = field.value;
        if (field.number == 2 && field.type == WIRE_BYTES) status = read_shape(reader, info, field.span);
    }
    return more < 0 ? GARNER_BAD_FILE : status;
}

static garner_status read_type(struct onnx_reader *reader, struct info *info, struct wire_span message)
{
    static const char *const others[] = {
        [4] = "sequence", [5] = "map", [7] = "opaque value", [8] = "sparse tensor", [9] = "optional"};
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0;
    while (!status && (more = wire_next(&reader->file, &message, &field)) > 0) {
        if (field.type != WIRE_BYTES) continue;
        if (field.number == 1) {
            info->foreign = NULL;
            status = read_tensor_type(reader, info, field.span);
        } else if (field.number < sizeof others / sizeof *others && others[field.number]) {
            info->foreign = others[field.number];
        }
    }
    return more < 0 ? GARNER_BAD_FILE : status;
}

static garner_status read_info(struct onnx_reader *reader, struct info *info, struct wire_span message)
{
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0;
    memset(info, 0, sizeof *info);
    while (!status && (more = wire_next(&reader->file, &message, &field)) > 0) {
        if (field.number == 1 && field.type == WIRE_BYTES) info->name = field.span;
        if (field.number == 2 && field.type == WIRE_BYTES) status = read_type(reader, info, field.span);
    }
    return more < 0 ? GARNER_BAD_FILE : status;
}

/* ---- Values ---- */

/* Lets a value be what the file declares it to be. The first declaration of a shape counts. */
static garner_status declare(struct onnx_reader *reader, const struct info *info, size_t id)
{
    struct graph_value *value = &reader->graph->values[id];
    char shown[96];
    if (info->foreign) value->foreign = info->foreign;
    if (info->element_type > GARNER_I2)
        return fail_at(reader->error, GARNER_UNSUPPORTED, reader->file.path,
                       "'%s' has element type %llu, which is not known here; those known are 1 to %d",
                       printable(shown, sizeof shown, value->name), (unsigned long long)info->element_type,
                       GARNER_I2);
    garner_dtype dtype = (garner_dtype)info->element_type;
    if (dtype && value->dtype && dtype != value->dtype)
        return fail_at(reader->error, GARNER_BAD_FILE, reader->file.path,
                       "'%s' is declared twice, as %s and as %s", printable(shown, sizeof shown, value->name),
                       garner_dtype_name(value->dtype), garner_dtype_name(dtype));
    if (dtype) value->dtype = dtype;
    if (!info->has_shape || value->rank >= 0) return GARNER_OK;
    struct graph_extent *shape = graph_alloc(reader->graph, (size_t)info->rank, sizeof *shape, reader->error);
    if (!shape) return GARNER_NO_MEMORY;
    memcpy(shape, info->shape, (size_t)info->rank * sizeof *shape);
    value->shape = shape;
    value->rank = info->rank;
    return GARNER_OK;
}

static size_t find(const struct onnx_reader *reader, struct wire_span name)
{
    return names_find(&reader->values, (const char *)name.bytes, (size_t)name.size);
}

garner_status onnx_read_input(struct onnx_reader *reader, struct wire_span message)
{
    struct info info;
    size_t value, port;
    garner_status status = read_info(reader, &info, message);
    if (!status && !info.name.size)
        status = wire_malformed(&reader->file, message.bytes, "an input has no name");
    if (!status) status = onnx_define(reader, info.name, &value);
    if (!status) status = declare(reader, &info, value);
    if (status) return status;
    return graph_add_input(reader->graph, reader->graph->values[value].name, value, &port, reader->error);
}

garner_status onnx_read_initializer(struct onnx_reader *reader, struct wire_span message)
{
    struct onnx_tensor tensor;
    char shown[96];
    garner_status status = onnx_tensor_read(&tensor, &reader->file, message);
    if (status) return status;
    if (!tensor.name.size) return wire_malformed(&reader->file, message.bytes, "an initializer has no name");
    size_t value = find(reader, tensor.name);
    if (value == NAMES_NONE) {
        status = onnx_define(reader, tensor.name, &value);
        if (status) return status;
    } else if (reader->graph->values[value].constant) {
        return fail_at(reader->error, GARNER_BAD_FILE, reader->file.path, "initializer '%s' is given twice",
                       printable(shown, sizeof shown, reader->graph->values[value].name));
    }
    return onnx_read_constant(reader, &tensor, value);
}

garner_status onnx_read_output(struct onnx_reader *reader, struct wire_span message)
{
    struct info info;
    char shown[96];
    size_t port, present;
    garner_status status = read_info(reader, &info, message);
    if (status) return status;
    size_t value = find(reader, info.name);
    if (value == NAMES_NONE) {
        const char *name = onnx_text(reader, info.name, "an output's name");
        if (!name) return reader->error->status;
        return fail_at(reader->error, GARNER_BAD_FILE, reader->file.path, "output '%s' is made by nothing",
                       printable(shown, sizeof shown, name));
    }
    const char *name = reader->graph->values[value].name;
    if (!names_add(&reader->outputs, name, strlen(name), value, &present))
        return fail_memory(reader->error, reader->file.path, strlen(name));
    if (present != NAMES_NONE)
        return fail_at(reader->error, GARNER_BAD_FILE, reader->file.path, "output '%s' is given twice",
                       printable(shown, sizeof shown, name));
    status = declare(reader, &info, value);
    return status ? status : graph_add_output(reader->graph, name, value, &port, reader->error);
}

/* Names that nothing makes are left over from before some tool changed the graph. */
garner_status onnx_read_value_info(struct onnx_reader *reader, struct wire_span message)
{
    struct info info;
    garner_status status = read_info(reader, &info, message);
    if (status) return status;
    size_t value = find(reader, info.name);
    return value == NAMES_NONE ? GARNER_OK : declare(reader, &info, value);
}
