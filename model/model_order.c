/* SPDX-License-Identifier: MIT */
/*
 * Arranges a graph before it runs. Nodes keep the file's order as far as what they need allows, by a walk
 * with a stack of its own; slots are handed out along that order and taken back after the last use.
 */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "model_internal.h"

enum mark { UNSEEN, OPEN, DONE };

/* A node on the stack, and which of its inputs is looked at next. */
struct frame {
    size_t node, next;
};

struct walk {
    struct model *model;
    enum mark *marks;
    struct frame *stack;
    size_t depth, ordered;
};

static garner_status refuse_cycle(const struct walk *walk, size_t node, garner_error *error)
{
    char name[MODEL_NODE_TEXT], type[64];
    const struct graph *graph = &walk->model->graph;
    return fail_at(
        error, GARNER_BAD_FILE, graph->path, "node %s (%s) needs what it makes itself: the graph has a cycle",
        model_node_text(name, walk->model, node), printable(type, sizeof type, graph->nodes[node].type));
}

static void push(struct walk *walk, size_t node)
{
    walk->marks[node] = OPEN;
    walk->stack[walk->depth++] = (struct frame){node, 0};
}

/* Looks at one more input of the node on top, or takes the node from the stack. */
static garner_status step(struct walk *walk, garner_error *error)
{
    struct frame *top = &walk->stack[walk->depth - 1];
    const struct graph *graph = &walk->model->graph;
    const struct graph_node *node = &graph->nodes[top->node];
    if (top->next == node->input_count) {
        walk->marks[top->node] = DONE;
        walk->model->order[walk->ordered++] = top->node;
        walk->depth--;
        return GARNER_OK;
    }
    size_t value = node->inputs[top->next++];
    size_t maker = value == GRAPH_NONE ? GRAPH_NONE : graph->values[value].node;
    if (maker == GRAPH_NONE || walk->marks[maker] == DONE) return GARNER_OK;
    if (walk->marks[maker] == OPEN) return refuse_cycle(walk, maker, error);
    push(walk, maker);
    return GARNER_OK;
}

static garner_status order_nodes(struct model *model, garner_error *error)
{
    size_t count = model->graph.node_count;
    struct walk walk = {.model = model};
    walk.marks = calloc(count + 1, sizeof *walk.marks);
    walk.stack = calloc(count + 1, sizeof *walk.stack);
    garner_status status = GARNER_OK;
    if (!walk.marks || !walk.stack)
        status = fail_memory(error, model->graph.path, count * sizeof *walk.stack);
    for (size_t i = 0; i < count && !status; i++) {
        if (walk.marks[i] == UNSEEN) push(&walk, i);
        while (walk.depth && !status)
            status = step(&walk, error);
    }
    free(walk.marks);
    free(walk.stack);
    return status;
}

/* ---- Sources ---- */

static void find_sources(struct model *model)
{
    const struct graph *graph = &model->graph;
    for (size_t i = 0; i < graph->value_count; i++)
        model->source[i] = i;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[model->order[i]];
        if (node->kind == GRAPH_IDENTITY) model->source[node->outputs[0]] = model->source[node->inputs[0]];
    }
}

static void find_uses(struct model *model)
{
    const struct graph *graph = &model->graph;
    for (size_t i = 0; i < graph->value_count; i++)
        model->port[i] = model->consumed[i] = model->slot[i] = GRAPH_NONE;
    for (size_t i = graph->output_count; i-- > 0;)
        model->port[model->source[graph->outputs[i].value]] = i;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[model->order[i]];
        for (size_t j = 0; j < node->input_count; j++)
            if (node->inputs[j] != GRAPH_NONE) model->consumed[model->source[node->inputs[j]]] = i;
    }
}

/* ---- Slots ---- */

/* Whether a node writes into memory that the model provides. */
static int makes_elements(const struct graph_node *node)
{
    return node->kind == GRAPH_GATHER || node->kind == GRAPH_GATHER_ELEMENTS ||
           node->kind == GRAPH_GATHER_ND || node->kind == GRAPH_CONVERT;
}

/* Slots that nobody holds, and which are held. */
struct rack {
    size_t *unused, count;
    unsigned char *held;
};

/* Takes back the slot of a value that nobody needs after step i. A node may take an input twice. */
static void take_back(const struct model *model, struct rack *rack, size_t value, size_t i)
{
    size_t slot = model->slot[value], last = model->consumed[value];
    if (slot == GRAPH_NONE || (last != GRAPH_NONE && last > i) || !rack->held[slot]) return;
    rack->held[slot] = 0;
    rack->unused[rack->count++] = slot;
}

static void hand_out(struct model *model, struct rack *rack)
{
    const struct graph *graph = &model->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[model->order[i]];
        int makes = makes_elements(node);
        if (makes && model->port[node->outputs[0]] == GRAPH_NONE) {
            size_t slot = rack->count ? rack->unused[--rack->count] : model->slot_count++;
            model->slot[node->outputs[0]] = slot;
            rack->held[slot] = 1;
        }
        for (size_t j = 0; j < node->input_count; j++)
            if (node->inputs[j] != GRAPH_NONE) take_back(model, rack, model->source[node->inputs[j]], i);
        if (makes) take_back(model, rack, node->outputs[0], i);
    }
}

static garner_status make_slots(struct model *model, garner_error *error)
{
    size_t most = model->graph.node_count + 1;
    struct rack rack = {calloc(most, sizeof *rack.unused), 0, calloc(most, 1)};
    if (rack.unused && rack.held) {
        hand_out(model, &rack);
        model->slots = calloc(model->slot_count + 1, sizeof *model->slots);
    }
    free(rack.unused);
    free(rack.held);
    return model->slots ? GARNER_OK : fail_memory(error, model->graph.path, most * sizeof *rack.unused);
}

garner_status model_arrange(struct model *model, garner_error *error)
{
    garner_status status = order_nodes(model, error);
    if (status) return status;
    find_sources(model);
    find_uses(model);
    return make_slots(model, error);
}
