/* SPDX-License-Identifier: MIT */
/* Gathers from the mapping into memory, by the plan's own kernels. Whoever watches is told between two tasks,
 * and may stop the rest. */
#define _POSIX_C_SOURCE 200809L

#include <stdatomic.h>
#include <stdbool.h>

#include "table.h"

/* An executor around that of the threads. */
struct watched {
    struct gather *gather;
    garner_exec inner;
    pthread_t caller;
    atomic_bool stopped;
    garner_task *task;
    void *argument;
    size_t count; /* of tasks, of which so many are */
    atomic_size_t done;
};

static void count_task(void *context, size_t i)
{
    struct watched *w = context;
    w->task(w->argument, i);
    atomic_fetch_add_explicit(&w->done, 1, memory_order_relaxed);
}

static int run_tasks(void *context, garner_task *task, void *argument, size_t count)
{
    struct watched *w = context;
    w->task = task;
    w->argument = argument;
    w->count = count;
    atomic_store(&w->done, 0);
    return w->inner.parallel_for(w->inner.context, count_task, w, count);
}

/* Asked before each task by whoever runs it. The watcher is told on the thread that called. */
static int is_stopped(void *context)
{
    struct watched *w = context;
    if (atomic_load_explicit(&w->stopped, memory_order_relaxed)) return 1;
    if (!pthread_equal(w->caller, pthread_self())) return 0;
    const size_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
    if (w->count) w->gather->done = (int64_t)((double)w->gather->all * (double)done / (double)w->count);
    if (!table_is_stopped(w->gather)) return 0;
    atomic_store_explicit(&w->stopped, true, memory_order_relaxed);
    return 1;
}

garner_status mapped_run(struct gather *g, const void *data)
{
    struct watched w = {
        .gather = g, .inner = garner_threads(g->table->options.threads), .caller = pthread_self()};
    garner_exec exec = w.inner;
    /* It does not say how many threads it has: so tasks come one by one, and few are done before the next
     * look. */
    if (g->table->options.watch)
        exec = (garner_exec){
            .size = sizeof exec, .parallel_for = run_tasks, .cancelled = is_stopped, .context = &w};
    garner_status status = table_watch(g);
    if (!status) status = garner_execute(g->plan, data, g->indices, g->pointer, &exec, g->error);
    if (status == GARNER_CANCELLED) return table_fail_stopped(g);
    if (status) return status;
    g->done = g->all;
    return table_watch(g);
}
