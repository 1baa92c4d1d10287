/* SPDX-License-Identifier: MIT */
#include "mpi_agree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

static const char *const calls[] = {[CALL_WITHIN] = "a refusal",
                                    [CALL_PUBLISH] = "garner_mpi_table_publish",
                                    [CALL_PLAN] = "garner_mpi_plan_create",
                                    [CALL_BEGIN] = "garner_mpi_plan_begin",
                                    [CALL_END] = "garner_mpi_plan_end",
                                    [CALL_CLOSE] = "garner_mpi_table_destroy"};

/* What the first rank that failed has to say. */
static garner_status share_error(MPI_Comm comm, int first, garner_status status, garner_error *error)
{
    int rank;
    garner_error common;
    MPI_Comm_rank(comm, &rank);
    memset(&common, 0, sizeof common);
    if (rank == first && error) {
        common = *error;
        snprintf(common.message, sizeof common.message, "rank %d: %.*s", rank,
                 (int)sizeof common.message - 24, error->message);
    }
    common.status = status;
    MPI_Bcast(&common, (int)sizeof common, MPI_BYTE, first, comm);
    if (error) *error = common;
    return common.status;
}

garner_status meet(MPI_Comm comm, enum call call, garner_status status, garner_error *error)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    int mine[] = {status == GARNER_OK ? INT_MAX : rank, (int)call, -(int)call}, all[3];
    MPI_Allreduce(mine, all, 3, MPI_INT, MPI_MIN, comm);
    int first = all[0], least = all[1], most = -all[2];
    if (least == CALL_CLOSE) return GARNER_OK; /* which is the greatest */
    if (first != INT_MAX) return share_error(comm, first, status, error);
    if (least == most) return succeed(error);
    return fail(error, GARNER_BAD_ARGUMENT,
                "%s on some ranks, %s on others: all ranks must make the same calls of a table, in the same "
                "order",
                calls[least], calls[most]);
}

garner_status agree(MPI_Comm comm, garner_status status, garner_error *error)
{
    return meet(comm, CALL_WITHIN, status, error);
}

void leave(MPI_Comm comm)
{
    garner_error error;
    do
        fail(&error, GARNER_BAD_ARGUMENT, "%s: this rank has closed the table, and makes no other call",
             calls[CALL_CLOSE]);
    while (meet(comm, CALL_CLOSE, error.status, &error) != GARNER_OK);
}

garner_status compare(MPI_Comm comm, const void *bytes, int size, const char *what, garner_error *error)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    unsigned char *theirs = malloc((size_t)size + 1);
    int all, mine = theirs != NULL;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (!all) {
        free(theirs);
        return mine ? GARNER_OK : fail_memory(error, "garner_mpi_table_create", (uint64_t)size);
    }
    memcpy(theirs, bytes, (size_t)size); /* analysis: all ranks have their memory, so this one has, too */
    MPI_Bcast(theirs, size, MPI_BYTE, 0, comm);
    garner_status status = GARNER_OK;
    if (memcmp(theirs, bytes, (size_t)size) != 0)
        status = fail(error, GARNER_BAD_SHAPE,
                      "garner_mpi_table_create: the %s is another one than on rank 0", what);
    free(theirs);
    return status;
}
