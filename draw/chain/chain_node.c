/* SPDX-License-Identifier: MIT */
/* What a node of the chain is to garner: a gather, one that it refuses, and along which axis. */
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "value.h"

int chain_is_gather(const struct graph_node *node)
{
    if (node->kind != GRAPH_UNSUPPORTED) return node->spec != NULL;
    if (*node->domain && strcmp(node->domain, "ai.onnx") != 0) return 0;
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++)
        if (strcmp(node->type, garner_kind_name((garner_kind)kind)) == 0) return 1;
    return 0;
}

int chain_refuses(const struct chain *chain, size_t node)
{
    const struct graph_node *about = &chain->graph->nodes[node];
    return (about->kind == GRAPH_UNSUPPORTED && chain_is_gather(about)) ||
           model_node_refusal(chain->model, node);
}

int chain_is_refused(const struct chain *chain, size_t i)
{
    const struct chain_item *item = &chain->items[i];
    return item->kind == CHAIN_NODE && chain_refuses(chain, item->node);
}

int chain_axis(const struct chain *chain, const struct graph_node *node, int64_t *axis)
{
    char text[VALUE_TEXT_SIZE];
    *axis = node->op.axis;
    if (node->kind != GRAPH_GATHER || node->input_count < 3 || node->inputs[2] == GRAPH_NONE) return 1;
    const garner_tensor *constant = chain->graph->values[node->inputs[2]].constant;
    if (!constant || array_count(constant->rank, constant->shape) != 1) return 0;
    if (value_text(text, sizeof text, constant, 0) < 0) return 0;
    char *end;
    *axis = strtoll(text, &end, 10);
    return end != text && !*end;
}
