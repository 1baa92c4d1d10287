/* SPDX-License-Identifier: MIT */
/*
 * LINE_ONCE and GRID_ONCE: one item for each thread, found once. Where a device runs most of the threads at a
 * time they have enough in flight together. An item is a vector of a run; or a pack of points, elements that
 * lie side by side in out, as their indices do: these are loaded together, and the elements are stored
 * together.
 */
#ifndef GARNER_CUDA_ONCE_HPP
#define GARNER_CUDA_ONCE_HPP

#include "items.hpp"

/* Each of these says whether it is done, which the long way always is. */
template <enum way WAY, int INDEX, int VECTOR>
KERNEL_CODE bool move_vector(const struct cuda_task &task, const struct item &it)
{
    typedef typename vector_of<VECTOR>::type vector;
    int64_t offset;
    const enum selection selection = select_offset<WAY, INDEX>(task, it.spot.index, it.point, &offset);
    if (selection == GIVES_UP) return false;
    vector value = {};
    if (selection == SELECTS) value = load<vector>(task.data + it.spot.data + offset + it.within);
    store(task.out + it.spot.out + it.within, value);
    return true;
}

template <enum way WAY, int INDEX, int VECTOR>
KERNEL_CODE bool move_points(const struct cuda_task &task, const struct item &it)
{
    typedef typename vector_of<VECTOR>::type vector;
    constexpr int count = packed_points<VECTOR>::COUNT;
    const struct axis &axis = task.level[0].axis;
    const char *data = task.data + it.spot.data;
    const int64_t next = task.level[task.rank - 1].dim.data;
    pack<vector, count> value = {};
    int64_t index[count], picked[count];
    load_indices<INDEX, count>(task, it.spot.index, index);
    if (WAY == LONG_WAY)
        check_indices<INDEX>(task, axis, index, it.point, picked);
    else if (!all_inside(axis, index, picked))
        return false;
    for (int i = 0; i < count; i++)
        if (WAY == SHORT_WAY || picked[i] >= 0)
            value.at[i] = load<vector>(data + i * next + picked[i] * axis.stride);
    store_pack(task.out + it.spot.out, value);
    return true;
}

/* Which of them an item takes. */
template <enum way WAY, bool PACK, int INDEX, int VECTOR>
KERNEL_CODE bool move_as(const struct cuda_task &task, const struct item &it)
{
    return PACK ? move_points<WAY, INDEX, VECTOR>(task, it) : move_vector<WAY, INDEX, VECTOR>(task, it);
}

template <bool PACK, int INDEX, int VECTOR>
KERNEL_COLD void move_the_long_way(const struct cuda_task &task, struct item it)
{
    move_as<LONG_WAY, PACK, INDEX, VECTOR>(task, it);
}

template <bool PACK, int INDEX, int VECTOR>
KERNEL_CODE void move_item(const struct cuda_task &task, const struct item &it)
{
    if (!move_as<SHORT_WAY, PACK, INDEX, VECTOR>(task, it)) move_the_long_way<PACK, INDEX, VECTOR>(task, it);
}

template <int SOURCE, int INDEX, int VECTOR>
KERNEL_CODE void move_once(const struct cuda_task &task, const block &b)
{
    constexpr int count = packed_points<VECTOR>::COUNT;
    const int64_t number = b.number * b.threads;
    const struct first_item first = find_first<SOURCE>(task, task.narrow ? 0 : number);
    each_thread(b, [&](int thread) {
        const uint32_t further = (task.narrow ? (uint32_t)number : 0) + (uint32_t)thread;
        if (number + thread >= task.items) return;
        if (count > 1 && task.packs_points)
            move_item<true, INDEX, VECTOR>(task, find_item<SOURCE, VECTOR, count>(task, first, further));
        else
            move_item<false, INDEX, VECTOR>(task, find_item<SOURCE, VECTOR>(task, first, further));
    });
}

#endif
