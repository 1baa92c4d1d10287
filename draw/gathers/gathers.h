/* SPDX-License-Identifier: MIT */
/*
 * The gathers of a model and nothing else: with what gives them their inputs and what takes their results,
 * those of the same operator, types and shapes together, and which of them garner would take inside each
 * runtime. It is what a reader wants to see of a model of a thousand nodes.
 */
#ifndef GARNER_DRAW_GATHERS_H
#define GARNER_DRAW_GATHERS_H

#include "chain.h"
#include "claims.h"

/* Something next to gathers: an input, a constant, or an operator's nodes. */
struct neighbour {
    const char *kind; /* "input", "constant", or the operator as the file calls it */
    size_t count;     /* how often it is next to one of them */
    size_t value;     /* what it gives, if that is one and the same; else GRAPH_NONE */
};

enum gather_side { SIDE_DATA, SIDE_INDICES, SIDE_OUT, SIDES };

/* All neighbours on one side. Those of a kind beyond the last are counted. */
enum { MOST_NEIGHBOURS = 5 };
struct neighbours {
    struct neighbour kind[MOST_NEIGHBOURS];
    size_t kinds, others;
};

/* Gathers that differ in nothing but their neighbours. */
struct gather_group {
    size_t first, last; /* members, linked by `next` */
    size_t count;
    struct neighbours side[SIDES];
    size_t claims[CLAIM_RUNTIMES][CLAIMS];
};

struct gather {
    size_t node, group, next; /* next: of the same group; GRAPH_NONE: none */
    enum claim claim[CLAIM_RUNTIMES];
};

struct gathers {
    const struct chain *chain;
    struct gather *gathers;      /* in the order of running */
    struct gather_group *groups; /* in the order of their first members */
    size_t count, group_count;
    size_t bodies; /* nodes that have graphs of their own, which nobody looks into here */
};

garner_status gathers_create(struct gathers *gathers, const struct chain *chain, garner_error *error);
void gathers_free(struct gathers *gathers);

/* ---- Words ---- */

/* 2 gathers among 812 nodes, in 1 group */
void gathers_summary(struct words *words, const struct gathers *gathers);

/* Gather f32[30522,768] by i64[?,?], axis 0 (onnx-13). Gathers of which this is the same make a group. */
void gathers_describe(struct words *words, const struct chain *chain, size_t node);

/* 12 × Gather ...: the same of a group. */
void gathers_title(struct words *words, const struct gathers *gathers, size_t group);

/* The formula of a gather; nothing if ranks are not known. */
void gathers_formula(struct words *words, const struct gathers *gathers, size_t group);

/* constant table; 3 × Add, Cast, and 2 others; nothing. */
void gathers_side(struct words *words, const struct gathers *gathers, size_t group, enum gather_side side);

/* The i-th of them; those that there is no room for count as the last one. 0 if there are no more. */
int gathers_neighbour(struct words *words, const struct gathers *gathers, size_t group, enum gather_side side,
                      size_t i);

/* garner takes them; garner takes 10 of them; 2 not taken: why */
void gathers_verdict(struct words *words, const struct gathers *gathers, size_t group,
                     enum claim_runtime runtime);

/* The i-th sentence below everything; 0 if there are no more. */
int gathers_note(struct words *words, const struct gathers *gathers, size_t i);

#endif
