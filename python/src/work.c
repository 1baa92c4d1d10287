/* SPDX-License-Identifier: MIT */
/* Plans at work: the interpreter's lock, the pool, interrupts. */
#define _GNU_SOURCE
#include "work.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LONG_WORK = 8 * 1024,         /* bytes, some microseconds at worst: from here the lock is given up */
    LOOK_EVERY = 20 * 1000 * 1000 /* nanoseconds between looks at signals */
};

atomic_int work_threads;

bool work_is_long(int64_t bytes)
{
    return bytes >= LONG_WORK;
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

/* Asked before each task, by every thread. */
static int is_cancelled(void *context)
{
    struct work *work = context;
    if (atomic_load_explicit(&work->stop, memory_order_relaxed)) return 1;
    if (work->caller != this_thread()) return 0;
    int64_t time = now();
    if (time < work->next_look) return 0;
    work->next_look = INT64_MAX;
    if (!runs_handlers()) return 0;
    PyEval_RestoreThread(work->thread);
    bool interrupted = PyErr_CheckSignals() < 0;
    work->thread = PyEval_SaveThread();
    work->next_look = now() + LOOK_EVERY;
    if (interrupted) atomic_store_explicit(&work->stop, true, memory_order_relaxed);
    return interrupted;
}

static int run_in_pool(void *context, garner_task *task, void *argument, size_t count)
{
    struct work *work = context;
    return work->pool.parallel_for(work->pool.context, task, argument, count);
}

void work_begin(struct work *work, int threads)
{
    if (threads == 0) threads = atomic_load_explicit(&work_threads, memory_order_relaxed);
    work->exec = (garner_exec){.size = sizeof work->exec, .cancelled = is_cancelled, .context = work};
    if (threads != 1) {
        work->pool = garner_threads(threads);
        work->exec.parallel_for = run_in_pool;
    }
    work->caller = this_thread();
    work->next_look = now() + LOOK_EVERY;
    atomic_init(&work->stop, false);
    work->thread = PyEval_SaveThread();
}

void work_end(struct work *work)
{
    PyEval_RestoreThread(work->thread);
}
