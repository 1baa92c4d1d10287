/* SPDX-License-Identifier: MIT */
/*
 * What threads need of the system beyond POSIX's threads, mutexes and conditions, which MinGW-w64 brings to
 * Windows: semaphores, signals that wait, forks, and the end of the program. For files that define
 * _GNU_SOURCE.
 */
#ifndef GARNER_SYSTEM_THREADS_H
#define GARNER_SYSTEM_THREADS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- Semaphores: they work after a fork(), whatever it interrupted ---- */

#if defined(__APPLE__) /* whose semaphores are of one process alone, or have names in the file system */
typedef atomic_int garner_semaphore;

void garner_semaphore_init(garner_semaphore *semaphore);
void garner_semaphore_post(garner_semaphore *semaphore);
bool garner_semaphore_take(garner_semaphore *semaphore);
void garner_semaphore_wait(garner_semaphore *semaphore);
#else
#include <semaphore.h>

typedef sem_t garner_semaphore;

static inline void garner_semaphore_init(garner_semaphore *semaphore)
{
    sem_init(semaphore, 0, 0);
}

static inline void garner_semaphore_post(garner_semaphore *semaphore)
{
    sem_post(semaphore);
}

/* Takes one that was posted; false, at once, if there is none. */
static inline bool garner_semaphore_take(garner_semaphore *semaphore)
{
    return sem_trywait(semaphore) == 0;
}

/* Waits for one, or for a signal. */
static inline void garner_semaphore_wait(garner_semaphore *semaphore)
{
    sem_wait(semaphore);
}
#endif

/* ---- Signals, forks, and the end ---- */

#if defined(_WIN32) /* which has none of the first two */
typedef char garner_signals;

static inline void garner_signals_block(garner_signals *before)
{
    *before = 0;
}

static inline void garner_signals_restore(const garner_signals *before)
{
    (void)before;
}

static inline void garner_forks_watch(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before, (void)in_parent, (void)in_child;
}

/* Threads cannot be joined while Windows unloads a library, so it stays, and they end with the program. */
void garner_stay_loaded(void);
#define AT_UNLOAD __attribute__((unused))
#else
typedef sigset_t garner_signals;

/* Signals wait, but for those that a thread's own access raises, until they are restored. */
void garner_signals_block(garner_signals *before);
void garner_signals_restore(const garner_signals *before);

void garner_forks_watch(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

static inline void garner_stay_loaded(void)
{
}
#define AT_UNLOAD __attribute__((destructor))
#endif

#endif
