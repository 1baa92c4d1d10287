/* SPDX-License-Identifier: MIT */
/* Drawings of a model: all of it, as the chain of its nodes, or its gathers alone. */
#ifndef GARNER_DRAW_EXPLAIN_MODEL_H
#define GARNER_DRAW_EXPLAIN_MODEL_H

#include <stdio.h>

#include "garner.h"

struct chain;
struct gathers;
struct model;

/* Where a drawing goes. */
struct explain_paper {
    const char *svg;   /* the file that a picture is written to; NULL: none, the drawing is text */
    FILE *terminal;    /* that text goes to */
    int width, colour; /* of it, as for explain_draw */
    int gathers;       /* of the model its gathers and their neighbours alone, group by group */
};

/* Draws a model, .onnx or .xml, as the chain of its nodes. A model that does not run here is drawn too. */
garner_status explain_model(const char *path, int follow_links, const struct explain_paper *paper,
                            garner_error *error);

/* The same of an open one. */
garner_status explain_opened(struct model *model, const struct explain_paper *paper, garner_error *error);

/* ---- Drawings ---- */

void chain_draw(const struct chain *chain, FILE *terminal, int width, int colour);
garner_status chain_svg(const struct chain *chain, const char *path, garner_error *error);

void gathers_draw(const struct gathers *gathers, FILE *terminal, int width, int colour);
garner_status gathers_svg(const struct gathers *gathers, const char *path, garner_error *error);

#endif
