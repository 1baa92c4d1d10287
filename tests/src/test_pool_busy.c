/* SPDX-License-Identifier: MIT */
/*
 * The pool on CPUs that another library's spinning threads keep busy: whoever gives up the CPU there gets it
 * back a time slice later. Such CPUs are made up here, by functions that stand before libc's.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "jobs.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int yields, moves;
static atomic_long yield_us, move_us; /* how long they take */

static void wait_microseconds(long count)
{
    const struct timespec time = {.tv_sec = count / 1000000, .tv_nsec = count % 1000000 * 1000};
    nanosleep(&time, NULL);
}

int sched_yield(void)
{
    atomic_fetch_add(&yields, 1);
    if (atomic_load(&yield_us) > 0) wait_microseconds(atomic_load(&yield_us));
    return 0;
}

/* Every worker finds itself on the owner's CPU. */
int sched_getcpu(void)
{
    return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    atomic_fetch_add(&moves, 1);
    if (atomic_load(&move_us) > 0) wait_microseconds(atomic_load(&move_us));
    return (int)syscall(SYS_sched_setaffinity, pid, size, set);
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static garner_pool *pool_of_two(void)
{
    garner_pool *pool = NULL;
    assert_int_equal(garner_pool_create(&pool, 2, NULL), GARNER_OK);
    const garner_exec exec = garner_pool_exec(pool);
    assert_true(job_is_done(&exec, 2)); /* its worker is made, and soon asleep */
    return pool;
}

/* Jobs, each of which finds the worker asleep; as many as it takes, if that is not long, until so many
 * yielded. */
static int jobs_until(const garner_exec *exec, int most, int wanted)
{
    int jobs = 0;
    for (; jobs < most && atomic_load(&yields) < wanted; jobs++) {
        wait_microseconds(1000);
        assert_true(job_is_done(exec, 2));
    }
    return jobs;
}

static void test_jobs_give_up_yielding_where_it_takes_long(void **state)
{
    (void)state;
    garner_pool *pool = pool_of_two();
    const garner_exec exec = garner_pool_exec(pool);
    atomic_store(&yields, 0);
    atomic_store(&yield_us, 3000);
    assert_int_equal(jobs_until(&exec, 100, 6), 100);
    assert_true(atomic_load(&yields) > 0);
    atomic_store(&yield_us, 0); /* the CPU is free again: in the end every job yields */
    const int before = atomic_load(&yields);
    assert_true(jobs_until(&exec, 2000, before + 20) < 2000);
    garner_pool_destroy(pool);
}

static void spin_a_millisecond(void *argument, size_t i)
{
    (void)argument;
    (void)i;
    const double end = seconds() + 1e-3;
    while (seconds() < end)
        continue;
}

static void test_job_does_not_wait_for_a_worker_that_moves(void **state)
{
    (void)state;
    garner_pool *pool = pool_of_two();
    const garner_exec exec = garner_pool_exec(pool);
    wait_microseconds(20000);
    atomic_store(&moves, 0);
    atomic_store(&move_us, 1000000);
    const double begin = seconds();
    assert_int_equal(exec.parallel_for(exec.context, spin_a_millisecond, NULL, 20), 0);
    const double taken = seconds() - begin;
    for (int i = 0; i < 100 && atomic_load(&moves) == 0; i++)
        wait_microseconds(10000);
    assert_true(atomic_load(&moves) > 0); /* it is still at it, unless what it did before was late */
    assert_true(taken < 0.8);
    atomic_store(&move_us, 0);
    garner_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_give_up_yielding_where_it_takes_long),
        cmocka_unit_test(test_job_does_not_wait_for_a_worker_that_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
