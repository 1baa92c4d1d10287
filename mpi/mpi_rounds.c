/* SPDX-License-Identifier: MIT */
#include "mpi_rounds.h"

#include <stdlib.h>

#include "fail.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Items that a rank sends, or receives, in round i out of `all`. */
static int64_t share(const struct rounds *r, int64_t all, int64_t i)
{
    int64_t left = all - i * r->most;
    return left < 0 ? 0 : left < r->most ? left : r->most;
}

static int64_t round_items(const struct rounds *r, const int64_t *all)
{
    int64_t items = 0;
    for (int rank = 0; rank < r->ranks; rank++)
        items += share(r, all[rank], 0);
    return items;
}

garner_status rounds_prepare(struct rounds *r, const int64_t *sends, const int64_t *receives,
                             garner_error *error)
{
    int64_t mine = 0, size = larger(r->item_bytes, 1);
    r->sends = sends, r->receives = receives;
    r->most = larger(ROUNDS_BYTES / size / r->ranks, 1);
    for (int rank = 0; rank < r->ranks; rank++)
        mine = larger(mine, larger(sends[rank], receives[rank]));
    mine = mine / r->most + (mine % r->most != 0);
    MPI_Allreduce(&mine, &r->count, 1, MPI_INT64_T, MPI_MAX, r->comm);
    size_t out = (size_t)(round_items(r, sends) * size) + 1,
           in = (size_t)(round_items(r, receives) * size) + 1;
    for (int i = 0; i < 2; i++) {
        struct round *slot = &r->slot[i];
        slot->request = MPI_REQUEST_NULL;
        slot->out = malloc(out), slot->in = malloc(in),
        slot->counts = calloc((size_t)r->ranks, 4 * sizeof(int));
        if (!slot->out || !slot->in || !slot->counts)
            return fail_memory(error, "garner_mpi_plan_create", out + in);
    }
    return GARNER_OK;
}

void rounds_begin(struct rounds *r, int64_t i)
{
    struct round *slot = &r->slot[i % 2];
    int *sends = slot->counts, *from = sends + r->ranks, *receives = from + r->ranks,
        *to = receives + r->ranks;
    int64_t out = 0,
            in = 0; /* ranks * most items are ROUNDS_BYTES, or one for each rank: both fit in an int */
    for (int rank = 0; rank < r->ranks; rank++) {
        int64_t count = share(r, r->sends[rank], i);
        if (count) r->pack(r->context, rank, i * r->most, count, slot->out + out * r->item_bytes);
        sends[rank] = (int)count, from[rank] = (int)out;
        out += count;
        receives[rank] = (int)share(r, r->receives[rank], i), to[rank] = (int)in;
        in += receives[rank];
    }
    MPI_Ialltoallv(slot->out, sends, from, r->item, slot->in, receives, to, r->item, r->comm, &slot->request);
}

void rounds_end(struct rounds *r, int64_t i)
{
    struct round *slot = &r->slot[i % 2];
    int *receives = slot->counts + (int64_t)2 * r->ranks, *to = receives + r->ranks;
    MPI_Wait(&slot->request, MPI_STATUS_IGNORE);
    for (int rank = 0; rank < r->ranks; rank++)
        if (receives[rank])
            r->unpack(r->context, rank, i * r->most, receives[rank], slot->in + to[rank] * r->item_bytes);
}

void rounds_finish(struct rounds *r, int64_t begun)
{
    if (begun == 0 && r->count) rounds_begin(r, 0);
    for (int64_t i = 0; i < r->count; i++) {
        if (i + 1 < r->count) rounds_begin(r, i + 1);
        rounds_end(r, i);
    }
}

void rounds_abandon(struct rounds *r)
{
    for (int i = 0; i < 2 && r->count; i++)
        MPI_Wait(&r->slot[i].request, MPI_STATUS_IGNORE);
}

void rounds_free(struct rounds *r)
{
    for (int i = 0; i < 2; i++) {
        free(r->slot[i].out);
        free(r->slot[i].in);
        free(r->slot[i].counts);
    }
}
