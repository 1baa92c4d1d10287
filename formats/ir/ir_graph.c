/* SPDX-License-Identifier: MIT */
/*
 * Layers become nodes, output ports values, and what an edge connects the input of a node. Whether the
 * whole runs is not decided here: layers that garner does not know stay in the graph with the reason.
 */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "ir.h"
#include "ir_build.h"

/* ---- Values ---- */

static int is_unknown_type(const char *name)
{
    return strcmp(name, "dynamic") == 0 || strcmp(name, "undefined") == 0 || strcmp(name, "UNSPECIFIED") == 0;
}

static garner_status port_type(const struct ir_build *build, const struct ir_layer *layer,
                               const struct ir_port *port, garner_dtype *dtype)
{
    char shown[64];
    *dtype = port->precision ? ir_type(port->precision) : 0;
    if (*dtype || !port->precision || is_unknown_type(port->precision) || !ir_node_is_known(layer))
        return GARNER_OK;
    return ir_complain(build, GARNER_UNSUPPORTED, layer, "there is no element type \"%s\"",
                       printable(shown, sizeof shown, port->precision));
}

/* A value for an output port, called by its first tensor name or by its layer. */
static garner_status add_value(struct ir_build *build, const struct ir_layer *layer, size_t which,
                               size_t node)
{
    const struct ir_port *port = &build->net.ports[layer->first_output + which];
    const char *name = layer->name;
    size_t id;
    garner_dtype dtype;
    if (port->names) {
        char *first = graph_alloc(build->graph, 1, strlen(port->names) + 1, build->error);
        if (!first) return GARNER_NO_MEMORY;
        if (ir_next_name(port->names, first)) name = first;
    }
    garner_status status = port_type(build, layer, port, &dtype);
    if (!status) status = graph_add_value(build->graph, name, &id, build->error);
    if (status) return status;
    struct graph_value *value = &build->graph->values[id];
    value->dtype = dtype;
    value->node = node;
    build->value[layer->first_output + which] = id;
    return GARNER_OK;
}

/* What <data> of a Parameter or a constant says: the type, and the shape as *extents. */
static garner_status read_data(struct ir_build *build, const struct ir_layer *layer,
                               struct graph_value *value)
{
    const struct ir_data *data = &layer->data;
    struct graph_extent extents[GARNER_MAX_RANK], *shape;
    char shown[64];
    if (!data->element_type || !data->shape)
        return ir_complain(build, GARNER_BAD_FILE, layer, "the attribute %s is missing",
                           data->shape ? "element_type" : "shape");
    value->dtype = ir_type(data->element_type);
    if (!value->dtype && !is_unknown_type(data->element_type))
        return ir_complain(build, GARNER_UNSUPPORTED, layer, "there is no element type \"%s\"",
                           printable(shown, sizeof shown, data->element_type));
    int32_t rank = ir_shape(data->shape, extents);
    if (rank == IR_ANY_RANK) return GARNER_OK;
    if (rank < 0)
        return ir_complain(build, GARNER_BAD_FILE, layer, "shape=\"%s\" is no list of at most %d extents",
                           printable(shown, sizeof shown, data->shape), GARNER_MAX_RANK);
    shape = graph_alloc(build->graph, (size_t)rank, sizeof *shape, build->error);
    if (!shape) return GARNER_NO_MEMORY;
    value->shape = memcpy(shape, extents, (size_t)rank * sizeof *shape);
    value->rank = rank;
    return GARNER_OK;
}

static int has_data(const struct ir_layer *layer)
{
    return strcmp(layer->type, "Parameter") == 0 || strcmp(layer->type, "Const") == 0 ||
           strcmp(layer->type, "Constant") == 0;
}

/* What the layer and its output ports say of the values that they give. */
static garner_status declare_outputs(struct ir_build *build, const struct ir_layer *layer)
{
    garner_status status = GARNER_OK;
    if (has_data(layer)) {
        if (layer->outputs != 1)
            return ir_complain(build, GARNER_BAD_FILE, layer, "%zu outputs instead of 1", layer->outputs);
        status = read_data(build, layer, &build->graph->values[build->value[layer->first_output]]);
    }
    for (size_t i = layer->first_output; i < layer->first_output + layer->outputs && !status; i++)
        status = ir_declare(build, build->value[i], &build->net.ports[i]);
    return status;
}

/* ---- Nodes ---- */

static int is_node(const struct ir_layer *layer)
{
    return strcmp(layer->type, "Parameter") != 0 && strcmp(layer->type, "Result") != 0;
}

static garner_status add_layer(struct ir_build *build, const struct ir_layer *layer)
{
    size_t id = GRAPH_NONE;
    garner_status status = GARNER_OK;
    if (is_node(layer)) status = graph_add_node(build->graph, &id, build->error);
    if (!status && is_node(layer)) status = ir_node_fill(build, layer, &build->graph->nodes[id]);
    for (size_t i = 0; i < layer->outputs && !status; i++)
        status = add_value(build, layer, i, id);
    if (!status) status = declare_outputs(build, layer);
    if (status || !is_node(layer)) return status;
    struct graph_node *node = &build->graph->nodes[id];
    node->input_count = layer->inputs;
    node->output_count = layer->outputs;
    node->inputs = graph_alloc(build->graph, layer->inputs, sizeof *node->inputs, build->error);
    node->outputs = graph_alloc(build->graph, layer->outputs, sizeof *node->outputs, build->error);
    if (!node->inputs || !node->outputs) return GARNER_NO_MEMORY;
    for (size_t i = 0; i < layer->outputs; i++)
        node->outputs[i] = build->value[layer->first_output + i];
    return GARNER_OK;
}

/* ---- Inputs of nodes ---- */

static garner_status connect_input(struct ir_build *build, const struct ir_layer *layer,
                                   struct graph_node *node, size_t i)
{
    const struct ir_port *port = &build->net.ports[layer->first_input + i];
    size_t source = build->source[layer->first_input + i];
    node->inputs[i] = source == GRAPH_NONE ? GRAPH_NONE : build->value[source];
    if (source != GRAPH_NONE) return ir_declare(build, node->inputs[i], port);
    if (node->kind == GRAPH_UNSUPPORTED) return GARNER_OK;
    return ir_complain(build, GARNER_BAD_FILE, layer, "nothing is connected to its input port %llu",
                       (unsigned long long)port->id);
}

static garner_status connect_nodes(struct ir_build *build)
{
    garner_status status = GARNER_OK;
    struct graph_node *node = build->graph->nodes;
    for (size_t i = 0; i < build->net.layer_count && !status; i++) {
        const struct ir_layer *layer = &build->net.layers[i];
        if (!is_node(layer)) continue;
        for (size_t k = 0; k < layer->inputs && !status; k++)
            status = connect_input(build, layer, node, k);
        if (!status && node->kind == GRAPH_CONVERT) status = ir_node_check_convert(build, node);
        node++;
    }
    return status;
}

/* ---- The whole ---- */

static garner_status build_graph(struct ir_build *build)
{
    if (!build->net.layer_count)
        return fail_at(build->error, GARNER_BAD_FILE, build->graph->path,
                       "it has no layers, and an OpenVINO IR has at least one");
    garner_status status = ir_connect(build);
    for (size_t i = 0; i < build->net.layer_count && !status; i++)
        status = add_layer(build, &build->net.layers[i]);
    if (!status) status = connect_nodes(build);
    if (!status) status = ir_constants(build);
    return status ? status : ir_interface(build);
}

static garner_status build_net(struct ir_build *build, const void *xml, uint64_t size)
{
    garner_status status = ir_net_read(&build->net, build->graph, xml, size, build->error);
    if (status) return status;
    size_t count = build->net.port_count + 1;
    size_t *numbers = malloc(3 * count * sizeof *numbers);
    if (numbers) {
        build->value = numbers;
        build->source = numbers + count;
        build->layer = numbers + 2 * count;
        for (size_t i = 0; i < 3 * count; i++)
            numbers[i] = GRAPH_NONE;
        build->graph->version = build->net.version == 10 ? "version 10" : "version 11";
        status = build_graph(build);
    } else {
        status = fail_memory(build->error, build->graph->path, 3 * count * sizeof *numbers);
    }
    free(numbers);
    ir_net_free(&build->net);
    return status;
}

static garner_status read_xml(struct ir_build *build, const char *path, const void *xml, uint64_t size)
{
    garner_status status = graph_begin(build->graph, path, "OpenVINO IR", build->error);
    if (status) return status;
    status = build_net(build, xml, size);
    if (status) graph_free(build->graph);
    return status ? status : succeed(build->error);
}

garner_status ir_read_bytes(struct graph *graph, const char *path, const void *xml, uint64_t xml_size,
                            const void *bin, uint64_t bin_size, garner_error *error)
{
    struct ir_build build = {.graph = graph, .error = error, .bin = bin, .bin_size = bin_size, .bin_open = 1};
    return read_xml(&build, path, xml, xml_size);
}

garner_status ir_read(struct graph *graph, const char *path, int follow_links, garner_error *error)
{
    struct ir_build build = {.graph = graph, .error = error, .follow_links = follow_links};
    struct file file;
    *graph = (struct graph){.path = NULL};
    garner_status status = file_open(&file, path, error);
    if (status) return status;
    status = file_fetch_to_end(&file, (uint64_t)IR_LARGEST_FILE + 1, error);
    if (!status) status = read_xml(&build, path, file.bytes, file.size);
    file_close(&file);
    return status;
}
