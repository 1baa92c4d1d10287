/* SPDX-License-Identifier: MIT */
/*
 * What every exchange on one machine has to do at least, each part timed alone with garner's own kernels: a
 * rank gathers the rows that others asked of it, they cross in one bare MPI_Alltoallv, the rows received are
 * gathered to where they are wanted, and so are the rank's own. The sum of the parts is the limit of a gather
 * that does one after the other. Each part writes one row after the other, which is no slower than writing
 * them scattered.
 */
#ifndef GARNER_BENCH_MPI_LIMIT_H
#define GARNER_BENCH_MPI_LIMIT_H

#include "mpi_by_hand.h"

/* A plain gather of rows as bytes. */
struct limit_part {
    int64_t rows[2], shape[2], count;
    garner_tensor data, indices, out;
};

static void limit_part_run(void *context)
{
    struct limit_part *p = context;
    garner_error error;
    if (garner_gather(&p->data, &p->indices, 0, &p->out, &error) != GARNER_OK) {
        fprintf(stderr, "mpi_gather: %s\n", error.message);
        abort();
    }
}

/* From `rows` rows at data, those of a list, to out, without gaps. */
static void limit_part_set(struct limit_part *p, void *data, int64_t rows, int64_t row_bytes, int64_t *list,
                           int64_t count, void *out)
{
    *p = (struct limit_part){.rows = {rows, row_bytes}, .shape = {count, row_bytes}, .count = count};
    p->data = (garner_tensor){.data = data, .shape = p->rows, .rank = 2, .dtype = GARNER_U8};
    p->indices = (garner_tensor){.data = list, .shape = &p->count, .rank = 1, .dtype = GARNER_I64};
    p->out = (garner_tensor){.data = out, .shape = p->shape, .rank = 2, .dtype = GARNER_U8};
}

struct limit {
    int64_t *placed, *own; /* lists */
    struct limit_part pack, place, gather;
};

static int64_t *limit_list(const struct by_hand_copy *copies, int64_t count)
{
    int64_t *list = by_hand_list(count);
    for (int64_t i = 0; i < count; i++)
        list[i] = copies[i].from;
    return list;
}

/* Of the same rows as `h`. */
static void limit_prepare(struct limit *l, const struct by_hand *h)
{
    const int64_t bytes = h->part.row_bytes, last = h->ranks - 1;
    unsigned char *out = h->result;
    l->placed = limit_list(h->placed, h->placed_count);
    l->own = limit_list(h->own, h->own_count);
    limit_part_set(&l->pack, h->part.data, h->part.rows, bytes, h->asked, h->packed_rows, h->packed);
    limit_part_set(&l->place, h->received, h->receive_at[last] + h->receives[last], bytes, l->placed,
                   h->placed_count, out);
    limit_part_set(&l->gather, h->part.data, h->part.rows, bytes, l->own, h->own_count,
                   out + h->placed_count * bytes);
}

static void limit_free(struct limit *l)
{
    free(l->placed);
    free(l->own);
}

#endif
