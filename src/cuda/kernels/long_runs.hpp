/* SPDX-License-Identifier: MIT */
/*
 * LINE_LONG and GRID_LONG: long runs, in chunks. Some threads share a chunk: each finds its point, loads and
 * checks its indices once, and moves one vector of it or several, as far apart as there are threads.
 */
#ifndef GARNER_CUDA_LONG_RUNS_HPP
#define GARNER_CUDA_LONG_RUNS_HPP

#include "items.hpp"

template <enum way WAY, int FLIGHT, int INDEX, int VECTOR>
KERNEL_CODE bool move_chunk(const struct cuda_task &task, const struct item &it, int lane)
{
    typedef typename vector_of<VECTOR>::type vector;
    const int64_t lanes = (int64_t)1 << task.lane_shift, first = it.within * FLIGHT * lanes + lane;
    int64_t offset;
    const enum selection selection = select_offset<WAY, INDEX>(task, it.spot.index, it.point, &offset);
    if (selection == GIVES_UP) return false;
    vector value[FLIGHT] = {};
    const char *data = task.data + it.spot.data + offset;
    char *out = task.out + it.spot.out;
    for (int i = 0; i < FLIGHT; i++)
        if (selection == SELECTS && first + i * lanes < task.vectors)
            value[i] = load<vector>(data + (first + i * lanes) * VECTOR);
    for (int i = 0; i < FLIGHT; i++)
        if (first + i * lanes < task.vectors) store(out + (first + i * lanes) * VECTOR, value[i]);
    return true;
}

template <int FLIGHT, int INDEX, int VECTOR>
KERNEL_COLD void move_chunk_the_long_way(const struct cuda_task &task, struct item it, int lane)
{
    move_chunk<LONG_WAY, FLIGHT, INDEX, VECTOR>(task, it, lane);
}

template <int FLIGHT, int INDEX, int VECTOR>
KERNEL_CODE void move_share(const struct cuda_task &task, const struct item &it, int lane)
{
    if (!move_chunk<SHORT_WAY, FLIGHT, INDEX, VECTOR>(task, it, lane))
        move_chunk_the_long_way<FLIGHT, INDEX, VECTOR>(task, it, lane);
}

template <int SOURCE, int INDEX, int VECTOR>
KERNEL_CODE void move_long(const struct cuda_task &task, const block &b)
{
    constexpr int flight = IN_FLIGHT_LINE_LONG;
    const int64_t number = b.number * (b.threads >> task.lane_shift);
    const struct first_item first = find_first<SOURCE>(task, task.narrow ? 0 : number);
    all_threads(b, [&](int thread) {
        const int lane = thread & ((1 << task.lane_shift) - 1), chunk = thread >> task.lane_shift;
        const uint32_t further = (task.narrow ? (uint32_t)number : 0) + (uint32_t)chunk;
        if (number + chunk >= task.items) return;
        const struct item it =
            find_item<SOURCE, 1>(task, first, further); /* within: the number of the chunk */
        if (task.is_short)
            move_share<flight / 2, INDEX, VECTOR>(task, it, lane);
        else
            move_share<flight, INDEX, VECTOR>(task, it, lane);
    });
}

#endif
