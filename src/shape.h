/* SPDX-License-Identifier: MIT */
/*
 * Stage 1: operator and shapes become a map that says, for each axis of out, which axis of data and
 * which axis of indices it walks along. The three operators differ in this map and in nothing else;
 * the stages below see only the map.
 */
#ifndef GARNER_SHAPE_H
#define GARNER_SHAPE_H

#include "op.h"
#include "view.h"

/* An axis of out: its extent, and the axes of data and indices that move with it (-1: none). */
struct map_axis {
    int64_t n;
    int data, indices;
};

struct map {
    int rank;    /* axes of out, before any are merged */
    int merged;  /* how many leading axes the shape of out multiplies into one; 0: none */
    int gather;  /* the first gathered axis of data */
    int gathers; /* how many data axes are gathered, one after the other */
    bool tuples; /* the last axis of indices counts the gathered axes */
    struct map_axis axis[2 * GARNER_MAX_RANK];
};

/* Checks the types and shapes of data and indices against the operator's rules; gives the map and the
 * shape of out. */
garner_status garner_shape_infer(const struct op *op, const struct view *data, const struct view *indices,
                                 struct map *map, garner_shape *shape, garner_error *error);

/* Checks a caller's out against the inferred shape. */
garner_status garner_shape_check_out(const char *op, const struct view *out, const garner_shape *shape,
                                     garner_error *error);

#endif
