/* SPDX-License-Identifier: MIT */
/* Who reads what in a model, and what runtimes compute beforehand. */
#include "surroundings.h"

#include <stdlib.h>

#include "fusion_rules.h"

static void count_readers(struct surroundings *around, const struct graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++)
            if (graph->nodes[i].inputs[k] != GRAPH_NONE) around->first[graph->nodes[i].inputs[k] + 1]++;
    for (size_t i = 0; i < graph->value_count; i++)
        around->first[i + 1] += around->first[i];
}

/* first[v + 1] counts up from where the readers of v begin to where they end, which is where those of v + 1
 * do. */
static void list_readers(struct surroundings *around, const struct graph *graph)
{
    for (size_t i = graph->value_count; i > 0; i--)
        around->first[i] = around->first[i - 1];
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++) {
            size_t value = graph->nodes[i].inputs[k];
            if (value == GRAPH_NONE) continue;
            size_t at = around->first[value + 1]++;
            around->readers[at] = i;
            around->ports[at] = k;
        }
}

static int is_open(const struct chain_shape *shape)
{
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->extents[i].least != shape->extents[i].most) return 1;
    return shape->rank < 0;
}

/* Whether runtimes compute a node while they load the model. What unpacks a compressed table they leave. */
static int is_foldable(const struct surroundings *around, const struct graph_node *node)
{
    static const char *const kept[] = {"DequantizeLinear",
                                       "QuantizeLinear",
                                       "RandomNormalLike",
                                       "RandomUniformLike",
                                       "Bernoulli",
                                       "If",
                                       "Loop",
                                       "Scan",
                                       NULL};
    static const char *const measures[] = {"Shape", "ShapeOf", "Size", NULL};
    if (!node->input_count || claim_is_operator(node, kept)) return 0;
    if (claim_is_operator(node, measures) && node->inputs[0] != GRAPH_NONE &&
        !is_open(&around->chain->shapes[node->inputs[0]]))
        return 1;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] != GRAPH_NONE && !around->is_folded[node->inputs[i]]) return 0;
    return 1;
}

static size_t count_bodies(const struct graph *graph)
{
    static const char *const types[] = {"If", "Loop", "Scan", "TensorIterator", NULL};
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        count += (size_t)claim_is_operator(&graph->nodes[i], types);
    return count;
}

static void find_folded(struct surroundings *around)
{
    const struct graph *graph = around->chain->graph;
    for (size_t i = 0; i < graph->input_count; i++)
        around->is_input[graph->inputs[i].value] = 1;
    for (size_t i = 0; i < graph->value_count; i++)
        around->is_folded[i] = graph->values[i].constant && !around->is_input[i];
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[model_order(around->chain->model, i)];
        int folded = is_foldable(around, node);
        for (size_t k = 0; folded && k < node->output_count; k++)
            if (node->outputs[k] != GRAPH_NONE) around->is_folded[node->outputs[k]] = 1;
    }
}

int surroundings_create(struct surroundings *around, const struct chain *chain)
{
    const struct graph *graph = chain->graph;
    size_t values = graph->value_count + 2, reads = 1;
    for (size_t i = 0; i < graph->node_count; i++)
        reads += graph->nodes[i].input_count;
    *around = (struct surroundings){.chain = chain,
                                    .first = calloc(values, sizeof *around->first),
                                    .readers = calloc(reads, sizeof *around->readers),
                                    .ports = calloc(reads, sizeof *around->ports),
                                    .spans = calloc(reads, sizeof *around->spans),
                                    .is_input = calloc(values, 1),
                                    .is_folded = calloc(values, 1),
                                    .split = calloc(values, 1)};
    int made = around->first && around->readers && around->ports && around->spans && around->is_input &&
               around->is_folded && around->split;
    for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++) {
        around->claims[runtime] = calloc(graph->node_count + 1, sizeof **around->claims);
        made = made && around->claims[runtime];
    }
    if (!made) return 0;
    count_readers(around, graph);
    list_readers(around, graph);
    find_folded(around);
    around->bodies = count_bodies(graph);
    return 1;
}

void surroundings_free(struct surroundings *around)
{
    free(around->first);
    free(around->readers);
    free(around->ports);
    free(around->spans);
    free(around->is_input);
    free(around->is_folded);
    free(around->split);
    for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++)
        free(around->claims[runtime]);
    *around = (struct surroundings){.chain = NULL};
}

const struct graph_node *surroundings_maker(const struct surroundings *around, size_t value)
{
    const struct graph *graph = around->chain->graph;
    size_t node = graph->values[value].node;
    return node == GRAPH_NONE || graph->nodes[node].kind == GRAPH_CONSTANT ? NULL : &graph->nodes[node];
}
