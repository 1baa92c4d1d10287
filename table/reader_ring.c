/* SPDX-License-Identifier: MIT */
/* Reads through io_uring. What was begun is handed to the system when somebody waits, so that one call begins
 * many reads and waits for one. */
#define _GNU_SOURCE /* which liburing.h wants */

#include "reader.h"

#include <errno.h>

#ifdef GARNER_HAVE_LIBURING

#include <liburing.h>
#include <stdlib.h>

enum { MOST_TRIES = 100000 }; /* where the system is short of memory; each is a call */

struct ring {
    struct reader reader;
    struct io_uring uring;
    int descriptor;
};

static int start(struct reader *reader, struct read *read)
{
    struct ring *ring = (struct ring *)reader;
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring->uring);
    if (!entry) return EBUSY; /* there are as many entries as reads */
    io_uring_prep_read(entry, ring->descriptor, read->into, read->size, read->offset);
    io_uring_sqe_set_data(entry, read);
    return 0;
}

static struct read *finish(struct reader *reader)
{
    struct ring *ring = (struct ring *)reader;
    struct io_uring_cqe *done = NULL;
    for (int tries = 0; io_uring_peek_cqe(&ring->uring, &done) != 0 || !done;) {
        int number = io_uring_submit_and_wait(&ring->uring, 1);
        int again = number == -EINTR || ((number == -EAGAIN || number == -EBUSY) && ++tries < MOST_TRIES);
        if (number >= 0 || again) continue;
        errno = -number;
        return NULL;
    }
    struct read *read = io_uring_cqe_get_data(done);
    read->got = done->res;
    io_uring_cqe_seen(&ring->uring, done);
    return read;
}

static void close_ring(struct reader *reader)
{
    struct ring *ring = (struct ring *)reader;
    io_uring_queue_exit(&ring->uring);
    free(ring);
}

int reader_ring_open(struct reader **reader, int descriptor, unsigned depth)
{
    struct ring *ring = malloc(sizeof *ring);
    if (!ring) return ENOMEM;
    ring->reader = (struct reader){start, finish, close_ring};
    ring->descriptor = descriptor;
    int number = io_uring_queue_init(depth, &ring->uring, 0);
    if (number) {
        free(ring);
        return -number;
    }
    *reader = &ring->reader;
    return 0;
}

#else

int reader_ring_open(struct reader **reader, int descriptor, unsigned depth)
{
    (void)reader, (void)descriptor, (void)depth;
    return ENOSYS;
}

#endif
