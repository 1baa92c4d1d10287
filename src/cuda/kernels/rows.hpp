/* SPDX-License-Identifier: MIT */
/*
 * ROWS, ELEMENTS and LONG_ROWS: rows of a table, found by indices that lie side by side, and stored side by
 * side. It is the most common gather, and these kernels have the fewest instructions: which vector of out a
 * thread moves says all that is to be found. A thread of ROWS and ELEMENTS moves one vector or several, a
 * warp's width apart, and loads all their indices before any of their data. A block of LONG_ROWS moves a
 * piece of one row.
 */
#ifndef GARNER_CUDA_ROWS_HPP
#define GARNER_CUDA_ROWS_HPP

#include "find.hpp"

/* An index that no other thread loads. */
template <int INDEX> KERNEL_CODE int64_t load_own_index(const struct cuda_task &task, int64_t at)
{
    typedef typename number_of<INDEX>::type number;
    return pin(load_once<number>(task.indices + at * INDEX));
}

/* Where vector `item` of out comes from. ELEMENTS: a row is one vector, and the table has no gaps. */
template <int SOURCE> KERNEL_CODE uint32_t row_of(const struct cuda_task &task, uint32_t item)
{
    return SOURCE == CUDA_ELEMENTS ? item : divide(item, task.by_vectors);
}

template <int SOURCE, int VECTOR>
KERNEL_CODE const char *vector_in_table(const struct cuda_task &task, int64_t picked, uint32_t item)
{
    if (SOURCE == CUDA_ELEMENTS) return task.data + picked * VECTOR;
    const uint32_t within = item - row_of<SOURCE>(task, item) * task.by_vectors.by;
    return task.data + picked * task.level[0].axis.stride + (int64_t)within * VECTOR;
}

/* Vectors first, first + 32, ... of out; false where one of their indices is not simply inside: then none was
 * stored. */
template <int SOURCE, int FLIGHT, int INDEX, int VECTOR>
KERNEL_CODE bool move_flight(const struct cuda_task &task, uint32_t first)
{
    typedef typename vector_of<VECTOR>::type vector;
    const struct axis &axis = task.level[0].axis;
    const int left = (int)((uint32_t)task.items - first);
    int64_t picked[FLIGHT];
    vector value[FLIGHT];
    bool inside = true;
    for (int i = 0; i < FLIGHT; i++)
        if (i * WARP < left)
            picked[i] = SOURCE == CUDA_ELEMENTS
                            ? load_own_index<INDEX>(task, (int64_t)first + i * WARP)
                            : load_index<INDEX>(task, row_of<SOURCE>(task, first + (uint32_t)(i * WARP)));
    for (int i = 0; i < FLIGHT; i++)
        if (i * WARP < left) inside = index_inside(picked[i], axis.bound, axis.wrap, &picked[i]) && inside;
    if (!inside) return false;
    for (int i = 0; i < FLIGHT; i++)
        if (i * WARP < left)
            value[i] =
                load<vector>(vector_in_table<SOURCE, VECTOR>(task, picked[i], first + (uint32_t)(i * WARP)));
    for (int i = 0; i < FLIGHT; i++)
        if (i * WARP < left) store(task.out + ((int64_t)first + i * WARP) * VECTOR, value[i]);
    return true;
}

/* The same one by one, for indices that are not simply inside. */
template <int SOURCE, int INDEX, int VECTOR>
KERNEL_COLD void move_flight_the_long_way(const struct cuda_task &task, uint32_t first, int flight)
{
    typedef typename vector_of<VECTOR>::type vector;
    for (int i = 0; i < flight; i++) {
        const uint32_t item = first + (uint32_t)(i * WARP), point = row_of<SOURCE>(task, item);
        int64_t picked;
        vector value = {};
        if (item >= (uint32_t)task.items) break;
        if (check_index<INDEX>(task, task.level[0].axis, load_index<INDEX>(task, point), point, 0, &picked))
            value = load<vector>(vector_in_table<SOURCE, VECTOR>(task, picked, item));
        store(task.out + (int64_t)item * VECTOR, value);
    }
}

template <int SOURCE, int FLIGHT, int INDEX, int VECTOR>
KERNEL_CODE void move_some_rows(const struct cuda_task &task, const block &b)
{
    each_thread(b, [&](int thread) {
        const int64_t first = (b.number * b.threads + thread / WARP * WARP) * FLIGHT + thread % WARP;
        if (first >= task.items) return;
        if (!move_flight<SOURCE, FLIGHT, INDEX, VECTOR>(task, (uint32_t)first))
            move_flight_the_long_way<SOURCE, INDEX, VECTOR>(task, (uint32_t)first, FLIGHT);
    });
}

template <int SOURCE, int INDEX, int VECTOR>
KERNEL_CODE void move_rows(const struct cuda_task &task, const block &b)
{
    constexpr bool many = SOURCE == CUDA_ELEMENTS && VECTOR < 16;
    if (task.flight == 1)
        move_some_rows<SOURCE, 1, INDEX, VECTOR>(task, b);
    else if (task.flight == 2 || !many)
        move_some_rows<SOURCE, 2, INDEX, VECTOR>(task, b);
    else
        move_some_rows<SOURCE, many ? 4 : 2, INDEX, VECTOR>(task, b);
}

/* ---- Long rows ---- */

/* Vectors first, first + threads, ... of one row; false where its index is not simply inside. */
template <enum way WAY, int INDEX, int VECTOR>
KERNEL_CODE bool move_piece(const struct cuda_task &task, uint32_t point, uint32_t first, int threads)
{
    constexpr int flight = IN_FLIGHT_LONG_ROWS;
    typedef typename vector_of<VECTOR>::type vector;
    int64_t offset;
    const enum selection selection = select_offset<WAY, INDEX>(task, point, point, &offset);
    if (selection == GIVES_UP) return false;
    const int64_t begin = (int64_t)first * VECTOR, apart = (int64_t)threads * VECTOR;
    const int left = (int)((uint32_t)task.vectors - first);
    const char *data = task.data + offset + begin;
    char *out = task.out + (int64_t)point * task.run + begin;
    vector value[flight] = {};
    for (int i = 0; i < flight; i++)
        if (i * threads < left && selection == SELECTS) value[i] = load<vector>(data + i * apart);
    for (int i = 0; i < flight; i++)
        if (i * threads < left) store(out + i * apart, value[i]);
    return true;
}

template <int INDEX, int VECTOR>
KERNEL_COLD void move_piece_the_long_way(const struct cuda_task &task, uint32_t point, uint32_t first,
                                         int threads)
{
    move_piece<LONG_WAY, INDEX, VECTOR>(task, point, first, threads);
}

template <int INDEX, int VECTOR> KERNEL_CODE void move_long_rows(const struct cuda_task &task, const block &b)
{
    const uint32_t point = divide((uint32_t)b.number, task.by_vectors), /* by the pieces of a row */
        piece = (uint32_t)b.number - point * task.by_vectors.by;
    each_thread(b, [&](int thread) {
        const uint32_t first = piece * (uint32_t)(IN_FLIGHT_LONG_ROWS * b.threads) + (uint32_t)thread;
        if (first >= task.vectors) return;
        if (!move_piece<SHORT_WAY, INDEX, VECTOR>(task, point, first, b.threads))
            move_piece_the_long_way<INDEX, VECTOR>(task, point, first, b.threads);
    });
}

#endif
