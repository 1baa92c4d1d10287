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

/* Runs a plan. `bytes` says how much there is to move. GARNER_CANCELLED comes with an exception set. */
garner_status work_run(const garner_plan *plan, const void *data, const void *indices, void *out,
                       int64_t bytes, int threads, garner_error *error);

/* Whether so much work is worth giving up the interpreter's lock. */
bool work_is_long(int64_t bytes);

#endif
