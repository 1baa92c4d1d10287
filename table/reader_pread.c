/* SPDX-License-Identifier: MIT */
/* Reads by a few threads, each waiting for one read at a time. Without threads, where none can be made, reads
 * are done when somebody waits for them. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64

#include "reader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_THREADS = 16, STACK = 1 << 18 };

struct queue {
    struct read *first, **last;
};

struct pool {
    struct reader reader;
    int descriptor;
    int stopping;
    unsigned waiting; /* threads that sleep */
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    struct queue todo, finished;
    int threads;
    pthread_t thread[MOST_THREADS];
};

static void put(struct queue *queue, struct read *read)
{
    read->next = NULL;
    *queue->last = read;
    queue->last = &read->next;
}

static struct read *take(struct queue *queue)
{
    struct read *read = queue->first;
    if (read && !(queue->first = read->next)) queue->last = &queue->first;
    return read;
}

static void read_one(const struct pool *pool, struct read *read)
{
    ssize_t got = pread(pool->descriptor, read->into, read->size, (off_t)read->offset);
    read->got = got < 0 ? -errno : got;
}

static void *work(void *argument)
{
    struct pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping) {
        struct read *read = take(&pool->todo);
        if (!read) {
            pool->waiting++;
            pthread_cond_wait(&pool->begun, &pool->lock);
            pool->waiting--;
            continue;
        }
        pthread_mutex_unlock(&pool->lock);
        read_one(pool, read);
        pthread_mutex_lock(&pool->lock);
        put(&pool->finished, read);
        pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int start(struct reader *reader, struct read *read)
{
    struct pool *pool = (struct pool *)reader;
    pthread_mutex_lock(&pool->lock);
    put(&pool->todo, read);
    int wake = pool->waiting > 0;
    pthread_mutex_unlock(&pool->lock);
    if (wake) pthread_cond_signal(&pool->begun);
    return 0;
}

static struct read *finish(struct reader *reader)
{
    struct pool *pool = (struct pool *)reader;
    pthread_mutex_lock(&pool->lock);
    struct read *read = take(&pool->finished);
    if (!read && !pool->threads && (read = take(&pool->todo))) read_one(pool, read);
    while (!read && pool->threads) {
        pthread_cond_wait(&pool->done, &pool->lock);
        read = take(&pool->finished);
    }
    pthread_mutex_unlock(&pool->lock);
    return read;
}

static void close_pool(struct reader *reader)
{
    struct pool *pool = (struct pool *)reader;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = 1;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_broadcast(&pool->begun);
    for (int i = 0; i < pool->threads; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->begun);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Signals are for the program's own threads. Stacks are small: a process may have few addresses left. */
static void make_threads(struct pool *pool, unsigned most)
{
    sigset_t all, before;
    pthread_attr_t small;
    if (pthread_attr_init(&small)) return;
    (void)pthread_attr_setstacksize(&small, STACK);
    sigfillset(&all);
    int masked = pthread_sigmask(SIG_BLOCK, &all, &before) == 0;
    while (pool->threads < (int)(most < MOST_THREADS ? most : MOST_THREADS) &&
           pthread_create(&pool->thread[pool->threads], &small, work, pool) == 0)
        pool->threads++;
    if (masked) pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&small);
}

int reader_pread_open(struct reader **reader, int descriptor, unsigned depth)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return ENOMEM;
    pool->reader = (struct reader){start, finish, close_pool};
    pool->descriptor = descriptor;
    pool->todo.last = &pool->todo.first;
    pool->finished.last = &pool->finished.first;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begun, NULL);
    pthread_cond_init(&pool->done, NULL);
    make_threads(pool, depth);
    *reader = &pool->reader;
    return 0;
}
