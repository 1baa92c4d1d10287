/* SPDX-License-Identifier: MIT */
/*
 * Draws a gather: which element of data each element of out came from, in the terminal or as an SVG
 * picture. Everything is learnt through garner.h, by gathering coordinates instead of data.
 */
#ifndef GARNER_DRAW_EXPLAIN_H
#define GARNER_DRAW_EXPLAIN_H

#include <stdio.h>

#include "garner.h"

/* Draws into `terminal`, no line wider than `width` columns where that is possible (0: 80); with
 * `colour`, used elements are coloured, otherwise they stand in brackets. Errors of the operator come
 * back as the library reports them, and then nothing has been drawn. */
garner_status explain_draw(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                           FILE *terminal, int width, int colour, garner_error *error);

/* Writes a self-contained picture to `path`, as file_save does. */
garner_status explain_svg(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                          const char *path, garner_error *error);

#endif
