/* SPDX-License-Identifier: MIT */
/*
 * The model around the graph. The whole file is checked first, level by level; then it is walked several
 * times, since names may be used before they are given: inputs, initializers, what nodes make, what nodes
 * take, outputs. A message that comes in several pieces counts as one, as protobuf has it.
 */
#include "onnx_model.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "onnx_reader.h"
#include "open_beneath.h"

/* ---- What is a message in what ---- */

static const struct wire_schema leaf[] = {{0, NULL}};
static const struct wire_schema graph_schema[8], type_schema[6]; /* each holds the other */

static const struct wire_schema tensor_schema[] = {{3, leaf}, {13, leaf}, {16, leaf}, {0, NULL}};
static const struct wire_schema sparse_schema[] = {{1, tensor_schema}, {2, tensor_schema}, {0, NULL}};
static const struct wire_schema shape_schema[] = {{1, leaf}, {0, NULL}};
static const struct wire_schema tensor_type_schema[] = {{2, shape_schema}, {0, NULL}};
static const struct wire_schema element_schema[] = {{1, type_schema}, {0, NULL}};
static const struct wire_schema map_schema[] = {{2, type_schema}, {0, NULL}};
static const struct wire_schema type_schema[6] = {{1, tensor_type_schema}, {4, element_schema},
                                                  {5, map_schema},         {8, tensor_type_schema},
                                                  {9, element_schema},     {0, NULL}};
static const struct wire_schema value_schema[] = {{2, type_schema}, {4, leaf}, {0, NULL}};
static const struct wire_schema attribute_schema[] = {
    {5, tensor_schema}, {6, graph_schema},   {10, tensor_schema}, {11, graph_schema}, {14, type_schema},
    {15, type_schema},  {22, sparse_schema}, {23, sparse_schema}, {0, NULL}};
static const struct wire_schema node_schema[] = {{5, attribute_schema}, {9, leaf}, {0, NULL}};
static const struct wire_schema graph_schema[8] = {
    {1, node_schema},   {5, tensor_schema},  {11, value_schema}, {12, value_schema},
    {13, value_schema}, {15, sparse_schema}, {16, leaf},         {0, NULL}};
static const struct wire_schema function_schema[] = {
    {7, node_schema}, {9, leaf}, {11, attribute_schema}, {12, value_schema}, {0, NULL}};
static const struct wire_schema training_schema[] = {{1, graph_schema}, {2, graph_schema}, {0, NULL}};
static const struct wire_schema model_schema[] = {
    {7, graph_schema}, {8, leaf}, {14, leaf}, {20, training_schema}, {25, function_schema}, {0, NULL}};

/* ---- Texts, values, constants ---- */

const char *onnx_text(struct onnx_reader *reader, struct wire_span span, const char *what)
{
    if (span.size && memchr(span.bytes, 0, (size_t)span.size)) {
        (void)fail_at(reader->error, GARNER_BAD_FILE, reader->file.path,
                      "malformed at byte %llu: %s has a zero byte",
                      (unsigned long long)(span.bytes - reader->file.bytes), what);
        return NULL;
    }
    return graph_text(reader->graph, (const char *)span.bytes, (size_t)span.size, reader->error);
}

/* Why onnx_text or an allocation gave nothing. */
static garner_status failure(const struct onnx_reader *reader)
{
    return reader->error->status ? reader->error->status : GARNER_NO_MEMORY;
}

garner_status onnx_define(struct onnx_reader *reader, struct wire_span name, size_t *value)
{
    char shown[128];
    size_t present;
    const char *text = onnx_text(reader, name, "a name");
    if (!text) return failure(reader);
    garner_status status = graph_add_value(reader->graph, text, value, reader->error);
    if (status) return status;
    if (!names_add(&reader->values, text, strlen(text), *value, &present))
        return fail_memory(reader->error, reader->file.path, sizeof *value);
    if (present == NAMES_NONE) return GARNER_OK;
    return fail_at(reader->error, GARNER_BAD_FILE, reader->file.path, "the name '%s' is given to two tensors",
                   printable(shown, sizeof shown, text));
}

/* Opens a location once. Its name is copied, since those in a mapped file may change. */
static garner_status open_external(void *context, struct wire_span location, const unsigned char **bytes,
                                   uint64_t *size, garner_error *error)
{
    struct onnx_reader *reader = context;
    size_t length = (size_t)location.size, present, mapped;
    size_t known = names_find(&reader->files, (const char *)location.bytes, length);
    void *mapping = NULL;
    if (known == NAMES_NONE) {
        const char *name = graph_text(reader->graph, (const char *)location.bytes, length, error);
        if (!name) return GARNER_NO_MEMORY;
        garner_status status =
            open_beneath_map(reader->file.path, name, length, reader->follow_links, &mapping, &mapped, error);
        if (!status && mapping) status = graph_keep_mapping(reader->graph, mapping, mapped, error);
        if (status) return status;
        known = reader->files.count;
        if (known == reader->opened_room) {
            size_t room = known ? 2 * known : 4;
            struct onnx_opened *opened = realloc(reader->opened, room * sizeof *opened);
            if (!opened) return fail_memory(error, reader->file.path, room * sizeof *opened);
            reader->opened = opened;
            reader->opened_room = room;
        }
        reader->opened[known] = (struct onnx_opened){mapping, mapped};
        if (!names_add(&reader->files, name, length, known, &present))
            return fail_memory(error, reader->file.path, length);
    }
    *bytes = reader->opened[known].bytes;
    *size = reader->opened[known].size;
    return GARNER_OK;
}

garner_status onnx_read_constant(struct onnx_reader *reader, const struct onnx_tensor *tensor, size_t value)
{
    struct graph *graph = reader->graph;
    const void *data;
    void *memory;
    garner_status status = onnx_tensor_load(tensor, &reader->file, open_external, reader, &data, &memory);
    if (!status && memory) status = graph_keep_memory(graph, memory, reader->error);
    if (status) return status;
    garner_tensor *constant = graph_alloc(graph, 1, sizeof *constant, reader->error);
    int64_t *shape = graph_alloc(graph, (size_t)tensor->rank, sizeof *shape, reader->error);
    if (!constant || !shape) return GARNER_NO_MEMORY;
    memcpy(shape, tensor->shape, (size_t)tensor->rank * sizeof *shape);
    *constant = (garner_tensor){.data = (void *)(uintptr_t)data,
                                .shape = shape,
                                .rank = tensor->rank,
                                .dtype = tensor->dtype,
                                .bytes = tensor->bytes};
    graph->values[value].constant = constant;
    return GARNER_OK;
}

/* ---- The model's own fields ---- */

static garner_status read_opset(struct onnx_reader *reader, struct wire_span message)
{
    struct wire_span domain = {0};
    struct wire_field field;
    uint64_t version = 0;
    int more;
    while ((more = wire_next(&reader->file, &message, &field)) > 0) {
        if (field.number == 1 && field.type == WIRE_BYTES) domain = field.span;
        if (field.number == 2 && field.type == WIRE_VARINT) version = field.value;
    }
    if (more < 0) return GARNER_BAD_FILE;
    if (domain.size && (domain.size != 7 || memcmp(domain.bytes, "ai.onnx", 7) != 0)) return GARNER_OK;
    if (version < 1 || version > INT32_MAX)
        return fail_at(reader->error, GARNER_BAD_FILE, reader->file.path, "opset %lld is no version",
                       (long long)version);
    reader->opset = (int64_t)version;
    return GARNER_OK;
}

static garner_status read_function(struct onnx_reader *reader, struct wire_span message)
{
    struct wire_span name = {0}, domain = {0};
    struct wire_field field;
    size_t present;
    int more;
    while ((more = wire_next(&reader->file, &message, &field)) > 0) {
        if (field.number == 1 && field.type == WIRE_BYTES) name = field.span;
        if (field.number == 10 && field.type == WIRE_BYTES) domain = field.span;
    }
    if (more < 0) return GARNER_BAD_FILE;
    const char *first = onnx_text(reader, domain, "a domain"),
               *second = first ? onnx_text(reader, name, "a name") : NULL,
               *whole = second ? graph_format(reader->graph, reader->error, "%s:%s", first, second) : NULL;
    if (!whole) return failure(reader);
    if (!names_add(&reader->functions, whole, strlen(whole), 0, &present))
        return fail_memory(reader->error, reader->file.path, strlen(whole));
    return GARNER_OK;
}

static garner_status name_producer(struct onnx_reader *reader)
{
    struct graph *graph = reader->graph;
    const char *name = onnx_text(reader, reader->producer, "the producer");
    const char *version = name ? onnx_text(reader, reader->producer_version, "the producer's version") : NULL;
    if (!version) return failure(reader);
    const char *both = *name && *version ? graph_format(graph, reader->error, "%s %s", name, version)
                       : *name           ? name
                                         : version;
    if (!both) return failure(reader);
    graph->producer = both;
    return GARNER_OK;
}

static garner_status read_model_field(struct onnx_reader *reader, struct wire_field *field)
{
    if (field->number == 1 && field->type == WIRE_VARINT) reader->ir_version = (int64_t)field->value;
    if (field->type != WIRE_BYTES) return GARNER_OK;
    switch (field->number) {
    case 2:
        reader->producer = field->span;
        return GARNER_OK;
    case 3:
        reader->producer_version = field->span;
        return GARNER_OK;
    case 8:
        return read_opset(reader, field->span);
    case 25:
        return read_function(reader, field->span);
    default:
        return GARNER_OK;
    }
}

/* Files from before opsets existed have none, and mean the first. */
static garner_status check_opset(struct onnx_reader *reader)
{
    struct graph *graph = reader->graph;
    if (!reader->opset && reader->ir_version >= 3)
        return fail_at(reader->error, GARNER_BAD_FILE, reader->file.path,
                       "it imports no version of ONNX's operators");
    if (!reader->opset) reader->opset = 1;
    if (reader->opset > ONNX_NEWEST_OPSET)
        return fail_at(reader->error, GARNER_UNSUPPORTED, reader->file.path,
                       "opset %lld is not known here; those known are 1 to %d", (long long)reader->opset,
                       ONNX_NEWEST_OPSET);
    reader->opset_text = graph_format(graph, reader->error, "%lld", (long long)reader->opset);
    graph->version = graph_format(graph, reader->error, "IR version %lld, opset %lld",
                                  (long long)reader->ir_version, (long long)reader->opset);
    return reader->opset_text && graph->version ? GARNER_OK : GARNER_NO_MEMORY;
}

/* ---- The graph's fields, walk by walk ---- */

static garner_status read_graph_name(struct onnx_reader *reader, struct wire_span message)
{
    const char *text = onnx_text(reader, message, "the graph's name");
    if (!text) return failure(reader);
    reader->graph->name = text;
    return GARNER_OK;
}

static garner_status refuse_sparse(struct onnx_reader *reader, struct wire_span message)
{
    (void)message;
    return fail_at(reader->error, GARNER_UNSUPPORTED, reader->file.path,
                   "it has sparse initializers, which garner does not read");
}

static const struct walk {
    uint32_t field;
    garner_status (*read)(struct onnx_reader *reader, struct wire_span message);
} walks[] = {
    {2, read_graph_name}, {15, refuse_sparse},        {11, onnx_read_input},  {5, onnx_read_initializer},
    {1, onnx_read_node},  {1, onnx_read_node_inputs}, {12, onnx_read_output}, {13, onnx_read_value_info},
};

static garner_status walk_graph(struct onnx_reader *reader, struct wire_span message, const struct walk *walk)
{
    struct wire_field field;
    int more;
    while ((more = wire_next(&reader->file, &message, &field)) > 0) {
        if (field.number != walk->field || field.type != WIRE_BYTES) continue;
        garner_status status = walk->read(reader, field.span);
        if (status) return status;
    }
    return more < 0 ? GARNER_BAD_FILE : GARNER_OK;
}

/* With NULL, reads the fields of the model itself. */
static garner_status walk_model(struct onnx_reader *reader, struct wire_span message, const struct walk *walk)
{
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0, graphs = 0;
    while (!status && (more = wire_next(&reader->file, &message, &field)) > 0) {
        int graph = field.number == 7 && field.type == WIRE_BYTES;
        graphs += graph;
        if (!walk)
            status = read_model_field(reader, &field);
        else if (graph)
            status = walk_graph(reader, field.span, walk);
    }
    if (more < 0) return GARNER_BAD_FILE;
    if (!status && !graphs)
        status = fail_at(reader->error, GARNER_BAD_FILE, reader->file.path,
                         "it holds no graph: it is no ONNX model");
    return status;
}

static garner_status read_model(struct onnx_reader *reader, struct wire_span message)
{
    garner_status status = wire_check(&reader->file, message, model_schema);
    if (!status) status = walk_model(reader, message, NULL);
    if (!status) status = name_producer(reader);
    if (!status) status = check_opset(reader);
    for (size_t i = 0; i < sizeof walks / sizeof *walks && !status; i++)
        status = walk_model(reader, message, &walks[i]);
    if (!status && reader->next_node != reader->graph->node_count)
        status = wire_changed(&reader->file, message.bytes);
    if (!status && !reader->graph->node_count && !reader->graph->output_count)
        status = fail_at(reader->error, GARNER_BAD_FILE, reader->file.path,
                         "its graph has neither nodes nor outputs, and an ONNX model has one of them");
    return status;
}

garner_status onnx_model_load_bytes(struct graph *graph, const char *path, const void *bytes, uint64_t size,
                                    int follow_links, garner_error *error)
{
    garner_error spare;
    if (!error) error = &spare;
    garner_status status = graph_begin(graph, path, "ONNX", error);
    if (status) return status;
    struct onnx_reader reader = {
        .file = {graph->path, bytes, error}, .graph = graph, .error = error, .follow_links = follow_links};
    (void)succeed(error);
    status = read_model(&reader, (struct wire_span){bytes, size});
    names_free(&reader.values);
    names_free(&reader.functions);
    names_free(&reader.files);
    names_free(&reader.outputs);
    free(reader.opened);
    if (status) graph_free(graph);
    return status;
}

garner_status onnx_model_load(struct graph *graph, const char *path, int follow_links, garner_error *error)
{
    struct file file;
    memset(graph, 0, sizeof *graph);
    garner_status status = file_open(&file, path, error);
    if (status) return status;
    status = file_fetch_to_end(&file, UINT64_MAX, error);
    if (!status) status = onnx_model_load_bytes(graph, path, file.bytes, file.size, follow_links, error);
    if (!status && file.mapping) {
        status = graph_keep_mapping(graph, file.mapping, file.mapping_size, error);
        file.mapping = NULL;
    } else if (!status && file.memory) {
        status = graph_keep_memory(graph, file.memory, error);
        file.memory = NULL;
    }
    file_close(&file);
    if (status) graph_free(graph);
    return status;
}
