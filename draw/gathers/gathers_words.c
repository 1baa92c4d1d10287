/* SPDX-License-Identifier: MIT */
/* What is said of a model's gathers. */
#include "gathers.h"

enum { MOST_KIND = 24 };

static void add_count(struct words *words, size_t count, const char *one, const char *many)
{
    words_add_count(words, (int64_t)count);
    words_add(words, " %s", count == 1 ? one : many);
}

void gathers_summary(struct words *words, const struct gathers *gathers)
{
    add_count(words, gathers->count, "gather", "gathers");
    words_add(words, " among ");
    add_count(words, gathers->chain->graph->node_count, "node", "nodes");
    if (gathers->group_count < gathers->count) words_add(words, ", in ");
    if (gathers->group_count < gathers->count) add_count(words, gathers->group_count, "group", "groups");
}

int gathers_neighbour(struct words *words, const struct gathers *gathers, size_t group, enum gather_side side,
                      size_t i)
{
    const struct neighbours *all = &gathers->groups[group].side[side];
    if (i < all->kinds) {
        const struct neighbour *one = &all->kind[i];
        int named = one->value != GRAPH_NONE && gathers->chain->maker[one->value] != GRAPH_NONE;
        if (one->count > 1 && !(named && side != SIDE_OUT)) words_add(words, "%zu × ", one->count);
        chain_foreign(words, one->kind, MOST_KIND);
        if (!named) return 1;
        words_add(words, " ");
        chain_value_name(words, gathers->chain, one->value);
        return 1;
    }
    if (i > all->kinds || !all->others) return 0;
    add_count(words, all->others, "other", "others");
    return 1;
}

void gathers_side(struct words *words, const struct gathers *gathers, size_t group, enum gather_side side)
{
    size_t i = 0;
    for (struct words one = {0}; gathers_neighbour(&one, gathers, group, side, i); i++) {
        words_add(words, "%s%s", i ? ", " : "", one.text);
        words_clear(&one);
    }
    if (!i) words_add(words, "nothing");
}

/* ---- A group ---- */

void gathers_describe(struct words *words, const struct chain *chain, size_t id)
{
    const struct graph_node *node = &chain->graph->nodes[id];
    chain_foreign(words, node->type, MOST_KIND);
    for (size_t i = 0; i < node->input_count && i < 2; i++) {
        words_add(words, i ? " by " : " ");
        if (node->inputs[i] != GRAPH_NONE) chain_value_type(words, chain, node->inputs[i]);
    }
    if (!node->spec) return;
    chain_axes(words, chain, node);
    words_add(words, " (%s)", node->spec);
}

static size_t first_node(const struct gathers *gathers, size_t group)
{
    return gathers->gathers[gathers->groups[group].first].node;
}

void gathers_title(struct words *words, const struct gathers *gathers, size_t group)
{
    if (gathers->groups[group].count > 1) words_add(words, "%zu × ", gathers->groups[group].count);
    gathers_describe(words, gathers->chain, first_node(gathers, group));
}

void gathers_formula(struct words *words, const struct gathers *gathers, size_t group)
{
    struct chain_outline outline;
    const struct graph_node *node = &gathers->chain->graph->nodes[first_node(gathers, group)];
    if (chain_outline(gathers->chain, node, &outline)) view_formula(words, &outline.map);
}

static void add_why(struct words *words, const struct gathers *gathers, size_t group, enum claim claim)
{
    size_t node = first_node(gathers, group);
    const char *refusal = model_node_refusal(gathers->chain->model, node);
    if (!refusal) refusal = gathers->chain->graph->nodes[node].refusal;
    words_add(words, "%s", claim_why(claim));
    if (claim != CLAIM_REFUSED || !refusal || !*refusal) return;
    words_add(words, ": ");
    chain_foreign(words, refusal, 200);
}

void gathers_verdict(struct words *words, const struct gathers *gathers, size_t group,
                     enum claim_runtime runtime)
{
    const size_t *claims = gathers->groups[group].claims[runtime], count = gathers->groups[group].count;
    const char *between = claims[CLAIM_TAKEN] ? "; " : "";
    if (claims[CLAIM_TAKEN] == count)
        words_add(words, count == 1 ? "garner takes it" : "garner takes them");
    else if (claims[CLAIM_TAKEN])
        words_add(words, "garner takes %zu of them", claims[CLAIM_TAKEN]);
    for (int claim = CLAIM_TAKEN + 1; claim < CLAIMS; claim++) {
        if (!claims[claim]) continue;
        words_add(words, "%s", between);
        if (claims[claim] < count) words_add(words, "%zu ", claims[claim]);
        words_add(words, "%s: ", claim == CLAIM_UNKNOWN ? "not known" : "not taken");
        between = "; ";
        add_why(words, gathers, group, (enum claim)claim);
    }
}

int gathers_note(struct words *words, const struct gathers *gathers, size_t i)
{
    if (i || !gathers->bodies) return 0;
    add_count(words, gathers->bodies, "node has a graph of its own", "nodes have graphs of their own");
    words_add(words, " (If, Loop, Scan, TensorIterator); gathers in there are not counted");
    return 1;
}
