/* SPDX-License-Identifier: MIT */
/* How a kernel finds what an index selects: loads it once, checks it, turns it into an offset. */
#ifndef GARNER_CUDA_FIND_HPP
#define GARNER_CUDA_FIND_HPP

#include "thread.hpp"

/* Index number `at`. INDEX: its bytes if it is signed and aligned; 0: any. */
template <int INDEX> KERNEL_CODE int64_t load_index(const struct cuda_task &task, int64_t at)
{
    const char *from = task.indices + at * task.index_type.bytes;
    const bool is_unsigned = task.index_type.is_unsigned;
    if (INDEX == 4) return pin(load<int32_t>(task.indices + at * 4));
    if (INDEX == 8) return pin((int64_t)load<long long>(task.indices + at * 8));
    switch (task.index_type.bytes) {
    case 1:
        return index_load(from, index_type{1, is_unsigned});
    case 2:
        return index_load(from, index_type{2, is_unsigned});
    case 4:
        return index_load(from, index_type{4, is_unsigned});
    default:
        return index_load(from, index_type{8, is_unsigned});
    }
}

/* The type of an index of so many bytes. */
template <int INDEX> struct number_of {
    typedef long long type;
};
template <> struct number_of<4> {
    typedef int32_t type;
};

/* COUNT signed indices from number `at` on, which lie side by side and aligned; a single one need not. */
template <int INDEX, int COUNT>
KERNEL_CODE void load_indices(const struct cuda_task &task, int64_t at, int64_t (&index)[COUNT])
{
    if (COUNT == 1) {
        index[0] = load_index<INDEX>(task, at);
        return;
    }
    typedef typename number_of<INDEX>::type number;
    const pack<number, COUNT> loaded = load_pack<number, COUNT>(task.indices + at * INDEX);
    for (int i = 0; i < COUNT; i++)
        index[i] = pin(loaded.at[i]);
}

/* Where an index lands that is not simply inside; -1: it selects nothing. One that the policy refuses is
 * reported. */
KERNEL_COLD int64_t land_outside(const struct cuda_task &task, const struct axis &axis, int64_t index,
                                 int64_t point, int component)
{
    int64_t picked;
    const enum landing landing = index_land(index, task.index_type, &axis, (garner_oob)task.policy, &picked);
    if (landing == REFUSED) report(task, point, component, index);
    return landing == INSIDE ? picked : -1;
}

/* Whether an index selects something, and what. */
template <int INDEX>
KERNEL_CODE bool check_index(const struct cuda_task &task, const struct axis &axis, int64_t index,
                             int64_t point, int component, int64_t *picked)
{
    const bool beyond = INDEX == 0 && index_is_beyond(index, task.index_type);
    if (!beyond && index_inside(index, axis.bound, axis.wrap, picked)) return true;
    *picked = land_outside(task, axis, index, point, component);
    return *picked >= 0;
}

/* What COUNT indices of neighbouring points select of one axis of less than 2^31; negative: nothing. Those
 * that are not simply inside are seldom: they are looked at together, out of the way of the others. */
template <int INDEX, int COUNT>
KERNEL_CODE void check_indices(const struct cuda_task &task, const struct axis &axis,
                               const int64_t (&index)[COUNT], int64_t point, int32_t (&picked)[COUNT])
{
    bool inside[COUNT], all = true;
    for (int i = 0; i < COUNT; i++) {
        int64_t wide;
        inside[i] = index_inside(index[i], axis.bound, axis.wrap, &wide);
        picked[i] = (int32_t)wide;
        all = all && inside[i];
    }
    if (all) return;
    for (int i = 0; i < COUNT; i++)
        if (!inside[i]) picked[i] = (int32_t)land_outside(task, axis, index[i], point + i, 0);
}

/* The offset that the tuple at index number `at` selects; false if it selects nothing. */
template <int INDEX>
KERNEL_CODE bool find_offset(const struct cuda_task &task, const struct axis *axis, int64_t at, int64_t point,
                             int64_t *offset)
{
    *offset = 0;
    for (int k = 0; k < task.axes; k++) {
        int64_t picked;
        if (!check_index<INDEX>(task, axis[k], load_index<INDEX>(task, at + k * task.step), point, k,
                                &picked))
            return false;
        *offset += picked * axis[k].stride;
    }
    return true;
}

KERNEL_CODE struct row_spot spot_along(struct row_spot from, const struct dim &dim, int64_t n)
{
    return row_spot{from.data + n * dim.data, from.index + n * dim.index, from.out + n * dim.out};
}

/* Where point number `n` of the first `rank` dims lies. */
KERNEL_CODE struct row_spot find_spot(const struct dim *dim, int rank, int64_t n)
{
    struct row_spot spot = {0, 0, 0};
    for (int d = rank - 1; d > 0; d--) {
        const int64_t rest = n / dim[d].n;
        spot = spot_along(spot, dim[d], n - rest * dim[d].n);
        n = rest;
    }
    return rank > 0 ? spot_along(spot, dim[0], n) : spot;
}

#endif
