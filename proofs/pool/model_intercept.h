/* SPDX-License-Identifier: MIT */
/* Put before the sources under test by -include: what they call of the system is the model's. */
#ifndef GARNER_PROOFS_MODEL_INTERCEPT_H
#define GARNER_PROOFS_MODEL_INTERCEPT_H

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

int model_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int model_mutex_lock(pthread_mutex_t *mutex);
int model_mutex_unlock(pthread_mutex_t *mutex);
int model_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int model_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int model_cond_signal(pthread_cond_t *condition);
int model_cond_broadcast(pthread_cond_t *condition);
int model_sem_init(sem_t *semaphore, int shared, unsigned value);
int model_sem_post(sem_t *semaphore);
int model_sem_wait(sem_t *semaphore);
int model_sem_trywait(sem_t *semaphore);
int model_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);
int model_join(pthread_t thread, void **result);
pthread_t model_self(void);
int model_once(pthread_once_t *once, void (*function)(void));
int model_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
int model_sigmask(int how, const sigset_t *now, sigset_t *before);
int model_yield(void);
int model_getcpu(void);
int model_getaffinity(pid_t thread, size_t size, cpu_set_t *set);
int model_setaffinity(pid_t thread, size_t size, const cpu_set_t *set);
int model_gettime(clockid_t clock, struct timespec *now);
void *model_calloc(size_t count, size_t size);
void model_free(void *block);

#ifndef GARNER_PROOFS_MODEL_ITSELF
#define pthread_mutex_init model_mutex_init
#define pthread_mutex_lock model_mutex_lock
#define pthread_mutex_unlock model_mutex_unlock
#define pthread_cond_init model_cond_init
#define pthread_cond_wait model_cond_wait
#define pthread_cond_signal model_cond_signal
#define pthread_cond_broadcast model_cond_broadcast
#define sem_init model_sem_init
#define sem_post model_sem_post
#define sem_wait model_sem_wait
#define sem_trywait model_sem_trywait
#define pthread_create model_create
#define pthread_join model_join
#define pthread_self model_self
#define pthread_once model_once
#define pthread_atfork model_atfork
#define pthread_sigmask model_sigmask
#define sched_yield model_yield
#define sched_getcpu model_getcpu
#define sched_getaffinity model_getaffinity
#define sched_setaffinity model_setaffinity
#define clock_gettime model_gettime
#define calloc model_calloc
#define free model_free
#endif

#endif
