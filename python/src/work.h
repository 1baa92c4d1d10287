/* SPDX-License-Identifier: MIT */
/*
 * Runs plans for Python: small ones at once, others without the interpreter's lock, on the thread pool, and
 * looking now and then whether somebody pressed Ctrl-C.
 */
#ifndef GARNER_PYTHON_WORK_H
#define GARNER_PYTHON_WORK_H

#include "state.h"

/* The threads of calls that do not say how many: what set_num_threads said, 0 if nothing. */
extern atomic_int work_threads;

/* A call that has given up the interpreter's lock. */
struct work {
    const garner_exec *exec; /* to run with: the pool, and for long work a look at signals now and then */
    garner_exec pool, watched;
    PyThreadState *thread;
    uintptr_t caller;
    int tasks_left, stride; /* tasks until the clock is read, and from there to the next time */
    int64_t last_time, next_look;
    atomic_bool stop;
};

/* What moving `bytes` costs, to and from `points` places, in bytes. */
int64_t work_cost(int64_t points, int64_t bytes);

/* Whether work of a cost is worth giving up the lock. */
bool work_is_long(int64_t cost);

/* Gives up the lock; `threads` 0 is the default. The struct must stay where it is until work_end. */
void work_begin(struct work *work, int threads, int64_t cost);

/* Takes the lock back. Work that ended with GARNER_CANCELLED has left an exception. */
void work_end(struct work *work);

#endif
