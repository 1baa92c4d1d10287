/* SPDX-License-Identifier: MIT */
/*
 * Making a table: its extents are checked and compared, then each node allocates its rows as one piece of
 * memory that all ranks of the node map.
 */
#include "mpi_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "mpi_agree.h"

static const char me[] = "garner_mpi_table_create";

garner_tensor table_bytes(void *data, int64_t *shape, int64_t rows, int64_t row_bytes)
{
    shape[0] = rows, shape[1] = row_bytes;
    return (garner_tensor){.data = data, .shape = shape, .rank = 2, .dtype = GARNER_U8};
}

/* ---- What is asked for ---- */

static garner_status check_offsets(const garner_mpi_table *t, const int64_t *offsets, garner_error *error)
{
    if (!offsets) return fail(error, GARNER_BAD_ARGUMENT, "%s: offsets is NULL", me);
    for (int r = 0; r <= t->ranks; r++) {
        int64_t least = r == 0 ? 0 : offsets[r - 1], most = r == 0 ? 0 : t->spread.rows;
        if (r == t->ranks) least = most;
        if (offsets[r] < least || offsets[r] > most)
            return fail(error, GARNER_BAD_SHAPE, "%s: offsets[%d] is %lld, which is outside [%lld, %lld]", me,
                        r, (long long)offsets[r], (long long)least, (long long)most);
    }
    return GARNER_OK;
}

static garner_status set_spread(garner_mpi_table *t, const garner_mpi_layout *layout, garner_error *error)
{
    struct spread *s = &t->spread;
    s->kind = layout ? (int)layout->spread : GARNER_MPI_BLOCKS;
    s->ranks = t->ranks;
    s->rows = t->shape[0];
    s->block = s->rows / s->ranks + (s->rows % s->ranks != 0);
    if (s->kind < GARNER_MPI_BLOCKS || s->kind > GARNER_MPI_OFFSETS)
        return fail(error, GARNER_BAD_ARGUMENT, "%s: there is no spread %d", me, s->kind);
    if (s->kind != GARNER_MPI_OFFSETS) return GARNER_OK;
    garner_status status = check_offsets(t, layout->offsets, error);
    if (status != GARNER_OK) return status;
    size_t bytes = ((size_t)t->ranks + 1) * sizeof *s->offsets;
    s->offsets = malloc(bytes);
    if (!s->offsets) return fail_memory(error, me, bytes);
    memcpy(s->offsets, layout->offsets, bytes);
    return GARNER_OK;
}

/* The row of `whole`, and whether it is whole bytes. */
static garner_status set_shape(garner_mpi_table *t, const garner_tensor *whole, garner_error *error)
{
    garner_op op = {.kind = GARNER_GATHER};
    garner_shape row;
    int64_t zero = 0;
    garner_tensor none = {.data = &zero, .rank = 0, .dtype = GARNER_I64}, bare;
    if (!whole) return fail(error, GARNER_BAD_ARGUMENT, "%s: whole is NULL", me);
    bare = *whole;
    bare.data = NULL, bare.strides = NULL, bare.bytes = 0, bare.byte_offset = 0;
    garner_status status = garner_infer(&op, &bare, &none, &row, error);
    if (status != GARNER_OK) return status;
    if (whole->dtype == GARNER_STR)
        return fail(error, GARNER_BAD_TYPE, "%s: strings lie where only one rank can read them", me);
    if (row.bytes * 8 != row.count * garner_dtype_bits(row.dtype) && row.dtype != GARNER_OPAQUE)
        return fail(error, GARNER_BAD_TYPE, "%s: a row of %lld elements of type %s is not whole bytes", me,
                    (long long)row.count, garner_dtype_name(row.dtype));
    t->row_bytes = row.bytes; /* analysis: all ranks have agreed that they have their memory */
    t->whole = bare;
    memcpy(t->shape, whole->shape, (size_t)whole->rank * sizeof *t->shape);
    t->whole.shape = t->shape;
    if (t->row_bytes > 0 && t->shape[0] > INT64_MAX / t->row_bytes)
        return fail(error, GARNER_TOO_LARGE, "%s: %lld rows of %lld bytes do not fit in 63 bits", me,
                    (long long)t->shape[0], (long long)t->row_bytes);
    return GARNER_OK;
}

/* ---- Memory ---- */

int table_ranks_apart(void)
{
    const char *text = getenv("GARNER_MPI_NODE");
    return text && strcmp(text, "rank") == 0;
}

/* The ranks that share memory, and whether these are all. */
static void find_node(garner_mpi_table *t, int apart)
{
    int size;
    MPI_Bcast(&apart, 1, MPI_INT, 0, t->comm);
    if (apart)
        MPI_Comm_split(t->comm, t->rank, 0, &t->node);
    else
        MPI_Comm_split_type(t->comm, MPI_COMM_TYPE_SHARED, t->rank, MPI_INFO_NULL, &t->node);
    MPI_Comm_size(t->node, &size);
    t->alone = size == t->ranks;
}

/* Where the rows of each rank of the node begin. They follow each other without gaps, in the order of ranks.
 */
static garner_status find_near(garner_mpi_table *t, garner_error *error)
{
    int size, rank;
    MPI_Comm_size(t->node, &size);
    t->near_start = malloc((size_t)t->ranks * sizeof *t->near_start);
    int *members = malloc((size_t)size * sizeof *members);
    if (!t->near_start || !members) {
        free(members);
        return fail_memory(error, me, (uint64_t)t->ranks * sizeof *t->near_start);
    }
    MPI_Allgather(&t->rank, 1, MPI_INT, members, 1, MPI_INT, t->node);
    for (rank = 0; rank < t->ranks; rank++)
        t->near_start[rank] = -1;
    for (int i = 0; i < size; i++) {
        t->near_start[members[i]] = t->near_rows;
        t->near_rows += spread_count(&t->spread, members[i]);
    }
    free(members);
    return GARNER_OK;
}

/* Whether the rows of the node's ranks really follow each other, as MPI promises. */
static int is_contiguous(const garner_mpi_table *t)
{
    int unit, size, here;
    MPI_Aint bytes;
    unsigned char *base;
    MPI_Comm_size(t->node, &size);
    for (int rank = 0, i = 0; rank < t->ranks && i < size; rank++) {
        if (t->near_start[rank] < 0) continue;
        here = i++;
        MPI_Win_shared_query(t->window, here, &bytes, &unit, &base);
        if (bytes && base != t->near + t->near_start[rank] * t->row_bytes) return 0;
    }
    return 1;
}

static garner_status allocate(garner_mpi_table *t, garner_error *error)
{
    MPI_Aint bytes = (MPI_Aint)(spread_count(&t->spread, t->rank) * t->row_bytes), size;
    int unit;
    MPI_Comm_set_errhandler(t->node,
                            MPI_ERRORS_RETURN); /* too little memory is no reason to end the program */
    int answer = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, t->node, &t->own, &t->window);
    MPI_Comm_set_errhandler(t->node, MPI_ERRORS_ARE_FATAL);
    if (answer != MPI_SUCCESS) {
        t->window = MPI_WIN_NULL;
        return fail_memory(error, me, (uint64_t)bytes);
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, t->window);
    MPI_Win_shared_query(t->window, MPI_PROC_NULL, &size, &unit, &t->near); /* the first rank that has rows */
    if (is_contiguous(t)) return GARNER_OK;
    return fail(error, GARNER_UNSUPPORTED, "%s: this MPI lays out a shared window with gaps", me);
}

/* Rows of more than INT_MAX bytes are made of smaller parts. */
static void make_row_type(garner_mpi_table *t)
{
    enum { PART = 1 << 30 };
    if (t->row_bytes <= INT_MAX) {
        MPI_Type_contiguous((int)t->row_bytes, MPI_BYTE, &t->row);
    } else {
        MPI_Datatype part, types[2];
        int64_t whole = t->row_bytes / PART;
        int lengths[2] = {(int)whole, (int)(t->row_bytes % PART)};
        MPI_Aint places[2] = {0, (MPI_Aint)(whole * PART)};
        MPI_Type_contiguous(PART, MPI_BYTE, &part);
        types[0] = part, types[1] = MPI_BYTE;
        MPI_Type_create_struct(2, lengths, places, types, &t->row);
        MPI_Type_free(&part);
    }
    MPI_Type_commit(&t->row);
}

/* ---- Calls ---- */

static garner_status compare_layouts(garner_mpi_table *t, garner_error *error)
{
    int64_t about[4 + GARNER_MAX_RANK] = {t->whole.dtype, t->whole.rank, t->row_bytes, t->spread.kind};
    memcpy(about + 4, t->shape, (size_t)t->whole.rank * sizeof *t->shape);
    garner_status status = compare(t->comm, about, (int)sizeof about, "shape, type or spread", error);
    status = agree(t->comm, status, error);
    if (status != GARNER_OK || t->spread.kind != GARNER_MPI_OFFSETS) return status;
    status = compare(t->comm, t->spread.offsets, (t->ranks + 1) * (int)sizeof *t->spread.offsets,
                     "list of offsets", error);
    return agree(t->comm, status, error);
}

static garner_status build(garner_mpi_table *t, const garner_tensor *whole, const garner_mpi_layout *layout,
                           garner_error *error)
{
    garner_status status = set_shape(t, whole, error);
    if (status == GARNER_OK) status = set_spread(t, layout, error);
    status = agree(t->comm, status, error);
    if (status == GARNER_OK) status = compare_layouts(t, error);
    if (status != GARNER_OK) return status;
    find_node(t, (layout && layout->apart) || table_ranks_apart());
    status = agree(t->comm, find_near(t, error), error);
    if (status != GARNER_OK) return status;
    status = agree(t->comm, allocate(t, error), error);
    if (status == GARNER_OK) make_row_type(t);
    return status;
}

garner_status garner_mpi_table_create(MPI_Comm comm, const garner_tensor *whole,
                                      const garner_mpi_layout *layout, garner_mpi_table **table,
                                      garner_error *error)
{
    garner_mpi_table *t = calloc(1, sizeof *t);
    *table = NULL;
    garner_status status = t ? GARNER_OK : fail_memory(error, me, sizeof *t);
    status = agree(comm, status, error);
    if (status != GARNER_OK) {
        free(t);
        return status;
    }
    /* analysis: the same */
    t->node = MPI_COMM_NULL, t->window = MPI_WIN_NULL, t->row = MPI_DATATYPE_NULL;
    MPI_Comm_dup(comm, &t->comm);
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->ranks);
    status = build(t, whole, layout, error);
    if (status == GARNER_OK)
        *table = t;
    else
        garner_mpi_table_destroy(t);
    return status;
}

garner_status garner_mpi_table_create_f(MPI_Fint comm, const garner_tensor *whole,
                                        const garner_mpi_layout *layout, garner_mpi_table **table,
                                        garner_error *error)
{
    return garner_mpi_table_create(MPI_Comm_f2c(comm), whole, layout, table, error);
}

garner_mpi_part garner_mpi_table_part(const garner_mpi_table *t)
{
    return (garner_mpi_part){t->own, spread_count(&t->spread, t->rank), t->row_bytes,
                             spread_first(&t->spread, t->rank), spread_step(&t->spread)};
}

const garner_tensor *garner_mpi_table_tensor(const garner_mpi_table *t)
{
    return &t->whole;
}

garner_status garner_mpi_table_publish(garner_mpi_table *t, garner_error *error)
{
    MPI_Win_sync(t->window);
    garner_status status = meet(t->comm, CALL_PUBLISH, GARNER_OK, error);
    MPI_Win_sync(t->window);
    return status;
}

garner_status garner_mpi_table_refuse(garner_mpi_table *t, garner_status status, const char *sentence,
                                      garner_error *error)
{
    garner_error mine;
    fail(&mine, status, "%s", sentence);
    status = agree(t->comm, status, &mine);
    if (error) *error = mine;
    return status;
}

void garner_mpi_table_destroy(garner_mpi_table *t)
{
    if (!t) return;
    leave(t->comm);
    if (t->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(t->window);
        MPI_Win_free(&t->window);
    }
    if (t->row != MPI_DATATYPE_NULL) MPI_Type_free(&t->row);
    if (t->node != MPI_COMM_NULL) MPI_Comm_free(&t->node);
    MPI_Comm_free(&t->comm);
    free(t->near_start);
    free(t->spread.offsets);
    free(t);
}

/* Every index is looked at where all rows are one byte, the same for all. */
garner_status table_check_indices(int64_t rows, const garner_tensor *indices, garner_error *error)
{
    garner_op op = {.kind = GARNER_GATHER};
    garner_shape shape;
    int64_t stride = 0;
    unsigned char byte = 0;
    garner_tensor data = {.data = &byte, .shape = &rows, .strides = &stride, .rank = 1, .dtype = GARNER_U8};
    garner_status status = garner_infer(&op, &data, indices, &shape, error);
    if (status != GARNER_OK || shape.count == 0) return status;
    unsigned char *out = malloc((size_t)shape.count);
    if (!out) return fail_memory(error, "garner_mpi_plan_create", (uint64_t)shape.count);
    garner_tensor into = {.data = out, .shape = shape.extents, .rank = shape.rank, .dtype = GARNER_U8};
    status = garner_run(&op, &data, indices, &into, NULL, error);
    free(out);
    return status;
}
