/* SPDX-License-Identifier: MIT */
/*
 * Two pieces of work timed against each other: turn by turn, so that whatever else the machine does hits
 * both alike.
 */
#ifndef GARNER_CLI_STOPWATCH_H
#define GARNER_CLI_STOPWATCH_H

#include "garner.h"

/* Seconds of one call. */
struct stopwatch_times {
    double median, low, high; /* low and high: a quarter of the samples lies beyond each */
    int64_t calls;            /* in each sample */
};

/* Something to time. */
struct stopwatch_work {
    garner_status (*call)(void *context, garner_error *error);
    garner_status (*finish)(void *context,
                            garner_error *error); /* waits until all calls are done; NULL: they are */
    void *context;
};

enum { STOPWATCH_SAMPLES = 1000 };

/* Times both for about `seconds` in all, and at least 5 samples each; `step` is told how far it is, in
 * thousandths. Returns how many samples there are, or 0 if a call failed. */
int stopwatch_compare(const struct stopwatch_work work[2], double seconds, struct stopwatch_times times[2],
                      void (*step)(void *context, int thousandths), void *context, garner_error *error);

#endif
