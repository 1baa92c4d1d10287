/* SPDX-License-Identifier: MIT */
/* Puts inputs, constants and nodes of a model in the order of a chain. */
#include "chain.h"

#include <stdlib.h>

#include "fail.h"

/* Whether a value is a constant of one element that only ever is an axis. */
static void find_axes(const struct graph *graph, unsigned char *is_axis)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        const garner_tensor *constant = graph->values[i].constant;
        is_axis[i] = constant && array_count(constant->rank, constant->shape) == 1;
    }
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++) {
            size_t value = graph->nodes[i].inputs[k];
            if (value != GRAPH_NONE && (graph->nodes[i].kind != GRAPH_GATHER || k != 2)) is_axis[value] = 0;
        }
    for (size_t i = 0; i < graph->input_count; i++)
        is_axis[graph->inputs[i].value] = 0;
    for (size_t i = 0; i < graph->output_count; i++)
        is_axis[graph->outputs[i].value] = 0;
}

static void add_item(struct chain *chain, enum chain_kind kind, size_t value, size_t node)
{
    chain->items[chain->count++] = (struct chain_item){kind, value, node};
}

/* Draws a value that no node gives, if it is not there yet. */
static void need_value(struct chain *chain, const unsigned char *is_axis, size_t value)
{
    const struct graph_value *about = &chain->graph->values[value];
    int made = about->node != GRAPH_NONE && chain->graph->nodes[about->node].kind != GRAPH_CONSTANT;
    if (made || is_axis[value] || chain->maker[value] != GRAPH_NONE) return;
    chain->maker[value] = chain->count;
    add_item(chain, about->constant && !is_axis[value] ? CHAIN_CONSTANT : CHAIN_INPUT, value, GRAPH_NONE);
}

static void add_node(struct chain *chain, const unsigned char *is_axis, size_t id)
{
    const struct graph_node *node = &chain->graph->nodes[id];
    if (node->kind == GRAPH_CONSTANT) return;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] != GRAPH_NONE) need_value(chain, is_axis, node->inputs[i]);
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] != GRAPH_NONE) chain->last[node->inputs[i]] = chain->count;
    size_t first = GRAPH_NONE;
    for (size_t i = node->output_count; i-- > 0;) {
        if (node->outputs[i] == GRAPH_NONE) continue; /* it is left out */
        first = node->outputs[i];
        chain->maker[first] = chain->count;
    }
    add_item(chain, CHAIN_NODE, first, id);
}

/* Inputs that are constants too are defaults: drawn as inputs. */
static void mark_inputs(struct chain *chain)
{
    for (size_t i = 0; i < chain->graph->input_count; i++) {
        size_t item = chain->maker[chain->graph->inputs[i].value];
        if (item != GRAPH_NONE && chain->items[item].kind == CHAIN_CONSTANT)
            chain->items[item].kind = CHAIN_INPUT;
    }
}

static void fill(struct chain *chain, const unsigned char *is_axis)
{
    const struct graph *graph = chain->graph;
    for (size_t i = 0; i < graph->value_count; i++)
        chain->maker[i] = chain->last[i] = chain->output[i] = GRAPH_NONE;
    for (size_t i = graph->output_count; i-- > 0;)
        chain->output[graph->outputs[i].value] = i;
    for (size_t i = 0; i < graph->node_count; i++)
        add_node(chain, is_axis, model_order(chain->model, i));
    for (size_t i = 0; i < graph->input_count; i++)
        need_value(chain, is_axis, graph->inputs[i].value);
    for (size_t i = 0; i < graph->output_count; i++)
        need_value(chain, is_axis, graph->outputs[i].value);
    mark_inputs(chain);
}

garner_status chain_create(struct chain *chain, const struct model *model, const char *problem,
                           garner_error *error)
{
    const struct graph *graph = model_graph(model);
    size_t values = graph->value_count + 1;
    unsigned char *is_axis = calloc(values, 1);
    *chain = (struct chain){.model = model,
                            .graph = graph,
                            .problem = problem,
                            .items = calloc(values + graph->node_count, sizeof *chain->items),
                            .maker = calloc(values, sizeof *chain->maker),
                            .last = calloc(values, sizeof *chain->last),
                            .output = calloc(values, sizeof *chain->output),
                            .shapes = calloc(values, sizeof *chain->shapes)};
    int made = is_axis && chain->items && chain->maker && chain->last && chain->output && chain->shapes;
    if (made) {
        find_axes(graph, is_axis);
        fill(chain, is_axis);
        made = chain_infer(chain);
    }
    if (!made) chain_free(chain);
    free(is_axis);
    return made ? GARNER_OK : fail(error, GARNER_NO_MEMORY, "explain: not enough memory");
}

void chain_free(struct chain *chain)
{
    for (size_t i = 0; chain->shapes && i < chain->graph->value_count; i++)
        free(chain->shapes[i].extents);
    free(chain->shapes);
    free(chain->items);
    free(chain->maker);
    free(chain->last);
    free(chain->output);
    *chain = (struct chain){.model = NULL};
}
