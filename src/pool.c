/* SPDX-License-Identifier: MIT */
/*
 * The thread pool: one provider of the executor hook. Each thread has a share of the tasks, side by side and
 * from job to job the same, so that what it wrote may still lie in its own cache; once done with that it
 * helps the others. Between jobs workers spin for a moment, then sleep. A caller that finds the pool busy
 * (another thread's job, or a job inside a job) does its work itself, so nothing can wait for itself. No
 * thread is made before the first job; one that cannot be made leaves its share to the others; those that a
 * fork() left behind are forgotten, and made anew when the child first needs them. A fork() may also come in
 * the middle of a job, out of a signal handler of the job's owner: in the child the owner then ends the job
 * alone, and does again what its lost workers had in hand.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "error.h"
#include "pool.h"
#include "system.h"
#include "system_threads.h"

enum {
    MOST_THREADS = 256,      /* of a pool, the owner of the job among them */
    SPINS = 2000,            /* looks at the next job before a worker sleeps: some tens of microseconds */
    LONG_YIELD = 200 * 1000, /* nanoseconds; a worker that steps aside takes less */
    FEWEST_SKIPPED = 15,     /* jobs that do not yield after one that lost so long, */
    MOST_SKIPPED = 1023,     /* and the most of them */
    IN_JOB = 0xffff,         /* of a pool's doors: the workers inside, */
    SLOT = 1 << 16           /* and, above, how many more may enter */
};

#define NOTHING SIZE_MAX /* no task */

/* Tasks [next, end) of a job, and the task that the thread whose share this is works on or is about to take,
 * from whichever share. */
struct share {
    union {
        struct {
            atomic_size_t next;
            size_t end;
            atomic_size_t in_hand;
        };
        char line[64]; /* or threads would wait for each other's lines */
    };
};

/* One parallel_for. */
struct job {
    garner_task *task;
    void *argument;
    int shares;
};

struct worker {
    pthread_t thread;
    struct garner_pool *pool;
};

struct garner_pool {
    struct share share[MOST_THREADS]; /* of the current job: the owner's, then the workers' */
    int threads;                      /* that a job may use, the caller included */
    atomic_uintptr_t owner; /* the thread whose job is on, which alone touches the next five; or 0 */
    int started;            /* workers that run */
    atomic_uint first;      /* number of the last job before the youngest worker was made */
    int yields_to_skip;     /* jobs that begin without yielding, */
    int skipped;            /* and how many they were to be when the last yield had been judged */
    struct job *job;        /* read by workers inside */
    atomic_int cpu;         /* where its owner works, if a worker was asleep; else -1 */
    atomic_uint number;     /* of the current job; a change tells workers of a new one */
    atomic_uint doors;      /* IN_JOB and SLOTs of the current job */
    atomic_int sleepers;    /* workers that wait for `wake` */
    atomic_bool waiting;    /* the owner waits for `left` */
    atomic_bool stopping;
    garner_semaphore left; /* no condition: one that a fork() finds half waited for can never be used again */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    struct garner_pool *next;           /* in the list of all pools */
    struct worker worker[MOST_THREADS]; /* one more than there can be beside the owner */
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* ---- Workers ---------------------------------------------------------------------------------- */

/* Deals out the tasks of a job, as evenly as can be. */
static void deal_out(struct garner_pool *pool, const struct job *job, size_t count)
{
    const size_t each = count / (size_t)job->shares, extra = count % (size_t)job->shares;
    size_t next = 0;
    for (int k = 0; k < job->shares; k++) {
        atomic_store_explicit(&pool->share[k].next, next, memory_order_relaxed);
        next += each + ((size_t)k < extra);
        pool->share[k].end = next;
    }
}

/* Takes the next task of a share, or NOTHING. It is in hand before it is taken, so that at no moment a task
 * is neither in a share nor in a hand: a fork() may come at any. */
static size_t take_task(struct share *share, atomic_size_t *in_hand)
{
    size_t next = atomic_load_explicit(&share->next, memory_order_relaxed);
    while (next < share->end) {
        atomic_store_explicit(in_hand, next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&share->next, &next, next + 1, memory_order_release,
                                                  memory_order_relaxed))
            return next;
    }
    return NOTHING;
}

/* Works off share number `own`, then what is left of the others. */
static void work_off(struct garner_pool *pool, const struct job *job, int own)
{
    atomic_size_t *in_hand = &pool->share[own].in_hand;
    size_t i;
    for (int k = 0; k < job->shares; k++) {
        struct share *share = &pool->share[(own + k) % job->shares];
        while ((i = take_task(share, in_hand)) != NOTHING)
            job->task(job->argument, i);
    }
    atomic_store_explicit(in_hand, NOTHING, memory_order_release);
}

/* Takes a slot of the current job, if one is left. */
static bool enter_job(struct garner_pool *pool)
{
    unsigned doors = atomic_load_explicit(&pool->doors, memory_order_relaxed);
    while (doors >= SLOT)
        /* uncovered at times: seldom do two workers come to the door in the same moment */
        if (atomic_compare_exchange_weak_explicit(&pool->doors, &doors, doors - SLOT + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

static void leave_job(struct garner_pool *pool)
{
    if (atomic_fetch_sub(&pool->doors, 1) == 1 && atomic_load(&pool->waiting))
        garner_semaphore_post(&pool->left);
}

/* Workers wake each other, one after the other, so that the owner of a job begins to work at once. The
 * mutex is held. */
static void wake_next(struct garner_pool *pool, int sleepers)
{
    if (sleepers > 0 && atomic_load_explicit(&pool->doors, memory_order_relaxed) >= SLOT)
        pthread_cond_signal(&pool->wake);
}

/* Waits for a job other than number `seen`: a while awake, then asleep. False if the pool stops. */
static bool await_job(struct garner_pool *pool, unsigned *seen)
{
    unsigned number = *seen;
    for (int i = 0; i < SPINS && number == *seen; i++) {
        relax();
        number = atomic_load_explicit(&pool->number, memory_order_acquire);
    }
    if (number == *seen) {
        pthread_mutex_lock(&pool->mutex);
        atomic_fetch_add(&pool->sleepers, 1);
        while ((number = atomic_load(&pool->number)) == *seen && !atomic_load(&pool->stopping))
            pthread_cond_wait(&pool->wake, &pool->mutex);
        wake_next(pool, atomic_fetch_sub(&pool->sleepers, 1) - 1);
        pthread_mutex_unlock(&pool->mutex);
    }
    *seen = number;
    return !atomic_load_explicit(&pool->stopping, memory_order_relaxed);
}

/* A system may wake a worker on the CPU that its waker keeps busy, and leave both there for milliseconds
 * though others are idle: it steps aside. That may take a time slice, if another program is busy there, for
 * which the job does not wait, since the worker has not entered it. */
static void *serve(void *context)
{
    const struct worker *self = context;
    struct garner_pool *pool = self->pool;
    unsigned seen = atomic_load_explicit(&pool->first, memory_order_relaxed);
    while (await_job(pool, &seen)) {
        garner_system_step_aside(atomic_load_explicit(&pool->cpu, memory_order_relaxed));
        if (enter_job(pool)) {
            work_off(pool, pool->job, (int)(self - pool->worker) + 1);
            leave_job(pool);
        }
    }
    return NULL;
}

/* ---- Jobs ------------------------------------------------------------------------------------- */

/* A handler that forks would find such a mutex locked by its own thread, for ever. */
static void lock_in_peace(pthread_mutex_t *mutex, garner_signals *before)
{
    garner_signals_block(before);
    pthread_mutex_lock(mutex);
}

static void unlock_in_peace(pthread_mutex_t *mutex, const garner_signals *before)
{
    pthread_mutex_unlock(mutex);
    garner_signals_restore(before);
}

/* Makes workers until `wanted` run, or no more can be made. How many of them run. */
static int start_workers(struct garner_pool *pool, int wanted)
{
    if (pool->started >= wanted) return wanted;
    garner_signals before;
    garner_signals_block(&before);
    atomic_store_explicit(&pool->first, atomic_load_explicit(&pool->number, memory_order_relaxed),
                          memory_order_relaxed);
    for (struct worker *next; pool->started < wanted; pool->started++) {
        next = &pool->worker[pool->started];
        next->pool = pool;
        if (pthread_create(&next->thread, NULL, serve, next) != 0) break;
    }
    garner_signals_restore(&before);
    return pool->started;
}

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Yields to a worker that was woken on this CPU, and will step aside. Where a thread of another library spins
 * here that one takes a whole time slice instead: the more often this happens, the fewer jobs yield. */
static void yield_to_worker(struct garner_pool *pool)
{
    if (pool->yields_to_skip > 0) {
        pool->yields_to_skip--;
        return;
    }
    const int64_t begin = nanoseconds();
    sched_yield();
    const bool lost = nanoseconds() - begin > LONG_YIELD;
    pool->skipped = lost ? (int)at_most(4 * pool->skipped + FEWEST_SKIPPED, MOST_SKIPPED) : pool->skipped / 2;
    pool->yields_to_skip = pool->skipped;
}

static void open_job(struct garner_pool *pool, struct job *job, int workers)
{
    garner_signals before;
    pool->job = job;
    atomic_store_explicit(&pool->cpu, atomic_load(&pool->sleepers) > 0 ? garner_system_cpu() : -1,
                          memory_order_relaxed);
    atomic_store_explicit(&pool->doors, (unsigned)workers * SLOT, memory_order_release);
    atomic_fetch_add(&pool->number, 1);
    int sleepers = atomic_load(&pool->sleepers);
    if (sleepers == 0) return;
    lock_in_peace(&pool->mutex, &before);
    wake_next(pool, sleepers);
    unlock_in_peace(&pool->mutex, &before);
    yield_to_worker(pool);
}

static bool is_left(struct garner_pool *pool)
{
    return (atomic_load(&pool->doors) & IN_JOB) == 0;
}

/* Lets nobody in any more, and waits until all are out. */
static void close_job(struct garner_pool *pool)
{
    atomic_fetch_and(&pool->doors, IN_JOB);
    for (int i = 0; i < SPINS && !is_left(pool); i++)
        relax();
    if (is_left(pool)) return;
    atomic_store(&pool->waiting, true);
    /* uncovered at times: seldom has a worker of an earlier job posted what nobody waited for */
    while (garner_semaphore_take(&pool->left))
        continue; /* uncovered at times: as above */
    while (!is_left(pool))
        garner_semaphore_wait(&pool->left);
    atomic_store(&pool->waiting, false);
}

/* Forgets what workers, which are gone, had in hand. */
static void empty_hands(struct garner_pool *pool)
{
    for (int k = 0; k < MOST_THREADS; k++)
        atomic_store_explicit(&pool->share[k].in_hand, NOTHING, memory_order_relaxed);
}

/* In a child that was made in the middle of the job: does what workers had in hand that did not come along.
 * A task that they had just finished, or not yet taken, is done twice. */
static void finish_alone(struct garner_pool *pool, const struct job *job)
{
    for (int k = 1; k < MOST_THREADS; k++) {
        const size_t lost = atomic_load_explicit(&pool->share[k].in_hand, memory_order_relaxed);
        if (lost != NOTHING) job->task(job->argument, lost);
    }
    empty_hands(pool);
}

/* Whether this thread has the pool to itself from now on. */
static bool take_pool(struct garner_pool *pool)
{
    uintptr_t nobody = 0;
    return atomic_compare_exchange_strong_explicit(&pool->owner, &nobody, (uintptr_t)pthread_self(),
                                                   memory_order_acquire, memory_order_relaxed);
}

static atomic_uint forks_behind; /* how many forks led to this process since the first job */

/* Runs a job on at most `threads` threads, this one included. */
static int run_job(struct garner_pool *pool, int threads, garner_task *task, void *argument, size_t count)
{
    int wanted = count < (size_t)threads ? (int)count - 1 : threads - 1;
    if (wanted <= 0 || !take_pool(pool)) {
        for (size_t i = 0; i < count; i++)
            task(argument, i);
        return 0;
    }
    const unsigned forks = atomic_load_explicit(&forks_behind, memory_order_relaxed);
    const int workers = start_workers(pool, wanted);
    struct job job = {.task = task, .argument = argument, .shares = workers + 1};
    deal_out(pool, &job, count);
    open_job(pool, &job, workers);
    work_off(pool, &job, 0);
    close_job(pool);
    if (atomic_load_explicit(&forks_behind, memory_order_relaxed) != forks) finish_alone(pool, &job);
    atomic_store_explicit(&pool->owner, 0, memory_order_release);
    return 0;
}

/* ---- Pools, and what becomes of them in a child process ------------------------------------------ */

static pthread_mutex_t pools_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct garner_pool *pools;

/* A pool without workers, whatever it was before. */
static void reset_pool(struct garner_pool *pool)
{
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->started = 0;
    atomic_init(&pool->stopping, false);
    atomic_init(&pool->doors, 0);
    atomic_init(&pool->sleepers, 0);
}

static void before_fork(void)
{
    pthread_mutex_lock(&pools_mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&pools_mutex);
}

/* A job of this very thread, which a signal interrupted, goes on without its workers: nobody is inside any
 * more. The jobs of all other threads are gone. */
static void after_fork_in_child(void)
{
    atomic_fetch_add(&forks_behind, 1);
    for (struct garner_pool *pool = pools; pool; pool = pool->next) {
        reset_pool(pool);
        if (atomic_load(&pool->owner) == (uintptr_t)pthread_self()) {
            garner_semaphore_post(&pool->left); /* it may wait */
        } else {
            empty_hands(pool);
            atomic_store(&pool->owner, 0);
        }
    }
    pthread_mutex_unlock(&pools_mutex);
}

static void watch_forks(void)
{
    garner_forks_watch(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* A fork in the middle of the default pool's making has the child make it again. */
static bool is_listed(const struct garner_pool *pool)
{
    const struct garner_pool *other = pools;
    while (other && other != pool) /* uncovered: no test can fork in the middle of pthread_once() */
        other = other->next;
    return other != NULL;
}

static void enlist_pool(struct garner_pool *pool, int threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    garner_signals before;
    pthread_once(&once, watch_forks);
    pool->threads = threads;
    reset_pool(pool);
    empty_hands(pool);
    garner_semaphore_init(&pool->left);
    lock_in_peace(&pools_mutex, &before);
    if (!is_listed(pool)) { /* uncovered at times: as there */
        pool->next = pools;
        pools = pool;
    }
    unlock_in_peace(&pools_mutex, &before);
}

/* Without signals: in the child of a handler that forks now, this thread would wait for workers that did not
 * come along. */
static void stop_workers(struct garner_pool *pool)
{
    garner_signals before;
    lock_in_peace(&pool->mutex, &before);
    atomic_store(&pool->stopping, true);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    while (pool->started > 0)
        pthread_join(pool->worker[--pool->started].thread, NULL);
    garner_signals_restore(&before);
}

/* ---- The default pool -------------------------------------------------------------------------- */

static struct garner_pool default_pool;

/* GARNER_NUM_THREADS where it is a number from 1 to 2^31 - 1, digits alone; else the CPUs that this process
 * may use. */
static int threads_by_default(void)
{
    const char *text = getenv("GARNER_NUM_THREADS");
    char *end;
    bool digits = text && text[0] >= '1' && text[0] <= '9';
    long long number = digits ? strtoll(text, &end, 10) : 0;
    if (number >= 1 && number <= INT32_MAX && *end == '\0') return (int)at_most(number, MOST_THREADS);
    return (int)at_most(garner_system_cpus(), MOST_THREADS);
}

static void make_default_pool(void)
{
    garner_stay_loaded();
    enlist_pool(&default_pool, threads_by_default());
}

static struct garner_pool *use_default_pool(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_bool made;
    garner_signals before;
    if (atomic_load_explicit(&made, memory_order_acquire)) return &default_pool;
    garner_signals_block(&before); /* a handler that forks would have the child make it twice */
    pthread_once(&once, make_default_pool);
    garner_signals_restore(&before);
    atomic_store_explicit(&made, true, memory_order_release);
    return &default_pool;
}

int garner_pool_threads(void)
{
    return use_default_pool()->threads;
}

/* A thread that still runs a job while the program exits keeps its workers. */
AT_UNLOAD static void stop_default_pool(void)
{
    if (take_pool(&default_pool) && default_pool.started > 0) stop_workers(&default_pool);
}

/* How many threads an executor of the default pool stands for. */
static int threads_of_default(void *context)
{
    const int threads = (int)(uintptr_t)context;
    return threads > 0 ? threads : use_default_pool()->threads;
}

static int run_on_default(void *context, garner_task *task, void *argument, size_t count)
{
    return run_job(use_default_pool(), threads_of_default(context), task, argument, count);
}

static int threads_of_pool(void *context)
{
    const struct garner_pool *pool = context;
    return pool->threads;
}

static int run_on_pool(void *context, garner_task *task, void *argument, size_t count)
{
    struct garner_pool *pool = context;
    return run_job(pool, pool->threads, task, argument, count);
}

garner_exec garner_threads(int count)
{
    int threads = (int)at_most(count > 0 ? count : 0, MOST_THREADS);
    return (garner_exec){.size = sizeof(garner_exec),
                         .parallel_for = run_on_default,
                         .context = (void *)(uintptr_t)threads,
                         .threads = threads_of_default};
}

/* ---- Pools of the caller's own ------------------------------------------------------------------ */

garner_status garner_pool_create(garner_pool **pool, int threads, garner_error *error)
{
    garner_error spare;
    error = error_begin(error, &spare);
    if (pool == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_pool_create: pool is NULL");
    *pool = NULL;
    if (threads < 0 || threads > MOST_THREADS)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_pool_create: threads %d is outside [0, %d]",
                           threads, MOST_THREADS);
    struct garner_pool *made = calloc(1, sizeof *made);
    if (made == NULL) return garner_fail(error, GARNER_NO_MEMORY, "garner_pool_create: no memory for a pool");
    enlist_pool(made, threads > 0 ? threads : garner_pool_threads());
    *pool = made;
    return GARNER_OK;
}

garner_exec garner_pool_exec(garner_pool *pool)
{
    if (pool == NULL) return garner_threads(0);
    return (garner_exec){.size = sizeof(garner_exec),
                         .parallel_for = run_on_pool,
                         .context = pool,
                         .threads = threads_of_pool};
}

void garner_pool_destroy(garner_pool *pool)
{
    garner_signals before;
    if (pool == NULL) return;
    stop_workers(pool); /* while it is listed: a child forgets them */
    lock_in_peace(&pools_mutex, &before);
    struct garner_pool **link = &pools;
    while (*link != pool) /* it is there, since it was created */
        link = &(*link)->next;
    *link = pool->next;
    unlock_in_peace(&pools_mutex, &before);
    free(pool);
}
