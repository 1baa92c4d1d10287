/* SPDX-License-Identifier: MIT */
/*
 * A model as a drawing sees it: inputs, constants and nodes in the order of running, each input and
 * constant just before it is first needed, and the words that describe them. A constant that is nothing
 * but the axis of a gather is said in words and not drawn.
 */
#ifndef GARNER_DRAW_CHAIN_H
#define GARNER_DRAW_CHAIN_H

#include "explain_view.h"
#include "model.h"

enum chain_kind { CHAIN_INPUT, CHAIN_CONSTANT, CHAIN_NODE };

struct chain_item {
    enum chain_kind kind;
    size_t value; /* of a node the first of its outputs that is not left out; GRAPH_NONE: it has none */
    size_t node;  /* of CHAIN_NODE */
};

/* What is known of a tensor; rank -1: not even that. */
struct chain_shape {
    garner_dtype dtype;
    int32_t rank;
    struct graph_extent *extents;
};

struct chain {
    const struct model *model;
    const struct graph *graph;
    const char *problem; /* why the shapes do not go together; NULL: they do, as far as is known */
    struct chain_item *items;
    size_t count;

    /* For each value. */
    size_t *maker;  /* the item that gives it; GRAPH_NONE: it is not drawn */
    size_t *last;   /* the last item that takes it; GRAPH_NONE: none does */
    size_t *output; /* the first output of the model that it is; GRAPH_NONE: it is none */
    struct chain_shape *shapes;
};

garner_status chain_create(struct chain *chain, const struct model *model, const char *problem,
                           garner_error *error);
void chain_free(struct chain *chain);

/* ---- Nodes (chain_node.c) ---- */

/* Whether a node is one of the three gathers, also in a version that does not exist. */
int chain_is_gather(const struct graph_node *node);

/* Whether garner refuses a node that it should run: its version, types, attributes or shapes are wrong. An
 * operator that is none of garner's is a runtime's, and nothing is wrong with it. */
int chain_refuses(const struct chain *chain, size_t node);

/* The same of an item. */
int chain_is_refused(const struct chain *chain, size_t i);

/* The axis of a gather: an attribute, or what its third input holds; 0 if that comes later. */
int chain_axis(const struct chain *chain, const struct graph_node *node, int64_t *axis);

/* ---- Shapes (chain_shape.c); 0 if there is no memory ---- */

/* That many extents, all zero. */
int chain_set_rank(struct chain_shape *shape, int32_t rank);

/* Extents that are all known; and extents as they are, or nothing if the rank is negative. */
int chain_set_known(struct chain_shape *shape, garner_dtype dtype, int32_t rank, const int64_t *extents);
int chain_set_extents(struct chain_shape *shape, int32_t rank, const struct graph_extent *extents);

/* ---- What follows from shapes (chain_infer.c) ---- */

/* Fills chain->shapes; 0 if there is no memory. */
int chain_infer(struct chain *chain);

/* What is known of the one output of an operator that is none of garner's (chain_foreign.c). */
int chain_infer_foreign(const struct chain *chain, const struct graph_node *node, struct chain_shape *shape);

/* A gather as far as it is known before it runs; extents that are not are -1. */
struct chain_outline {
    garner_op op;
    garner_tensor data, indices;
    int64_t shapes[2][GARNER_MAX_RANK];
    struct map map;
};

/* Returns 0 if the node is no gather, or ranks are missing. */
int chain_outline(const struct chain *chain, const struct graph_node *node, struct chain_outline *outline);

/* ---- Words (chain_words.c) ---- */

/* Text from outside, made harmless and cut to so many columns. */
void chain_foreign(struct words *words, const char *text, int most);

void chain_value_name(struct words *words, const struct chain *chain, size_t value);
void chain_value_type(struct words *words, const struct chain *chain, size_t value); /* f32[?,2..5,4] */
void chain_axes(struct words *words, const struct chain *chain, const struct graph_node *node); /* , axis 1 */

void chain_title(struct words *words, const struct chain *chain);          /* the model */
void chain_name(struct words *words, const struct chain *chain, size_t i); /* ids */
void chain_type(struct words *words, const struct chain *chain, size_t i); /* f32[?,2..5,4] */
void chain_what(struct words *words, const struct chain *chain, size_t i); /* Gather, axis 1 */
void chain_spec(struct words *words, const struct chain *chain, size_t i); /* openvino-8; or nothing */
void chain_output(struct words *words, const struct chain *chain,
                  size_t i); /* the output's name; or nothing */

/* What a gather does: out[i,j] = data[ids[i],j]. Nothing if it is none, or its ranks are not known. */
void chain_formula(struct words *words, const struct chain *chain, size_t i);

/* The i-th sentence below the drawing; 0 if there are no more. */
int chain_summary(struct words *words, const struct chain *chain, size_t i);

#endif
