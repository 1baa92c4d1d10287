/* SPDX-License-Identifier: MIT */
/*
 * What drawings in a terminal are made with: text in a style where colours are wanted, and plain where they
 * are not.
 */
#ifndef GARNER_DRAW_EXPLAIN_PEN_H
#define GARNER_DRAW_EXPLAIN_PEN_H

#include <stdio.h>

struct pen {
    FILE *out;
    int colour;
};

/* Prints a text, in the style of that escape sequence ("1" is bold). Returns the columns it took. */
int pen_write(const struct pen *pen, const char *style, const char *text);

/* Prints a text of one column so many times; none if `count` is negative. Returns the columns it took. */
int pen_repeat(const struct pen *pen, const char *text, int count);

/* Prints as much of a text as a line of so many columns has room for, and ends the line. Returns the rest. */
const char *pen_line(const struct pen *pen, const char *style, const char *text, int room);

/* Prints a text over as many lines of that width as it takes. */
void pen_wrap(const struct pen *pen, const char *style, const char *text, int width);

#endif
