/* SPDX-License-Identifier: MIT */
/*
 * One answer for all ranks: an error of one is the error of all.
 */
#ifndef GARNER_MPI_AGREE_H
#define GARNER_MPI_AGREE_H

#include "garner_mpi.h"

/* What ranks meet for. A rank that makes another call than the others is an error of all, and no hang. */
enum call { CALL_WITHIN = 1, CALL_PUBLISH, CALL_PLAN, CALL_BEGIN, CALL_END, CALL_CLOSE };

/* What each call on a table begins with: `agree`, and GARNER_BAD_ARGUMENT if ranks make different calls. */
garner_status meet(MPI_Comm comm, enum call call, garner_status status, garner_error *error);

/* Meets the others until all of them are here to close the table. Those that make another call meanwhile get
 * an error that says so. */
void leave(MPI_Comm comm);

/* Each rank brings its status and, where that is not GARNER_OK, its error record. All get those of the lowest
 * rank that failed, "rank 2: " in front of its sentence; GARNER_OK if none did. Collective. */
garner_status agree(MPI_Comm comm, garner_status status, garner_error *error);

/* GARNER_OK if `bytes` bytes are the same on all ranks as on rank 0; else GARNER_BAD_SHAPE with a sentence
 * that says that `what` differs. Collective; ranks still have to agree. */
garner_status compare(MPI_Comm comm, const void *bytes, int size, const char *what, garner_error *error);

#endif
