/* SPDX-License-Identifier: MIT */
/*
 * How long calls take beside another library's spinning threads: one on each CPU, as a pool leaves them that
 * waits for work awake. Prints the median, the mean, the 99th percentile and the longest of many calls,
 * without the spinning threads and with them.
 *
 *     cc -O2 -pthread -Iinclude bench/spinners.c build/libgarner.a -o build/spinners
 *     build/spinners [THREADS [GAP_US]]
 *
 * THREADS of garner (default: one for each CPU); GAP_US microseconds of sleep between two calls (default:
 * 200; 0: none).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "garner.h"

enum { CALLS = 2000, LONG_NS = 1000000, ROWS = 4096, ROW_FLOATS = 64, PICKS = 16384, MOST_CPUS = 256 };

static atomic_bool stop;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *spin(void *context)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)*(int *)context, &one);
    sched_setaffinity(0, sizeof one, &one);
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        continue;
    return NULL;
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure(const char *what, const garner_plan *plan, void *const at[3], int threads, long gap_us)
{
    static int64_t taken[CALLS];
    const garner_exec exec = garner_threads(threads);
    const struct timespec gap = {0, gap_us * 1000};
    for (int i = 0; i < CALLS; i++) {
        if (gap_us > 0) nanosleep(&gap, NULL);
        const int64_t begin = now();
        if (garner_execute(plan, at[0], at[1], at[2], &exec, NULL) != GARNER_OK) abort();
        taken[i] = now() - begin;
    }
    qsort(taken, CALLS, sizeof *taken, by_length);
    int64_t sum = 0, long_ones = 0;
    for (int i = 0; i < CALLS; i++) {
        sum += taken[i];
        long_ones += taken[i] > LONG_NS;
    }
    printf("%-24s median %6.1f us, mean %6.1f us, 99 %% %7.1f us, longest %7.1f us, over 1 ms %4.1f %%\n",
           what, (double)taken[CALLS / 2] / 1e3, (double)sum / CALLS / 1e3,
           (double)taken[CALLS * 99 / 100] / 1e3, (double)taken[CALLS - 1] / 1e3,
           100.0 * (double)long_ones / CALLS);
}

/* Starts a thread on each CPU that this process may use; returns how many. */
static int start_spinners(pthread_t *thread, int *cpu)
{
    cpu_set_t allowed;
    int started = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) abort();
    for (int i = 0; i < CPU_SETSIZE && started < MOST_CPUS; i++)
        if (CPU_ISSET((unsigned)i, &allowed)) {
            cpu[started] = i;
            if (pthread_create(&thread[started], NULL, spin, &cpu[started]) != 0) abort();
            started++;
        }
    return started;
}

int main(int count, char **words)
{
    const int threads = count > 1 ? atoi(words[1]) : 0;
    const long gap_us = count > 2 ? atol(words[2]) : 200;
    static float data[ROWS][ROW_FLOATS], out[PICKS][ROW_FLOATS];
    static int64_t indices[PICKS];
    for (int i = 0; i < PICKS; i++)
        indices[i] = (int64_t)i * 2654435761 % ROWS;
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor d = {.shape = (int64_t[]){ROWS, ROW_FLOATS}, .rank = 2, .dtype = GARNER_F32};
    const garner_tensor at = {.shape = (int64_t[]){PICKS}, .rank = 1, .dtype = GARNER_I64};
    garner_plan *plan;
    garner_error error;
    if (garner_plan_create(&plan, &op, &d, &at, NULL, &error) != GARNER_OK) return 1;
    void *const buffers[3] = {data, indices, out};
    measure("alone:", plan, buffers, threads, gap_us);
    static pthread_t spinner[MOST_CPUS];
    static int cpu[MOST_CPUS];
    const int started = start_spinners(spinner, cpu);
    measure("beside spinning threads:", plan, buffers, threads, gap_us);
    measure("the same, one thread:", plan, buffers, 1, gap_us);
    atomic_store(&stop, true);
    for (int i = 0; i < started; i++)
        pthread_join(spinner[i], NULL);
    garner_plan_destroy(plan);
    return 0;
}
