/* SPDX-License-Identifier: MIT */
/*
 * A team of threads that does the same work several times, in step, and is timed from inside: what it
 * costs to start a thread or to call from Python is in no number.
 */
#ifndef GARNER_BENCH_TEAM_H
#define GARNER_BENCH_TEAM_H

#include <stddef.h>
#include <stdint.h>

/* The share of one member, 0 to members - 1. */
typedef void team_work(void *argument, int member, int members);

/*
 * Runs work on `members` threads, the caller included, `repeats` times, and writes the nanoseconds of
 * each repeat. Returns how many threads there really were.
 */
int team_run(team_work *work, void *argument, int members, int repeats, int64_t *nanoseconds);

int64_t team_clock(void);

/* Where one member's share of `count` things begins; that of member + 1 is where it ends. */
static inline int64_t share_begin(int64_t count, int member, int members)
{
    return count / members * member + count % members * member / members;
}

#endif
