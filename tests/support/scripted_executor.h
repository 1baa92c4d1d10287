/* SPDX-License-Identifier: MIT */
/*
 * Executors for the tests: the tasks of a call in any order, on any number of workers, counted, and
 * stopped early in each of the three ways the hook allows.
 */
#ifndef GARNER_TESTS_SCRIPTED_EXECUTOR_H
#define GARNER_TESTS_SCRIPTED_EXECUTOR_H

#include "garner.h"

#include <stdatomic.h>

enum executor_order { ORDER_FORWARD, ORDER_REVERSE, ORDER_SHUFFLED };

struct executor {
    int workers; /* 1: the caller's thread alone; more: that many threads, each its share */
    enum executor_order order;
    uint64_t seed;      /* of the shuffling */
    size_t leave_out;   /* how many tasks, last in the order, are not run */
    int answer;         /* what parallel_for returns */
    int cancel_after;   /* `cancelled` says yes from this question on; negative: never */
    atomic_int asked;   /* how often `cancelled` was asked */
    size_t tasks;       /* of the last call */
    atomic_size_t runs; /* tasks run, over all calls */
};

/* An executor with that many workers and order that stops nothing. */
struct executor executor_make(int workers, enum executor_order order, uint64_t seed);

/* The hook for it; both must live while it is used. */
garner_exec executor_hook(struct executor *executor);

#endif
