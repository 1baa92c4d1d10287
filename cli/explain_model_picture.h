/* SPDX-License-Identifier: MIT */
/*
 * A model as a picture: boxes in layers from top to bottom, and an arrow for each tensor. explain_model_svg.c
 * fills the boxes and draws them, explain_model_layout.c places them.
 */
#ifndef GARNER_CLI_EXPLAIN_MODEL_PICTURE_H
#define GARNER_CLI_EXPLAIN_MODEL_PICTURE_H

#include "explain_model.h"

enum {
    PICTURE_MARGIN = 28,
    PICTURE_TOP = 72,  /* where boxes begin: the title stands above */
    PICTURE_LINE = 18, /* of text in a box */
    PICTURE_PADDING = 12,
    PICTURE_LINES = 3
};

struct box {
    struct words line[PICTURE_LINES];
    const char *class;
    int layer, lines, sunk;
    int y, width, height;
    double x, wish; /* wish: where its middle would like to be */
    double sum, arrows;
};

/* A box in the order of its layer. */
struct place {
    int layer;
    double wish;
    size_t box;
};

struct picture {
    const struct chain *chain;
    struct box *boxes;
    size_t items, count; /* boxes are items first, then the model's outputs */
    struct place *places;
    int layers;
    int width, height, bottom; /* bottom: of the lowest box */
};

/* How many tensors a box takes, and the box that gives the k-th; GRAPH_NONE: that is not drawn. */
size_t picture_takes(const struct picture *picture, size_t box);
size_t picture_giver(const struct picture *picture, size_t box, size_t k);

/* Places all boxes, whose width and height are known. Sets the picture's width and bottom. */
void picture_place(struct picture *picture);

/* The middle of a placed box; and where an arrow to its k-th input ends, from its left side. */
double picture_center(const struct box *box);
double picture_inlet(const struct picture *picture, size_t box, size_t k);

#endif
