/* SPDX-License-Identifier: MIT */
/*
 * What info says of a model: inputs, outputs, and each node in the order of running, with the version of its
 * operator, whether it runs here, and the plan where the declared shapes are enough for one.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "info.h"
#include "model.h"
#include "print.h"

/* A model, and what planning it said. */
struct look {
    struct model *model;
    const struct graph *graph;
    garner_error plan; /* of model_plan; status GARNER_OK if there is no complaint */
};

/* ---- Values ---- */

static void print_extent(const struct graph_extent *extent, bool json)
{
    char text[GRAPH_EXTENT_TEXT];
    bool fixed = extent->least == extent->most;
    if (!fixed && extent->symbol && json)
        print_json_string(stdout, extent->symbol);
    else if (!fixed && extent->symbol)
        info_text(stdout, extent->symbol);
    else
        fputs(!fixed && json ? "null" : graph_extent_text(text, extent), stdout);
}

/* The shape as planned, else as declared. */
static void print_value_shape(const struct look *look, size_t value, bool json)
{
    const struct graph_value *v = &look->graph->values[value];
    const garner_shape *known = model_shape(look->model, value);
    if (known) {
        print_integers(stdout, known->extents, known->rank, json);
    } else if (v->constant) {
        print_integers(stdout, v->constant->shape, v->constant->rank, json);
    } else if (v->rank < 0) {
        fputs(json ? "null" : "[...]", stdout);
    } else {
        putchar('[');
        for (int32_t i = 0; i < v->rank; i++) {
            if (i) fputs(json ? ", " : ",", stdout);
            print_extent(&v->shape[i], json);
        }
        putchar(']');
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
static void print_name(const char *name)
{
    char shown[LONGEST_TEXT + 1];
    size_t length = strlen(name), most = 2 * LONGEST_TEXT;
    fputs(printable(shown, sizeof shown, length > most ? name + length - most : name), stdout);
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
        print_json_string(stdout, name);
    else if (value == GRAPH_NONE)
        putchar('-');
    else
        print_name(name);
}

/* ---- For a person ---- */

static void print_ports(const struct look *look, const char *title, const struct graph_port *ports,
                        size_t count)
{
    if (count) printf("%s\n", title);
    for (size_t i = 0; i < count; i++) {
        const char *type = type_of(look, ports[i].value);
        fputs("  ", stdout);
        info_text(stdout, ports[i].name);
        printf("  %s  ", type ? type : "?");
        print_value_shape(look, ports[i].value, false);
        if (look->graph->values[ports[i].value].foreign)
            printf("  (a %s)", look->graph->values[ports[i].value].foreign);
        puts("");
    }
}

/* "data f32 [2,3], indices i64 [2]" */
static void print_operands(const struct look *look, const size_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i) fputs(", ", stdout);
        print_value(look, values[i], false);
        if (values[i] == GRAPH_NONE) continue;
        const char *type = type_of(look, values[i]);
        printf(" %s ", type ? type : "?");
        print_value_shape(look, values[i], false);
    }
}

/* The plan as text from malloc; NULL: there is none, or no memory. */
static char *plan_of(const struct look *look, size_t node)
{
    size_t size = model_describe(look->model, node, NULL, 0);
    char *text = size ? malloc(size + 1) : NULL;
    if (text) model_describe(look->model, node, text, size + 1);
    return text;
}

/* Why a node does not run, as text from malloc; NULL: it does, or no memory. */
static char *refusal_of(const struct look *look, size_t id)
{
    const struct graph_node *node = &look->graph->nodes[id];
    const char *refused = model_node_refusal(look->model, id), *reason = node->refusal ? node->refusal : "";
    if (node->kind != GRAPH_UNSUPPORTED) return refused ? strdup(refused) : NULL;
    size_t size = strlen(node->type) + strlen(reason) + 64;
    char *text = malloc(size);
    if (text) snprintf(text, size, "it does not run here: %s%s%s", node->type, *reason ? " " : "", reason);
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

static void print_title(const struct graph_node *node)
{
    fputs("  ", stdout);
    if (*node->domain) {
        info_text(stdout, node->domain);
        putchar('.');
    }
    info_text(stdout, node->type);
    if (node->spec)
        printf(" %s", node->spec);
    else if (*node->version) {
        putchar(' ');
        info_text(stdout, node->version);
    }
    if (*node->name) {
        fputs(" '", stdout);
        info_text(stdout, node->name);
        putchar('\'');
    }
}

/* How a gather runs, or why a node is refused. */
static void print_plan(const struct look *look, size_t id)
{
    const char *refusal = model_node_refusal(look->model, id);
    char *plan = refusal ? NULL : plan_of(look, id);
    if (refusal) {
        fputs("    refused: ", stdout);
        info_text(stdout, refusal);
        putchar('\n');
    } else if (plan) {
        printf("    plan: %s\n", plan);
    } else if (is_gather(&look->graph->nodes[id])) {
        fputs("    plan: none before the shapes are known\n", stdout);
    }
    free(plan);
}

static void print_node(const struct look *look, size_t id)
{
    const struct graph_node *node = &look->graph->nodes[id];
    print_title(node);
    fputs(runs(look, id) ? ": runs here" : ": does not run here", stdout);
    if (node->refusal && *node->refusal) {
        fputs(": ", stdout);
        info_text(stdout, node->refusal);
    }
    fputs("\n    ", stdout);
    if (node->input_count) {
        print_operands(look, node->inputs, node->input_count);
        fputs(" -> ", stdout);
    }
    print_operands(look, node->outputs, node->output_count);
    putchar('\n');
    print_plan(look, id);
}

static void print_text(const struct look *look)
{
    const struct graph *graph = look->graph;
    const char *refusal = model_refusal(look->model);
    info_text(stdout, graph->path);
    printf(": %s, ", graph->format);
    info_text(stdout, graph->version);
    if (*graph->name) {
        fputs(", '", stdout);
        info_text(stdout, graph->name);
        putchar('\'');
    }
    if (*graph->producer) {
        fputs(", by ", stdout);
        info_text(stdout, graph->producer);
    }
    putchar('\n');
    print_ports(look, "inputs", graph->inputs, graph->input_count);
    print_ports(look, "outputs", graph->outputs, graph->output_count);
    if (graph->node_count) puts("nodes, in the order of running");
    for (size_t i = 0; i < graph->node_count; i++)
        print_node(look, model_order(look->model, i));
    for (size_t i = 0; i < model_note_count(look->model); i++) {
        fputs("note: ", stdout);
        info_text(stdout, model_note(look->model, i));
        putchar('\n');
    }
    if (refusal || look->plan.status != GARNER_OK) {
        fputs("does not run: ", stdout);
        info_text(stdout, refusal ? refusal : look->plan.message);
        putchar('\n');
    }
}

/* ---- For programs ---- */

static void member(const char *name, const char *text, bool first)
{
    printf("%s\"%s\": ", first ? "" : ", ", name);
    if (text)
        print_json_string(stdout, text);
    else
        fputs("null", stdout);
}

static void print_json_ports(const struct look *look, const char *title, const struct graph_port *ports,
                             size_t count)
{
    printf(", \"%s\": [", title);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", {" : "{", stdout);
        member("name", ports[i].name, true);
        member("dtype", type_of(look, ports[i].value), false);
        fputs(", \"shape\": ", stdout);
        print_value_shape(look, ports[i].value, true);
        putchar('}');
    }
    putchar(']');
}

static void print_json_values(const struct look *look, const char *title, const size_t *values, size_t count)
{
    printf(", \"%s\": [", title);
    for (size_t i = 0; i < count; i++) {
        if (i) fputs(", ", stdout);
        print_value(look, values[i], true);
    }
    putchar(']');
}

static void print_json_node(const struct look *look, size_t id)
{
    const struct graph_node *node = &look->graph->nodes[id];
    char *refusal = refusal_of(look, id), *plan = refusal ? NULL : plan_of(look, id);
    putchar('{');
    member("name", node->name, true);
    member("type", node->type, false);
    member("domain", node->domain, false);
    member("version", node->version, false);
    member("spec", node->spec, false);
    printf(", \"runs\": %s", runs(look, id) ? "true" : "false");
    member("refusal", refusal, false);
    print_json_values(look, "inputs", node->inputs, node->input_count);
    print_json_values(look, "outputs", node->outputs, node->output_count);
    member("plan", plan, false);
    putchar('}');
    free(refusal);
    free(plan);
}

static void print_json(const struct look *look)
{
    const struct graph *graph = look->graph;
    const char *refusal = model_refusal(look->model);
    if (!refusal && look->plan.status != GARNER_OK) refusal = look->plan.message;
    putchar('{');
    member("file", graph->path, true);
    member("format", graph->format, false);
    member("version", graph->version, false);
    member("name", graph->name, false);
    member("producer", graph->producer, false);
    printf(", \"runs\": %s", refusal ? "false" : "true");
    member("refusal", refusal, false);
    print_json_ports(look, "inputs", graph->inputs, graph->input_count);
    print_json_ports(look, "outputs", graph->outputs, graph->output_count);
    fputs(", \"nodes\": [", stdout);
    for (size_t i = 0; i < graph->node_count; i++) {
        if (i) fputs(", ", stdout);
        print_json_node(look, model_order(look->model, i));
    }
    fputs("], \"notes\": [", stdout);
    for (size_t i = 0; i < model_note_count(look->model); i++) {
        if (i) fputs(", ", stdout);
        print_json_string(stdout, model_note(look->model, i));
    }
    fputs("]}\n", stdout);
}

garner_status info_model(const char *path, bool json, bool follow_links, garner_error *error)
{
    struct look look = {.model = NULL};
    garner_status status = model_open(&look.model, path, follow_links ? MODEL_FOLLOW_LINKS : 0, error);
    if (status != GARNER_OK) return status;
    look.graph = model_graph(look.model);
    /* What a gather refuses is something to tell, and no failure of telling; want of memory is. */
    status = model_plan(look.model, &look.plan);
    if (status == GARNER_NO_MEMORY) {
        *error = look.plan;
    } else {
        status = succeed(error);
        if (json)
            print_json(&look);
        else
            print_text(&look);
    }
    model_free(look.model);
    return status;
}
