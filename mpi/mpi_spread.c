/* SPDX-License-Identifier: MIT */
#include "mpi_spread.h"

#include "garner_mpi.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int spread_find(const int64_t *offsets, int ranks, int64_t row)
{
    int low = 0, high = ranks - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (offsets[middle] <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

struct owner spread_owner(const struct spread *spread, int64_t row)
{
    if (spread->kind == GARNER_MPI_CYCLIC)
        return (struct owner){(int)(row % spread->ranks), row / spread->ranks};
    if (spread->kind == GARNER_MPI_BLOCKS)
        return (struct owner){(int)(row / spread->block), row % spread->block};
    int rank = spread_find(spread->offsets, spread->ranks, row);
    return (struct owner){rank, row - spread->offsets[rank]};
}

int64_t spread_first(const struct spread *spread, int rank)
{
    if (spread->kind == GARNER_MPI_CYCLIC) return rank;
    if (spread->kind == GARNER_MPI_OFFSETS) return spread->offsets[rank];
    /* rank * block may not fit where the ranks are more than the rows */
    return spread->block == 0 || rank > spread->rows / spread->block
               ? spread->rows
               : least(rank * spread->block, spread->rows);
}

int64_t spread_count(const struct spread *spread, int rank)
{
    if (spread->kind == GARNER_MPI_CYCLIC)
        return spread->rows / spread->ranks + (rank < spread->rows % spread->ranks);
    return (rank + 1 < spread->ranks || spread->kind == GARNER_MPI_OFFSETS
                ? (spread->kind == GARNER_MPI_OFFSETS ? spread->offsets[rank + 1]
                                                      : spread_first(spread, rank + 1))
                : spread->rows) -
           spread_first(spread, rank);
}

int64_t spread_step(const struct spread *spread)
{
    return spread->kind == GARNER_MPI_CYCLIC ? spread->ranks : 1;
}
