/* SPDX-License-Identifier: MIT */
/*
 * cmocka with the headers it wants first, and a way to skip that cannot be overlooked.
 */
#ifndef GARNER_TESTS_TESTING_H
#define GARNER_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Files of most formats are little-endian, so machines that are not cannot use their elements in place. */
#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Leaves the test as skipped, and says so and why on both streams, in whole lines also where both are one. */
#define SKIP_LOUDLY(why)                                 \
    do {                                                 \
        printf("SKIP %s: %s\n", __func__, why);          \
        fflush(stdout);                                  \
        fprintf(stderr, "SKIP %s: %s\n", __func__, why); \
        skip();                                          \
    } while (0)

#endif
