/* SPDX-License-Identifier: MIT */
/*
 * Stage 1: operator and shapes become a map that says, for each axis of out, how far a step along it goes
 * in data and in indices. The three operators differ in this map and in nothing else; the stages below see
 * only the map.
 */
#ifndef GARNER_SHAPE_H
#define GARNER_SHAPE_H

#include "op.h"
#include "view.h"

/* An axis of out, or a dim of the loop nest that such axes become: its extent, and how far one step goes
 * in each tensor; 0 where the tensor does not move with it. */
struct dim {
    int64_t n;
    int64_t data;  /* stride in bytes; in elements where data is packed */
    int64_t index; /* stride in indices */
    int64_t out;   /* as data; known once the map is laid over a view of out */
};

struct map {
    int rank;    /* axes of out, before any are merged */
    int merged;  /* how many leading axes the shape of out multiplies into one; 0: none */
    int gather;  /* the first gathered axis of data */
    int gathers; /* how many data axes are gathered, one after the other */
    bool tuples; /* the last axis of indices counts the gathered axes */
    struct dim axis[2 * GARNER_MAX_RANK];
};

/* Checks the types and shapes of data and indices against the operator's rules; gives the map. */
garner_status garner_shape_map(const struct op *op, const struct view *data, const struct view *indices,
                               struct map *map, garner_error *error);

/* The shape of out, if it can be addressed. */
garner_status garner_shape_of_map(const struct map *map, const struct op *op, const struct view *data,
                                  garner_shape *shape, garner_error *error);

/* Lays the map over an out, which must have the type of data, the shape that the map gives, and no two
 * elements in one place. */
garner_status garner_shape_lay(struct map *map, const struct op *op, const struct view *data,
                               const struct view *out, garner_error *error);

#endif
