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
    garner_exec exec; /* to run with: the pool, and a look at signals now and then */
    garner_exec pool;
    PyThreadState *thread;
    uintptr_t caller;
    int64_t next_look;
    atomic_bool stop;
};

/* Gives up the lock; `threads` 0 is the default. The struct must stay where it is until work_end. */
void work_begin(struct work *work, int threads);

/* Takes the lock back. Work that ended with GARNER_CANCELLED has left an exception. */
void work_end(struct work *work);

/* Whether so many bytes to move are worth it. */
bool work_is_long(int64_t bytes);

#endif
