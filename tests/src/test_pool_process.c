/* SPDX-License-Identifier: MIT */
/*
 * The thread pool and the process it lives in: children of fork() make threads of their own, also when
 * a job was on; a process ends while workers sleep, spin or work; the environment and the CPUs that a
 * process may use decide how many threads there are. A child that hangs is ended by its parent, and fails.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "creations.h"
#include "end_child.h"
#include "jobs.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GOOD = 0, WRONG = 1, SKIPPED = 2, SECONDS = 30 };

/* Children of a process with threads may have threads too; and since looking for leaks at the end of
 * hundreds of children takes minutes, that is left to valgrind. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static atomic_bool affinity_is_unknown;

/* Stands before libc's: a machine that does not say which CPUs a process may use. */
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    typedef int affinity_function(pid_t, size_t, cpu_set_t *);
    affinity_function *real;
    *(void **)&real = dlsym(RTLD_NEXT, "sched_getaffinity");
    if (!atomic_load(&affinity_is_unknown)) return real(process, size, set);
    errno = EINVAL;
    return -1;
}

static void wait_microseconds(long count)
{
    const struct timespec time = {.tv_nsec = count * 1000};
    nanosleep(&time, NULL);
}

/* ---- Children ---- */

typedef int child_function(const void *argument);

/* Those of a child that its parent ends end with it. */
static void end_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* How the child ended. An alarm would not do: the pool blocks signals while it waits for workers. */
static int status_of_child(pid_t child)
{
    const long pause = 200;
    int status;
    for (long waited = 0; waited < SECONDS * 1000000; waited += pause) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended != 0) {
            assert_int_equal(ended, child);
            if (WIFSIGNALED(status)) fail_msg("the child ended by signal %d", WTERMSIG(status));
            return WEXITSTATUS(status);
        }
        wait_microseconds(pause);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    fail_msg("the child hung");
    return WRONG;
}

/* What the function answers in a child that ends by `end`, exit or _exit. */
static int answer_of_child(child_function *function, const void *argument, void (*end)(int))
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        end_with_parent();
        end(function(argument));
    }
    return status_of_child(child);
}

static void good_in_child(child_function *function, const void *argument)
{
    assert_int_equal(answer_of_child(function, argument, exit), GOOD);
}

/* ---- How many threads: these come first, while the process-wide pool is not made yet ---- */

/* How many threads a job uses that would use any number. */
static int threads_used(garner_exec exec)
{
    const int before = atomic_load(&creations_made);
    if (!job_is_done(&exec, MOST_TASKS)) return -1;
    return 1 + atomic_load(&creations_made) - before;
}

static int cpus_allowed(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

struct expectation {
    const char *environment;
    int threads; /* 0: as many as CPUs */
};

static int threads_told(void)
{
    garner_cpu cpu = {.size = sizeof cpu};
    garner_cpu_info(&cpu);
    return cpu.threads;
}

static int counts_threads(const void *argument)
{
    const struct expectation *expected = argument;
    const int want = expected->threads ? expected->threads : cpus_allowed();
    garner_pool *pool = NULL;
    if (expected->environment) setenv("GARNER_NUM_THREADS", expected->environment, 1);
    const int shared = threads_used(garner_threads(0));
    if (garner_pool_create(&pool, 0, NULL) != GARNER_OK) return WRONG;
    const int own = threads_used(garner_pool_exec(pool));
    garner_pool_destroy(pool);
    const int told = threads_told();
    setenv("GARNER_NUM_THREADS", "4", 1); /* too late: it was looked at */
    if (shared == want && own == want && told == want && threads_told() == want) return GOOD;
    fprintf(stderr, "GARNER_NUM_THREADS=%s: %d and %d threads, %d and then %d told, not %d\n",
            expected->environment ? expected->environment : "", shared, own, told, threads_told(), want);
    return WRONG;
}

static void test_number_of_threads(void **state)
{
    (void)state;
    if (!COUNTS_CREATIONS) SKIP_LOUDLY("the sanitizers have a pthread_create of their own");
    static const struct expectation rows[] = {
        {"1", 1},   {"2", 2},   {"3", 3},  {"11", 11}, {NULL, 0},         {"", 0},
        {"0", 0},   {"-2", 0},  {"x", 0},  {"3x", 0},  {"2.5", 0},        {"0x2", 0},
        {"two", 0}, {"1 2", 0}, {"01", 0}, {"+1", 0},  {"2147483648", 0}, {"99999999999999999999", 0},
    };
    unsetenv("GARNER_NUM_THREADS");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        good_in_child(counts_threads, &rows[i]);
}

/* A number given in the call counts for more than the environment; one beyond reason is still served. */
static int counts_asked_threads(const void *argument)
{
    (void)argument;
    setenv("GARNER_NUM_THREADS", "2", 1);
    if (threads_used(garner_threads(5)) != 5) return WRONG;
    return threads_used(garner_threads(INT32_MAX)) > 5 ? GOOD : WRONG;
}

static int has_one_cpu(const void *argument)
{
    cpu_set_t one;
    (void)argument;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return SKIPPED;
    const garner_exec all = garner_threads(0), three = garner_threads(3);
    if (COUNTS_CREATIONS && threads_used(all) != 1) return WRONG;
    for (int i = 0; i < 200; i++)
        if (!job_is_done(&three, 20) || !job_is_done(&all, 20)) return WRONG;
    return gather_is_right(&three) && gather_is_right(&all) ? GOOD : WRONG;
}

static int has_no_affinity(const void *argument)
{
    (void)argument;
    atomic_store(&affinity_is_unknown, true);
    const garner_exec all = garner_threads(0);
    const int used = threads_used(all), online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (COUNTS_CREATIONS && used != (online < MOST_TASKS ? online : MOST_TASKS)) return WRONG;
    return gather_is_right(&all) ? GOOD : WRONG;
}

static void test_asked_for(void **state)
{
    (void)state;
    if (!COUNTS_CREATIONS) SKIP_LOUDLY("the sanitizers have a pthread_create of their own");
    good_in_child(counts_asked_threads, NULL);
}

static void test_one_cpu(void **state)
{
    (void)state;
    const int answer = answer_of_child(has_one_cpu, NULL, exit);
    if (answer == SKIPPED) SKIP_LOUDLY("this process may not choose its CPUs");
    assert_int_equal(answer, GOOD);
}

static void test_unknown_cpus(void **state)
{
    (void)state;
    good_in_child(has_no_affinity, NULL);
}

/* ---- A thread that always has a job on ---- */

struct busy {
    garner_exec exec;
    atomic_bool stop;
    bool good;
};

static void *keep_busy(void *context)
{
    struct busy *busy = context;
    busy->good = true;
    for (size_t i = 0; !atomic_load(&busy->stop) && busy->good; i++)
        busy->good = i % 16 ? job_is_done(&busy->exec, i % 30) : gather_is_right(&busy->exec);
    return NULL;
}

/* ---- Ending ---- */

static int leaves_workers(const void *argument)
{
    const garner_exec exec = garner_threads(4);
    for (int i = 0; i < 3; i++)
        if (!job_is_done(&exec, 20)) return WRONG;
    wait_microseconds(*(const long *)argument);
    return GOOD;
}

/* Ends while workers spin, and while they sleep; by exit and by _exit. */
static void test_ending(void **state)
{
    (void)state;
    static const long waits[] = {0, 20, 5000};
    for (int64_t repeat = 0; repeat < test_scaled(10); repeat++)
        for (int i = 0; i < 3; i++) {
            assert_int_equal(answer_of_child(leaves_workers, &waits[i], exit), GOOD);
            assert_int_equal(answer_of_child(leaves_workers, &waits[i], end_child), GOOD);
        }
}

static int ends_during_jobs(const void *argument)
{
    static struct busy busy;
    pthread_t thread;
    busy.exec = garner_threads(4);
    if (pthread_create(&thread, NULL, keep_busy, &busy) != 0) return WRONG;
    wait_microseconds(*(const long *)argument);
    return GOOD;
}

static void test_ending_during_jobs(void **state)
{
    (void)state;
    if (TEST_UNDER_TSAN) SKIP_LOUDLY("a thread that outlives main is a leak to ThreadSanitizer");
    for (long wait = 0; wait < test_scaled(2000); wait += 50)
        good_in_child(ends_during_jobs, &wait);
}

static garner_exec last_exec;

static void work_at_exit(void)
{
    if (!job_is_done(&last_exec, 30) || !gather_is_right(&last_exec)) end_child(WRONG);
}

/* Handlers of atexit run before the workers are joined or after: either way their jobs are done. */
static int works_at_exit(const void *argument)
{
    (void)argument;
    last_exec = garner_threads(3);
    atexit(work_at_exit);
    return job_is_done(&last_exec, 20) ? GOOD : WRONG;
}

static void test_working_at_exit(void **state)
{
    (void)state;
    for (int64_t repeat = 0; repeat < test_scaled(10); repeat++)
        good_in_child(works_at_exit, NULL);
}

static bool counts_at_exit;

/* Runs after all else that the program does at its end. A joined thread may still show for a moment. */
__attribute__((destructor(101))) static void count_threads_at_exit(void)
{
    if (!counts_at_exit) return;
    for (int i = 0; i < 1000 && threads_alive() > 1; i++)
        wait_microseconds(1000);
    if (threads_alive() > 1) end_child(WRONG);
}

static int counts_at_its_end(const void *argument)
{
    const long wait = 0;
    (void)argument;
    counts_at_exit = true;
    return leaves_workers(&wait);
}

/* The workers of the process-wide pool are joined when the library is unloaded. */
static void test_no_worker_at_the_end(void **state)
{
    (void)state;
    if (TEST_UNDER_TSAN) SKIP_LOUDLY("ThreadSanitizer has a thread of its own");
    if (threads_alive() < 0) SKIP_LOUDLY("/proc does not tell how many threads there are");
    good_in_child(counts_at_its_end, NULL);
}

/* ---- Forking ---- */

/* ThreadSanitizer follows no threads made after fork(). AddressSanitizer holds a lock of its allocator while
 * a thread starts, and the child of that moment waits for it. */
#define SKIP_FORKS_UNDER_SANITIZERS() \
    if (TEST_SANITIZED) SKIP_LOUDLY("the sanitizers do not survive fork() beside other threads")

struct pools {
    garner_exec shared, own;
    garner_pool *pool;
    int generations;
};

static int uses_pools(const void *argument)
{
    const struct pools *pools = argument;
    for (int i = 0; i < 10; i++)
        if (!job_is_done(&pools->shared, 20) || !job_is_done(&pools->own, 20)) return WRONG;
    if (!gather_is_right(&pools->shared) || !gather_is_right(&pools->own)) return WRONG;
    if (pools->generations > 0) {
        struct pools next = *pools;
        next.generations--;
        if (answer_of_child(uses_pools, &next, exit) != GOOD) return WRONG;
    }
    if (!job_is_done(&pools->own, 20)) return WRONG;
    garner_pool_destroy(pools->pool); /* the child's; the parent's is another */
    return GOOD;
}

static struct pools make_pools(int generations)
{
    struct pools pools = {.shared = garner_threads(3), .generations = generations};
    assert_int_equal(garner_pool_create(&pools.pool, 3, NULL), GARNER_OK);
    pools.own = garner_pool_exec(pools.pool);
    return pools;
}

static void test_children_and_theirs(void **state)
{
    (void)state;
    SKIP_FORKS_UNDER_SANITIZERS();
    struct pools pools = make_pools(2);
    good_in_child(uses_pools, &pools); /* no thread has been made */
    for (int64_t repeat = 0; repeat < test_scaled(10); repeat++) {
        assert_true(job_is_done(&pools.shared, 20) && job_is_done(&pools.own, 20));
        if (repeat % 2) wait_microseconds(5000);
        good_in_child(uses_pools, &pools);
    }
    assert_true(gather_is_right(&pools.shared) && gather_is_right(&pools.own));
    garner_pool_destroy(pools.pool);
}

static int destroys_only(const void *argument)
{
    garner_pool_destroy(((const struct pools *)argument)->pool);
    return GOOD;
}

/* A child that never uses the parent's pools can still end, and free them. */
static void test_children_that_do_nothing(void **state)
{
    (void)state;
    SKIP_FORKS_UNDER_SANITIZERS();
    struct pools pools = make_pools(0);
    assert_true(job_is_done(&pools.shared, 20) && job_is_done(&pools.own, 20));
    good_in_child(destroys_only, &pools);
    assert_true(job_is_done(&pools.own, 20));
    garner_pool_destroy(pools.pool);
}

/* Forks while other threads have jobs on both pools. */
static void test_forks_during_jobs(void **state)
{
    (void)state;
    SKIP_FORKS_UNDER_SANITIZERS();
    struct pools pools = make_pools(0);
    struct busy busy[] = {{.exec = pools.shared}, {.exec = pools.own}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_busy, &busy[i]), 0);
    for (int64_t i = 0; i < test_scaled(100); i++)
        good_in_child(uses_pools, &pools);
    for (int i = 0; i < 2; i++) {
        atomic_store(&busy[i].stop, true);
        pthread_join(threads[i], NULL);
        assert_true(busy[i].good);
    }
    garner_pool_destroy(pools.pool);
}

/* ---- Forking out of a signal handler, in the middle of a job of the same thread ---- */

static struct {
    const struct pools *pools;
    bool gathers;                     /* the handler itself gathers, in the child */
    volatile sig_atomic_t generation; /* 0 in the parent */
    volatile sig_atomic_t inner;      /* whether that was right */
    volatile pid_t child;             /* of the last signal */
} handler;

static void fork_in_handler(int number)
{
    (void)number;
    const pid_t child = fork();
    if (child != 0) {
        handler.child = child;
        return;
    }
    end_with_parent();
    handler.generation++;
    handler.inner =
        !handler.gathers || (gather_is_right(&handler.pools->shared) && gather_is_right(&handler.pools->own));
}

/* Tasks that take long enough for a signal to meet all of them at work, or the owner waiting for the last. */
struct slow_job {
    atomic_int runs[MOST_TASKS];
    pthread_t owner;
    bool owner_waits;
};

static void slow_task(void *argument, size_t i)
{
    struct slow_job *job = argument;
    const bool mine = pthread_equal(pthread_self(), job->owner);
    if (handler.generation == 0 && !(mine && job->owner_waits)) wait_microseconds(2000);
    atomic_fetch_add(&job->runs[i], 1);
}

/* In the child every task is done, those of lost workers again; in the parent each once. */
static bool slow_job_is_done(const garner_exec *exec, size_t count, bool owner_waits)
{
    struct slow_job job = {.owner = pthread_self(), .owner_waits = owner_waits};
    bool good = exec->parallel_for(exec->context, slow_task, &job, count) == 0;
    for (size_t i = 0; i < MOST_TASKS; i++) {
        const int runs = atomic_load(&job.runs[i]);
        good = good && (i < count ? runs == 1 || (runs == 2 && handler.generation > 0) : runs == 0);
    }
    return good;
}

/* Sends one signal to this thread after a while, during what follows. */
static void expect_signal(long microseconds)
{
    const struct itimerval once = {.it_value = {.tv_usec = microseconds}};
    handler.child = 0;
    assert_int_equal(setitimer(ITIMER_REAL, &once, NULL), 0);
}

/* The parent waits for the child; the child, which comes here too, says how it went, and ends. */
static void tell_or_hear(bool good)
{
    while (handler.child == 0 && handler.generation == 0)
        wait_microseconds(100);
    if (handler.generation > 0) {
        good = good && handler.inner;
        for (int i = 0; i < 3; i++)
            good = good && job_is_done(&handler.pools->shared, 20) && job_is_done(&handler.pools->own, 20);
        end_child(good ? GOOD : WRONG);
    }
    assert_true(good);
    assert_int_equal(status_of_child(handler.child), GOOD);
}

static void test_forks_in_a_handler(void **state)
{
    (void)state;
    SKIP_FORKS_UNDER_SANITIZERS();
    struct pools pools = make_pools(0);
    struct sigaction forking = {.sa_handler = fork_in_handler, .sa_flags = SA_RESTART}, before;
    handler.pools = &pools;
    assert_true(gather_is_right(&pools.shared) && gather_is_right(&pools.own));
    assert_int_equal(sigaction(SIGALRM, &forking, &before), 0);
    for (int64_t i = 0; i < 40; i++) { /* in short runs too: few of them fork at a bad moment */
        const garner_exec *exec = i % 2 ? &pools.shared : &pools.own;
        handler.gathers = i % 3 > 0;
        expect_signal(1 + i * 977 % 5000);
        tell_or_hear(slow_job_is_done(exec, 9, i % 4 < 2));
        expect_signal(1 + i * 337 % 2000);
        tell_or_hear(gather_is_right(exec) && gather_is_right(exec) && gather_is_right(exec));
    }
    sigaction(SIGALRM, &before, NULL);
    garner_pool_destroy(pools.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_of_threads),
        cmocka_unit_test(test_asked_for),
        cmocka_unit_test(test_one_cpu),
        cmocka_unit_test(test_unknown_cpus),
        cmocka_unit_test(test_ending),
        cmocka_unit_test(test_ending_during_jobs),
        cmocka_unit_test(test_working_at_exit),
        cmocka_unit_test(test_no_worker_at_the_end),
        cmocka_unit_test(test_children_and_theirs),
        cmocka_unit_test(test_children_that_do_nothing),
        cmocka_unit_test(test_forks_during_jobs),
        cmocka_unit_test(test_forks_in_a_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
