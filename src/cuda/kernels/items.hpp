/* SPDX-License-Identifier: MIT */
/* Which item a thread has, and where it lies, for sources LINE and GRID and their kin. */
#ifndef GARNER_CUDA_ITEMS_HPP
#define GARNER_CUDA_ITEMS_HPP

#include "find.hpp"

/* The first item of a block, which 64-bit divisions find; those of its threads are found from it by 32-bit
 * ones. */
struct first_item {
    int64_t number, point, row;
    uint32_t vector, column;
};

template <int SOURCE> KERNEL_CODE struct first_item find_first(const struct cuda_task &task, int64_t number)
{
    struct first_item first = {number, number, 0, 0, 0};
    if (task.narrow) return first; /* all is found from item 0 */
    const int64_t vectors = task.by_vectors.by;
    if (vectors > 1) {
        first.point = number / vectors;
        first.vector = (uint32_t)(number - first.point * vectors);
    }
    if (SOURCE == CUDA_GRID) {
        const int64_t n = task.level[task.rank - 1].by.by;
        first.row = first.point / n;
        first.column = (uint32_t)(first.point - first.row * n);
    }
    return first;
}

/* Where a point of GRID lies: the last dim by the column, the others by the row. */
KERNEL_CODE struct row_spot find_in_grid(const struct cuda_task &task, int64_t row, uint32_t column)
{
    struct row_spot spot = spot_along(row_spot{0, 0, 0}, task.level[task.rank - 1].dim, column);
    for (int d = task.rank - 2; d > 0; d--) {
        const uint32_t rest = divide((uint32_t)row, task.level[d].by);
        spot = spot_along(spot, task.level[d].dim, row - (int64_t)rest * task.level[d].dim.n);
        row = rest;
    }
    return spot_along(spot, task.level[0].dim, row);
}

/* An item: the vector of a point, and where the point lies; or COUNT points that lie side by side, from that
 * one on. */
struct item {
    int64_t point, within; /* the vector's bytes in the run */
    struct row_spot spot;
};

template <int SOURCE, int VECTOR, int COUNT = 1>
KERNEL_CODE struct item find_item(const struct cuda_task &task, const struct first_item &first,
                                  uint32_t further)
{
    struct item it = {0, 0, {0, 0, 0}};
    uint32_t points = further;
    if (task.by_vectors.by > 1) {
        points = divide(first.vector + further, task.by_vectors);
        it.within = (int64_t)(first.vector + further - points * task.by_vectors.by) * VECTOR;
    }
    it.point = (first.point + points) * COUNT;
    if (SOURCE == CUDA_LINE) {
        it.spot = spot_along(row_spot{0, 0, 0}, task.level[0].dim, it.point);
    } else {
        const struct divisor &by = task.level[task.rank - 1].by;
        const uint32_t rows = divide(first.column + points, by);
        it.spot = find_in_grid(task, first.row + rows, (first.column + points - rows * by.by) * COUNT);
    }
    return it;
}

#endif
