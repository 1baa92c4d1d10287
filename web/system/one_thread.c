/* SPDX-License-Identifier: MIT */
/* The pool where there are no threads: whoever calls does the work. */
#include <stdlib.h>

#include "error.h"
#include "pool.h"

enum { MOST_THREADS = 256 }; /* as in src/pool.c */

struct garner_pool {
    int threads;
};

int garner_pool_threads(void)
{
    return 1;
}

static int run_here(void *context, garner_task *task, void *argument, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        task(argument, i);
    return 0;
}

static int one_thread(void *context)
{
    (void)context;
    return 1;
}

garner_exec garner_threads(int count)
{
    (void)count;
    return (garner_exec){.size = sizeof(garner_exec), .parallel_for = run_here, .threads = one_thread};
}

garner_status garner_pool_create(garner_pool **pool, int threads, garner_error *error)
{
    garner_error spare;
    error = error_begin(error, &spare);
    if (pool == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_pool_create: pool is NULL");
    *pool = NULL;
    if (threads < 0 || threads > MOST_THREADS)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_pool_create: threads %d is outside [0, %d]",
                           threads, MOST_THREADS);
    *pool = calloc(1, sizeof **pool);
    if (*pool == NULL)
        return garner_fail(error, GARNER_NO_MEMORY, "garner_pool_create: no memory for a pool");
    return GARNER_OK;
}

garner_exec garner_pool_exec(garner_pool *pool)
{
    (void)pool;
    return garner_threads(1);
}

void garner_pool_destroy(garner_pool *pool)
{
    free(pool);
}
