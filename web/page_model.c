/* SPDX-License-Identifier: MIT */
/* What explain --gathers says, as JSON, and what it takes to open each gather. */
#include "page_model.h"

#include <string.h>

#include "explain_model.h"
#include "fail.h"
#include "gathers.h"
#include "page.h"
#include "print.h"

const garner_tensor *page_model_constant(const struct model *model, int node, int input)
{
    const struct graph *graph = model_graph(model);
    if (node < 0 || (size_t)node >= graph->node_count || input < 0 || input > 1) return NULL;
    const struct graph_node *about = &graph->nodes[node];
    if (!chain_is_gather(about) || about->input_count < 2 || about->inputs[input] == GRAPH_NONE) return NULL;
    return graph->values[about->inputs[input]].constant;
}

/* ---- One gather ---- */

/* Extents that are not known are -1. */
static void answer_extents(FILE *answer, const struct chain_shape *shape)
{
    fputs(", \"shape\": [", answer);
    for (int32_t i = 0; i < shape->rank; i++) {
        const struct graph_extent *extent = &shape->extents[i];
        fprintf(answer, "%s%lld", i ? ", " : "",
                extent->least == extent->most ? (long long)extent->least : -1LL);
    }
    fputs("]", answer);
}

static void answer_value(FILE *answer, const char *role, const struct chain *chain, size_t value)
{
    struct words words = {0};
    if (value == GRAPH_NONE) return;
    const char *type = garner_dtype_name(chain->shapes[value].dtype);
    fprintf(answer, ", \"%s\": {", role);
    answer_member(answer, "dtype", type ? type : "", 1);
    chain_value_name(&words, chain, value);
    answer_member(answer, "name", words.text, 0);
    words_clear(&words);
    chain_value_type(&words, chain, value);
    answer_member(answer, "type", words.text, 0);
    if (chain->shapes[value].rank >= 0) answer_extents(answer, &chain->shapes[value]);
    fprintf(answer, ", \"constant\": %s}", chain->graph->values[value].constant ? "true" : "false");
}

static void answer_operator(FILE *answer, const struct chain *chain, const struct graph_node *node)
{
    struct chain_outline outline;
    struct words words = {0};
    int64_t axis = 0;
    if (!node->spec || node->kind == GRAPH_UNSUPPORTED || node->input_count < 2) return;
    answer_member(answer, "spec", node->spec, 0);
    int known = chain_axis(chain, node, &axis);
    fprintf(answer, ", \"kind\": %d, \"axis\": %lld, \"axis_known\": %s, \"batch_dims\": %lld",
            (int)node->op.kind, (long long)axis, known ? "true" : "false", (long long)node->op.batch_dims);
    answer_value(answer, "data", chain, node->inputs[0]);
    answer_value(answer, "indices", chain, node->inputs[1]);
    if (!chain_outline(chain, node, &outline)) return;
    view_formula(&words, &outline.map);
    answer_member(answer, "formula", words.text, 0);
}

static void answer_gather(FILE *answer, const struct gathers *gathers, size_t i)
{
    const struct chain *chain = gathers->chain;
    size_t id = gathers->gathers[i].node;
    const struct graph_node *node = &chain->graph->nodes[id];
    const char *refusal = model_node_refusal(chain->model, id);
    struct words words = {0};
    fprintf(answer, "%s{\"node\": %zu, \"group\": %zu", i ? ",\n" : "", id, gathers->gathers[i].group);
    chain_foreign(&words, node->name, 80);
    answer_member(answer, "name", words.text, 0);
    words_clear(&words);
    gathers_describe(&words, chain, id);
    answer_member(answer, "what", words.text, 0);
    answer_operator(answer, chain, node);
    if (!refusal) refusal = node->refusal;
    if (refusal) answer_member(answer, "refusal", refusal, 0);
    fputs("}", answer);
}

/* ---- Those that are alike ---- */

static void answer_group(FILE *answer, const struct gathers *gathers, size_t group)
{
    static const char *const sides[SIDES] = {"data", "indices", "out"};
    static const char *const runtimes[CLAIM_RUNTIMES] = {"onnxruntime", "openvino"};
    struct words words = {0};
    fputs(group ? ",\n{" : "{", answer);
    gathers_title(&words, gathers, group);
    answer_member(answer, "title", words.text, 1);
    for (int side = 0; side < SIDES; side++) {
        words_clear(&words);
        gathers_side(&words, gathers, group, (enum gather_side)side);
        answer_member(answer, sides[side], words.text, 0);
    }
    for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++) {
        words_clear(&words);
        gathers_verdict(&words, gathers, group, (enum claim_runtime)runtime);
        answer_member(answer, runtimes[runtime], words.text, 0);
    }
    fputs("}", answer);
}

static void answer_all(const struct gathers *gathers)
{
    struct words words = {0};
    FILE *answer = answer_begin();
    if (!answer) return;
    fputs("{", answer);
    chain_title(&words, gathers->chain);
    answer_member(answer, "title", words.text, 1);
    words_clear(&words);
    gathers_summary(&words, gathers);
    answer_member(answer, "summary", words.text, 0);
    fputs(", \"gathers\": [", answer);
    for (size_t i = 0; i < gathers->count; i++)
        answer_gather(answer, gathers, i);
    fputs("], \"groups\": [", answer);
    for (size_t i = 0; i < gathers->group_count; i++)
        answer_group(answer, gathers, i);
    fputs("], \"notes\": [", answer);
    words_clear(&words);
    for (size_t i = 0; gathers_note(&words, gathers, i); i++) {
        fputs(i ? ", " : "", answer);
        print_json_string(answer, words.text);
        words_clear(&words);
    }
    fputs("]}", answer);
}

void page_model_answer(struct model *model)
{
    struct chain chain;
    struct gathers gathers;
    garner_error error, problem;
    garner_status status = model_plan(model, &problem);
    const char *unfit = status && !model_refusal(model) ? problem.message : NULL;
    status = chain_create(&chain, model, unfit, &error);
    if (!status) {
        status = gathers_create(&gathers, &chain, &error);
        if (!status) answer_all(&gathers);
        if (!status) gathers_free(&gathers);
        chain_free(&chain);
    }
    if (status) answer_error(&error);
}

garner_status page_model_draw(struct model *model, int gathers, garner_error *error)
{
    struct explain_paper paper = {.svg = "picture.svg", .gathers = gathers};
    return explain_opened(model, &paper, error);
}
