/* SPDX-License-Identifier: MIT */
/* A sample is as many calls as take some milliseconds, so that the clock itself does not count. */
#define _POSIX_C_SOURCE 200809L

#include "stopwatch.h"

#include <stdlib.h>
#include <time.h>

static const double sample_seconds = 0.002;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds that so many calls take; negative if one fails. */
static double sample(const struct stopwatch_work *work, int64_t calls, garner_error *error)
{
    double start = now();
    for (int64_t i = 0; i < calls; i++)
        if (work->call(work->context, error) != GARNER_OK) return -1;
    if (work->finish && work->finish(work->context, error) != GARNER_OK) return -1;
    return now() - start;
}

/* Doubles the calls until a sample is long enough, which warms everything up too. Negative: a call failed. */
static int64_t calls_for_a_sample(const struct stopwatch_work *work, garner_error *error)
{
    int64_t calls = 1;
    double taken = sample(work, calls, error);
    while (taken >= 0 && taken < sample_seconds && calls < 1 << 24) {
        calls *= 2;
        taken = sample(work, calls, error);
    }
    return taken < 0 ? -1 : calls;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarize(struct stopwatch_times *times, double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, by_size);
    times->median = (samples[count / 2] + samples[(count - 1) / 2]) / 2;
    times->low = samples[count / 4];
    times->high = samples[count - 1 - count / 4];
}

int stopwatch_compare(const struct stopwatch_work work[2], double seconds, struct stopwatch_times times[2],
                      void (*step)(void *context, int thousandths), void *context, garner_error *error)
{
    static double samples[2][STOPWATCH_SAMPLES];
    double start = now(), spent = 0;
    int count = 0;
    for (int i = 0; i < 2; i++)
        if ((times[i].calls = calls_for_a_sample(&work[i], error)) < 0) return 0;
    while (count < STOPWATCH_SAMPLES && (count < 5 || spent < seconds)) {
        for (int i = 0; i < 2; i++) {
            double taken = sample(&work[i], times[i].calls, error);
            if (taken < 0) return 0;
            samples[i][count] = taken / (double)times[i].calls;
        }
        count++;
        spent = now() - start;
        step(context, spent < seconds ? (int)(1000 * spent / seconds) : 1000);
    }
    for (int i = 0; i < 2; i++)
        summarize(&times[i], samples[i], count);
    return count;
}
