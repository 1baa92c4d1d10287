/* SPDX-License-Identifier: MIT */
/*
 * What is known of each tensor's type and shape before anything runs, unknown extents included: what was
 * planned, what the file holds or declares, and for the rest what follows from a gather's inputs.
 */
#include <string.h>

#include "chain.h"

static int set_value(struct chain_shape *shape, const struct chain *chain, size_t id)
{
    const struct graph_value *value = &chain->graph->values[id];
    const garner_shape *planned = model_shape(chain->model, id);
    const garner_tensor *constant = value->constant;
    *shape = (struct chain_shape){.dtype = value->dtype, .rank = -1};
    if (planned) return chain_set_known(shape, planned->dtype, planned->rank, planned->extents);
    if (constant) return chain_set_known(shape, constant->dtype, constant->rank, constant->shape);
    return chain_set_extents(shape, value->rank, value->shape);
}

int chain_outline(const struct chain *chain, const struct graph_node *node, struct chain_outline *outline)
{
    garner_tensor *tensors[] = {&outline->data, &outline->indices};
    outline->op = node->op;
    if (!node->spec || node->kind == GRAPH_UNSUPPORTED || !chain_axis(chain, node, &outline->op.axis))
        return 0;
    for (int i = 0; i < 2; i++) {
        const struct chain_shape *shape = &chain->shapes[node->inputs[i]];
        if (shape->rank < 0) return 0;
        for (int32_t k = 0; k < shape->rank; k++)
            outline->shapes[i][k] =
                shape->extents[k].least == shape->extents[k].most ? shape->extents[k].least : -1;
        *tensors[i] = (garner_tensor){.shape = outline->shapes[i], .rank = shape->rank};
    }
    if (!map_outline(&outline->map, &outline->op, &outline->data, &outline->indices)) return 0;
    if (strcmp(node->spec, "openvino-5") == 0 && outline->map.batch > 1)
        outline->map.merged = outline->map.batch;
    return 1;
}

/* What a gather makes, extent by extent. Batch axes that become one are left alone. */
static int infer_gather(const struct chain *chain, const struct graph_node *node, struct chain_shape *shape)
{
    struct chain_outline outline;
    const struct chain_shape *data = &chain->shapes[node->inputs[0]],
                             *indices = &chain->shapes[node->inputs[1]];
    shape->dtype = data->dtype;
    if (!chain_outline(chain, node, &outline) || outline.map.merged > 1 || outline.map.rank > GARNER_MAX_RANK)
        return 1;
    if (!chain_set_rank(shape, outline.map.rank)) return 0;
    for (int32_t i = 0; i < outline.map.rank; i++) {
        const struct map_axis *axis = &outline.map.axis[i];
        shape->extents[i] =
            axis->index_axis >= 0 ? indices->extents[axis->index_axis] : data->extents[axis->data_axis];
    }
    return 1;
}

static int infer_node(const struct chain *chain, const struct graph_node *node)
{
    if (node->output_count != 1 || node->outputs[0] == GRAPH_NONE) return 1;
    if (!node->input_count || node->inputs[0] == GRAPH_NONE) return 1;
    struct chain_shape *shape = &chain->shapes[node->outputs[0]];
    const struct chain_shape *from = &chain->shapes[node->inputs[0]];
    if (shape->rank >= 0) return 1;
    if (node->spec && node->kind != GRAPH_UNSUPPORTED) return infer_gather(chain, node, shape);
    if (node->kind == GRAPH_UNSUPPORTED) return chain_infer_foreign(chain, node, shape);
    if (node->kind != GRAPH_IDENTITY && node->kind != GRAPH_CONVERT) return 1;
    shape->dtype = node->kind == GRAPH_CONVERT ? node->to : from->dtype;
    return chain_set_extents(shape, from->rank, from->extents);
}

int chain_infer(struct chain *chain)
{
    int fine = 1;
    for (size_t i = 0; i < chain->graph->value_count && fine; i++)
        fine = set_value(&chain->shapes[i], chain, i);
    for (size_t i = 0; i < chain->graph->node_count && fine; i++)
        fine = infer_node(chain, &chain->graph->nodes[model_order(chain->model, i)]);
    return fine;
}
