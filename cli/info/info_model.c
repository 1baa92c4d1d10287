/* SPDX-License-Identifier: MIT */
/*
 * What info says of a model: inputs, outputs, and each node in the order of running, with the version of its
 * operator, whether it runs here, and the plan where the declared shapes are enough for one.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "fail.h"
#include "info.h"
#include "model.h"
#include "print.h"

/* A model, and what planning it said. */
struct look {
    struct model *model;
    const struct graph *graph;
    garner_error plan; /* of model_plan; status GARNER_OK if there is no complaint */
    FILE *out;
    garner_error *error; /* of what could not be printed */
};

/* ---- Values ---- */

static void print_extent(FILE *out, const struct graph_extent *extent, bool json)
{
    char text[GRAPH_EXTENT_TEXT];
    bool fixed = extent->least == extent->most;
    if (!fixed && extent->symbol && json)
        print_json_string(out, extent->symbol);
    else if (!fixed && extent->symbol)
        print_foreign(out, extent->symbol);
    else
        fputs(!fixed && json ? "null" : graph_extent_text(text, extent), out);
}

/* The shape as planned, else as declared. */
static void print_value_shape(const struct look *look, size_t value, bool json)
{
    const struct graph_value *v = &look->graph->values[value];
    const garner_shape *known = model_shape(look->model, value);
    if (known) {
        print_integers(look->out, known->extents, known->rank, json);
    } else if (v->constant) {
        print_integers(look->out, v->constant->shape, v->constant->rank, json);
    } else if (v->rank < 0) {
        fputs(json ? "null" : "[...]", look->out);
    } else {
        putc('[', look->out);
        for (int32_t i = 0; i < v->rank; i++) {
            if (i) fputs(json ? ", " : ",", look->out);
            print_extent(look->out, &v->shape[i], json);
        }
        putc(']', look->out);
    }
}

static const char *type_of(const struct look *look, size_t value)
{
    const struct graph_value *v = &look->graph->values[value];
    const garner_shape *known = model_shape(look->model, value);
    garner_dtype dtype = known ? known->dtype : v->constant ? v->constant->dtype : v->dtype;
    return dtype ? garner_dtype_name(dtype) : NULL;
}

/* An IR names a value once, however many nodes read it, and names may be as long as the file: what is
 * printed for each reader has to have an end. */
enum { LONGEST_TEXT = 200, LONGEST_JSON = 1000 };

/* A name for a person, without its beginning if it is too long. */
static void print_name(FILE *out, const char *name)
{
    char shown[LONGEST_TEXT + 1];
    size_t length = strlen(name), most = (size_t)2 * LONGEST_TEXT;
    fputs(printable(shown, sizeof shown, length > most ? name + length - most : name), out);
}

/* A value by its name, or by its number where the file gives it none, or none that a program could use. */
static void print_value(const struct look *look, size_t value, bool json)
{
    char number[32];
    const char *name = value == GRAPH_NONE ? "" : look->graph->values[value].name;
    if (value != GRAPH_NONE && (*name == '\0' || (json && strlen(name) > LONGEST_JSON))) {
        snprintf(number, sizeof number, "%%%zu", value);
        name = number;
    }
    if (json)
        print_json_string(look->out, name);
    else if (value == GRAPH_NONE)
        putc('-', look->out);
    else
        print_name(look->out, name);
}

/* ---- For a person ---- */

static void print_ports(const struct look *look, const char *title, const struct graph_port *ports,
                        size_t count)
{
    if (count) fprintf(look->out, "%s\n", title);
    for (size_t i = 0; i < count; i++) {
        const char *type = type_of(look, ports[i].value);
        fputs("  ", look->out);
        print_foreign(look->out, ports[i].name);
        fprintf(look->out, "  %s  ", type ? type : "?");
        print_value_shape(look, ports[i].value, false);
        if (look->graph->values[ports[i].value].foreign)
            fprintf(look->out, "  (a %s)", look->graph->values[ports[i].value].foreign);
        putc('\n', look->out);
    }
}

/* "data f32 [2,3], indices i64 [2]" */
static void print_operands(const struct look *look, const size_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i) fputs(", ", look->out);
        print_value(look, values[i], false);
        if (values[i] == GRAPH_NONE) continue;
        const char *type = type_of(look, values[i]);
        fprintf(look->out, " %s ", type ? type : "?");
        print_value_shape(look, values[i], false);
    }
}

/* The plan as text from malloc; NULL: there is none, or no memory, which look->error then says. */
static char *plan_of(const struct look *look, size_t node)
{
    size_t size = model_describe(look->model, node, NULL, 0);
    char *text = size ? malloc(size + 1) : NULL;
    if (text) model_describe(look->model, node, text, size + 1);
    if (size && !text) (void)fail_memory(look->error, look->graph->path, size + 1);
    return text;
}

static bool runs(const struct look *look, size_t node)
{
    return look->graph->nodes[node].kind != GRAPH_UNSUPPORTED && !model_node_refusal(look->model, node);
}

static bool is_gather(const struct graph_node *node)
{
    return node->kind == GRAPH_GATHER || node->kind == GRAPH_GATHER_ELEMENTS || node->kind == GRAPH_GATHER_ND;
}

static void print_title(FILE *out, const struct graph_node *node)
{
    fputs("  ", out);
    if (*node->domain) {
        print_foreign(out, node->domain);
        putc('.', out);
    }
    print_foreign(out, node->type);
    if (node->spec)
        fprintf(out, " %s", node->spec);
    else if (*node->version) {
        putc(' ', out);
        print_foreign(out, node->version);
    }
    if (*node->name) {
        fputs(" '", out);
        print_foreign(out, node->name);
        putc('\'', out);
    }
}

/* How a gather runs, or why a node is refused. */
static void print_plan(const struct look *look, size_t id)
{
    const char *refusal = model_node_refusal(look->model, id);
    char *plan = refusal ? NULL : plan_of(look, id);
    if (refusal) {
        fputs("    refused: ", look->out);
        print_foreign(look->out, refusal);
        putc('\n', look->out);
    } else if (plan) {
        fprintf(look->out, "    plan: %s\n", plan);
    } else if (is_gather(&look->graph->nodes[id])) {
        fputs("    plan: none before the shapes are known\n", look->out);
    }
    free(plan);
}

static void print_node(const struct look *look, size_t id)
{
    const struct graph_node *node = &look->graph->nodes[id];
    print_title(look->out, node);
    fputs(runs(look, id)                                              ? ": runs here"
          : node->kind == GRAPH_UNSUPPORTED && !chain_is_gather(node) ? ": for a runtime"
                                                                      : ": does not run here",
          look->out);
    if (node->refusal && *node->refusal) {
        fputs(": ", look->out);
        print_foreign(look->out, node->refusal);
    }
    fputs("\n    ", look->out);
    if (node->input_count) {
        print_operands(look, node->inputs, node->input_count);
        fputs(" -> ", look->out);
    }
    print_operands(look, node->outputs, node->output_count);
    putc('\n', look->out);
    print_plan(look, id);
}

static void print_text(const struct look *look)
{
    const struct graph *graph = look->graph;
    const char *refusal = model_refusal(look->model);
    print_foreign(look->out, graph->path);
    fprintf(look->out, ": %s, ", graph->format);
    print_foreign(look->out, graph->version);
    if (*graph->name) {
        fputs(", '", look->out);
        print_foreign(look->out, graph->name);
        putc('\'', look->out);
    }
    if (*graph->producer) {
        fputs(", by ", look->out);
        print_foreign(look->out, graph->producer);
    }
    putc('\n', look->out);
    print_ports(look, "inputs", graph->inputs, graph->input_count);
    print_ports(look, "outputs", graph->outputs, graph->output_count);
    if (graph->node_count) fputs("nodes, in the order of running\n", look->out);
    for (size_t i = 0; i < graph->node_count; i++)
        print_node(look, model_order(look->model, i));
    for (size_t i = 0; i < model_note_count(look->model); i++) {
        fputs("note: ", look->out);
        print_foreign(look->out, model_note(look->model, i));
        putc('\n', look->out);
    }
    if (refusal || look->plan.status != GARNER_OK) {
        fputs(refusal ? "runs inside a runtime alone: " : "does not run: ", look->out);
        print_foreign(look->out, refusal ? refusal : look->plan.message);
        putc('\n', look->out);
    }
}

/* ---- For programs ---- */

static void member(FILE *out, const char *name, const char *text, bool first)
{
    fprintf(out, "%s\"%s\": ", first ? "" : ", ", name);
    if (text)
        print_json_string(out, text);
    else
        fputs("null", out);
}

static void print_json_ports(const struct look *look, const char *title, const struct graph_port *ports,
                             size_t count)
{
    fprintf(look->out, ", \"%s\": [", title);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", {" : "{", look->out);
        member(look->out, "name", ports[i].name, true);
        member(look->out, "dtype", type_of(look, ports[i].value), false);
        fputs(", \"shape\": ", look->out);
        print_value_shape(look, ports[i].value, true);
        putc('}', look->out);
    }
    putc(']', look->out);
}

static void print_json_values(const struct look *look, const char *title, const size_t *values, size_t count)
{
    fprintf(look->out, ", \"%s\": [", title);
    for (size_t i = 0; i < count; i++) {
        if (i) fputs(", ", look->out);
        print_value(look, values[i], true);
    }
    putc(']', look->out);
}

/* Why a node does not run; null: it does. */
static void print_json_refusal(const struct look *look, size_t id)
{
    const struct graph_node *node = &look->graph->nodes[id];
    const char *reason = node->refusal ? node->refusal : "";
    if (node->kind != GRAPH_UNSUPPORTED) {
        member(look->out, "refusal", model_node_refusal(look->model, id), false);
        return;
    }
    fputs(", \"refusal\": \"it does not run here: ", look->out);
    print_escaped(look->out, node->type, strlen(node->type), ESCAPE_JSON);
    if (*reason) putc(' ', look->out);
    print_escaped(look->out, reason, strlen(reason), ESCAPE_JSON);
    putc('"', look->out);
}

static void print_json_node(const struct look *look, size_t id)
{
    const struct graph_node *node = &look->graph->nodes[id];
    char *plan = runs(look, id) ? plan_of(look, id) : NULL;
    putc('{', look->out);
    member(look->out, "name", node->name, true);
    member(look->out, "type", node->type, false);
    member(look->out, "domain", node->domain, false);
    member(look->out, "version", node->version, false);
    member(look->out, "spec", node->spec, false);
    fprintf(look->out, ", \"runs\": %s", runs(look, id) ? "true" : "false");
    print_json_refusal(look, id);
    print_json_values(look, "inputs", node->inputs, node->input_count);
    print_json_values(look, "outputs", node->outputs, node->output_count);
    member(look->out, "plan", plan, false);
    putc('}', look->out);
    free(plan);
}

static void print_json(const struct look *look)
{
    const struct graph *graph = look->graph;
    const char *refusal = model_refusal(look->model);
    if (!refusal && look->plan.status != GARNER_OK) refusal = look->plan.message;
    putc('{', look->out);
    member(look->out, "file", graph->path, true);
    member(look->out, "format", graph->format, false);
    member(look->out, "version", graph->version, false);
    member(look->out, "name", graph->name, false);
    member(look->out, "producer", graph->producer, false);
    fprintf(look->out, ", \"runs\": %s", refusal ? "false" : "true");
    member(look->out, "refusal", refusal, false);
    print_json_ports(look, "inputs", graph->inputs, graph->input_count);
    print_json_ports(look, "outputs", graph->outputs, graph->output_count);
    fputs(", \"nodes\": [", look->out);
    for (size_t i = 0; i < graph->node_count; i++) {
        if (i) fputs(", ", look->out);
        print_json_node(look, model_order(look->model, i));
    }
    fputs("], \"notes\": [", look->out);
    for (size_t i = 0; i < model_note_count(look->model); i++) {
        if (i) fputs(", ", look->out);
        print_json_string(look->out, model_note(look->model, i));
    }
    fputs("]}\n", look->out);
}

garner_status info_opened(struct model *model, unsigned flags, FILE *out, garner_error *error)
{
    garner_error spare;
    struct look look = {
        .model = model, .graph = model_graph(model), .out = out, .error = error ? error : &spare};
    /* What a gather refuses is something to tell, and no failure of telling; want of memory is. */
    garner_status status = model_plan(model, &look.plan);
    if (status == GARNER_NO_MEMORY) {
        *look.error = look.plan;
        return status;
    }
    (void)succeed(look.error);
    if (flags & INFO_GATHERS) return info_gathers(model, flags & INFO_JSON, out, error);
    if (flags & INFO_JSON)
        print_json(&look);
    else
        print_text(&look);
    return look.error->status;
}

garner_status info_model(const char *path, unsigned flags, bool follow_links, garner_error *error)
{
    struct model *model;
    garner_status status = model_open(&model, path, follow_links ? MODEL_FOLLOW_LINKS : 0, error);
    if (status != GARNER_OK) return status;
    status = info_opened(model, flags, stdout, error);
    model_free(model);
    return status;
}
