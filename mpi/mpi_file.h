/* SPDX-License-Identifier: MIT */
/*
 * Tables out of files: each rank reads its own rows.
 */
#ifndef GARNER_MPI_FILE_H
#define GARNER_MPI_FILE_H

#include "array.h"
#include "mpi_table.h"

/* A table with the type, shape and rows of an array that all ranks have, such as a mapped file, of which each
 * touches its part alone. `status` is that of loading it, on which ranks agree first. Collective. */
garner_status file_table(MPI_Comm comm, garner_status status, const struct array *array,
                         const garner_mpi_layout *layout, garner_mpi_table **table, garner_error *error);

#endif
