/* SPDX-License-Identifier: MIT */
/*
 * The thread pool within one process: every task once, whoever calls, however often, from within a task
 * or from many threads at once; threads that cannot be created are done without; none is created for
 * nothing; pools come and go a thousand times, their workers awake or asleep.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "creations.h"
#include "jobs.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static void wait_microseconds(long count)
{
    const struct timespec time = {.tv_nsec = count * 1000};
    nanosleep(&time, NULL);
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static garner_pool *pool_of(int threads)
{
    garner_pool *pool = NULL;
    garner_error error;
    if (garner_pool_create(&pool, threads, &error) != GARNER_OK) fail_msg("%s", error.message);
    return pool;
}

/* ---- Where they run ---- */

struct masks {
    cpu_set_t before;
    atomic_int narrowed;
};

static void compare_mask(void *argument, size_t i)
{
    struct masks *masks = argument;
    cpu_set_t mask;
    (void)i;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0 || !CPU_EQUAL(&mask, &masks->before))
        atomic_fetch_add(&masks->narrowed, 1);
    const double end = seconds() + 50e-6;
    while (seconds() < end)
        continue;
}

/* Workers that were asleep, and may have been woken on the owner's CPU, have all their CPUs in every task. */
static void test_every_cpu_is_allowed(void **state)
{
    (void)state;
    struct masks masks = {.narrowed = 0};
    assert_int_equal(sched_getaffinity(0, sizeof masks.before, &masks.before), 0);
    garner_pool *pool = pool_of(3);
    const garner_exec exec = garner_pool_exec(pool);
    for (int i = 0; i < 50; i++) {
        wait_microseconds(1000);
        assert_int_equal(exec.parallel_for(exec.context, compare_mask, &masks, 6), 0);
    }
    assert_int_equal(atomic_load(&masks.narrowed), 0);
    garner_pool_destroy(pool);
}

/* ---- Which threads are made ---- */

/* The first test: nothing has used a pool yet. */
static void test_no_thread_before_it_is_needed(void **state)
{
    (void)state;
    if (!COUNTS_CREATIONS) SKIP_LOUDLY("the sanitizers have a pthread_create of their own");
    const garner_exec shared = garner_threads(4);
    garner_pool *pool = pool_of(4);
    const garner_exec own = garner_pool_exec(pool);
    int64_t table[100] = {0}, out[100];
    const int64_t picks[100] = {0};
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor data = {.data = table, .shape = (int64_t[]){100}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor indices = {
        .data = (void *)(uintptr_t)picks, .shape = (int64_t[]){100}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor picked = {.data = out, .shape = (int64_t[]){100}, .rank = 1, .dtype = GARNER_I64};
    assert_int_equal(garner_run(&op, &data, &indices, &picked, &shared, NULL), GARNER_OK);
    assert_int_equal(garner_run(&op, &data, &indices, &picked, &own, NULL), GARNER_OK);
    assert_true(job_is_done(&shared, 1) && job_is_done(&own, 1) && job_is_done(&own, 0));
    assert_int_equal(atomic_load(&creations_made), 0);
    assert_true(job_is_done(&own, 2)); /* two tasks: one more thread is enough */
    assert_int_equal(atomic_load(&creations_made), 1);
    assert_true(job_is_done(&own, 9));
    assert_int_equal(atomic_load(&creations_made), 3);
    assert_true(job_is_done(&shared, 9));
    assert_int_equal(atomic_load(&creations_made), 6);
    for (int i = 0; i < 10; i++)
        assert_true(job_is_done(&own, 9) && job_is_done(&shared, 9));
    assert_int_equal(atomic_load(&creations_made), 6);
    garner_pool_destroy(pool);
}

/* A gather of 1 MiB is worth threads. */
static void test_threads_for_a_gather(void **state)
{
    (void)state;
    if (!COUNTS_CREATIONS) SKIP_LOUDLY("the sanitizers have a pthread_create of their own");
    garner_pool *pool = pool_of(2);
    const garner_exec exec = garner_pool_exec(pool);
    const int before = atomic_load(&creations_made);
    assert_true(gather_is_right(&exec));
    assert_int_equal(atomic_load(&creations_made), before + 1);
    garner_pool_destroy(pool);
}

struct helpers {
    pthread_t caller;
    atomic_int by_others, done;
};

static void slow_task(void *argument, size_t i)
{
    struct helpers *helpers = argument;
    (void)i;
    wait_microseconds(1000);
    if (!pthread_equal(pthread_self(), helpers->caller)) atomic_fetch_add(&helpers->by_others, 1);
    atomic_fetch_add(&helpers->done, 1);
}

/* Workers do take tasks, asleep before or awake, and the call returns after the last of them. */
static void test_workers_help(void **state)
{
    (void)state;
    garner_pool *pool = pool_of(3);
    const garner_exec exec = garner_pool_exec(pool);
    for (int i = 0; i < 6; i++) {
        static struct helpers helpers; /* outlives a call that returns too early */
        helpers = (struct helpers){.caller = pthread_self()};
        assert_int_equal(exec.parallel_for(exec.context, slow_task, &helpers, 30), 0);
        assert_int_equal(atomic_load(&helpers.done), 30);
        assert_true(atomic_load(&helpers.by_others) > 0);
        if (i % 2) wait_microseconds(5000);
    }
    garner_pool_destroy(pool);
}

struct crowd {
    atomic_int inside, most;
};

static void crowded_task(void *argument, size_t i)
{
    struct crowd *crowd = argument;
    (void)i;
    const int now = atomic_fetch_add(&crowd->inside, 1) + 1;
    int most = atomic_load(&crowd->most);
    while (now > most && !atomic_compare_exchange_weak(&crowd->most, &most, now))
        continue;
    wait_microseconds(1000);
    atomic_fetch_sub(&crowd->inside, 1);
}

/* A call runs on no more threads than it names, though calls before it made more of them. */
static void test_no_more_threads_than_named(void **state)
{
    (void)state;
    for (int threads = 5; threads >= 2; threads--) {
        const garner_exec exec = garner_threads(threads);
        struct crowd crowd = {0};
        assert_int_equal(exec.parallel_for(exec.context, crowded_task, &crowd, 40), 0);
        assert_in_range(atomic_load(&crowd.most), 1, threads);
    }
}

static void look_at_signals(void *argument, size_t i)
{
    struct helpers *helpers = argument;
    sigset_t blocked;
    slow_task(argument, i);
    if (pthread_equal(pthread_self(), helpers->caller)) return;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (!sigismember(&blocked, SIGINT) || sigismember(&blocked, SIGBUS)) atomic_store(&helpers->done, -1000);
}

/* Workers leave signals to the program's threads, but for those that their own accesses raise. */
static void test_signals_of_workers(void **state)
{
    (void)state;
    garner_pool *pool = pool_of(3);
    const garner_exec exec = garner_pool_exec(pool);
    struct helpers helpers = {.caller = pthread_self()};
    assert_int_equal(exec.parallel_for(exec.context, look_at_signals, &helpers, 30), 0);
    assert_int_equal(atomic_load(&helpers.done), 30);
    assert_true(atomic_load(&helpers.by_others) > 0);
    garner_pool_destroy(pool);
}

enum { SHARED_TASKS = 12 };

struct shares {
    pthread_t caller;
    atomic_int done;
    bool alone;
    atomic_bool by_caller[SHARED_TASKS];
};

/* The first task lasts until all others are done, or it has waited for two seconds. */
static void waiting_task(void *argument, size_t i)
{
    struct shares *shares = argument;
    for (int waits = 0; i == 0 && waits < 20000 && atomic_load(&shares->done) < SHARED_TASKS - 1; waits++)
        wait_microseconds(100);
    if (i == 0) shares->alone = atomic_load(&shares->done) < SHARED_TASKS - 1;
    atomic_fetch_add(&shares->done, 1);
}

/* Whoever is done with his own share takes from that of the one who is not. */
static void test_the_done_help_the_others(void **state)
{
    (void)state;
    garner_pool *pool = pool_of(2);
    const garner_exec exec = garner_pool_exec(pool);
    for (int i = 0; i < 3; i++) {
        struct shares shares = {.caller = pthread_self()};
        assert_int_equal(exec.parallel_for(exec.context, waiting_task, &shares, SHARED_TASKS), 0);
        assert_int_equal(atomic_load(&shares.done), SHARED_TASKS);
        assert_false(shares.alone);
    }
    garner_pool_destroy(pool);
}

/* Both first tasks wait for each other; then each thread goes through its own half. */
static void meeting_task(void *argument, size_t i)
{
    struct shares *shares = argument;
    atomic_fetch_add(&shares->done, 1);
    while (atomic_load(&shares->done) < 2)
        wait_microseconds(100);
    wait_microseconds(2000);
    if (pthread_equal(pthread_self(), shares->caller)) atomic_store(&shares->by_caller[i], true);
}

/* How many tasks of some jobs ran where their share is. */
static int tasks_at_home(const garner_exec *exec, int jobs)
{
    int own = 0;
    for (int i = 0; i < jobs; i++) {
        struct shares shares = {.caller = pthread_self()};
        assert_int_equal(exec->parallel_for(exec->context, meeting_task, &shares, SHARED_TASKS), 0);
        for (int k = 0; k < SHARED_TASKS; k++)
            own += atomic_load(&shares.by_caller[k]) == (k < SHARED_TASKS / 2);
    }
    return own;
}

/* From job to job the first half is the caller's and the second the worker's, but for what one of them is
 * late with. A machine may hold one of its CPUs back for a while, so it has a few tries. */
static void test_shares_stay_with_their_threads(void **state)
{
    (void)state;
    enum { JOBS = 10, TRIES = 5 };
    garner_pool *pool = pool_of(2);
    const garner_exec exec = garner_pool_exec(pool);
    bool stayed = false;
    for (int i = 0; i < TRIES && !stayed; i++)
        stayed = tasks_at_home(&exec, JOBS) > JOBS * SHARED_TASKS * 2 / 3;
    assert_true(stayed);
    garner_pool_destroy(pool);
}

static void test_a_pool_of_one(void **state)
{
    (void)state;
    garner_pool *pool = pool_of(1);
    const garner_exec exec = garner_pool_exec(pool), alone = garner_threads(1);
    const int before = atomic_load(&creations_made);
    assert_true(job_is_done(&exec, 100) && gather_is_right(&exec));
    assert_true(job_is_done(&alone, 100) && gather_is_right(&alone));
    assert_int_equal(atomic_load(&creations_made), before);
    garner_pool_destroy(pool);
}

/* The n-th thread cannot be created, for every n; later the missing ones are made. */
static void test_creation_fails(void **state)
{
    (void)state;
    if (!COUNTS_CREATIONS) SKIP_LOUDLY("the sanitizers have a pthread_create of their own");
    enum { THREADS = 6 };
    for (int allowed = 0; allowed < THREADS; allowed++) {
        garner_pool *pool = pool_of(THREADS);
        const garner_exec exec = garner_pool_exec(pool);
        const int made = atomic_load(&creations_made), refused = atomic_load(&creations_refused);
        atomic_store(&creations_allowed, allowed);
        for (int i = 0; i < 20; i++)
            assert_true(job_is_done(&exec, 50) && gather_is_right(&exec));
        atomic_store(&creations_allowed, INT32_MAX);
        assert_int_equal(atomic_load(&creations_made) - made, allowed < THREADS - 1 ? allowed : THREADS - 1);
        assert_true(allowed >= THREADS - 1 || atomic_load(&creations_refused) > refused);
        assert_true(job_is_done(&exec, 50));
        assert_int_equal(atomic_load(&creations_made) - made, THREADS - 1);
        garner_pool_destroy(pool);
    }
}

static void test_bad_arguments(void **state)
{
    (void)state;
    garner_error error;
    garner_pool *pool = (garner_pool *)&error;
    assert_int_equal(garner_pool_create(NULL, 2, &error), GARNER_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "pool is NULL"));
    assert_int_equal(garner_pool_create(&pool, -1, &error), GARNER_BAD_ARGUMENT);
    assert_null(pool);
    assert_non_null(strstr(error.message, "-1"));
    assert_int_equal(garner_pool_create(&pool, INT32_MAX, &error), GARNER_BAD_ARGUMENT);
    assert_null(pool);
    garner_pool_destroy(NULL);
    const garner_exec exec = garner_pool_exec(NULL); /* the process-wide one */
    assert_true(job_is_done(&exec, 100));
}

/* ---- Many callers ---- */

struct caller {
    garner_exec exec;
    int64_t jobs;
    bool gathers, good;
};

static void *call_often(void *context)
{
    struct caller *caller = context;
    caller->good = true;
    for (int64_t i = 0; i < caller->jobs && caller->good; i++)
        caller->good =
            caller->gathers ? gather_is_right(&caller->exec) : job_is_done(&caller->exec, (size_t)(i % 20));
    return NULL;
}

static void call_at_once(garner_exec exec, int64_t jobs, bool gathers)
{
    enum { CALLERS = 4 };
    struct caller callers[CALLERS];
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){exec, jobs, gathers, false};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(callers[i].good);
    }
}

static void test_callers_at_once(void **state)
{
    (void)state;
    garner_pool *pool = pool_of(3);
    call_at_once(garner_pool_exec(pool), test_scaled(5000), false);
    call_at_once(garner_pool_exec(pool), test_scaled(50), true);
    call_at_once(garner_threads(2), test_scaled(5000), false);
    call_at_once(garner_threads(0), test_scaled(50), true);
    garner_pool_destroy(pool);
}

/* ---- Jobs within jobs ---- */

struct nesting {
    const garner_exec *inner;
    atomic_int good;
    bool gathers;
};

static void nest_task(void *argument, size_t i)
{
    struct nesting *nesting = argument;
    const bool good = nesting->gathers ? gather_is_right(nesting->inner) : job_is_done(nesting->inner, i);
    atomic_fetch_add(&nesting->good, good);
}

static void nest_jobs(const garner_exec *outer, const garner_exec *inner, bool gathers)
{
    struct nesting nesting = {.inner = inner, .gathers = gathers};
    assert_int_equal(outer->parallel_for(outer->context, nest_task, &nesting, 12), 0);
    assert_int_equal(atomic_load(&nesting.good), 12);
}

static void test_jobs_within_jobs(void **state)
{
    (void)state;
    garner_pool *a = pool_of(3), *b = pool_of(2);
    const garner_exec execs[] = {garner_pool_exec(a), garner_pool_exec(b), garner_threads(3)};
    for (int64_t repeat = 0; repeat < test_scaled(20); repeat++)
        for (int outer = 0; outer < 3; outer++)
            for (int inner = 0; inner < 3; inner++)
                nest_jobs(&execs[outer], &execs[inner], repeat % 4 == 0);
    garner_pool_destroy(a);
    garner_pool_destroy(b);
}

/* ---- More threads than CPUs, many small jobs ---- */

static void test_oversubscribed(void **state)
{
    (void)state;
    garner_pool *pool = pool_of(16);
    const garner_exec exec = garner_pool_exec(pool);
    for (int64_t i = 0; i < test_scaled(2000); i++)
        assert_true(job_is_done(&exec, (size_t)(i % 64)));
    for (int64_t i = 0; i < test_scaled(50); i++)
        assert_true(gather_is_right(&exec));
    garner_pool_destroy(pool);
}

static void test_many_small_jobs(void **state)
{
    (void)state;
    const garner_exec exec = garner_threads(3);
    const int64_t jobs = test_scaled(100000);
    for (int64_t i = 0; i < jobs; i++) {
        if (!job_is_done(&exec, (size_t)(i % 5))) fail_msg("job %d", (int)i);
        if (i % 1000 == 0) wait_microseconds(200); /* now and then the workers fall asleep */
    }
}

/* ---- Waiting ---- */

/* The worker's task takes a tenth of a second longer than the caller's. */
static void longer_task(void *argument, size_t i)
{
    struct shares *shares = argument;
    (void)i;
    atomic_fetch_add(&shares->done, 1);
    for (int waits = 0; waits < 2000 && atomic_load(&shares->done) < 2; waits++)
        wait_microseconds(1000);
    if (!pthread_equal(pthread_self(), shares->caller)) wait_microseconds(100 * 1000);
}

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A caller that has to wait for long sleeps soon. */
static void test_a_waiting_caller_sleeps(void **state)
{
    (void)state;
    garner_pool *pool = pool_of(2);
    const garner_exec exec = garner_pool_exec(pool);
    struct shares shares = {.caller = pthread_self()};
    const double before = processor_seconds();
    assert_int_equal(exec.parallel_for(exec.context, longer_task, &shares, 2), 0);
    assert_true(processor_seconds() - before < 0.05);
    garner_pool_destroy(pool);
}

/* ---- Pools that come and go ---- */

static void no_more_threads_than(int count)
{
    for (int i = 0; i < 1000 && threads_alive() > count; i++)
        wait_microseconds(1000);
    assert_true(threads_alive() <= count);
}

static void test_come_and_go(void **state)
{
    (void)state;
    const int before = threads_alive();
    for (int64_t i = 0; i < test_scaled(1000); i++) {
        garner_pool *pool = pool_of(1 + (int)(i % 4));
        const garner_exec exec = garner_pool_exec(pool);
        if (i % 3) assert_true(job_is_done(&exec, (size_t)(i % 7)));
        if (i % 50 == 0) wait_microseconds(3000); /* asleep by now; otherwise still awake */
        garner_pool_destroy(pool);
    }
    no_more_threads_than(before);
}

static void test_several_pools(void **state)
{
    (void)state;
    enum { POOLS = 8 };
    garner_pool *pools[POOLS];
    for (int i = 0; i < POOLS; i++)
        pools[i] = pool_of(2);
    for (int64_t i = 0; i < test_scaled(400); i++) {
        const garner_exec exec = garner_pool_exec(pools[i * 5 % POOLS]);
        assert_true(job_is_done(&exec, 10));
    }
    for (int i = 0; i < POOLS; i++) /* neither the order they were made in nor the reverse */
        garner_pool_destroy(pools[i * 3 % POOLS]);
}

/* ---- Jobs that are stopped ---- */

static atomic_int questions_left;

static int stop_after_some(void *context)
{
    (void)context;
    return atomic_fetch_sub(&questions_left, 1) <= 0;
}

static void test_stopped(void **state)
{
    (void)state;
    garner_pool *pool = pool_of(3);
    garner_exec exec = garner_pool_exec(pool), stopped = exec;
    stopped.cancelled = stop_after_some;
    for (int i = 0; i < 50; i++) {
        atomic_store(&questions_left, i % 4);
        assert_false(gather_is_right(&stopped));
        assert_true(gather_is_right(&exec));
        atomic_store(&questions_left, INT32_MAX);
        assert_true(gather_is_right(&stopped));
    }
    garner_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_thread_before_it_is_needed),
        cmocka_unit_test(test_threads_for_a_gather),
        cmocka_unit_test(test_every_cpu_is_allowed),
        cmocka_unit_test(test_workers_help),
        cmocka_unit_test(test_no_more_threads_than_named),
        cmocka_unit_test(test_signals_of_workers),
        cmocka_unit_test(test_the_done_help_the_others),
        cmocka_unit_test(test_shares_stay_with_their_threads),
        cmocka_unit_test(test_a_pool_of_one),
        cmocka_unit_test(test_creation_fails),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_callers_at_once),
        cmocka_unit_test(test_jobs_within_jobs),
        cmocka_unit_test(test_oversubscribed),
        cmocka_unit_test(test_many_small_jobs),
        cmocka_unit_test(test_a_waiting_caller_sleeps),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_several_pools),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
