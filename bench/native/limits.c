/* SPDX-License-Identifier: MIT */
/*
 * What the machine can do at best: copying, and loading one word out of each of many lines chosen at
 * random. Also fills memory with numbers that every peer can carry unchanged.
 */
#include <string.h>

#include "team.h"

enum { WORD = 8, LINE = 64 };

struct copy {
    char *to;
    const char *from;
    int64_t bytes;
    int64_t times;
};

static void copy_share(void *argument, int member, int members)
{
    const struct copy *copy = argument;
    int64_t lines = copy->bytes / LINE;
    int64_t begin = share_begin(lines, member, members) * LINE;
    int64_t end = share_begin(lines, member + 1, members) * LINE;
    for (int64_t i = 0; i < copy->times; i++) {
        memcpy(copy->to + begin, copy->from + begin, (size_t)(end - begin));
        __asm__ volatile("" : : "r"(copy->to) : "memory"); /* each copy counts, though they are alike */
    }
}

/* Copies `bytes` `times` times in each repeat. */
int bench_copy(void *to, const void *from, int64_t bytes, int64_t times, int members, int repeats,
               int64_t *nanoseconds)
{
    struct copy copy = {.to = to, .from = from, .bytes = bytes, .times = times};
    return team_run(copy_share, &copy, members, repeats, nanoseconds);
}

struct lines {
    const char *table;
    const int64_t *numbers;
    int64_t count;
    int64_t times;
};

static uint64_t word_of(const char *table, int64_t line)
{
    uint64_t word;
    memcpy(&word, table + line * LINE, sizeof word);
    return word;
}

/* Four sums, so that no load waits for an addition. */
static uint64_t load_all(const char *table, const int64_t *next, const int64_t *end)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (; end - next >= 4; next += 4) {
        a += word_of(table, next[0]);
        b += word_of(table, next[1]);
        c += word_of(table, next[2]);
        d += word_of(table, next[3]);
    }
    for (; next < end; next++)
        a += word_of(table, *next);
    return a + b + c + d;
}

static void load_share(void *argument, int member, int members)
{
    const struct lines *lines = argument;
    const int64_t *begin = lines->numbers + share_begin(lines->count, member, members);
    const int64_t *end = lines->numbers + share_begin(lines->count, member + 1, members);
    for (int64_t i = 0; i < lines->times; i++) {
        uint64_t sum = load_all(lines->table, begin, end);
        __asm__ volatile("" : : "r"(sum) : "memory");
    }
}

/* Loads a word from the start of each numbered line of the table, `times` times in each repeat. */
int bench_lines(const void *table, const int64_t *numbers, int64_t count, int64_t times, int members,
                int repeats, int64_t *nanoseconds)
{
    struct lines lines = {.table = table, .numbers = numbers, .count = count, .times = times};
    return team_run(load_share, &lines, members, repeats, nanoseconds);
}

/* Fills with pseudo-random words (splitmix64), each word masked: (random & keep) | set. */
void bench_fill(void *memory, int64_t bytes, uint64_t seed, uint64_t keep, uint64_t set)
{
    char *at = memory;
    for (int64_t i = 0; i + WORD <= bytes; i += WORD) {
        uint64_t z = seed + (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        z = ((z ^ (z >> 31)) & keep) | set;
        memcpy(at + i, &z, WORD);
    }
}
