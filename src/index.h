/* SPDX-License-Identifier: MIT */
/*
 * What an index means. Loading one, wrapping a negative one and applying the out-of-range policy
 * happen here and nowhere else, so that kernels, resolvers and the error scan cannot disagree.
 */
#ifndef GARNER_INDEX_H
#define GARNER_INDEX_H

#include <string.h>

#include "base.h"

/* One gathered axis of data. `stride` is in bytes, or in elements where data is packed. */
struct axis {
    int64_t bound;  /* its extent */
    int64_t stride; /* distance in data between neighbours */
    int64_t wrap;   /* added to a negative index: bound, or 0 where negatives are outside */
};

/* How an index lies in memory. */
struct index_type {
    int bytes;
    bool is_unsigned;
};

/*
 * Keeps the compiler from loading a value a second time: after this it is just a number, so the value
 * that was checked is the value that is used, even while another thread writes to the index tensor.
 */
GARNER_ANYWHERE GARNER_INLINE int64_t pin(int64_t value)
{
#if defined(__CUDA_ARCH__)
    __asm__("" : "+l"(value));
#else
    __asm__("" : "+r"(value));
#endif
    return value;
}

/* The index at `at`, unaligned. A u64 beyond INT64_MAX comes out negative: see index_is_beyond. */
GARNER_ANYWHERE GARNER_INLINE int64_t index_load(const void *at, struct index_type type)
{
    union {
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
        uint16_t u2;
        uint32_t u4;
    } raw;
    memcpy(&raw, at, (size_t)type.bytes);
    switch (type.bytes) {
    case 1:
        return pin(type.is_unsigned ? raw.u1 : raw.i1);
    case 2:
        return pin(type.is_unsigned ? raw.u2 : raw.i2);
    case 4:
        return pin(type.is_unsigned ? (int64_t)raw.u4 : raw.i4);
    default:
        return pin(raw.i8);
    }
}

GARNER_ANYWHERE GARNER_INLINE bool index_is_beyond(int64_t index, struct index_type type)
{
    return type.is_unsigned && index < 0;
}

/* Wraps a negative index. Since wrap is never negative and only negative indices get it, nothing
 * overflows. */
GARNER_ANYWHERE GARNER_INLINE int64_t index_wrap(int64_t index, int64_t wrap)
{
    return index + (wrap & -(int64_t)(index < 0));
}

/* Wraps a negative index and answers whether what it picks then lies in [0, bound). */
GARNER_ANYWHERE GARNER_INLINE bool index_inside(int64_t index, int64_t bound, int64_t wrap, int64_t *picked)
{
    *picked = index_wrap(index, wrap);
    return (uint64_t)*picked < (uint64_t)bound;
}

enum landing { INSIDE, NOWHERE, REFUSED };

/* Where an index lands under a policy. NOWHERE: its slice is zeros. */
GARNER_ANYWHERE static inline enum landing
index_land(int64_t index, struct index_type type, const struct axis *axis, garner_oob policy, int64_t *picked)
{
    bool beyond = index_is_beyond(index, type);
    if (!beyond && index_inside(index, axis->bound, axis->wrap, picked)) return INSIDE;
    if (policy == GARNER_OOB_ZERO) return NOWHERE;
    if (policy == GARNER_OOB_ERROR || axis->bound == 0) return REFUSED;
    if (policy == GARNER_OOB_CLAMP) {
        *picked = index < 0 && !beyond ? 0 : axis->bound - 1;
    } else if (beyond) {
        *picked = (int64_t)((uint64_t)index % (uint64_t)axis->bound);
    } else {
        int64_t rest = index % axis->bound;
        *picked = rest < 0 ? rest + axis->bound : rest;
    }
    return INSIDE;
}

#endif
