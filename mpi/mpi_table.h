/* SPDX-License-Identifier: MIT */
/*
 * A table from within: what the files of this folder share.
 */
#ifndef GARNER_MPI_TABLE_H
#define GARNER_MPI_TABLE_H

#include "garner_mpi.h"
#include "mpi_spread.h"

struct garner_mpi_table {
    MPI_Comm comm, node; /* node: those ranks of comm whose memory this one can read */
    int rank, ranks;
    struct spread spread;
    garner_tensor whole;
    int64_t shape[GARNER_MAX_RANK];
    int64_t row_bytes;

    MPI_Win window;
    MPI_Datatype row; /* row_bytes bytes */
    unsigned char *own;
    unsigned char *near; /* the rows of all ranks of the node, one rank's after the other's */
    int64_t near_rows;
    int64_t
        *near_start; /* by rank of comm: where its rows begin in near, counted in rows; -1: another node */
    int alone;       /* the node holds all ranks */
    int busy;        /* a gather has begun and not ended */
};

/* For bindings: this rank cannot make the call that the others make of a table, because of what it was given.
 * It is an error of all, which the others get from their call. Collective with any call. */
GARNER_API garner_status garner_mpi_table_refuse(garner_mpi_table *table, garner_status status,
                                                 const char *sentence, garner_error *error);

/* Whether this rank's environment has each rank treated as a node of its own. */
int table_ranks_apart(void);

/* A tensor of rows as bytes, or of integers: a shape of one or two extents that lies in the caller's memory.
 */
garner_tensor table_bytes(void *data, int64_t *shape, int64_t rows, int64_t row_bytes);

/* Whether each index lies in [-rows, rows - 1], in garner's words. */
garner_status table_check_indices(int64_t rows, const garner_tensor *indices, garner_error *error);

#endif
