/* SPDX-License-Identifier: MIT */
/* Nodes in messages. */
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "model_internal.h"

const char *model_node_text(char text[MODEL_NODE_TEXT], const struct model *model, size_t node)
{
    char shown[MODEL_NODE_TEXT - 3];
    const char *name = model->graph.nodes[node].name;
    if (*name)
        snprintf(text, MODEL_NODE_TEXT, "'%s'", printable(shown, sizeof shown, name));
    else
        snprintf(text, MODEL_NODE_TEXT, "#%zu", node + 1);
    return text;
}

garner_status model_blame(const struct model *model, size_t id, garner_error *error)
{
    const struct graph_node *node = &model->graph.nodes[id];
    char said[sizeof error->message], name[MODEL_NODE_TEXT], type[64];
    uint32_t has = error->has;
    memcpy(said, error->message, sizeof said);
    (void)fail_at(error, error->status, model->graph.path, "node %s (%s%s%s): %s",
                  model_node_text(name, model, id), printable(type, sizeof type, node->type),
                  node->spec ? ", " : "", node->spec ? node->spec : "", said);
    error->has = has; /* position, value and so on are still there */
    return error->status;
}
