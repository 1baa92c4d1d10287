/* SPDX-License-Identifier: MIT */
/*
 * Stage 1: operator and shapes become a map that says which axis of data and which axis of indices each
 * axis of out walks along. The three operators differ in this map and in nothing else; the stages below
 * see only the map.
 */
#ifndef GARNER_SHAPE_H
#define GARNER_SHAPE_H

#include "op.h"
#include "view.h"

/* Neighbouring axes of out, and the neighbouring axes of data and of indices that they walk along. */
struct axis_group {
    int axes;          /* how many, at least 1 */
    int data, indices; /* the first of each; -1: that tensor does not move */
};

enum { MOST_GROUPS = 4 };

struct map {
    int rank;    /* axes of out, before any are merged */
    int merged;  /* how many leading axes the shape of out multiplies into one; 0: none */
    int gather;  /* the first gathered axis of data */
    int gathers; /* how many data axes are gathered, one after the other */
    bool tuples; /* the last axis of indices counts the gathered axes */
    int groups;  /* one after the other they are the axes of out; merged ones are the first of them */
    struct axis_group group[MOST_GROUPS];
};

/* The extents of an axis group. */
static inline const int64_t *group_extents(const struct axis_group *group, const struct view *data,
                                           const struct view *indices)
{
    return group->indices >= 0 ? &indices->n[group->indices] : &data->n[group->data];
}

/* Checks the types and shapes of data and indices against the operator's rules; gives the map. */
garner_status garner_shape_map(struct map *map, const struct op *op, const struct view *data,
                               const struct view *indices, garner_error *error);

/* The shape of out, if it can be addressed. */
garner_status garner_shape_infer(garner_shape *shape, const struct map *map, const struct op *op,
                                 const struct view *data, const struct view *indices, garner_error *error);

/* The product of merged extents; false if it does not fit. */
bool garner_shape_merged(const struct map *map, const struct view *indices, int64_t *extent);

/* Says how an out differs from what it must be; to be called if it does. */
garner_status garner_shape_fail_out(const struct map *map, const struct op *op, const struct view *data,
                                    const struct view *indices, const struct view *out, garner_error *error);

/* Refuses an out whose elements share memory. */
garner_status garner_shape_check_overlap(const struct op *op, const struct view *out, garner_error *error);

#endif
