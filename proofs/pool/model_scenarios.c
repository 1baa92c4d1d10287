/* SPDX-License-Identifier: MIT */
/*
 * What the pool is made to do, and what must hold: each task runs once (in a child of fork() at least once),
 * with all that its caller wrote before; the call returns when all are done, knowing all that they wrote; no
 * task and no look at the job comes later; nobody waits for ever. Tasks that meet wait for each other, so a
 * worker that sleeps through its job is one who never comes.
 */
#define GARNER_PROOFS_MODEL_ITSELF
#include "model_intercept.h"

#include "garner.h"
#include "model_world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum forking { NO_FORK, IN_A_HANDLER, BY_ANOTHER_THREAD };

struct scenario {
    const char *name;
    int threads, callers, jobs, tasks, failures;
    bool meet, nested;
    enum forking forking;
};

static const struct scenario *now;
static garner_pool *pool;

void __tsan_read1(void *address);
void __tsan_write1(void *address);

static void run_jobs(int caller, int jobs);

static void task(void *argument, size_t number)
{
    struct job_record *job = argument;
    const int caller = (int)(job - world.job) % 2;
    if (!job->open) fault("a task runs after its job has ended");
    if (number >= job->count) fault("a task that the job does not have");
    job->begun++;
    __tsan_read1(&world.input[caller]);
    if (now->meet && !job->forked)
        request((struct operation){.kind = MEET, .location = (int8_t)(job - world.job)});
    if (now->nested && number == 0 && caller == 0) run_jobs(1, 1);
    if (world.forks_left > 0) request((struct operation){.kind = MOMENT});
    __tsan_write1(&world.result[caller][number]);
    job->done[number]++;
}

static void look_at_results(const struct job_record *job, int caller)
{
    for (int i = 0; i < job->count; i++) {
        if (job->done[i] == 0) fault("a call returns before task %d is done", i);
        if (job->done[i] > 1 && !job->forked) fault("task %d is done %d times", i, job->done[i]);
        __tsan_read1(&world.result[caller][i]);
    }
}

/* Records of caller 0 are the even ones; those of caller 1, and of jobs within jobs, the odd ones. */
static struct job_record *open_record(int caller)
{
    for (int i = caller; i < MOST_JOBS; i += 2)
        if (world.job[i].count == 0) {
            world.job[i] = (struct job_record){.open = true, .count = (uint8_t)now->tasks};
            if (world.jobs <= i) world.jobs = (uint8_t)(i + 1);
            return &world.job[i];
        }
    fault("the model has no room for another job");
}

static void run_jobs(int caller, int jobs)
{
    const garner_exec exec = garner_pool_exec(pool);
    for (int i = 0; i < jobs; i++) {
        struct job_record *job = open_record(caller);
        __tsan_write1(&world.input[caller]);
        exec.parallel_for(exec.context, task, job, job->count);
        look_at_results(job, caller);
        *job = (struct job_record){.count = job->count};
    }
}

static void *second_caller(void *unused)
{
    run_jobs(1, now->jobs);
    return unused;
}

/* The child of a thread that had nothing to do with the pool uses it. */
static void *forking_thread(void *unused)
{
    request((struct operation){.kind = MOMENT});
    fork_here();
    run_jobs(1, 1);
    garner_pool_destroy(pool);
    return unused;
}

static void *first_caller(void *unused)
{
    pthread_t other = 0;
    struct fiber *self = &world.fiber[world.running];
    if (garner_pool_create(&pool, now->threads, NULL) != GARNER_OK) fault("no pool is made");
    self->may_fork = now->forking == IN_A_HANDLER;
    world.fork_is_elsewhere = now->forking == BY_ANOTHER_THREAD;
    world.forks_left = now->forking != NO_FORK;
    if (now->callers == 2) model_create(&other, NULL, second_caller, NULL);
    if (now->forking == BY_ANOTHER_THREAD) model_create(&other, NULL, forking_thread, NULL);
    world.failures_left = (uint8_t)now->failures;
    run_jobs(0, now->jobs);
    if (world.forked) run_jobs(0, 1); /* with workers of its own */
    if (now->callers == 2) model_join(other, NULL);
    if (now->forking != BY_ANOTHER_THREAD) garner_pool_destroy(pool); /* which still needs it */
    return unused;
}

static void begin(void)
{
    fiber_begin(0, first_caller, NULL);
}

static const struct scenario scenarios[] = {
    {"two threads, three jobs", .threads = 2, .callers = 1, .jobs = 3, .tasks = 3},
    {"two threads, tasks that meet", .threads = 2, .callers = 1, .jobs = 2, .tasks = 2, .meet = true},
    {"jobs within jobs", .threads = 2, .callers = 1, .jobs = 1, .tasks = 2, .nested = true},
    {"three threads, tasks that meet", .threads = 3, .callers = 1, .jobs = 1, .tasks = 3, .meet = true},
    {"threads that cannot be made", .threads = 2, .callers = 1, .jobs = 2, .tasks = 2, .failures = 1},
    {"two callers", .threads = 2, .callers = 2, .jobs = 1, .tasks = 2},
    {"a fork in a handler", .threads = 2, .callers = 1, .jobs = 1, .tasks = 3, .forking = IN_A_HANDLER},
    {"a fork by another thread", .threads = 2, .callers = 1, .jobs = 1, .tasks = 2, .meet = true,
     .forking = BY_ANOTHER_THREAD},
};

/* Names choose scenarios, by their beginning. Leaves without the library's destructors, which are under test.
 */
int main(int count, char **names)
{
    int run = 0;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        bool wanted = count == 1;
        for (int k = 1; k < count; k++)
            wanted = wanted || strncmp(scenarios[i].name, names[k], strlen(names[k])) == 0;
        if (!wanted) continue;
        now = &scenarios[i];
        search(now->name, begin);
        run++;
    }
    fflush(stdout);
    _exit(run > 0 ? 0 : 2);
}
