/* SPDX-License-Identifier: MIT */
/* Finds the gathers of a model, puts those together that are alike, and counts their neighbours. */
#include "gathers.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "names.h"
#include "surroundings.h"

/* ---- Neighbours ---- */

static void add_neighbour(struct neighbours *side, const char *kind, size_t value)
{
    for (size_t i = 0; i < side->kinds; i++) {
        if (strcmp(side->kind[i].kind, kind) != 0) continue;
        side->kind[i].count++;
        if (side->kind[i].value != value) side->kind[i].value = GRAPH_NONE;
        return;
    }
    if (side->kinds == MOST_NEIGHBOURS)
        side->others++;
    else
        side->kind[side->kinds++] = (struct neighbour){kind, 1, value};
}

static void add_maker(struct neighbours *side, const struct surroundings *around, size_t value)
{
    const struct graph *graph = around->chain->graph;
    size_t node = graph->values[value].node;
    if (around->is_input[value])
        add_neighbour(side, "input", value);
    else if (graph->values[value].constant)
        add_neighbour(side, "constant", value);
    else
        add_neighbour(side, node == GRAPH_NONE ? "nothing" : graph->nodes[node].type, value);
}

static void add_neighbours(struct gather_group *group, const struct surroundings *around,
                           const struct graph_node *node)
{
    for (size_t i = 0; i < node->input_count && i < 2; i++)
        if (node->inputs[i] != GRAPH_NONE) add_maker(&group->side[i], around, node->inputs[i]);
    size_t out = node->output_count ? node->outputs[0] : GRAPH_NONE;
    if (out == GRAPH_NONE) return;
    for (size_t i = around->first[out]; i < around->first[out + 1]; i++) {
        const struct graph_node *reader = &around->chain->graph->nodes[around->readers[i]];
        add_neighbour(&group->side[SIDE_OUT], reader->type,
                      reader->output_count ? reader->outputs[0] : GRAPH_NONE);
    }
    if (around->chain->output[out] != GRAPH_NONE) add_neighbour(&group->side[SIDE_OUT], "output", out);
}

/* ---- Claims ---- */

static enum claim claim_of(const struct surroundings *around, size_t id, enum claim_runtime runtime)
{
    const struct graph_node *node = &around->chain->graph->nodes[id];
    if (chain_refuses(around->chain, id)) return CLAIM_REFUSED;
    return runtime == CLAIM_ONNXRUNTIME ? claim_in_onnxruntime(around, node)
                                        : claim_in_openvino(around, node);
}

static void fill_claims(struct surroundings *around)
{
    const struct chain *chain = around->chain;
    for (size_t i = 0; i < chain->graph->node_count; i++) {
        size_t node = model_order(chain->model, i);
        if (!chain_is_gather(&chain->graph->nodes[node])) continue;
        for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++)
            around->claims[runtime][node] = claim_of(around, node, (enum claim_runtime)runtime);
    }
    for (size_t i = chain->graph->node_count; i > 0; i--) {
        size_t node = model_order(chain->model, i - 1);
        if (chain_is_gather(&chain->graph->nodes[node]))
            around->claims[CLAIM_OPENVINO][node] = claim_compiled_in_openvino(around, node);
    }
}

/* ---- Groups ---- */

/* A group of that key, which it keeps if it is new; 0: no memory. */
static int find_group(struct gathers *gathers, struct names *names, char **keys, size_t node, size_t *group)
{
    struct words words = {0};
    gathers_describe(&words, gathers->chain, node);
    char *key = malloc(words.used + 1);
    if (!key) return 0;
    memcpy(key, words.text, words.used + 1);
    if (!names_add(names, key, words.used, gathers->group_count, group)) {
        free(key);
        return 0;
    }
    if (*group != NAMES_NONE) {
        free(key);
        return 1;
    }
    *group = gathers->group_count++;
    keys[*group] = key;
    gathers->groups[*group] = (struct gather_group){.first = GRAPH_NONE, .last = GRAPH_NONE};
    return 1;
}

static int add_gather(struct gathers *gathers, struct names *names, char **keys,
                      const struct surroundings *around, size_t node)
{
    struct gather *gather = &gathers->gathers[gathers->count];
    *gather = (struct gather){.node = node, .next = GRAPH_NONE};
    if (!find_group(gathers, names, keys, node, &gather->group)) return 0;
    struct gather_group *group = &gathers->groups[gather->group];
    if (group->first == GRAPH_NONE)
        group->first = gathers->count;
    else
        gathers->gathers[group->last].next = gathers->count;
    group->last = gathers->count++;
    group->count++;
    for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++) {
        gather->claim[runtime] = around->claims[runtime][node];
        group->claims[runtime][gather->claim[runtime]]++;
    }
    add_neighbours(group, around, &gathers->chain->graph->nodes[node]);
    return 1;
}

static int collect(struct gathers *gathers, struct surroundings *around)
{
    const struct graph *graph = gathers->chain->graph;
    struct names names = {0};
    char **keys = calloc(gathers->count + 1, sizeof *keys);
    int fine = keys != NULL;
    gathers->count = 0;
    gathers->bodies = around->bodies;
    fill_claims(around);
    for (size_t i = 0; i < graph->node_count && fine; i++) {
        size_t node = model_order(gathers->chain->model, i);
        if (chain_is_gather(&graph->nodes[node])) fine = add_gather(gathers, &names, keys, around, node);
    }
    for (size_t i = 0; keys && i < gathers->group_count; i++)
        free(keys[i]);
    free(keys);
    names_free(&names);
    return fine;
}

garner_status gathers_create(struct gathers *gathers, const struct chain *chain, garner_error *error)
{
    struct surroundings around;
    size_t most = 0;
    for (size_t i = 0; i < chain->graph->node_count; i++)
        most += (size_t)chain_is_gather(&chain->graph->nodes[i]);
    *gathers = (struct gathers){.chain = chain,
                                .count = most,
                                .gathers = calloc(most + 1, sizeof *gathers->gathers),
                                .groups = calloc(most + 1, sizeof *gathers->groups)};
    int made = surroundings_create(&around, chain) && gathers->gathers && gathers->groups &&
               collect(gathers, &around);
    surroundings_free(&around);
    if (made) return succeed(error);
    gathers_free(gathers);
    return fail_memory(error, chain->graph->path, most * sizeof *gathers->groups);
}

void gathers_free(struct gathers *gathers)
{
    free(gathers->gathers);
    free(gathers->groups);
    *gathers = (struct gathers){.chain = NULL};
}
