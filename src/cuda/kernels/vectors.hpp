/* SPDX-License-Identifier: MIT */
/*
 * LINE and GRID: an item is a vector of a run. Neighbouring threads move neighbouring vectors of out; each
 * has several items in flight, a block's width apart: it loads all their indices, then all their data, then
 * stores.
 */
#ifndef GARNER_CUDA_VECTORS_HPP
#define GARNER_CUDA_VECTORS_HPP

#include "find.hpp"

/* The first item of a block, which 64-bit divisions find; those of its threads are found from it by 32-bit
 * ones. */
struct first_item {
    int64_t number, point, row;
    uint32_t vector, column;
};

template <int SOURCE> KERNEL_CODE struct first_item find_first(const struct cuda_few &few, int64_t number)
{
    const struct cuda_task &task = few.task;
    struct first_item first = {number, number, 0, 0, 0};
    if (task.narrow) return first; /* all is found from item 0 */
    if (task.vectors > 1) {
        first.point = number / task.vectors;
        first.vector = (uint32_t)(number - first.point * task.vectors);
    }
    if (SOURCE == CUDA_GRID) {
        const int64_t n = few.dim[task.rank - 1].n;
        first.row = first.point / n;
        first.column = (uint32_t)(first.point - first.row * n);
    }
    return first;
}

/* Where a point of GRID lies: the last dim by the column, the others by the row. */
KERNEL_CODE struct row_spot find_in_grid(const struct cuda_few &few, int64_t row, uint32_t column)
{
    const struct cuda_task &task = few.task;
    struct row_spot spot = spot_along(row_spot{0, 0, 0}, few.dim[task.rank - 1], column);
    for (int d = task.rank - 2; d > 0; d--) {
        const uint32_t rest = divide((uint32_t)row, task.by_dim[d]);
        spot = spot_along(spot, few.dim[d], row - (int64_t)rest * few.dim[d].n);
        row = rest;
    }
    return spot_along(spot, few.dim[0], row);
}

/* An item: the vector of a point, and where the point lies. */
struct item {
    int64_t point, within; /* the vector's bytes in the run */
    struct row_spot spot;
};

template <int SOURCE, int VECTOR>
KERNEL_CODE struct item find_item(const struct cuda_few &few, const struct first_item &first,
                                  uint32_t further)
{
    const struct cuda_task &task = few.task;
    struct item it = {0, 0, {0, 0, 0}};
    uint32_t points = further;
    if (task.vectors > 1) {
        points = divide(first.vector + further, task.by_vectors);
        it.within = (int64_t)(first.vector + further - points * task.by_vectors.by) * VECTOR;
    }
    it.point = first.point + points;
    if (SOURCE == CUDA_LINE) {
        it.spot = spot_along(row_spot{0, 0, 0}, few.dim[0], it.point);
    } else {
        const struct divisor &by = task.by_dim[task.rank - 1];
        const uint32_t rows = divide(first.column + points, by);
        it.spot = find_in_grid(few, first.row + rows, first.column + points - rows * by.by);
    }
    return it;
}

/* The offsets in data of the points of some items, `threads` apart; negative: it selects nothing. Bit i of
 * what it answers is set where item i selects something. */
template <int SOURCE, int INDEX, int VECTOR, int FLIGHT>
KERNEL_CODE unsigned find_offsets(const struct cuda_few &few, const struct first_item &first,
                                  uint32_t further, int threads, int items, int64_t (&offset)[FLIGHT])
{
    const struct cuda_task &task = few.task;
    unsigned selects = (1u << items) - 1;
    for (int i = 0; i < FLIGHT; i++)
        offset[i] = 0;
    for (int k = 0; k < task.axes; k++) {
        int64_t index[FLIGHT];
        for (int i = 0; i < FLIGHT; i++) {
            const struct item it = find_item<SOURCE, VECTOR>(few, first, further + (uint32_t)(i * threads));
            if (selects >> i & 1) index[i] = load_index<INDEX>(task, it.spot.index + k * task.step);
        }
        for (int i = 0; i < FLIGHT; i++) {
            int64_t picked;
            if (!(selects >> i & 1)) continue;
            const struct item it =
                find_item<SOURCE, VECTOR>(few, first, forget(further) + (uint32_t)(i * threads));
            if (k == 0) offset[i] = it.spot.data + it.within;
            if (check_index<INDEX>(task, few.axis[k], index[i], it.point, k, &picked))
                offset[i] += picked * few.axis[k].stride;
            else
                selects &= ~(1u << i);
        }
    }
    return selects;
}

template <int SOURCE, int INDEX, int VECTOR>
KERNEL_CODE void move_vectors(const struct cuda_few &few, const block &b)
{
    constexpr int flight = SOURCE == CUDA_LINE ? (int)IN_FLIGHT_LINE : (int)IN_FLIGHT_GRID;
    typedef typename vector_of<VECTOR>::type vector;
    const struct cuda_task &task = few.task;
    const int64_t number = b.number * flight * b.threads;
    const struct first_item first = find_first<SOURCE>(few, task.narrow ? 0 : number);
    all_threads(b, [&](int thread) {
        const uint32_t further = (task.narrow ? (uint32_t)number : 0) + (uint32_t)thread;
        const int64_t left = task.items - number - thread;
        if (left <= 0) return;
        const int items =
            left > (int64_t)(flight - 1) * b.threads ? flight : (int)((left + b.threads - 1) / b.threads);
        int64_t offset[flight];
        vector value[flight];
        const unsigned selects =
            find_offsets<SOURCE, INDEX, VECTOR, flight>(few, first, further, b.threads, items, offset);
        for (int i = 0; i < flight; i++) {
            value[i] = vector{};
            if (selects >> i & 1) value[i] = load<vector>(task.data + offset[i]);
        }
        for (int i = 0; i < flight; i++) {
            if (i >= items) break;
            const struct item it =
                find_item<SOURCE, VECTOR>(few, first, forget(further) + (uint32_t)(i * b.threads));
            store(task.out + it.spot.out + it.within, value[i]);
        }
    });
}

#endif
