/* SPDX-License-Identifier: MIT */
/* Opening and closing models, and what can be asked of them. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "ir.h"
#include "model_internal.h"
#include "onnx_model.h"

static int ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

int model_has_path(const char *path)
{
    return ends_with(path, ".onnx") || ends_with(path, ".xml");
}

garner_status model_open(struct model **model, const char *path, unsigned flags, garner_error *error)
{
    struct graph graph;
    int follow = (flags & MODEL_FOLLOW_LINKS) != 0;
    garner_status status;
    *model = NULL;
    if (ends_with(path, ".xml"))
        status = ir_read(&graph, path, follow, error);
    else if (ends_with(path, ".onnx"))
        status = onnx_model_load(&graph, path, follow, error);
    else
        return fail_at(error, GARNER_BAD_ARGUMENT, path,
                       "no known kind of model; those known are .onnx and .xml");
    return status ? status : model_from_graph(model, &graph, error);
}

/* Arrays as long as the graph has values or nodes. */
static int make_arrays(struct model *model)
{
    size_t values = model->graph.value_count + 1, nodes = model->graph.node_count + 1;
    model->order = calloc(nodes, sizeof *model->order);
    model->steps = calloc(nodes, sizeof *model->steps);
    model->source = calloc(values, sizeof *model->source);
    model->slot = calloc(values, sizeof *model->slot);
    model->port = calloc(values, sizeof *model->port);
    model->consumed = calloc(values, sizeof *model->consumed);
    model->states = calloc(values, sizeof *model->states);
    return model->order && model->steps && model->source && model->slot && model->port && model->consumed &&
           model->states;
}

garner_status model_from_graph(struct model **model, struct graph *graph, garner_error *error)
{
    struct model *made = calloc(1, sizeof *made);
    *model = NULL;
    if (!made) {
        garner_status status = fail_memory(error, graph->path, sizeof *made);
        graph_free(graph);
        return status;
    }
    made->graph = *graph;
    memset(graph, 0, sizeof *graph);
    garner_status status = make_arrays(made) ? GARNER_OK : fail_memory(error, made->graph.path, sizeof *made);
    if (!status) status = model_arrange(made, error);
    if (!status) status = model_judge(made, error);
    if (status) {
        model_free(made);
        return status;
    }
    *model = made;
    return succeed(error);
}

void model_free(struct model *model)
{
    if (!model) return;
    for (size_t i = 0; model->steps && i < model->graph.node_count; i++) {
        garner_plan_destroy(model->steps[i].plan);
        free(model->steps[i].key);
        free(model->steps[i].refusal);
    }
    for (size_t i = 0; model->states && i < model->graph.value_count; i++)
        free(model->states[i].shape);
    for (size_t i = 0; model->slots && i < model->slot_count; i++)
        free(model->slots[i].memory);
    for (size_t i = 0; i < model->note_count; i++)
        free(model->notes[i]);
    free(model->notes);
    free(model->refusal);
    free(model->slots);
    free(model->order);
    free(model->steps);
    free(model->source);
    free(model->slot);
    free(model->port);
    free(model->consumed);
    free(model->states);
    graph_free(&model->graph);
    free(model);
}

/* ---- Asking ---- */

const struct graph *model_graph(const struct model *model)
{
    return &model->graph;
}

const char *model_refusal(const struct model *model)
{
    return model->refusal;
}

const char *model_node_refusal(const struct model *model, size_t node)
{
    return model->steps[node].refusal;
}

size_t model_order(const struct model *model, size_t i)
{
    return model->order[i];
}

const garner_shape *model_shape(const struct model *model, size_t value)
{
    const struct state *state = &model->states[model->source[value]];
    return state->known ? state->shape : NULL;
}

size_t model_describe(const struct model *model, size_t node, char *buffer, size_t size)
{
    if (size) buffer[0] = '\0';
    const garner_plan *plan = model->steps[node].plan;
    return plan ? garner_plan_describe(plan, buffer, size) : 0;
}

size_t model_note_count(const struct model *model)
{
    return model->graph.note_count + model->note_count;
}

const char *model_note(const struct model *model, size_t i)
{
    size_t read = model->graph.note_count;
    return i < read ? model->graph.notes[i] : model->notes[i - read];
}
