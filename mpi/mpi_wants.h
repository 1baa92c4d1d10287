/* SPDX-License-Identifier: MIT */
/*
 * The rows that a rank wants: those of its node, and those of other nodes, sorted by who holds them, each
 * once.
 */
#ifndef GARNER_MPI_WANTS_H
#define GARNER_MPI_WANTS_H

#include "mpi_table.h"

/* A row: its number among all rows, rank after rank; and which row of out it is. */
struct want {
    int64_t row, at;
};

struct wants {
    int64_t count; /* indices */

    /* Where the node holds all rows, just where each lies in it, in the order of indices. */
    int64_t *near;

    /* Otherwise: those of this node, by where they lie in it, */
    struct want *here;
    int64_t here_count;

    /* and those of others: distinct rows, by rank and there by their first place in out; row u of them goes
     * to the rows of out that are at[first[u]] to at[first[u + 1] - 1]. */
    int64_t *local, *first, *at;
    int64_t far_count; /* distinct */
    int64_t *start;    /* by rank, and the end: which of them a rank holds */
};

/* Takes indices apart, which have been checked. */
garner_status wants_create(struct wants *wants, const garner_mpi_table *table, const garner_tensor *indices,
                           int64_t count, garner_error *error);

void wants_free(struct wants *wants);

#endif
