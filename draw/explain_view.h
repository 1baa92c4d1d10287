/* SPDX-License-Identifier: MIT */
/*
 * What a drawing shows, in words and cells, whether it ends up in a terminal or in a picture: which
 * elements of a large tensor stand for it, what is written in each cell, the rule as a formula, and
 * the sentences.
 */
#ifndef GARNER_DRAW_EXPLAIN_VIEW_H
#define GARNER_DRAW_EXPLAIN_VIEW_H

#include "explain_map.h"

/* Text under construction in a fixed buffer; what does not fit is cut. */
struct words {
    size_t used;
    char text[8192];
};

/* Positions along an axis; -1 stands for those left out. */
enum { PICKS_MOST = 48 };
struct picks {
    int count;
    int64_t at[PICKS_MOST];
};

/* How many positions are shown: all if there are at most `most`, else the first and last ones and a
 * gap, `few` together. */
struct limit {
    int most, few;
};

void picks_choose(struct picks *picks, int64_t extent, struct limit limit);

enum panel { PANEL_DATA, PANEL_INDICES, PANEL_OUT, PANELS };

/* A tensor as tables: its last two axes are rows and columns, all before them count slices. */
struct grid {
    const struct map *map;
    enum panel panel;
    int32_t rank;
    const int64_t *shape;
    int64_t rows, columns;
    struct picks slice, row, column;
};

struct grid_limits {
    struct limit slices, rows, columns;
};

void grid_create(struct grid *grid, const struct map *map, enum panel panel,
                 const struct grid_limits *limits);

/* The C-order number of the element there. */
int64_t grid_flat(const struct grid *grid, int64_t slice, int64_t row, int64_t column);

enum mark { MARK_NONE, MARK_USED, MARK_ZERO };

struct cell {
    char text[64];
    enum mark mark;
    int64_t use; /* of MARK_USED: cells that belong together have the same number */
};

/* What stands in a cell, at most `most` columns wide. */
void view_cell(struct cell *cell, const struct grid *grid, int64_t flat, int most);

/* Columns that a text takes in a terminal. */
int view_width(const char *text);

/* Copies at most `most` columns; what is cut off is said by an ellipsis. */
void view_shorten(char *to, size_t size, const char *from, int most);

void view_title(struct words *words, const struct grid *grid);                /* data f32[2,3] */
void view_slice(struct words *words, const struct grid *grid, int64_t slice); /* [1,:,:] */
void view_operator(struct words *words, const struct map *map);               /* Gather, axis 0 */
void view_formula(struct words *words, const struct map *map); /* out[i,j] = data[indices[i],j] */

/* The same with other names for out, data and indices. */
struct view_names {
    const char *out, *data, *indices;
};
void view_formula_of(struct words *words, const struct map *map, const struct view_names *names);

/* out[0,1] = data[2,1] = 8 ← indices[0,1] = -1 (wraps to 2) */
void view_line(struct words *words, const struct map *map, int64_t out_flat);

/* 1,000,000 */
void words_add_count(struct words *words, int64_t number);

/* The i-th sentence of the summary; 0 if there are no more. */
int view_summary(struct words *words, const struct map *map, int i);

void words_clear(struct words *words);
void words_add(struct words *words, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif
