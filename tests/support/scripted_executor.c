/* SPDX-License-Identifier: MIT */
/*
 * parallel_for in several bad manners: shuffled, reversed, dealt out to threads like cards, or
 * abandoned half way.
 */
#define _POSIX_C_SOURCE 200809L
#include "scripted_executor.h"
#include "random.h"

#include <pthread.h>
#include <stdlib.h>

struct share {
    garner_task *task;
    void *argument;
    const size_t *order;
    size_t first, step, end;
    struct executor *executor;
};

static void *work(void *context)
{
    const struct share *share = context;
    for (size_t i = share->first; i < share->end; i += share->step) {
        share->task(share->argument, share->order[i]);
        atomic_fetch_add(&share->executor->runs, 1);
    }
    return NULL;
}

static void arrange(const struct executor *executor, size_t *order, size_t count)
{
    struct random random = random_from(executor->seed);
    for (size_t i = 0; i < count; i++)
        order[i] = executor->order == ORDER_REVERSE ? count - 1 - i : i;
    if (executor->order == ORDER_SHUFFLED) random_shuffle(&random, order, count);
}

static void deal(struct executor *executor, struct share whole)
{
    enum { MOST = 64 };
    struct share shares[MOST];
    pthread_t threads[MOST];
    const int workers = executor->workers > MOST ? MOST : executor->workers;
    for (int w = 0; w < workers; w++) {
        shares[w] = whole;
        shares[w].first = (size_t)w;
        shares[w].step = (size_t)workers;
        if (pthread_create(&threads[w], NULL, work, &shares[w]) != 0) abort();
    }
    for (int w = 0; w < workers; w++)
        pthread_join(threads[w], NULL);
}

static int parallel_for(void *context, garner_task *task, void *argument, size_t count)
{
    struct executor *executor = context;
    size_t *order = malloc((count + 1) * sizeof *order);
    if (!order) abort();
    arrange(executor, order, count);
    executor->tasks = count;
    const size_t end = count > executor->leave_out ? count - executor->leave_out : 0;
    struct share whole = {task, argument, order, 0, 1, end, executor};
    if (executor->workers > 1)
        deal(executor, whole);
    else
        work(&whole);
    free(order);
    return executor->answer;
}

static int cancelled(void *context)
{
    struct executor *executor = context;
    const int asked = atomic_fetch_add(&executor->asked, 1);
    return executor->cancel_after >= 0 && asked >= executor->cancel_after;
}

struct executor executor_make(int workers, enum executor_order order, uint64_t seed)
{
    return (struct executor){.workers = workers, .order = order, .seed = seed, .cancel_after = -1};
}

garner_exec executor_hook(struct executor *executor)
{
    return (garner_exec){.size = sizeof(garner_exec),
                         .parallel_for = parallel_for,
                         .cancelled = cancelled,
                         .context = executor};
}
