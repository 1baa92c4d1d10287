/* SPDX-License-Identifier: MIT */
/*
 * The thread pool: one provider of the executor hook. Each thread has a share of the tasks, side by side and
 * from job to job the same, so that what it wrote may still lie in its own cache; once done with that it
 * helps the others. Between jobs workers spin for a moment, then sleep. A caller that finds the pool busy
 * (another thread's job, or a job inside a job) does its work itself, so nothing can wait for itself. No
 * thread is made before the first job; one that cannot be made leaves its share to the others; those that a
 * fork() left behind are forgotten, and made anew when the child first needs them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "error.h"
#include "pool.h"

enum {
    MOST_THREADS = 256, /* of a pool, the owner of the job among them */
    MOST_WORKERS = MOST_THREADS - 1,
    SPINS = 2000,    /* looks at the next job before a worker sleeps: some tens of microseconds */
    IN_JOB = 0xffff, /* of a pool's doors: the workers inside, */
    SLOT = 1 << 16   /* and, above, how many more may enter */
};

/* Tasks [next, end) of a job. */
struct share {
    atomic_size_t next;
    size_t end;
    char apart[64 - 2 * sizeof(size_t)]; /* or threads would wait for each other's lines */
};

/* One parallel_for. */
struct job {
    garner_task *task;
    void *argument;
    int shares;
    int cpu; /* where its owner works, if a worker was asleep; else -1 */
};

struct worker {
    pthread_t thread;
    struct garner_pool *pool;
};

struct garner_pool {
    struct share share[MOST_THREADS]; /* of the current job: the owner's, then the workers' */
    int threads;                      /* that a job may use, the caller included */
    atomic_flag busy;                 /* somebody's job is on; its owner alone touches the next three */
    int started;                      /* workers that run */
    atomic_uint first;                /* number of the last job before the youngest worker was made */
    struct job *job;                  /* read by workers inside */
    atomic_uint number;               /* of the current job; a change tells workers of a new one */
    atomic_uint doors;                /* IN_JOB and SLOTs of the current job */
    atomic_int sleepers;              /* workers that wait for `wake` */
    atomic_bool waiting;              /* the owner waits for `left` */
    atomic_bool stopping;
    pthread_mutex_t mutex;
    pthread_cond_t wake, left;
    struct garner_pool *next; /* in the list of all pools */
    struct worker worker[MOST_WORKERS];
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

/* Works off share number `own`, then what is left of the others. */
static void work_off(struct garner_pool *pool, const struct job *job, int own)
{
    size_t i;
    for (int k = 0; k < job->shares; k++) {
        struct share *share = &pool->share[(own + k) % job->shares];
        if (atomic_load_explicit(&share->next, memory_order_relaxed) >= share->end) continue;
        while ((i = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed)) < share->end)
            job->task(job->argument, i);
    }
}

/* Takes a slot of the current job, if one is left. */
static bool enter_job(struct garner_pool *pool)
{
    unsigned doors = atomic_load_explicit(&pool->doors, memory_order_relaxed);
    while (doors >= SLOT)
        if (atomic_compare_exchange_weak_explicit(&pool->doors, &doors, doors - SLOT + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

static void leave_job(struct garner_pool *pool)
{
    if (atomic_fetch_sub(&pool->doors, 1) != 1 || !atomic_load(&pool->waiting)) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->mutex);
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
 * though others are idle. Whoever finds himself there moves on to another CPU, then lets the system choose
 * again. */
static void step_aside(int cpu)
{
    cpu_set_t allowed, others;
    if (cpu < 0 || sched_getcpu() != cpu || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    others = allowed;
    CPU_CLR((unsigned)cpu, &others);
    if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

static void *serve(void *context)
{
    const struct worker *self = context;
    struct garner_pool *pool = self->pool;
    unsigned seen = atomic_load_explicit(&pool->first, memory_order_relaxed);
    while (await_job(pool, &seen))
        if (enter_job(pool)) {
            step_aside(pool->job->cpu);
            work_off(pool, pool->job, (int)(self - pool->worker) + 1);
            leave_job(pool);
        }
    return NULL;
}

/* ---- Jobs ------------------------------------------------------------------------------------- */

/* Signals are for the program's own threads, but for those that a thread's own access raises, as to a mapped
 * file that has become shorter: where they are blocked nobody can handle them, and the program ends. */
static void block_signals(sigset_t *before)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

/* Makes workers until `wanted` run, or no more can be made. How many of them run. */
static int start_workers(struct garner_pool *pool, int wanted)
{
    if (pool->started >= wanted) return wanted;
    sigset_t before;
    block_signals(&before);
    atomic_store_explicit(&pool->first, atomic_load_explicit(&pool->number, memory_order_relaxed),
                          memory_order_relaxed);
    for (struct worker *next; pool->started < wanted; pool->started++) {
        next = &pool->worker[pool->started];
        next->pool = pool;
        if (pthread_create(&next->thread, NULL, serve, next) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool->started < wanted ? pool->started : wanted;
}

static void open_job(struct garner_pool *pool, struct job *job, int workers)
{
    pool->job = job;
    job->cpu = atomic_load(&pool->sleepers) > 0 ? sched_getcpu() : -1;
    atomic_store_explicit(&pool->doors, (unsigned)workers * SLOT, memory_order_release);
    atomic_fetch_add(&pool->number, 1);
    int sleepers = atomic_load(&pool->sleepers);
    if (sleepers == 0) return;
    pthread_mutex_lock(&pool->mutex);
    wake_next(pool, sleepers);
    pthread_mutex_unlock(&pool->mutex);
    sched_yield(); /* to a worker that was woken on this CPU, and will step aside */
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
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->waiting, true);
    while (!is_left(pool))
        pthread_cond_wait(&pool->left, &pool->mutex);
    atomic_store(&pool->waiting, false);
    pthread_mutex_unlock(&pool->mutex);
}

/* Runs a job on at most `threads` threads, this one included. */
static int run_job(struct garner_pool *pool, int threads, garner_task *task, void *argument, size_t count)
{
    int wanted = count < (size_t)threads ? (int)count - 1 : threads - 1;
    if (wanted <= 0 || atomic_flag_test_and_set_explicit(&pool->busy, memory_order_acquire)) {
        for (size_t i = 0; i < count; i++)
            task(argument, i);
        return 0;
    }
    const int workers = start_workers(pool, wanted);
    struct job job = {.task = task, .argument = argument, .shares = workers + 1};
    deal_out(pool, &job, count);
    open_job(pool, &job, workers);
    work_off(pool, &job, 0);
    close_job(pool);
    atomic_flag_clear_explicit(&pool->busy, memory_order_release);
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
    pthread_cond_init(&pool->left, NULL);
    pool->started = 0;
    atomic_init(&pool->stopping, false);
    atomic_init(&pool->doors, 0);
    atomic_init(&pool->sleepers, 0);
    atomic_init(&pool->waiting, false);
    atomic_flag_clear(&pool->busy);
}

static void before_fork(void)
{
    pthread_mutex_lock(&pools_mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&pools_mutex);
}

static void after_fork_in_child(void)
{
    for (struct garner_pool *pool = pools; pool; pool = pool->next)
        reset_pool(pool);
    pthread_mutex_unlock(&pools_mutex);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* A fork in the middle of the default pool's making has the child make it again. */
static bool is_listed(const struct garner_pool *pool)
{
    const struct garner_pool *other = pools;
    while (other && other != pool)
        other = other->next;
    return other != NULL;
}

static void enlist_pool(struct garner_pool *pool, int threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pool->threads = threads;
    reset_pool(pool);
    pthread_mutex_lock(&pools_mutex);
    if (!is_listed(pool)) {
        pool->next = pools;
        pools = pool;
    }
    pthread_mutex_unlock(&pools_mutex);
}

static void stop_workers(struct garner_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->stopping, true);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    while (pool->started > 0)
        pthread_join(pool->worker[--pool->started].thread, NULL);
}

/* ---- The default pool -------------------------------------------------------------------------- */

static struct garner_pool default_pool;

int garner_pool_cpus(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* GARNER_NUM_THREADS where it is a number from 1 up, digits alone; else the CPUs that this process may use.
 */
static int threads_by_default(void)
{
    const char *text = getenv("GARNER_NUM_THREADS");
    char *end;
    bool digits = text && text[0] >= '1' && text[0] <= '9';
    long number = digits ? strtol(text, &end, 10) : 0;
    if (number >= 1 && *end == '\0') return (int)at_most(number, MOST_THREADS);
    return (int)at_most(garner_pool_cpus(), MOST_THREADS);
}

static void make_default_pool(void)
{
    enlist_pool(&default_pool, threads_by_default());
}

static struct garner_pool *use_default_pool(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_default_pool);
    return &default_pool;
}

int garner_pool_threads(void)
{
    return use_default_pool()->threads;
}

/* A thread that still runs a job while the program exits keeps its workers. */
__attribute__((destructor)) static void stop_default_pool(void)
{
    if (!atomic_flag_test_and_set(&default_pool.busy) && default_pool.started > 0)
        stop_workers(&default_pool);
}

/* How many threads an executor of the default pool stands for. */
static int threads_of_default(const void *context)
{
    const int threads = (int)(uintptr_t)context;
    return threads > 0 ? threads : use_default_pool()->threads;
}

static int run_on_default(void *context, garner_task *task, void *argument, size_t count)
{
    return run_job(use_default_pool(), threads_of_default(context), task, argument, count);
}

static int run_on_pool(void *context, garner_task *task, void *argument, size_t count)
{
    struct garner_pool *pool = context;
    return run_job(pool, pool->threads, task, argument, count);
}

garner_exec garner_threads(int count)
{
    int threads = (int)at_most(count > 0 ? count : 0, MOST_THREADS);
    return (garner_exec){
        .size = sizeof(garner_exec), .parallel_for = run_on_default, .context = (void *)(uintptr_t)threads};
}

int garner_pool_width(const garner_exec *exec)
{
    if (exec->parallel_for == run_on_default) return threads_of_default(exec->context);
    return exec->parallel_for == run_on_pool ? ((const struct garner_pool *)exec->context)->threads : 0;
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
    return (garner_exec){.size = sizeof(garner_exec), .parallel_for = run_on_pool, .context = pool};
}

void garner_pool_destroy(garner_pool *pool)
{
    if (pool == NULL) return;
    pthread_mutex_lock(&pools_mutex);
    for (struct garner_pool **link = &pools; *link; link = &(*link)->next)
        if (*link == pool) {
            *link = pool->next;
            break;
        }
    pthread_mutex_unlock(&pools_mutex);
    stop_workers(pool);
    free(pool);
}
