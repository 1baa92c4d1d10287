/* SPDX-License-Identifier: MIT */
/* A provider of the executor hook that starts threads for each call. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "base.h"

enum { MOST_THREADS = 256 };

/* Work that threads take from, one task at a time. */
struct queue {
    garner_task *task;
    void *argument;
    size_t count;
    atomic_size_t next;
};

static void *work_off(void *context)
{
    struct queue *queue = context;
    size_t i;
    while ((i = atomic_fetch_add_explicit(&queue->next, 1, memory_order_relaxed)) < queue->count)
        queue->task(queue->argument, i);
    return NULL;
}

static int run_on_threads(void *context, garner_task *task, void *argument, size_t count)
{
    struct queue queue = {.task = task, .argument = argument, .count = count};
    pthread_t threads[MOST_THREADS];
    size_t wanted = (size_t)(uintptr_t)context, started = 0;
    if (wanted > count) wanted = count;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, work_off, &queue) == 0)
        started++;
    work_off(&queue);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    return 0;
}

garner_exec garner_threads(int count)
{
    long cpus = count > 0 ? count : sysconf(_SC_NPROCESSORS_ONLN);
    uintptr_t threads = (uintptr_t)at_least(1, at_most(cpus, MOST_THREADS));
    return (garner_exec){
        .size = sizeof(garner_exec),
        .parallel_for = run_on_threads,
        .context = (void *)threads,
    };
}
