/* SPDX-License-Identifier: MIT */
#include "mpi_file.h"

#include <string.h>

#include "mpi_agree.h"
#include "store.h"

enum { PIECE = 1 << 13 }; /* rows copied at a time: their numbers lie on the stack */

/* Copies rows by gathering them, whatever the strides of the file's array are. */
static garner_status copy_rows(const garner_mpi_table *t, const garner_tensor *source, int64_t from,
                               int64_t count, garner_error *error)
{
    garner_op op = {.kind = GARNER_GATHER};
    garner_mpi_part part = garner_mpi_table_part(t);
    int64_t rows[PIECE], shape[GARNER_MAX_RANK];
    for (int64_t i = 0; i < count; i++)
        rows[i] = part.first + (from + i) * part.step;
    memcpy(shape, t->shape, sizeof shape);
    shape[0] = count;
    garner_tensor indices = {.data = rows, .shape = &count, .rank = 1, .dtype = GARNER_I64};
    garner_tensor out = t->whole;
    out.shape = shape;
    out.data = t->own + (size_t)(from * t->row_bytes);
    return garner_run(&op, source, &indices, &out, NULL, error);
}

static garner_status fill(garner_mpi_table *t, const garner_tensor *source, garner_error *error)
{
    int64_t rows =
        t->row_bytes ? spread_count(&t->spread, t->rank) : 0; /* any number of rows may be of nothing */
    garner_status status = GARNER_OK;
    for (int64_t from = 0; from < rows && status == GARNER_OK; from += PIECE)
        status = copy_rows(t, source, from, rows - from < PIECE ? rows - from : PIECE, error);
    return status;
}

garner_status file_table(MPI_Comm comm, garner_status status, const struct array *array,
                         const garner_mpi_layout *layout, garner_mpi_table **table, garner_error *error)
{
    *table = NULL;
    status = agree(comm, status, error);
    if (status == GARNER_OK) status = garner_mpi_table_create(comm, &array->tensor, layout, table, error);
    if (status != GARNER_OK) return status;
    status = agree(comm, fill(*table, &array->tensor, error), error);
    if (status == GARNER_OK) return garner_mpi_table_publish(*table, error);
    garner_mpi_table_destroy(*table);
    *table = NULL;
    return status;
}

garner_status garner_mpi_table_open(MPI_Comm comm, const char *path, const char *member,
                                    const garner_mpi_layout *layout, garner_mpi_table **table,
                                    garner_error *error)
{
    struct array array;
    garner_status status = store_load_one(&array, path, member, 0, error);
    status = file_table(comm, status, &array, layout, table, error);
    array_free(&array);
    return status;
}

garner_status garner_mpi_table_open_f(MPI_Fint comm, const char *path, const char *member,
                                      const garner_mpi_layout *layout, garner_mpi_table **table,
                                      garner_error *error)
{
    return garner_mpi_table_open(MPI_Comm_f2c(comm), path, member, layout, table, error);
}
