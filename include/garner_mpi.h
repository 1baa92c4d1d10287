/* SPDX-License-Identifier: MIT */
/*
 * Tables spread over the ranks of an MPI program: gathers of rows from data that no single machine holds.
 *
 * Each rank holds some of the rows (the first axis of the whole tensor), and brings indices of its own, as
 * many as it likes, none too. Calls that are marked collective must be made by all ranks of the communicator,
 * in the same order.
 *
 *     garner_mpi_table *table;
 *     garner_error      error;
 *
 *     if (garner_mpi_table_open(MPI_COMM_WORLD, "table.npy", NULL, NULL, &table, &error) != GARNER_OK ||
 *         garner_mpi_gather(table, &indices, rows, &error) != GARNER_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *     garner_mpi_table_destroy(table);
 *
 * The rows of ranks that share a node lie in memory which all of them can read: such gathers are plain ones.
 * Between nodes, ranks first tell each other which rows they want, each row once however often it is asked
 * for, and the rows follow, in rounds of a bounded size (MPI_Ialltoallv).
 *
 * An error of one rank is the error of all: the same status, and the same sentence, which begins with that
 * rank. Ranks agree on it before anything is exchanged, so nobody waits for one that has given up. Ranks that
 * make different calls of a table at once all get GARNER_BAD_ARGUMENT. If a rank dies, MPI ends the program.
 *
 * Indices count from the end when negative; one outside [-n, n-1] is GARNER_OUT_OF_RANGE. Elements are of any
 * type but GARNER_STR, and rows are whole bytes. Every MPI has a library of its own, libgarner_mpi.so in a
 * folder named openmpi or mpich. Functions are not to be called from several threads at once.
 */
#ifndef GARNER_MPI_H
#define GARNER_MPI_H

#include <mpi.h>

#include "garner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which rank holds a row. */
typedef enum garner_mpi_spread {
    GARNER_MPI_BLOCKS =
        0, /* the first ranks hold ceil(rows / ranks) consecutive rows each, the last what is left */
    GARNER_MPI_CYCLIC, /* row i lies on rank i % ranks */
    GARNER_MPI_OFFSETS /* rank r holds rows offsets[r] to offsets[r + 1] - 1 */
} garner_mpi_spread;

/* All zero is what NULL means. Must be the same on all ranks. */
typedef struct garner_mpi_layout {
    uint32_t size; /* sizeof(garner_mpi_layout), or 0 for this first version */
    garner_mpi_spread spread;
    const int64_t *offsets; /* of GARNER_MPI_OFFSETS: ranks + 1 numbers, from 0 to the number of rows */
    int32_t apart; /* non-zero: every rank as if it had a node of its own; for tests and measurements.
                      GARNER_MPI_NODE=rank in the environment of rank 0 does the same */
} garner_mpi_layout;

typedef struct garner_mpi_table garner_mpi_table;

/*
 * Makes a table with the type and shape of `whole`, whose data pointer is ignored; its rows hold nothing yet.
 * The communicator is duplicated. Types, shapes and layouts that differ between ranks are GARNER_BAD_SHAPE.
 * Collective.
 */
GARNER_API GARNER_MUST_USE garner_status garner_mpi_table_create(MPI_Comm comm, const garner_tensor *whole,
                                                                 const garner_mpi_layout *layout,
                                                                 garner_mpi_table **table,
                                                                 garner_error *error);

/* The same for a communicator as Fortran has it, which is a number with every MPI. Collective. */
GARNER_API GARNER_MUST_USE garner_status garner_mpi_table_create_f(MPI_Fint comm, const garner_tensor *whole,
                                                                   const garner_mpi_layout *layout,
                                                                   garner_mpi_table **table,
                                                                   garner_error *error);

/* Makes a table of the tensor `member` (NULL: the only one) of a file, of which each rank reads its own rows:
 * .npy, .npz, .safetensors or .pb. Collective. */
GARNER_API GARNER_MUST_USE garner_status garner_mpi_table_open(MPI_Comm comm, const char *path,
                                                               const char *member,
                                                               const garner_mpi_layout *layout,
                                                               garner_mpi_table **table, garner_error *error);
GARNER_API GARNER_MUST_USE garner_status garner_mpi_table_open_f(MPI_Fint comm, const char *path,
                                                                 const char *member,
                                                                 const garner_mpi_layout *layout,
                                                                 garner_mpi_table **table,
                                                                 garner_error *error);

/* What a rank holds, for those who fill it themselves. */
typedef struct garner_mpi_part {
    void *data;          /* its rows, one after the other */
    int64_t rows;        /* how many */
    int64_t row_bytes;   /* of one of them */
    int64_t first, step; /* the i-th is row first + i * step of the whole */
} garner_mpi_part;

GARNER_API garner_mpi_part garner_mpi_table_part(const garner_mpi_table *table);

/* Type and shape of the whole; valid as long as the table. Its data pointer is NULL. */
GARNER_API const garner_tensor *garner_mpi_table_tensor(const garner_mpi_table *table);

/* After ranks have written to their parts, and before the next gather. Collective. */
GARNER_API GARNER_MUST_USE garner_status garner_mpi_table_publish(garner_mpi_table *table,
                                                                  garner_error *error);

/* Gathers the rows at `indices`, a dense tensor of integers of any rank, into `out`: as many rows, one after
 * the other. Collective. */
GARNER_API GARNER_MUST_USE garner_status garner_mpi_gather(garner_mpi_table *table,
                                                           const garner_tensor *indices, void *out,
                                                           garner_error *error);

/* A gather whose indices stay the same while the table changes: who needs what of whom is settled once. */
typedef struct garner_mpi_plan garner_mpi_plan;

/* The indices are not needed afterwards. Collective. */
GARNER_API GARNER_MUST_USE garner_status garner_mpi_plan_create(garner_mpi_table *table,
                                                                const garner_tensor *indices,
                                                                garner_mpi_plan **plan, garner_error *error);

/* Begins to fill `out`. Begin packs and starts the first round between nodes, end does everything else: the
 * rank's own rows, later rounds, rows of its node. So at most that first round, of 32 MiB, overlaps with what
 * the rank computes in between; and only as far as the MPI moves bytes outside of its calls, which Open MPI
 * and MPICH hardly do within one machine. A table has one such gather at a time. Nobody may write to the
 * table in between. Collective, both. */
GARNER_API GARNER_MUST_USE garner_status garner_mpi_plan_begin(garner_mpi_plan *plan, void *out,
                                                               garner_error *error);
GARNER_API GARNER_MUST_USE garner_status garner_mpi_plan_end(garner_mpi_plan *plan, garner_error *error);

/* What one run of a plan moves on this rank, in bytes. */
typedef struct garner_mpi_traffic {
    int64_t near;     /* rows read from memory of this node */
    int64_t sent;     /* to other nodes */
    int64_t received; /* from other nodes: repeated rows count once */
    int64_t rounds;
} garner_mpi_traffic;

GARNER_API garner_mpi_traffic garner_mpi_plan_traffic(const garner_mpi_plan *plan);

/* Frees a plan; NULL is fine. One that has begun and not ended waits for what is on its way, and out holds
 * anything: then all ranks destroy it, or get an error when they end it. */
GARNER_API void garner_mpi_plan_destroy(garner_mpi_plan *plan);

/* Frees a table without plans; NULL is fine. Collective: it waits until all ranks are here. One that makes
 * another call of the table instead gets GARNER_BAD_ARGUMENT, and a sentence that begins with a rank that is
 * here: so a rank that gives up in the middle destroys its plans and the table, and the others find out. */
GARNER_API void garner_mpi_table_destroy(garner_mpi_table *table);

#ifdef __cplusplus
}
#endif

#endif
