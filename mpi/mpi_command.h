/* SPDX-License-Identifier: MIT */
/*
 * What the command garner asks of libgarner_mpi when mpirun has started it: one gather by all ranks, from a
 * file into a file. The command loads the library by itself, so this header knows nothing of MPI.
 */
#ifndef GARNER_MPI_COMMAND_H
#define GARNER_MPI_COMMAND_H

#include "garner.h"

struct mpi_job {
    const char *path, *member;          /* of the table; member NULL: the only one */
    const garner_tensor *indices;       /* all of them, dense; the same on every rank */
    const char *out;                    /* a .npy file */
    int32_t rank, ranks;                /* as the environment has them; ranks 0: it does not say how many */
    void (*tell)(const char *sentence); /* an error's, on rank 0, before any rank leaves with that error */
};

/* `status` is what this rank makes of its command line, with its error: the ranks agree on that first. Each
 * rank holds a block of the table's rows, gathers a block of the indices, and writes its rows of the result.
 * The file appears whole or not at all. An MPI that does not find the ranks that the
 * environment says is of another kind than what started them: then each is refused. Call it once in a
 * process. */
typedef garner_status mpi_command_function(struct mpi_job *job, garner_status status, garner_error *error);
GARNER_API mpi_command_function garner_mpi_command;

#endif
