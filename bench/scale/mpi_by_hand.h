/* SPDX-License-Identifier: MIT */
/*
 * What somebody would write who gathers rows over MPI once, for a table in blocks: who wants what of whom is
 * settled beforehand; then rows are packed, one MPI_Alltoallv moves them, they are placed, and the rank's own
 * ones are copied. Each row crosses once. Nothing is checked, counts are ints, nothing is prefetched: a peer,
 * and no limit (mpi_limit.h is one).
 */
#ifndef GARNER_BENCH_MPI_BY_HAND_H
#define GARNER_BENCH_MPI_BY_HAND_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "garner_mpi.h"

struct by_hand {
    garner_mpi_part part;
    int ranks;
    int *sends, *send_at, *receives, *receive_at; /* rows, by rank */
    MPI_Datatype row;
    unsigned char *packed, *received, *result;
    int64_t *wanted, *asked; /* rows of others that this one wants, and of its own that they want */
    int64_t packed_rows, count, own_count;
    struct by_hand_copy {
        int64_t from, to;
    } * own, *placed; /* from rows of its own, and from rows received, to rows of the result */
    int64_t placed_count;
};

static int64_t *by_hand_list(int64_t count)
{
    return malloc((size_t)(count + 1) * sizeof(int64_t));
}

/* Lists rows of others, each once, by rank, in the order in which they are first asked for. */
static void by_hand_want(struct by_hand *h, int64_t rows, const int64_t *indices, int64_t count, int rank)
{
    int64_t block = rows / h->ranks + (rows % h->ranks != 0), *slot = by_hand_list(rows), next = 0;
    for (int64_t i = 0; i < rows; i++)
        slot[i] = -1;
    for (int r = 0; r < h->ranks; r++) {
        h->receive_at[r] = (int)next;
        for (int64_t i = 0; i < count; i++)
            if (indices[i] / block == r && r != rank && slot[indices[i]] < 0) {
                slot[indices[i]] = next;
                h->wanted[next++] = indices[i] % block;
            }
        h->receives[r] = (int)(next - h->receive_at[r]);
    }
    for (int64_t i = 0; i < count; i++)
        if (indices[i] / block == rank)
            h->own[h->own_count++] = (struct by_hand_copy){indices[i] % block, i};
        else
            h->placed[h->placed_count++] = (struct by_hand_copy){slot[indices[i]], i};
    free(slot);
}

static void by_hand_prepare(struct by_hand *h, const garner_mpi_part *part, int64_t rows,
                            const int64_t *indices, int64_t count)
{
    int rank;
    memset(h, 0, sizeof *h);
    h->part = *part;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &h->ranks);
    h->sends = calloc((size_t)h->ranks * 4, sizeof(int));
    h->send_at = h->sends + h->ranks, h->receives = h->send_at + h->ranks;
    h->receive_at = h->receives + h->ranks;
    h->wanted = by_hand_list(count);
    h->own = malloc((size_t)(count + 1) * sizeof *h->own);
    h->placed = malloc((size_t)(count + 1) * sizeof *h->placed);
    by_hand_want(h, rows, indices, count, rank);
    MPI_Alltoall(h->receives, 1, MPI_INT, h->sends, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < h->ranks; r++) {
        h->send_at[r] = (int)h->packed_rows;
        h->packed_rows += h->sends[r];
    }
    h->asked = by_hand_list(h->packed_rows);
    MPI_Alltoallv(h->wanted, h->receives, h->receive_at, MPI_INT64_T, h->asked, h->sends, h->send_at,
                  MPI_INT64_T, MPI_COMM_WORLD);
    h->packed = malloc((size_t)((h->packed_rows + 1) * part->row_bytes));
    h->received = malloc((size_t)((count + 1) * part->row_bytes));
    memset(h->packed, 1, (size_t)((h->packed_rows + 1) * part->row_bytes));
    memset(h->received, 1, (size_t)((count + 1) * part->row_bytes));
    MPI_Type_contiguous((int)part->row_bytes, MPI_BYTE, &h->row);
    MPI_Type_commit(&h->row);
}

/* The exchange alone. */
static void by_hand_exchange(const struct by_hand *h)
{
    MPI_Alltoallv(h->packed, h->sends, h->send_at, h->row, h->received, h->receives, h->receive_at, h->row,
                  MPI_COMM_WORLD);
}

static void by_hand_gather(const struct by_hand *h)
{
    const size_t bytes = (size_t)h->part.row_bytes;
    const unsigned char *own = h->part.data;
    for (int64_t i = 0; i < h->packed_rows; i++)
        memcpy(h->packed + (size_t)i * bytes, own + (size_t)h->asked[i] * bytes, bytes);
    by_hand_exchange(h);
    for (int64_t i = 0; i < h->placed_count; i++)
        memcpy(h->result + (size_t)h->placed[i].to * bytes, h->received + (size_t)h->placed[i].from * bytes,
               bytes);
    for (int64_t i = 0; i < h->own_count; i++)
        memcpy(h->result + (size_t)h->own[i].to * bytes, own + (size_t)h->own[i].from * bytes, bytes);
}

static void by_hand_free(struct by_hand *h)
{
    MPI_Type_free(&h->row);
    free(h->sends);
    free(h->wanted);
    free(h->asked);
    free(h->packed);
    free(h->received);
    free(h->own);
    free(h->placed);
}

#endif
