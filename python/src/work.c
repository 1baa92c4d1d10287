/* SPDX-License-Identifier: MIT */
/* Plans at work: the interpreter's lock, the pool, interrupts. */
#define _GNU_SOURCE
#include "work.h"

#include <pthread.h>
#include <time.h>

enum {
    LONG_WORK = 8 * 1024,         /* bytes, some microseconds at worst: from here the lock is given up */
    LOOK_EVERY = 20 * 1000 * 1000 /* nanoseconds between looks at signals */
};

atomic_int work_threads;

/* A call whose lock has been given up. */
struct job {
    garner_exec pool; /* NULL parallel_for: this thread alone */
    pthread_t caller;
    PyThreadState *thread;
    int64_t next_look; /* the caller's alone, like `thread` */
    atomic_bool stop;  /* a signal handler raised an exception */
};

bool work_is_long(int64_t bytes)
{
    return bytes >= LONG_WORK;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Asked before each task, by every thread. Signals are the calling thread's to look at. */
static int is_cancelled(void *context)
{
    struct job *job = context;
    if (atomic_load_explicit(&job->stop, memory_order_relaxed)) return 1;
    if (!pthread_equal(pthread_self(), job->caller)) return 0;
    int64_t time = now();
    if (time < job->next_look) return 0;
    PyEval_RestoreThread(job->thread);
    bool interrupted = PyErr_CheckSignals() < 0;
    job->thread = PyEval_SaveThread();
    job->next_look = now() + LOOK_EVERY;
    if (interrupted) atomic_store_explicit(&job->stop, true, memory_order_relaxed);
    return interrupted;
}

static int run_in_pool(void *context, garner_task *task, void *argument, size_t count)
{
    struct job *job = context;
    return job->pool.parallel_for(job->pool.context, task, argument, count);
}

garner_status work_run(const garner_plan *plan, const void *data, const void *indices, void *out,
                       int64_t bytes, int threads, garner_error *error)
{
    if (!work_is_long(bytes)) return garner_execute(plan, data, indices, out, NULL, error);
    struct job job = {.caller = pthread_self(), .next_look = now() + LOOK_EVERY};
    garner_exec exec = {.size = sizeof exec, .cancelled = is_cancelled, .context = &job};
    if (threads == 0) threads = atomic_load_explicit(&work_threads, memory_order_relaxed);
    if (threads != 1) {
        job.pool = garner_threads(threads);
        exec.parallel_for = run_in_pool;
    }
    job.thread = PyEval_SaveThread();
    garner_status status = garner_execute(plan, data, indices, out, &exec, error);
    PyEval_RestoreThread(job.thread);
    return status;
}
