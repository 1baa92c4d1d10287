/* SPDX-License-Identifier: MIT */
/*
 * Which rank holds a row, and where among its own. Nothing here knows of MPI.
 */
#ifndef GARNER_MPI_SPREAD_H
#define GARNER_MPI_SPREAD_H

#include <stdint.h>

struct spread {
    int kind; /* garner_mpi_spread */
    int ranks;
    int64_t rows, block; /* block: of GARNER_MPI_BLOCKS, rows of a full rank */
    int64_t *offsets;    /* of GARNER_MPI_OFFSETS, ranks + 1; owned by the table */
};

/* A row's rank, and its place among the rows of that rank. */
struct owner {
    int rank;
    int64_t local;
};

/* The last rank that begins at or before a row: ranks before it that begin there, too, are empty. offsets: by
 * rank, where its rows begin. */
int spread_find(const int64_t *offsets, int ranks, int64_t row);

struct owner spread_owner(const struct spread *spread, int64_t row);

/* How many rows a rank holds; its first row. Rows of a rank are step apart. */
int64_t spread_count(const struct spread *spread, int rank);
int64_t spread_first(const struct spread *spread, int rank);
int64_t spread_step(const struct spread *spread);

#endif
