/* SPDX-License-Identifier: MIT */
/*
 * RUNS: short runs of odd sizes, such as 3 floats or 5 bytes, that lie side by side in out. An item is a pack
 * of vectors that are stored together. A run has at least as many but one, so a pack has vectors of one point
 * or of two.
 */
#ifndef GARNER_CUDA_SHORT_RUNS_HPP
#define GARNER_CUDA_SHORT_RUNS_HPP

#include "items.hpp"

/* The point that pack number `number` begins in, and from which vector on. */
template <int COUNT> KERNEL_CODE struct item find_pack(const struct cuda_task &task, int64_t number)
{
    const int64_t vectors = task.by_vectors.by, first = number * COUNT;
    struct item it;
    it.point = task.narrow ? divide((uint32_t)first, task.by_vectors) : first / vectors;
    it.within = first - it.point * vectors;
    it.spot = spot_along(row_spot{0, 0, 0}, task.level[0].dim, it.point);
    return it;
}

/* Says whether it is done, which the long way always is. `within` of the item is a number of vectors. */
template <enum way WAY, int INDEX, int VECTOR>
KERNEL_CODE bool move_runs(const struct cuda_task &task, const struct item &it)
{
    typedef typename vector_of<VECTOR>::type vector;
    constexpr int count = packed_points<VECTOR>::COUNT;
    const struct dim &dim = task.level[0].dim;
    const int from = (int)it.within, vectors = (int)task.by_vectors.by;
    int64_t offset[2] = {0, 0};
    enum selection selection[2] = {SELECTS, SELECTS};
    pack<vector, count> value = {};
    for (int i = 0; i < 2; i++)
        if (i == 0 || from + count > vectors)
            selection[i] =
                select_offset<WAY, INDEX>(task, it.spot.index + i * dim.index, it.point + i, &offset[i]);
    if (selection[0] == GIVES_UP || selection[1] == GIVES_UP) return false;
    for (int i = 0; i < count; i++) {
        const int next = from + i >= vectors;
        const int64_t within = (int64_t)(from + i - (next ? vectors : 0)) * VECTOR;
        if ((next ? selection[1] : selection[0]) == SELECTS)
            value.at[i] =
                load<vector>(task.data + it.spot.data + (next ? offset[1] + dim.data : offset[0]) + within);
    }
    store_pack(task.out + it.spot.out + from * VECTOR, value);
    return true;
}

template <int INDEX, int VECTOR>
KERNEL_COLD void move_runs_the_long_way(const struct cuda_task &task, struct item it)
{
    move_runs<LONG_WAY, INDEX, VECTOR>(task, it);
}

template <int INDEX, int VECTOR>
KERNEL_CODE void move_short_runs(const struct cuda_task &task, const block &b)
{
    each_thread(b, [&](int thread) {
        const int64_t number = b.number * b.threads + thread;
        if (number >= task.items) return;
        const struct item it = find_pack<packed_points<VECTOR>::COUNT>(task, number);
        if (!move_runs<SHORT_WAY, INDEX, VECTOR>(task, it)) move_runs_the_long_way<INDEX, VECTOR>(task, it);
    });
}

#endif
