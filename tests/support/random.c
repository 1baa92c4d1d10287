/* SPDX-License-Identifier: MIT */
/*
 * The generator is splitmix64: one word of state, so that any case can be repeated from one number.
 */
#include "random.h"

#include <stdlib.h>
#include <string.h>

struct random random_from(uint64_t seed)
{
    return (struct random){seed};
}

uint64_t random_bits(struct random *random)
{
    uint64_t x = random->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int64_t random_between(struct random *random, int64_t least, int64_t most)
{
    const uint64_t width = (uint64_t)most - (uint64_t)least + 1;
    const uint64_t bits = random_bits(random);
    return (int64_t)((uint64_t)least + (width ? bits % width : bits));
}

bool random_chance(struct random *random, int percent)
{
    return random_between(random, 0, 99) < percent;
}

void random_fill(struct random *random, void *bytes, size_t count)
{
    unsigned char *at = bytes;
    for (; count >= 8; count -= 8, at += 8) {
        const uint64_t word = random_bits(random);
        memcpy(at, &word, 8);
    }
    const uint64_t word = random_bits(random);
    memcpy(at, &word, count);
}

void random_shuffle(struct random *random, size_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = (size_t)(random_bits(random) % i), item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

uint64_t test_seed(uint64_t seed)
{
    const char *text = getenv("GARNER_TEST_SEED");
    return text && *text ? strtoull(text, NULL, 0) : seed;
}

static double scale(void)
{
    const char *text = getenv("GARNER_TEST_SCALE");
    return text && *text ? strtod(text, NULL) : TEST_SANITIZED ? 0.1 : 1.0;
}

bool test_is_short(void)
{
    return TEST_SANITIZED || scale() < 1;
}

bool test_is_long(void)
{
    return !TEST_SANITIZED && scale() > 1;
}

int64_t test_scaled(int64_t count)
{
    const double scaled = (double)count * scale();
    return scaled < 1 ? 1 : (int64_t)scaled;
}
