/* SPDX-License-Identifier: MIT */
/*
 * A small seeded generator, the same on every machine, and the two knobs of the suite:
 * GARNER_TEST_SEED replaces the seed, GARNER_TEST_SCALE multiplies how many cases are tried.
 */
#ifndef GARNER_TESTS_RANDOM_H
#define GARNER_TESTS_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_UNDER_ASAN 1
#elif __has_feature(thread_sanitizer)
#define TEST_UNDER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TEST_UNDER_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define TEST_UNDER_TSAN 1
#endif
#ifndef TEST_UNDER_ASAN
#define TEST_UNDER_ASAN 0
#endif
#ifndef TEST_UNDER_TSAN
#define TEST_UNDER_TSAN 0
#endif
#define TEST_SANITIZED (TEST_UNDER_ASAN || TEST_UNDER_TSAN)

struct random {
    uint64_t state;
};

struct random random_from(uint64_t seed);
uint64_t random_bits(struct random *random);
int64_t random_between(struct random *random, int64_t least, int64_t most); /* both may come */
bool random_chance(struct random *random, int percent);
void random_fill(struct random *random, void *bytes, size_t count);
void random_shuffle(struct random *random, size_t *items, size_t count);

/* The seed of this run: GARNER_TEST_SEED, or `seed`. */
uint64_t test_seed(uint64_t seed);

/* Whether the run is scaled down, or under a sanitizer: the longest cases are then left out, loudly. */
bool test_is_short(void);

/* Whether it is scaled up, as make check does. */
bool test_is_long(void);

/* `count` times GARNER_TEST_SCALE (1; a tenth under a sanitizer), at least 1. */
int64_t test_scaled(int64_t count);

#endif
