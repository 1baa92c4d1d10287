/* SPDX-License-Identifier: MIT */
/*
 * LINE and GRID: an item is a vector of a run. Neighbouring threads move neighbouring vectors of out; each
 * has several items in flight, a block's width apart: it loads all their indices, then all their data, then
 * stores.
 */
#ifndef GARNER_CUDA_VECTORS_HPP
#define GARNER_CUDA_VECTORS_HPP

#include "items.hpp"

/* The offsets in data of the points of some items, `threads` apart; negative: it selects nothing. Bit i of
 * what it answers is set where item i selects something. */
template <int SOURCE, int INDEX, int VECTOR, int FLIGHT>
KERNEL_CODE unsigned find_offsets(const struct cuda_task &task, const struct first_item &first,
                                  uint32_t further, int threads, int items, int64_t (&offset)[FLIGHT])
{
    unsigned selects = (1u << items) - 1;
    for (int i = 0; i < FLIGHT; i++)
        offset[i] = 0;
    for (int k = 0; k < task.axes; k++) {
        int64_t index[FLIGHT];
        for (int i = 0; i < FLIGHT; i++) {
            const struct item it = find_item<SOURCE, VECTOR>(task, first, further + (uint32_t)(i * threads));
            if (selects >> i & 1) index[i] = load_index<INDEX>(task, it.spot.index + k * task.step);
        }
        for (int i = 0; i < FLIGHT; i++) {
            int64_t picked;
            if (!(selects >> i & 1)) continue;
            const struct item it =
                find_item<SOURCE, VECTOR>(task, first, forget(further) + (uint32_t)(i * threads));
            if (k == 0) offset[i] = it.spot.data + it.within;
            if (check_index<INDEX>(task, task.level[k].axis, index[i], it.point, k, &picked))
                offset[i] += picked * task.level[k].axis.stride;
            else
                selects &= ~(1u << i);
        }
    }
    return selects;
}

template <int SOURCE, int INDEX, int VECTOR>
KERNEL_CODE void move_vectors(const struct cuda_task &task, const block &b)
{
    constexpr int flight = SOURCE == CUDA_LINE ? (int)IN_FLIGHT_LINE : (int)IN_FLIGHT_GRID;
    typedef typename vector_of<VECTOR>::type vector;
    const int64_t number = b.number * flight * b.threads;
    const struct first_item first = find_first<SOURCE>(task, task.narrow ? 0 : number);
    each_thread(b, [&](int thread) {
        const uint32_t further = (task.narrow ? (uint32_t)number : 0) + (uint32_t)thread;
        const int64_t left = task.items - number - thread;
        if (left <= 0) return;
        const int items =
            left > (int64_t)(flight - 1) * b.threads ? flight : (int)((left + b.threads - 1) / b.threads);
        int64_t offset[flight];
        vector value[flight];
        const unsigned selects =
            find_offsets<SOURCE, INDEX, VECTOR, flight>(task, first, further, b.threads, items, offset);
        for (int i = 0; i < flight; i++) {
            value[i] = vector{};
            if (selects >> i & 1) value[i] = load<vector>(task.data + offset[i]);
        }
        for (int i = 0; i < flight; i++) {
            if (i >= items) break;
            const struct item it =
                find_item<SOURCE, VECTOR>(task, first, forget(further) + (uint32_t)(i * b.threads));
            store(task.out + it.spot.out + it.within, value[i]);
        }
    });
}

#endif
