/* SPDX-License-Identifier: MIT */
/* Threads that start together and stop together, held in step by a counter that they spin on. */
#define _POSIX_C_SOURCE 200809L
#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { MOST_MEMBERS = 256, SPINS_BEFORE_YIELD = 4096 };

struct team {
    team_work *work;
    void *argument;
    int repeats;
    atomic_int members; /* 0 until it is known how many threads could be started */
    atomic_int arrived;
};

struct member {
    struct team *team;
    int number;
    pthread_t thread;
};

int64_t team_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wait_until(atomic_int *counter, int least)
{
    int spins = 0;
    while (atomic_load_explicit(counter, memory_order_acquire) < least)
        if (++spins > SPINS_BEFORE_YIELD) sched_yield();
}

/* The step-th meeting of all members; the counter only grows, so that it needs no reset. */
static void meet(struct team *team, int members, int step)
{
    atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel);
    wait_until(&team->arrived, members * step);
}

static void take_part(struct team *team, int number, int64_t *nanoseconds)
{
    wait_until(&team->members, 1);
    int members = atomic_load(&team->members);
    for (int i = 0; i < team->repeats; i++) {
        meet(team, members, 2 * i + 1);
        int64_t begin = team_clock();
        team->work(team->argument, number, members);
        meet(team, members, 2 * i + 2);
        if (nanoseconds) nanoseconds[i] = team_clock() - begin;
    }
}

static void *member_main(void *argument)
{
    struct member *member = argument;
    take_part(member->team, member->number, NULL);
    return NULL;
}

int team_run(team_work *work, void *argument, int members, int repeats, int64_t *nanoseconds)
{
    struct team team = {.work = work, .argument = argument, .repeats = repeats};
    struct member others[MOST_MEMBERS];
    int started = 0;
    if (members > MOST_MEMBERS) members = MOST_MEMBERS;
    while (started + 1 < members) {
        struct member *next = &others[started];
        *next = (struct member){.team = &team, .number = started + 1};
        if (pthread_create(&next->thread, NULL, member_main, next) != 0) break;
        started++;
    }
    atomic_store(&team.members, started + 1);
    take_part(&team, 0, nanoseconds);
    for (int i = 0; i < started; i++)
        pthread_join(others[i].thread, NULL);
    return started + 1;
}
