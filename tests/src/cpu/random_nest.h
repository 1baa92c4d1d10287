/* SPDX-License-Identifier: MIT */
/*
 * Random nests, each made of its number alone and the same on every machine: the three operators in realistic
 * variety, with sizes on both sides of every threshold that the planner has. Nothing is executed, so a table
 * may have any size. No two draws stand in one expression, whose order compilers choose.
 */
#ifndef GARNER_RANDOM_NEST_H
#define GARNER_RANDOM_NEST_H

#include "nest.h"

struct draw {
    uint64_t state;
};

/* splitmix64 */
static inline uint64_t draw_bits(struct draw *draw)
{
    uint64_t z = draw->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 to n - 1. */
static inline int64_t draw_below(struct draw *draw, int64_t n)
{
    return (int64_t)(draw_bits(draw) % (uint64_t)n);
}

/* True once in `n` times. */
static inline bool draw_once_in(struct draw *draw, int64_t n)
{
    return draw_below(draw, n) == 0;
}

/* A number from 1 on, of any magnitude up to 2^most: often a power of two or its neighbour. */
static inline int64_t draw_count(struct draw *draw, int most)
{
    const int64_t base = INT64_C(1) << draw_below(draw, most + 1);
    switch (draw_below(draw, 4)) {
    case 0:
        return base;
    case 1:
        return at_least(1, base + draw_below(draw, 3) - 1);
    default:
        return base + draw_below(draw, base);
    }
}

/* A total of bytes next to which some decision changes, and how many things of `each` bytes come to it, or to
 * one more or less. */
static inline int64_t draw_total(struct draw *draw, int64_t each)
{
    enum { KIB = 1024, MIB = 1024 * KIB };
    static const int64_t totals[] = {
        192,
        512,
        KIB,
        2 * KIB,
        4 * KIB,
        8 * KIB,
        16 * KIB,
        32 * KIB,
        64 * KIB,
        128 * KIB,
        256 * KIB,
        512 * KIB,
        MIB,
        3 * MIB / 2,
        2 * MIB,
        4 * MIB,
        8 * MIB,
        16 * MIB,
        32 * MIB,
        64 * MIB,
        128 * MIB,
        192 * MIB,
        256 * MIB,
        1024 * MIB,
        12 * KIB,
        48 * KIB,
        96 * KIB,
        768 * KIB / 2,
        4 * 1024 * (int64_t)MIB,
    };
    const int64_t total = totals[draw_below(draw, (int64_t)(sizeof totals / sizeof totals[0]))];
    return at_least(1, total / each + draw_below(draw, 3) - 1);
}

static inline int64_t draw_extent(struct draw *draw, int most, int64_t each)
{
    return draw_once_in(draw, 2) ? draw_total(draw, each) : draw_count(draw, most);
}

/* As many things of `each` bytes as fit into the largest tensor. */
static inline int64_t draw_fitting(int64_t count, int64_t each)
{
    const int64_t largest = INT64_C(1) << 42;
    return at_least(1, at_most(count, largest / each));
}

/* Bytes of an element, and of a run: an element, an odd few bytes, a row, a long slice. */
static inline int64_t draw_item(struct draw *draw)
{
    return INT64_C(1) << draw_below(draw, 5);
}

static inline int64_t draw_items(struct draw *draw, int most)
{
    const int64_t item = draw_item(draw);
    return item * draw_count(draw, most);
}

static inline int64_t draw_run(struct draw *draw)
{
    switch (draw_below(draw, 8)) {
    case 0:
    case 1:
        return draw_item(draw);
    case 2:
        return 1 + draw_below(draw, 48);
    case 3:
        return INT64_C(1) << draw_below(draw, 13);
    case 4:
        return draw_items(draw, 18);
    default:
        return draw_items(draw, 8);
    }
}

/* Rows of `n` points each, one line of dims after the other; the innermost last. */
static inline void draw_add(struct nest *nest, int64_t n, int64_t data, int64_t index, int64_t out)
{
    if (n != 1) nest_append(nest, (struct dim){.n = n, .data = data, .index = index, .out = out});
}

/* Gather: slices along one axis, of every row of the axes before it; perhaps with indices for each batch, or
 * in two axes of which the view has a gap. */
static inline void draw_gather(struct draw *draw, struct nest *nest)
{
    const int64_t run = nest->run, pitch = draw_once_in(draw, 8) ? run * 2 + 3 : run;
    const int64_t n = draw_extent(draw, 14, run), bound = draw_fitting(draw_extent(draw, 22, pitch), pitch);
    const int64_t more = draw_once_in(draw, 8) ? draw_count(draw, 6) : 1,
                  step = draw_once_in(draw, 12) ? 2 : 1;
    const int64_t table = bound * pitch, row = n * more * run + (draw_once_in(draw, 10) ? 64 : 0);
    const int64_t most = at_least(table, row);
    const int64_t outer = draw_once_in(draw, 3) ? 1 : draw_fitting(draw_extent(draw, 12, n * run), most);
    const int64_t batch = draw_once_in(draw, 3) ? draw_fitting(draw_count(draw, 10), most * outer) : 1;
    nest->axes = 1;
    nest->axis[0] = (struct axis){bound, pitch, bound};
    draw_add(nest, batch, table * outer, n * more * step, row * outer);
    draw_add(nest, outer, table, 0, row);
    draw_add(nest, more, 0, n * step + 1, n * run);
    draw_add(nest, n, 0, step, run);
}

/* GatherElements along the last axis: each row of indices chooses from a row of data. */
static inline void draw_along_rows(struct draw *draw, struct nest *nest)
{
    const int64_t item = nest->run, bound = draw_extent(draw, 18, item), n = draw_extent(draw, 16, item);
    const int64_t pitch = bound * item * (draw_once_in(draw, 10) ? 2 : 1), most = at_least(pitch, n * item);
    const int64_t rows = draw_fitting(draw_extent(draw, 16, most), most);
    const int64_t more = draw_once_in(draw, 4) ? draw_fitting(draw_count(draw, 8), most * rows) : 1;
    nest->axes = 1;
    nest->axis[0] = (struct axis){bound, item, bound};
    draw_add(nest, more, draw_once_in(draw, 3) ? 0 : pitch * (rows + 1), rows * n, rows * n * item);
    draw_add(nest, rows, draw_once_in(draw, 12) ? -pitch : pitch, n, n * item);
    draw_add(nest, n, 0, 1, item);
}

/* GatherElements along another axis: `n` rows of indices choose from the same table, column by column. */
static inline void draw_along_columns(struct draw *draw, struct nest *nest)
{
    const int64_t item = nest->run, columns = draw_extent(draw, 12, item);
    const int64_t width = columns + (draw_once_in(draw, 3) ? draw_count(draw, 8) : 0), pitch = width * item;
    const int64_t bound =
        draw_fitting(draw_once_in(draw, 3) ? draw_count(draw, 11) : draw_extent(draw, 17, pitch), pitch);
    const int64_t parts = 1 + draw_below(draw, 4), some = at_least(1, bound / parts - draw_below(draw, 2));
    const int64_t n = draw_fitting(draw_once_in(draw, 2) ? some : draw_extent(draw, 14, pitch), pitch);
    const int64_t outer =
        draw_once_in(draw, 2) ? 1 : draw_fitting(draw_count(draw, 8), at_least(n, bound) * pitch);
    const int64_t row = columns * item + (draw_once_in(draw, 8) ? item : 0);
    nest->axes = 1;
    nest->axis[0] = (struct axis){bound, pitch, bound};
    draw_add(nest, outer, bound * pitch, n * columns, n * row);
    draw_add(nest, n, 0, columns, row);
    draw_add(nest, columns, item, 1, item);
}

/* Data in which the gathered axis and the others lie as a transposed view has them. */
static inline void draw_transposed(struct draw *draw, struct nest *nest)
{
    const int64_t item = nest->run, bound = draw_extent(draw, 16, item), n = draw_extent(draw, 12, item);
    const int64_t pitch = item * (1 + draw_below(draw, 4));
    const int64_t rows = draw_fitting(draw_extent(draw, 10, n * item), at_least(n, bound) * pitch);
    nest->axes = 1;
    nest->axis[0] = (struct axis){bound, draw_once_in(draw, 6) ? -pitch : pitch, bound};
    const int64_t table = draw_once_in(draw, 2) ? 0 : bound * pitch;
    draw_add(nest, rows, table, draw_once_in(draw, 3) ? 0 : n, n * item);
    const int64_t apart = draw_once_in(draw, 2) ? bound * pitch : pitch;
    draw_add(nest, n, apart, 1, draw_once_in(draw, 6) ? 2 * item : item);
}

/* GatherND: tuples of one to five indices, perhaps for each batch. */
static inline void draw_tuples(struct draw *draw, struct nest *nest)
{
    const int axes = 1 + (int)draw_below(draw, 5);
    const int64_t n = draw_fitting(draw_extent(draw, 16, nest->run), nest->run);
    int64_t stride = nest->run;
    nest->axes = axes;
    nest->step = draw_once_in(draw, 10) ? n : 1;
    for (int k = axes - 1; k >= 0; k--) {
        const int64_t bound =
            draw_fitting(k == 0 ? draw_extent(draw, 12, stride) : draw_count(draw, 24 / axes), stride);
        nest->axis[k] = (struct axis){bound, stride, bound};
        stride *= bound;
    }
    const int64_t most = at_least(stride, n * nest->run);
    const int64_t batch = draw_once_in(draw, 3) ? draw_fitting(draw_count(draw, 8), most) : 1;
    const int64_t out = nest->run + (draw_once_in(draw, 10) ? 8 : 0);
    draw_add(nest, batch, draw_once_in(draw, 4) ? 0 : stride, n * axes, n * out);
    draw_add(nest, n, 0, nest->step == 1 ? axes : 1, out);
}

/* Kernels read signed indices of 4 and 8 bytes; others are rare. */
static inline struct index_type draw_index_type(struct draw *draw)
{
    if (!draw_once_in(draw, 10)) return (struct index_type){draw_once_in(draw, 3) ? 4 : 8, false};
    return (struct index_type){1 << draw_below(draw, 4), draw_once_in(draw, 2)};
}

/* Nest number `number`. */
static inline void draw_nest(struct nest *nest, uint64_t number)
{
    struct draw draw = {number * UINT64_C(0xd1342543de82ef95) + 1};
    const int64_t family = draw_below(&draw, 10);
    nest->rank = 0;
    nest->step = 0;
    nest->packed = draw_once_in(&draw, 50) ? dtype_row(GARNER_U4) : NULL;
    nest->policy = GARNER_OOB_ERROR;
    nest->index_type = draw_index_type(&draw);
    nest->run = family < 5 && !draw_once_in(&draw, 4) ? draw_item(&draw) : draw_run(&draw);
    if (family < 2)
        draw_along_rows(&draw, nest);
    else if (family < 4)
        draw_along_columns(&draw, nest);
    else if (family < 5)
        draw_transposed(&draw, nest);
    else if (family < 8)
        draw_gather(&draw, nest);
    else
        draw_tuples(&draw, nest);
    garner_nest_finish(nest, draw_once_in(&draw, 1000) ? 0 : 1);
}

#endif
