/* SPDX-License-Identifier: MIT */
/*
 * Random sequences of calls from several threads at once: plans that are shared, made anew and destroyed, the
 * one-call functions, executors of every kind, pools that come and go, calls that are cancelled. Every result
 * is held against the reference, which worked it out before the threads began.
 */
#ifndef GARNER_TESTS_CALLS_H
#define GARNER_TESTS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where choices come from: bytes as long as there are some, then random numbers that follow from them. */
struct choices {
    const uint8_t *bytes;
    size_t left;
    uint64_t state;
};

struct choices choices_from(const uint8_t *bytes, size_t size, uint64_t seed);

/* One sequence for each of two to four threads; how many calls they made is added to *calls. False, with
 * words on stderr, if one of them was not right. */
bool calls_run(struct choices choices, uint64_t *calls);

#endif
