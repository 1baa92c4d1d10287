/* SPDX-License-Identifier: MIT */
/*
 * Random sequences of calls from several threads, held against the reference: a few by itself, and with
 * --seconds N as many as fit, under whatever sanitizer it was built with. --seed S repeats a run; the seed of
 * a sequence that goes wrong is told.
 */
#define _POSIX_C_SOURCE 200809L
#include "calls.h"
#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    uint64_t seed = test_seed(20), calls = 0, sequences = 0;
    double seconds = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0) seconds = atof(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
    }
    const uint64_t least = (uint64_t)test_scaled(300);
    const double begun = now();
    for (; seconds > 0 ? now() - begun < seconds : sequences < least; sequences++)
        if (!calls_run(choices_from(NULL, 0, seed + sequences * 1000000007), &calls)) {
            fprintf(stderr, "calls: again with --seed %" PRIu64 "\n", seed + sequences * 1000000007);
            return 1;
        }
    const double took = now() - begun;
    printf("calls: %" PRIu64 " sequences, %" PRIu64 " calls, %.0f calls a second, nothing wrong\n", sequences,
           calls, (double)calls / took);
    return 0;
}
