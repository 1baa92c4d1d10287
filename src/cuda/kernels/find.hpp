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

/* Whether COUNT indices are simply inside one axis, and what they select, in numbers that its bound fits
 * into. */
template <int COUNT, class PICKED>
KERNEL_CODE bool all_inside(const struct axis &axis, const int64_t (&index)[COUNT], PICKED (&picked)[COUNT])
{
    bool all = true;
    for (int i = 0; i < COUNT; i++) {
        int64_t wide;
        all = index_inside(index[i], axis.bound, axis.wrap, &wide) && all;
        picked[i] = (PICKED)wide;
    }
    return all;
}

/* What COUNT indices of neighbouring points select; negative: nothing. Those that are not simply inside are
 * seldom: they are looked at together, out of the way of the others. */
template <int INDEX, int COUNT, class PICKED>
KERNEL_CODE void check_indices(const struct cuda_task &task, const struct axis &axis,
                               const int64_t (&index)[COUNT], int64_t point, PICKED (&picked)[COUNT])
{
    if (all_inside(axis, index, picked)) return;
    for (int i = 0; i < COUNT; i++) {
        int64_t wide;
        if (!index_inside(index[i], axis.bound, axis.wrap, &wide))
            wide = land_outside(task, axis, index[i], point + i, 0);
        picked[i] = (PICKED)wide;
    }
}

/* Points that a thread moves at once where they lie side by side: as many as make a vector, but no more
 * than 4. */
template <int VECTOR> struct packed_points {
    enum { COUNT = VECTOR == 16 ? 1 : VECTOR == 8 ? 2 : 4 };
};

/* The offset that the tuple at index number `at` selects; false if it selects nothing. */
template <int INDEX>
KERNEL_CODE bool find_offset(const struct cuda_any &any, int64_t at, int64_t point, int64_t *offset)
{
    const struct cuda_task &task = any.task;
    *offset = 0;
    for (int k = 0; k < task.axes; k++) {
        int64_t picked;
        if (!check_index<INDEX>(task, any.axis[k], load_index<INDEX>(task, at + k * task.step), point, k,
                                &picked))
            return false;
        *offset += picked * any.axis[k].stride;
    }
    return true;
}

/*
 * Two ways to look at the same indices. Nearly all are simply inside, so a thread first takes the SHORT way:
 * it gives up where one is not, and reports nothing. Whoever gave up goes the LONG way round: a function of
 * its own, which loads the indices again, lands what is outside, and reports what is refused. So the short
 * way keeps nothing in registers for the other.
 */
enum way { SHORT_WAY, LONG_WAY };

/* What a thread is to do once it knows what its indices select. */
enum selection { SELECTS, SELECTS_NOTHING, GIVES_UP };

/* The same where axes are few: all their indices are in flight together. */
template <enum way WAY, int INDEX>
KERNEL_CODE enum selection select_offset(const struct cuda_task &task, int64_t at, int64_t point,
                                         int64_t *offset)
{
    int64_t index[FEW], picked;
    *offset = 0;
    for (int k = 0; k < FEW; k++)
        if (k < task.axes) index[k] = load_index<INDEX>(task, k == 0 ? at : at + k * task.step);
    for (int k = 0; k < FEW; k++) {
        if (k >= task.axes) break;
        const struct axis &axis = task.level[k].axis;
        if (WAY == LONG_WAY) {
            if (!check_index<INDEX>(task, axis, index[k], point, k, &picked)) return SELECTS_NOTHING;
        } else if (!index_inside(index[k], axis.bound, axis.wrap, &picked)) {
            return GIVES_UP;
        }
        *offset += picked * axis.stride;
    }
    return SELECTS;
}

KERNEL_CODE struct row_spot spot_along(struct row_spot from, const struct dim &dim, int64_t n)
{
    return row_spot{from.data + n * dim.data, from.index + n * dim.index, from.out + n * dim.out};
}

KERNEL_CODE const struct dim &dim_of(const struct cuda_task &task, int d)
{
    return task.level[d].dim;
}

KERNEL_CODE const struct dim &dim_of(const struct cuda_any &any, int d)
{
    return any.dim[d];
}

/* Where point number `n` of the first `rank` dims lies. */
template <class NEST> KERNEL_CODE struct row_spot find_spot(const NEST &nest, int rank, int64_t n)
{
    struct row_spot spot = {0, 0, 0};
    for (int d = rank - 1; d > 0; d--) {
        const struct dim &dim = dim_of(nest, d);
        const int64_t rest = n / dim.n;
        spot = spot_along(spot, dim, n - rest * dim.n);
        n = rest;
    }
    return rank > 0 ? spot_along(spot, dim_of(nest, 0), n) : spot;
}

#endif
