/* SPDX-License-Identifier: MIT */
/*
 * What every file of the core may use: checked arithmetic on 64-bit sizes, and the few compiler
 * attributes. The rest of the core adds and multiplies sizes that come from a caller unchecked only where it
 * has seen, or sees in the same breath, that they are below 2^31.
 */
#ifndef GARNER_BASE_H
#define GARNER_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "garner.h"

/* Whether sanitizers check every access, which they do not see in assembly. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CHECKED_ACCESS
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECKED_ACCESS
#endif

/* Inlined wherever it is called, with the constants that it is called with: each kernel becomes a loop of its
 * own. Where nothing is optimised or everything is checked that would take a compiler minutes and gigabytes;
 * there they stay functions, to which the constants are numbers like any other. */
#if defined(__OPTIMIZE__) && !defined(CHECKED_ACCESS)
#define KERNELS_ARE_INLINED
#define GARNER_INLINE static inline __attribute__((always_inline))
#else
#define GARNER_INLINE static inline
#endif

/* What kernels of every backend may call: also code of a GPU, where its compiler reads it. */
#if defined(__CUDACC__)
#define GARNER_ANYWHERE __host__ __device__
#else
#define GARNER_ANYWHERE
#endif
#define GARNER_HIDDEN __attribute__((visibility("hidden")))
#if defined(__clang__)
#define GARNER_NOINLINE __attribute__((noinline))
#else
#define GARNER_NOINLINE __attribute__((noinline, noclone)) /* no copies for the constants of each call */
#endif
#define GARNER_COLD __attribute__((cold, noinline))
#define GARNER_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* After this the compiler takes a copy of a caller's number or pointer for what it is and cannot go back
 * to the original, which another thread may have changed meanwhile. */
#define PIN(copy) __asm__("" : "+r"(copy))

/* A condition that is seldom true. */
static inline bool rarely(bool condition)
{
    return __builtin_expect(condition, 0);
}

/* Runs a step and hands its failure on. */
#define RETURN_NOT_OK(step)                                            \
    do {                                                               \
        garner_status status_ = (step);                                \
        if (__builtin_expect(status_ != GARNER_OK, 0)) return status_; \
    } while (0)

/* Both answer whether the result fits; *result is only then meaningful. */
static inline bool add_fits(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

static inline bool multiply_fits(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

/* How far `times` steps lead: products have a name where proofs know them by their laws alone. */
static inline int64_t walk_steps(int64_t times, int64_t stride)
{
    return times * stride;
}

static inline int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* For a > 0. */
static inline bool is_power_of_two(int64_t a)
{
    return (a & (a - 1)) == 0;
}

/* a / b rounded up, for a >= 0 and b > 0. */
static inline int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

#endif
