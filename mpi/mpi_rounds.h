/* SPDX-License-Identifier: MIT */
/*
 * An exchange between all ranks in rounds, so that buffers stay small and counts, which are ints to MPI, too.
 * In each round a rank sends each other at most `most` items; it packs them when the round begins, and gets
 * told where those of others lie when the round has ended. Two rounds are under way at a time.
 */
#ifndef GARNER_MPI_ROUNDS_H
#define GARNER_MPI_ROUNDS_H

#include "garner_mpi.h"

struct rounds {
    MPI_Comm comm;
    MPI_Datatype item;
    int ranks;
    int64_t item_bytes, most;
    int64_t count;                   /* rounds; the same on all ranks */
    const int64_t *sends, *receives; /* by rank, items; the caller's */
    struct round {
        unsigned char *out, *in;
        int *counts; /* sends, their places, receives, theirs: ranks of each */
        MPI_Request request;
    } slot[2];
    /* Puts `count` items for a rank, from its `from`-th on, at `into`. */
    void (*pack)(void *context, int rank, int64_t from, int64_t count, unsigned char *into);
    /* Takes those of a rank. */
    void (*unpack)(void *context, int rank, int64_t from, int64_t count, const unsigned char *items);
    void *context;
};

enum {
    ROUNDS_BYTES = 32 << 20
}; /* a buffer, unless there are more ranks, or larger rows, than it has room for */

/* Buffers for sends and receives, by rank. item, comm, item_bytes, ranks, pack and unpack are set. Ranks
 * agree on the number of rounds; a failure to allocate is still to be agreed on. Collective. */
garner_status rounds_prepare(struct rounds *rounds, const int64_t *sends, const int64_t *receives,
                             garner_error *error);

/* Begins round i, i < count. Collective. */
void rounds_begin(struct rounds *rounds, int64_t i);

/* Waits for round i, and unpacks it. Collective. */
void rounds_end(struct rounds *rounds, int64_t i);

/* All rounds from the one that has begun, if any has. Collective. */
void rounds_finish(struct rounds *rounds, int64_t begun);

/* Waits for what has begun, so that its buffers can be freed, and takes nothing from it. */
void rounds_abandon(struct rounds *rounds);

void rounds_free(struct rounds *rounds);

#endif
