/* SPDX-License-Identifier: MIT */
/*
 * NEST and PACKED: nests of any rank and any number of axes. A thread of NEST moves one vector of a run; or,
 * where out has no elements, checks one point and moves nothing. A thread of PACKED writes one packing unit
 * of out, which is dense.
 */
#ifndef GARNER_CUDA_ANY_NEST_HPP
#define GARNER_CUDA_ANY_NEST_HPP

#include "../../packing.h"
#include "find.hpp"

/* One item. */
template <int INDEX, int VECTOR> KERNEL_CODE void move_one(const struct cuda_any &any, int64_t number)
{
    typedef typename vector_of<VECTOR>::type vector;
    const struct cuda_task &task = any.task;
    int64_t point = number, offset;
    if (task.vectors > 1) point = number / task.vectors;
    const struct row_spot spot = find_spot(any, task.rank, point);
    const bool selects = find_offset<INDEX>(any, spot.index, point, &offset);
    if (task.vectors == 0) return;
    const int64_t within = (number - point * task.vectors) * VECTOR;
    vector value = {};
    if (selects) value = load<vector>(task.data + spot.data + offset + within);
    store(task.out + spot.out + within, value);
}

template <int INDEX, int VECTOR> KERNEL_CODE void move_nest(const struct cuda_any &any, const block &b)
{
    each_thread(b, [&](int thread) {
        for (int64_t i = b.number * b.threads + thread; i < any.task.items; i += b.blocks * b.threads)
            move_one<INDEX, VECTOR>(any, i);
    });
}

/* The element number `element` of out; `point` and `offset` are those of the element before. */
KERNEL_CODE unsigned find_code(const struct cuda_any &any, int64_t element, int64_t *point, int64_t *offset)
{
    const struct cuda_task &task = any.task;
    const int64_t here = element / task.run;
    if (here != *point) {
        int64_t selected;
        const struct row_spot spot = find_spot(any, task.rank, here);
        const bool selects = find_offset<0>(any, spot.index, here, &selected);
        *point = here;
        *offset = selects ? spot.data + selected : -1;
    }
    if (*offset < 0) return 0;
    return get_code((const unsigned char *)task.data, &task.packed, *offset + element - here * task.run);
}

KERNEL_CODE void write_unit(const struct cuda_any &any, int64_t unit)
{
    const struct cuda_task &task = any.task;
    const int64_t first = unit * task.packed.per_unit;
    unsigned code[MOST_PER_UNIT];
    int64_t point = -1, offset = -1;
    for (int i = 0; i < task.packed.per_unit; i++)
        code[i] = first + i < task.points * task.run ? find_code(any, first + i, &point, &offset) : 0;
    put_unit((unsigned char *)task.out + unit * task.packed.unit_bytes, &task.packed, code);
}

KERNEL_CODE void move_packed(const struct cuda_any &any, const block &b)
{
    each_thread(b, [&](int thread) {
        for (int64_t i = b.number * b.threads + thread; i < any.task.items; i += b.blocks * b.threads)
            write_unit(any, i);
    });
}

#endif
