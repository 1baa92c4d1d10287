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
    if (!whole) return onnx_failure(reader);
    if (!names_add(&reader->functions, whole, strlen(whole), 0, &present))
        return fail_memory(reader->error, reader->file.path, strlen(whole));
    return GARNER_OK;
}

static garner_status name_producer(struct onnx_reader *reader)
{
    struct graph *graph = reader->graph;
    const char *name = onnx_text(reader, reader->producer, "the producer");
    const char *version = name ? onnx_text(reader, reader->producer_version, "the producer's version") : NULL;
    if (!version) return onnx_failure(reader);
    const char *both = *name && *version ? graph_format(graph, reader->error, "%s %s", name, version)
                       : *name           ? name
                                         : version;
    if (!both) return onnx_failure(reader);
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
    if (!text) return onnx_failure(reader);
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
