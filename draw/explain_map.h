/* SPDX-License-Identifier: MIT */
/*
 * Where each element of out comes from. Axes of data that no index reaches and no batch ties ("free"
 * ones) appear in out unchanged, so the mapping is kept for one element of each of them: as many
 * entries as there are index tuples, however large data and out are.
 */
#ifndef GARNER_DRAW_EXPLAIN_MAP_H
#define GARNER_DRAW_EXPLAIN_MAP_H

#include "garner.h"

/* An axis of out and what runs along it; -1: not that tensor. GatherND-5 merges its batch axes into
 * one axis of out; here they are apart, which changes nothing in C order. */
struct map_axis {
    int64_t extent;
    int32_t data_axis, index_axis;
};

struct map {
    const garner_op *op;
    const garner_tensor *data, *indices;
    garner_shape out;

    int32_t rank; /* of axis: rank of out before merging */
    struct map_axis axis[2 * GARNER_MAX_RANK];
    int32_t batch;    /* batch axes */
    int32_t gathered; /* the first data axis that indices choose on */
    int32_t tuple;    /* how many they are */
    int32_t merged;   /* how many axes of out the first one stands for: 1, or batch */
    int free_axis[GARNER_MAX_RANK];

    int64_t tuples;
    int64_t *source; /* for each tuple: the element of data, free axes at 0, in C order; -1: zero-filled */
    int64_t *used;   /* the different ones, ascending */
    int64_t used_count;
    int64_t free_count; /* elements along all free axes: each tuple stands for so many */

    int64_t data_count;
    int64_t wrapped; /* indices that were negative and counted from the end */
    int64_t moved;   /* indices that clamp or wrap brought inside */
    int64_t zeroed;  /* tuples that point outside: zeros */
};

/* Checks everything as garner_run would and computes the mapping. On failure nothing is kept. */
garner_status map_create(struct map *map, const garner_op *op, const garner_tensor *data,
                         const garner_tensor *indices, garner_error *error);
void map_free(struct map *map);

/* What runs along each axis, from ranks alone and the last extent of indices; no sources. Returns 0 if op,
 * ranks or that extent do not go together. */
int map_outline(struct map *map, const garner_op *op, const garner_tensor *data,
                const garner_tensor *indices);

/* The index tuple and the coordinates in data of an element of out. Returns 0 if it is zero-filled. */
int map_source(const struct map *map, int64_t out_flat, int64_t *tuple, int64_t coordinates[GARNER_MAX_RANK]);

/* Which of the used sources an element of data belongs to, counted from 0; -1: it is not used. */
int64_t map_use(const struct map *map, int64_t data_flat);

/* The same for an index tuple; -1: zero-filled. */
int64_t map_tuple_use(const struct map *map, int64_t tuple);

/* The C-order number of coordinates, and back. */
int64_t map_flatten(const int64_t *shape, int32_t rank, const int64_t *coordinates);
void map_unflatten(const int64_t *shape, int32_t rank, int64_t flat, int64_t *coordinates);

#endif
