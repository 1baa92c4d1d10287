/* SPDX-License-Identifier: MIT */
/*
 * Counts the threads that a test program creates, and refuses them when told to: the program's own
 * pthread_create stands before libc's. Into a static program (TEST_IS_STATIC) the linker puts it (--wrap).
 * The sanitizers have one of their own, so there it is left alone, and what depends on it says so:
 * COUNTS_CREATIONS. And counts those that there are. Include this in one file of a program, after
 * _GNU_SOURCE.
 */
#ifndef GARNER_TESTS_CREATIONS_H
#define GARNER_TESTS_CREATIONS_H

#include "random.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define COUNTS_CREATIONS (!TEST_SANITIZED)

static atomic_int creations_allowed __attribute__((unused)) = INT32_MAX;
static atomic_int creations_refused __attribute__((unused));
static atomic_int creations_made __attribute__((unused));

#if COUNTS_CREATIONS
typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

#ifdef TEST_IS_STATIC
create_function __real_pthread_create, __wrap_pthread_create;
#define OWN_PTHREAD_CREATE __wrap_pthread_create

static create_function *real_pthread_create(void)
{
    return __real_pthread_create;
}
#else
#define OWN_PTHREAD_CREATE pthread_create

static create_function *real_pthread_create(void)
{
    static create_function *_Atomic real;
    if (!atomic_load(&real)) {
        create_function *found;
        *(void **)&found = dlsym(RTLD_NEXT, "pthread_create");
        atomic_store(&real, found);
    }
    return atomic_load(&real);
}
#endif

int OWN_PTHREAD_CREATE(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                       void *argument)
{
    if (atomic_fetch_sub(&creations_allowed, 1) <= 0) {
        atomic_fetch_add(&creations_refused, 1);
        return EAGAIN;
    }
    atomic_fetch_add(&creations_made, 1);
    return real_pthread_create()(thread, attributes, start, argument);
}
#endif

/* How many threads this process has; -1 if nobody says so. */
static __attribute__((unused)) int threads_alive(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    if (tasks == NULL) return -1;
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

#endif
