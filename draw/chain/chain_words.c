/* SPDX-License-Identifier: MIT */
/* The words of a model's drawing. Names come from outside, so they are made harmless here. */
#include "chain.h"
#include "fail.h"
#include "value.h"

enum { MOST_ELEMENTS = 5, MOST_NAME = 28 };

void chain_foreign(struct words *words, const char *text, int most)
{
    char harmless[512], shown[256];
    view_shorten(shown, sizeof shown, printable(harmless, sizeof harmless, text), most);
    words_add(words, "%s", shown);
}

void chain_title(struct words *words, const struct chain *chain)
{
    const struct graph *graph = chain->graph;
    if (*graph->name) {
        chain_foreign(words, graph->name, MOST_NAME);
        words_add(words, ": ");
    }
    words_add(words, "%s", graph->format);
    if (*graph->version) words_add(words, ", %s", graph->version);
}

/* ---- Names, types ---- */

void chain_value_name(struct words *words, const struct chain *chain, size_t value)
{
    const struct graph_value *about = &chain->graph->values[value];
    if (*about->name)
        chain_foreign(words, about->name, MOST_NAME);
    else if (about->node != GRAPH_NONE && *chain->graph->nodes[about->node].name)
        chain_foreign(words, chain->graph->nodes[about->node].name, MOST_NAME);
    else
        words_add(words, "#%zu", value);
}

/* An input by the name that it is given by. */
static const char *input_name(const struct chain *chain, size_t value)
{
    for (size_t i = 0; i < chain->graph->input_count; i++)
        if (chain->graph->inputs[i].value == value) return chain->graph->inputs[i].name;
    return NULL;
}

void chain_name(struct words *words, const struct chain *chain, size_t i)
{
    const struct chain_item *item = &chain->items[i];
    const char *name = item->kind == CHAIN_INPUT ? input_name(chain, item->value) : NULL;
    if (name)
        chain_foreign(words, name, MOST_NAME);
    else if (item->value != GRAPH_NONE)
        chain_value_name(words, chain, item->value);
    else
        chain_foreign(words, chain->graph->nodes[item->node].name, MOST_NAME);
}

static void add_extent(struct words *words, const struct graph_extent *extent)
{
    char text[GRAPH_EXTENT_TEXT];
    if (extent->symbol)
        chain_foreign(words, extent->symbol, 12);
    else
        words_add(words, "%s", graph_extent_text(text, extent));
}

void chain_value_type(struct words *words, const struct chain *chain, size_t value)
{
    const struct chain_shape *shape = &chain->shapes[value];
    const char *foreign = chain->graph->values[value].foreign, *type = garner_dtype_name(shape->dtype);
    if (foreign) {
        chain_foreign(words, foreign, MOST_NAME);
        return;
    }
    words_add(words, shape->rank < 0 ? "%s[…" : "%s[", type ? type : "?");
    for (int32_t k = 0; k < shape->rank; k++) {
        if (k) words_add(words, ",");
        add_extent(words, &shape->extents[k]);
    }
    words_add(words, "]");
}

void chain_type(struct words *words, const struct chain *chain, size_t i)
{
    size_t value = chain->items[i].value;
    if (value != GRAPH_NONE) chain_value_type(words, chain, value);
}

/* ---- What it is ---- */

static void add_elements(struct words *words, const garner_tensor *tensor)
{
    int64_t count = array_count(tensor->rank, tensor->shape);
    char text[VALUE_TEXT_SIZE], shown[32];
    if (tensor->rank > 1 || count < 0) return;
    words_add(words, tensor->rank ? " [" : " ");
    for (int64_t i = 0; i < count && i < MOST_ELEMENTS; i++) {
        if (value_text(text, sizeof text, tensor, i) < 0) text[0] = 0;
        view_shorten(shown, sizeof shown, text, 16);
        words_add(words, i ? ",%s" : "%s", shown);
    }
    if (count > MOST_ELEMENTS) words_add(words, ",…");
    if (tensor->rank) words_add(words, "]");
}

void chain_axes(struct words *words, const struct chain *chain, const struct graph_node *node)
{
    int64_t axis;
    if (node->kind != GRAPH_GATHER_ND) {
        if (chain_axis(chain, node, &axis)) {
            words_add(words, ", axis %lld", (long long)axis);
        } else {
            words_add(words, ", axis from ");
            chain_value_name(words, chain, node->inputs[2]);
        }
    }
    if (node->op.batch_dims) words_add(words, ", batch_dims %lld", (long long)node->op.batch_dims);
}

static void add_node(struct words *words, const struct chain *chain, const struct graph_node *node)
{
    switch (node->kind) {
    case GRAPH_GATHER:
    case GRAPH_GATHER_ELEMENTS:
    case GRAPH_GATHER_ND:
        words_add(words, "%s", garner_kind_name(node->op.kind));
        chain_axes(words, chain, node);
        return;
    case GRAPH_CONVERT:
        words_add(words, "Convert to %s", garner_dtype_name(node->to));
        return;
    default:
        chain_foreign(words, node->type, MOST_NAME);
    }
    if (chain_is_gather(node)) words_add(words, ": does not run here");
}

void chain_what(struct words *words, const struct chain *chain, size_t i)
{
    const struct chain_item *item = &chain->items[i];
    if (item->kind == CHAIN_NODE) {
        add_node(words, chain, &chain->graph->nodes[item->node]);
        return;
    }
    const garner_tensor *constant = chain->graph->values[item->value].constant;
    words_add(words, item->kind == CHAIN_CONSTANT ? "constant" : constant ? "input, or" : "input");
    if (constant) add_elements(words, constant);
}

void chain_spec(struct words *words, const struct chain *chain, size_t i)
{
    const struct chain_item *item = &chain->items[i];
    if (item->kind != CHAIN_NODE) return;
    const char *spec = chain->graph->nodes[item->node].spec;
    if (spec) words_add(words, "%s", spec);
}

void chain_output(struct words *words, const struct chain *chain, size_t i)
{
    size_t value = chain->items[i].value;
    if (value == GRAPH_NONE || chain->output[value] == GRAPH_NONE) return;
    chain_foreign(words, chain->graph->outputs[chain->output[value]].name, MOST_NAME);
}

/* ---- Formulas ---- */

void chain_formula(struct words *words, const struct chain *chain, size_t i)
{
    struct chain_outline outline;
    struct words names[3] = {{0}, {0}, {0}};
    if (chain->items[i].kind != CHAIN_NODE) return;
    const struct graph_node *node = &chain->graph->nodes[chain->items[i].node];
    if (!chain_outline(chain, node, &outline)) return;
    chain_value_name(&names[0], chain, node->outputs[0]);
    chain_value_name(&names[1], chain, node->inputs[0]);
    chain_value_name(&names[2], chain, node->inputs[1]);
    view_formula_of(words, &outline.map, &(struct view_names){names[0].text, names[1].text, names[2].text});
}

/* ---- The summary ---- */

static void say_count(struct words *words, const char *before, size_t count, const char *one,
                      const char *many)
{
    words_add(words, "%s", before);
    words_add_count(words, (int64_t)count);
    words_add(words, " %s", count == 1 ? one : many);
}

static void say_size(struct words *words, const struct chain *chain)
{
    const struct graph *graph = chain->graph;
    size_t gathers = 0, refused = 0, others = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        int gather = chain_is_gather(&graph->nodes[i]), refuses = chain_refuses(chain, i);
        gathers += gather != 0;
        refused += refuses != 0;
        others += graph->nodes[i].kind == GRAPH_UNSUPPORTED && !gather;
    }
    say_count(words, "", graph->input_count, "input", "inputs");
    say_count(words, ", ", graph->output_count, "output", "outputs");
    say_count(words, ", ", gathers, "gather", "gathers");
    if (others) say_count(words, ", ", others, "node for a runtime", "nodes for a runtime");
    if (refused) say_count(words, "; ", refused, "node does not run here", "nodes do not run here");
}

int chain_summary(struct words *words, const struct chain *chain, size_t i)
{
    size_t notes = model_note_count(chain->model);
    if (i == 0) say_size(words, chain);
    if (i == 1 && chain->problem) words_add(words, "%s", chain->problem);
    if (i >= 2 && i - 2 < notes) words_add(words, "%s", model_note(chain->model, i - 2));
    return i < 2 || i - 2 < notes;
}
