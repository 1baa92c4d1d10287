/* SPDX-License-Identifier: MIT */
/* explain MODEL: opens it, finds out all that can be known without inputs, and puts it in order. */
#include "explain_model.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "gathers.h"

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

static garner_status draw_chain(const struct chain *chain, const struct explain_paper *paper,
                                garner_error *error)
{
    if (paper->svg) return chain_svg(chain, paper->svg, error);
    chain_draw(chain, paper->terminal, paper->width, paper->colour);
    return succeed(error);
}

static garner_status draw_gathers(const struct chain *chain, const struct explain_paper *paper,
                                  garner_error *error)
{
    struct gathers gathers;
    garner_status status = gathers_create(&gathers, chain, error);
    if (status) return status;
    if (paper->svg)
        status = gathers_svg(&gathers, paper->svg, error);
    else
        gathers_draw(&gathers, paper->terminal, paper->width, paper->colour);
    gathers_free(&gathers);
    return status;
}

garner_status explain_opened(struct model *model, const struct explain_paper *paper, garner_error *error)
{
    struct chain chain;
    garner_error problem;
    garner_status status = model_plan(model, &problem);
    if (status == GARNER_NO_MEMORY) return fail(error, status, "%s", problem.message);
    const char *unfit = status && !model_refusal(model) ? problem.message : NULL;
    status = chain_create(&chain, model, unfit, error);
    if (status) return status;
    status = (paper->gathers ? draw_gathers : draw_chain)(&chain, paper, error);
    chain_free(&chain);
    return status;
}

garner_status explain_model(const char *path, int follow_links, const struct explain_paper *paper,
                            garner_error *error)
{
    struct model *model;
    garner_status status = model_open(&model, path, follow_links ? MODEL_FOLLOW_LINKS : 0, error);
    if (status) return status;
    status = explain_opened(model, paper, error);
    model_free(model);
    return status;
}
