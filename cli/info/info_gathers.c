/* SPDX-License-Identifier: MIT */
/* info MODEL --gathers: each group of gathers with its neighbours, and who takes them inside the runtimes. */
#include <string.h>

#include "gathers.h"
#include "info.h"
#include "print.h"

enum { MOST_NAMES = 3 };

/* ---- For a person ---- */

static void print_names(FILE *out, const struct gathers *gathers, size_t group)
{
    const struct gather_group *about = &gathers->groups[group];
    struct words words = {0};
    size_t named = 0;
    for (size_t i = about->first; i != GRAPH_NONE && named < MOST_NAMES; i = gathers->gathers[i].next) {
        const char *name = gathers->chain->graph->nodes[gathers->gathers[i].node].name;
        if (!*name) continue;
        words_add(&words, named++ ? ", '" : "'");
        chain_foreign(&words, name, 60);
        words_add(&words, "'");
    }
    if (named) fprintf(out, "    nodes: %s%s\n", words.text, named < about->count ? ", …" : "");
}

static void print_group(FILE *out, const struct gathers *gathers, size_t group)
{
    static const char *const sides[SIDES] = {"    data: ", "; indices: ", "; result: "};
    struct words words = {0};
    gathers_title(&words, gathers, group);
    fprintf(out, "%s\n", words.text);
    for (int side = 0; side < SIDES; side++) {
        words_clear(&words);
        gathers_side(&words, gathers, group, (enum gather_side)side);
        fprintf(out, "%s%s", sides[side], words.text);
    }
    fputs("\n", out);
    print_names(out, gathers, group);
    for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++) {
        words_clear(&words);
        gathers_verdict(&words, gathers, group, (enum claim_runtime)runtime);
        fprintf(out, "    %s: %s\n", claim_runtime_name((enum claim_runtime)runtime), words.text);
    }
}

static void print_text(FILE *out, const struct gathers *gathers)
{
    const struct graph *graph = gathers->chain->graph;
    struct words words = {0};
    gathers_summary(&words, gathers);
    print_foreign(out, graph->path);
    fprintf(out, ": %s, ", graph->format);
    print_foreign(out, graph->version);
    fprintf(out, ": %s\n", words.text);
    for (size_t i = 0; i < gathers->group_count; i++)
        print_group(out, gathers, i);
    words_clear(&words);
    for (size_t i = 0; gathers_note(&words, gathers, i); i++) {
        fprintf(out, "note: %s\n", words.text);
        words_clear(&words);
    }
}

/* ---- For programs ---- */

static void member(FILE *out, const char *before, const char *name, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, name);
    if (text)
        print_json_string(out, text);
    else
        fputs("null", out);
}

static void print_json_shape(FILE *out, const struct chain_shape *shape)
{
    if (shape->rank < 0) {
        fputs("null", out);
        return;
    }
    for (int32_t i = 0; i < shape->rank; i++) {
        const struct graph_extent *extent = &shape->extents[i];
        fputs(i ? ", " : "[", out);
        if (extent->least == extent->most)
            fprintf(out, "%lld", (long long)extent->least);
        else if (extent->symbol)
            print_json_string(out, extent->symbol);
        else
            fputs("null", out);
    }
    fputs(shape->rank ? "]" : "[]", out);
}

/* {"dtype": "f32", "shape": [2, null], "from": [{"kind": "Add", "count": 2}]} */
static void print_json_side(FILE *out, const struct gathers *gathers, size_t group, enum gather_side side)
{
    static const char *const titles[SIDES] = {", \"data\": {", ", \"indices\": {", ", \"result\": {"};
    const struct chain *chain = gathers->chain;
    const struct gather_group *about = &gathers->groups[group];
    const struct graph_node *node = &chain->graph->nodes[gathers->gathers[about->first].node];
    const size_t *values = side == SIDE_OUT ? node->outputs : node->inputs;
    size_t at = side == SIDE_OUT ? 0 : (size_t)side;
    size_t count = side == SIDE_OUT ? node->output_count : node->input_count;
    const struct chain_shape unknown = {.rank = -1}, *shape = at < count && values[at] != GRAPH_NONE
                                                                  ? &chain->shapes[values[at]]
                                                                  : &unknown;
    fputs(titles[side], out);
    member(out, "", "dtype", shape->dtype ? garner_dtype_name(shape->dtype) : NULL);
    fputs(", \"shape\": ", out);
    print_json_shape(out, shape);
    fprintf(out, ", \"%s\": [", side == SIDE_OUT ? "to" : "from");
    for (size_t i = 0; i < about->side[side].kinds; i++) {
        member(out, i ? ", {" : "{", "kind", about->side[side].kind[i].kind);
        fprintf(out, ", \"count\": %zu}", about->side[side].kind[i].count);
    }
    fprintf(out, "], \"others\": %zu}", about->side[side].others);
}

/* {"name": "g", "onnxruntime": {"taken": true, "reason": null, "why": null}, "openvino": ...} */
static void print_json_gather(FILE *out, const struct gathers *gathers, const struct gather *gather)
{
    static const char *const titles[CLAIM_RUNTIMES] = {"onnxruntime", "openvino"};
    member(out, "{", "name", gathers->chain->graph->nodes[gather->node].name);
    for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++) {
        enum claim claim = gather->claim[runtime];
        fprintf(out, ", \"%s\": {\"taken\": %s", titles[runtime],
                claim == CLAIM_TAKEN     ? "true"
                : claim == CLAIM_UNKNOWN ? "null"
                                         : "false");
        member(out, ", ", "reason", claim_name(claim));
        member(out, ", ", "why", claim_why(claim));
        fputs("}", out);
    }
    fputs("}", out);
}

static void print_json_group(FILE *out, const struct gathers *gathers, size_t group)
{
    const struct gather_group *about = &gathers->groups[group];
    const struct graph_node *node = &gathers->chain->graph->nodes[gathers->gathers[about->first].node];
    struct words what = {0};
    gathers_describe(&what, gathers->chain, gathers->gathers[about->first].node);
    member(out, "{", "what", what.text);
    member(out, ", ", "type", node->type);
    member(out, ", ", "spec", node->spec);
    for (int side = 0; side < SIDES; side++)
        print_json_side(out, gathers, group, (enum gather_side)side);
    fputs(", \"gathers\": [", out);
    for (size_t i = about->first; i != GRAPH_NONE; i = gathers->gathers[i].next) {
        if (i != about->first) fputs(", ", out);
        print_json_gather(out, gathers, &gathers->gathers[i]);
    }
    fputs("]}", out);
}

static void print_json(FILE *out, const struct gathers *gathers)
{
    const struct graph *graph = gathers->chain->graph;
    struct words words = {0};
    member(out, "{", "file", graph->path);
    member(out, ", ", "format", graph->format);
    member(out, ", ", "version", graph->version);
    fprintf(out, ", \"nodes\": %zu, \"gathers\": %zu, \"groups\": [", graph->node_count, gathers->count);
    for (size_t i = 0; i < gathers->group_count; i++) {
        if (i) fputs(", ", out);
        print_json_group(out, gathers, i);
    }
    fputs("], \"notes\": [", out);
    for (size_t i = 0; gathers_note(&words, gathers, i); i++) {
        if (i) fputs(", ", out);
        print_json_string(out, words.text);
        words_clear(&words);
    }
    fputs("]}\n", out);
}

garner_status info_gathers(const struct model *model, bool json, FILE *out, garner_error *error)
{
    struct chain chain;
    struct gathers gathers;
    garner_status status = chain_create(&chain, model, NULL, error);
    if (status) return status;
    status = gathers_create(&gathers, &chain, error);
    if (!status) {
        (json ? print_json : print_text)(out, &gathers);
        gathers_free(&gathers);
    }
    chain_free(&chain);
    return status;
}
