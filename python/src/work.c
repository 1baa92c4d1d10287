/* SPDX-License-Identifier: MIT */
/* Plans at work: the interpreter's lock, the pool, interrupts. */
#define _GNU_SOURCE
#include "work.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    POINT_COST = 64,                /* in bytes: each point may be a line of memory that no cache has */
    LONG_WORK = 32 * 1024,          /* a few microseconds at worst: from here the lock is given up */
    WATCHED_WORK = 4 * 1024 * 1024, /* some milliseconds at worst: from here somebody may press Ctrl-C */
    LOOK_EVERY = 20 * 1000 * 1000   /* nanoseconds between looks at signals */
};

atomic_int work_threads;

int64_t work_cost(int64_t points, int64_t bytes)
{
    int64_t cost;
    if (__builtin_mul_overflow(points, POINT_COST, &cost) || __builtin_add_overflow(cost, bytes, &cost))
        return INT64_MAX;
    return cost;
}

bool work_is_long(int64_t cost)
{
    return cost >= LONG_WORK;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time); /* to some milliseconds, and cheap */
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static uintptr_t this_thread(void)
{
    return (uintptr_t)pthread_self();
}

/* Python runs signal handlers in the process's first thread alone. The others need not look, and must not:
 * taking the lock while the interpreter ends is the end of a thread, whose work others may be sharing at that
 * moment. */
static bool runs_handlers(void)
{
    return syscall(SYS_gettid) == getpid();
}

/* Runs the handlers of signals that have come. False if one of them raised something. */
static bool run_handlers(struct work *work)
{
    PyEval_RestoreThread(work->thread);
    bool fine = PyErr_CheckSignals() == 0;
    work->thread = PyEval_SaveThread();
    return fine;
}

/* Reading the clock between two tasks costs microseconds: it lies in memory that the tasks have driven out
 * of all caches. So it is read after one task, after two more, four more, until some milliseconds lie
 * between. */
static void pace(struct work *work, int64_t time)
{
    if (time - work->last_time < LOOK_EVERY / 4)
        work->stride *= 2;
    else if (time - work->last_time > LOOK_EVERY)
        work->stride = 1;
    work->last_time = time;
    work->tasks_left = work->stride;
}

/* Asked before each task, by every thread. */
static int is_cancelled(void *context)
{
    struct work *work = context;
    if (atomic_load_explicit(&work->stop, memory_order_relaxed)) return 1;
    if (work->caller != this_thread() || --work->tasks_left > 0) return 0;
    int64_t time = now();
    pace(work, time);
    if (time < work->next_look) return 0;
    work->next_look = INT64_MAX;
    if (!runs_handlers()) return 0;
    bool interrupted = !run_handlers(work);
    work->next_look = now() + LOOK_EVERY;
    if (interrupted) atomic_store_explicit(&work->stop, true, memory_order_relaxed);
    return interrupted;
}

static int run_in_pool(void *context, garner_task *task, void *argument, size_t count)
{
    struct work *work = context;
    return work->pool.parallel_for(work->pool.context, task, argument, count);
}

static void watch(struct work *work)
{
    work->watched = (garner_exec){.size = sizeof work->watched, .cancelled = is_cancelled, .context = work};
    if (work->exec) work->watched.parallel_for = run_in_pool;
    work->exec = &work->watched;
    work->caller = this_thread();
    work->tasks_left = 2; /* the first is asked about before anything was done */
    work->stride = 1;
    work->last_time = now();
    work->next_look = work->last_time + LOOK_EVERY;
    atomic_init(&work->stop, false);
}

void work_begin(struct work *work, int threads, int64_t cost)
{
    if (threads == 0) threads = atomic_load_explicit(&work_threads, memory_order_relaxed);
    work->exec = NULL;
    if (threads != 1) {
        work->pool = garner_threads(threads);
        work->exec = &work->pool;
    }
    if (cost >= WATCHED_WORK) watch(work);
    work->thread = PyEval_SaveThread();
}

void work_end(struct work *work)
{
    PyEval_RestoreThread(work->thread);
}
