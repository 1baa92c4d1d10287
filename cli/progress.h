/* SPDX-License-Identifier: MIT */
/*
 * Shows on a terminal how far long work has come. For a gather it sits between the library and an
 * executor, and counts the tasks that pass.
 */
#ifndef GARNER_CLI_PROGRESS_H
#define GARNER_CLI_PROGRESS_H

#include <stdatomic.h>
#include <time.h>

#include "garner.h"

struct progress {
    garner_exec inner;
    garner_task *task;
    void *argument;
    size_t count;
    atomic_size_t done;
    atomic_flag busy;      /* one thread at a time looks at the clock and prints */
    struct timespec shown; /* when the line was last printed, or the beginning */
    struct timespec begun;
    int lines;
    int watched; /* standard error is a terminal */
};

/* An executor that runs tasks as `inner` does; it shows progress where standard error is a terminal. */
garner_exec progress_begin(struct progress *progress, garner_exec inner);

/* The same for work that the caller counts itself: begin with no executor, then say how far it is. */
void progress_step(struct progress *progress, size_t done, size_t count);

/* The same for rows, with how many a second and how long the rest will take. */
void progress_rows(struct progress *progress, int64_t done, int64_t all);

/* Takes the line away again. */
void progress_end(struct progress *progress);

#endif
