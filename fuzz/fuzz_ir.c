/* SPDX-License-Identifier: MIT */
/*
 * OpenVINO IR: what stands up to the first "</net>" is the .xml, what follows the .bin. Everything that a
 * graph points to is looked at.
 */
#define _GNU_SOURCE /* memmem */

#include <stdint.h>
#include <string.h>

#include "ir.h"

static uint64_t sum; /* keeps what is looked at */

static void look_at_text(const char *text)
{
    sum += strlen(text);
}

static void look_at_value(const struct graph_value *value)
{
    look_at_text(value->name);
    for (int32_t i = 0; i < value->rank; i++)
        sum += (uint64_t)value->shape[i].least;
    if (!value->constant) return;
    for (uint64_t i = 0; value->dtype != GARNER_STR && i < value->constant->bytes; i++)
        sum += ((const unsigned char *)value->constant->data)[i];
    for (uint64_t i = 0; value->dtype == GARNER_STR && i < value->constant->bytes / 16; i++) {
        const garner_string *string = (const garner_string *)value->constant->data + i;
        for (uint64_t k = 0; k < string->size; k++)
            sum += (unsigned char)string->bytes[k];
    }
}

static void look_at_port(const struct graph *graph, const struct graph_port *port)
{
    look_at_text(port->name);
    for (size_t i = 0; i < port->alias_count; i++)
        look_at_text(port->aliases[i]);
    if (port->value >= graph->value_count) __builtin_trap();
}

static void look_at_node(const struct graph *graph, const struct graph_node *node)
{
    look_at_text(node->name);
    look_at_text(node->type);
    if (node->kind == GRAPH_UNSUPPORTED) look_at_text(node->refusal);
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] != GRAPH_NONE && node->inputs[i] >= graph->value_count) __builtin_trap();
    for (size_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= graph->value_count) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = memmem(bytes, size, "</net>", 6);
    size_t xml = end ? (size_t)(end - bytes) + 6 : size;
    struct graph graph;
    garner_error error;
    if (ir_read_bytes(&graph, "fuzz.xml", bytes, xml, bytes + xml, size - xml, &error)) {
        look_at_text(error.message);
        return 0;
    }
    for (size_t i = 0; i < graph.value_count; i++)
        look_at_value(&graph.values[i]);
    for (size_t i = 0; i < graph.node_count; i++)
        look_at_node(&graph, &graph.nodes[i]);
    for (size_t i = 0; i < graph.input_count; i++)
        look_at_port(&graph, &graph.inputs[i]);
    for (size_t i = 0; i < graph.output_count; i++)
        look_at_port(&graph, &graph.outputs[i]);
    graph_free(&graph);
    return 0;
}
