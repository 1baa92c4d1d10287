/* SPDX-License-Identifier: MIT */
/*
 * A model as a picture: boxes in layers from top to bottom, and an arrow for each tensor. What there is to
 * say stands in the boxes, and arrows run between layers and, through layers, in lanes that are kept free for
 * them: none runs through a box or a word. explain_model_svg.c fills the boxes and draws them,
 * explain_model_layout.c places them.
 */
#ifndef GARNER_DRAW_EXPLAIN_MODEL_PICTURE_H
#define GARNER_DRAW_EXPLAIN_MODEL_PICTURE_H

#include "chain.h"
#include "explain_ink.h"

enum {
    PICTURE_MARGIN = 28,
    PICTURE_TOP = 72,  /* where boxes begin: the title stands above */
    PICTURE_LINE = 18, /* of text in a box */
    PICTURE_PADDING = 12,
    PICTURE_LINES = 3,
    PICTURE_ROLES = 15, /* the height of the names of inputs, inside a box at its top */
    PICTURE_COLUMNS = 100
};

/* ---- Boxes (explain_model_box.c) ---- */

struct box {
    char line[PICTURE_LINES][512];
    const char *class;
    int lines, roles; /* roles: whether the box names its inputs */
    int x, y, width, height;
};

/* Adds a line, cut where it is too long; none if there is nothing to say. */
void box_add(struct box *box, const struct words *words);

/* Sets width and height, as wide as `inputs` arrows need at least. */
void box_measure(struct box *box, size_t inputs);

void box_put(struct ink *ink, const struct box *box);

/* An arrow's tip, pointing down or to the right. */
void box_put_tip(struct ink *ink, int x, int y, int down);

extern const struct ink_style box_style;

/* ---- Placing them ---- */

/* Something in a layer: a box, or the lane of a box that has an arrow to a box further down. */
struct spot {
    size_t box; /* whose lane it is, or which box it is */
    int layer;
    double x, width;   /* its middle, and what it takes of the layer */
    double wish;       /* where its middle would like to be */
    double sum, count; /* of what it is joined to */
};

struct layer {
    size_t first, end; /* in order */
    int y, height;
};

/* A tensor that one box gives to another. */
struct arrow {
    size_t from, to; /* boxes */
    size_t input;    /* of `to`, as which number */
    double inlet;    /* where it ends, as a part of the box's width */
};

struct picture {
    const struct chain *chain;
    struct box *boxes;
    size_t items, count;       /* boxes are items first, then the model's outputs */
    struct arrow *arrows;      /* by the box that they lead to */
    size_t *first_arrow;       /* of each box, and of the one behind the last */
    int width, height, bottom; /* bottom: of the lowest box */

    struct spot *spots; /* of the boxes, by their numbers, then of the lanes */
    size_t *lane;       /* of each box: the first spot of its lane, one for each layer that it runs through */
    size_t *order;      /* spots by layer, and in a layer from left to right */
    struct layer *layers;
    size_t spot_count;
    int layer_count;
};

/* How many arrows a chain has. */
size_t picture_count_arrows(const struct chain *chain);

/* Makes boxes, empty, and arrows; 0: no memory. picture_free is fine then too. */
int picture_create(struct picture *picture, const struct chain *chain);
void picture_free(struct picture *picture);

/* Places all boxes, whose width and height are known. Sets the picture's width and bottom. 0: no memory. */
int picture_place(struct picture *picture);

/* The spot right above a box from which an arrow comes to it. */
size_t picture_above(const struct picture *picture, const struct arrow *arrow);

#endif
