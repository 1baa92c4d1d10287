/* SPDX-License-Identifier: MIT */
/*
 * Stage 2: the canonical form. Every gather is this loop nest, and a backend needs nothing else:
 *
 *     for every point p of the nest:
 *         from = sum of p[d] * dim[d].data
 *         at   = sum of p[d] * dim[d].index
 *         for each k: from += in_range(index[at + k * step]) * axis[k].stride
 *         copy `run` bytes from data + from to out + sum of p[d] * dim[d].out
 *
 * where in_range() wraps and checks an index against axis[k].bound. A dim whose index stride is 0 uses
 * the same indices again on another base; that and the strides are all an executor must know.
 */
#ifndef GARNER_NEST_H
#define GARNER_NEST_H

#include "dtype.h"
#include "index.h"

struct map;
struct op;
struct view;

struct dim {
    int64_t n;
    int64_t data;  /* stride in bytes; in elements where data is packed */
    int64_t index; /* stride in indices */
    int64_t out;   /* as data */
};

struct nest {
    int rank;       /* dims, outermost first; the last one walks along indices, or is 1 */
    int axes;       /* gathered axes, at least 1 */
    int64_t rows;   /* product of the extents of all dims but the last; 0 if out has no elements */
    int64_t points; /* product of all extents */
    int64_t run;    /* bytes moved for each point; elements where data is packed */
    int64_t step;   /* indices between the components of a tuple */
    const struct dtype *packed; /* how elements are packed into bits; NULL: whole bytes */
    struct index_type index_type;
    garner_oob policy;
    struct axis axis[GARNER_MAX_RANK];
    struct dim dim[GARNER_MAX_RANK];
};

/* Whether a step of the outer stride is `n` steps of the inner one. */
static inline bool continues_stride(int64_t outer, int64_t n, int64_t inner)
{
    int64_t reach;
    return multiply_fits(n, inner, &reach) && outer == reach;
}

/* Whether the outer of two dims goes on where the inner one ends, in all three tensors. */
static inline bool walk_as_one(const struct dim *outer, const struct dim *inner)
{
    return continues_stride(outer->out, inner->n, inner->out) &&
           continues_stride(outer->index, inner->n, inner->index) &&
           continues_stride(outer->data, inner->n, inner->data);
}

/* Appends a dim, or lets the one before take it in if the two walk as one. */
static inline void nest_append(struct nest *nest, struct dim dim)
{
    if (nest->rank > 0 && walk_as_one(&nest->dim[nest->rank - 1], &dim)) dim.n *= nest->dim[--nest->rank].n;
    nest->dim[nest->rank++] = dim;
}

/* Once all dims are there: peels the run off the end, and counts rows and points of an out of `count`
 * elements, or bytes: whether there are any matters. */
void garner_nest_finish(struct nest *nest, int64_t count);

/* Builds the nest of a map over three views: drops extents of 1, merges dims that walk as one, peels
 * the contiguous run off the end, and turns packed elements into bytes where everything is aligned. False
 * if out has not the shape that the map gives. */
bool garner_nest_build(struct nest *nest, const struct map *map, const struct op *op, const struct view *data,
                       const struct view *indices, const struct view *out);

#endif
