/* SPDX-License-Identifier: MIT */
/*
 * One gather by all ranks, from a file into a file. Rank 0 is the one that file_save writes for: the new file
 * has no name until it is whole. Ranks of its node write their rows into it through /proc; those of other
 * nodes send them to it.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "mpi_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "file.h"
#include "mpi_agree.h"
#include "mpi_file.h"
#include "mpi_place.h"
#include "mpi_table.h"
#include "npy_header.h"
#include "store.h"

enum { PIECE_BYTES = 128 << 20, MESSAGE = 1 << 30 };

struct job {
    const struct mpi_job *asked;
    MPI_Comm comm;
    int rank, ranks;
    struct array data;
    garner_mpi_table *table;
    int64_t count, piece, pieces; /* indices of all; of a rank at a time; how often that is */
    size_t index_bytes;
    unsigned char *rows;  /* of a piece */
    int file;             /* the new file; -1: rows go to rank 0 */
    int64_t data_at;      /* where its rows begin */
    int agreed;           /* a failure that all ranks know of already */
    garner_status status; /* of this rank's writing */
    garner_error error;
};

/* What rank 0 says of its file. */
struct announced {
    struct place place;
    int64_t data_at;
    char host[MPI_MAX_PROCESSOR_NAME];
};

/* The indices that a rank takes in its i-th piece: how many, and from which on. */
static int64_t piece_of(const struct job *j, int rank, int64_t i, int64_t *from)
{
    int64_t share = j->count / j->ranks, rest = j->count % j->ranks;
    int64_t first = rank * share + (rank < rest ? rank : rest), all = share + (rank < rest);
    int64_t done = i * j->piece < all ? i * j->piece : all;
    *from = first + done;
    return all - done < j->piece ? all - done : j->piece;
}

/* ---- The new file ---- */

static int write_at(int file, const unsigned char *bytes, int64_t size, int64_t at)
{
    while (size) {
        ssize_t wrote = pwrite(file, bytes, (size_t)(size < MESSAGE ? size : MESSAGE), at);
        if (wrote < 0 && errno != EINTR) return errno;
        if (wrote == 0) return EIO;
        if (wrote > 0) bytes += wrote, size -= wrote, at += wrote;
    }
    return 0;
}

static void put(struct job *j, const unsigned char *rows, int64_t from, int64_t count)
{
    int64_t bytes = garner_mpi_table_part(j->table).row_bytes;
    int number =
        j->status == GARNER_OK ? write_at(j->file, rows, count * bytes, j->data_at + from * bytes) : 0;
    if (number) j->status = fail_errno(&j->error, j->asked->out, "write", number);
}

/* On rank 0: the file that sink writes to, for ranks of this machine. */
static void announce(struct job *j, int descriptor)
{
    struct announced file = {.place = place_of(descriptor), .data_at = j->data_at};
    int size;
    MPI_Get_processor_name(file.host, &size);
    MPI_Bcast(&file, (int)sizeof file, MPI_BYTE, 0, j->comm);
    j->file = descriptor;
}

/* On the others: opens it, where it can be reached. False: there is none, and rank 0 says why. */
static int find_file(struct job *j)
{
    struct announced file;
    char host[MPI_MAX_PROCESSOR_NAME];
    int size;
    MPI_Bcast(&file, (int)sizeof file, MPI_BYTE, 0, j->comm);
    MPI_Get_processor_name(host, &size);
    j->data_at = file.data_at;
    if (strcmp(host, file.host) == 0 && !table_ranks_apart()) j->file = place_open(&file.place);
    return file.place.descriptor >= 0;
}

/* ---- Rows ---- */

/* Rank 0 takes the rows of those that have no file. */
static void collect(struct job *j, int64_t i, const int *sends)
{
    int64_t bytes = garner_mpi_table_part(j->table).row_bytes, from;
    for (int rank = 1; rank < j->ranks; rank++) {
        int64_t count = piece_of(j, rank, i, &from), size = count * bytes;
        if (!sends[rank]) continue;
        for (int64_t at = 0; at < size; at += MESSAGE)
            MPI_Recv(j->rows + at, (int)(size - at < MESSAGE ? size - at : MESSAGE), MPI_BYTE, rank, 0,
                     j->comm, MPI_STATUS_IGNORE);
        put(j, j->rows, from, count);
    }
}

static void hand_in(const struct job *j, int64_t size)
{
    for (int64_t at = 0; at < size; at += MESSAGE)
        MPI_Send(j->rows + at, (int)(size - at < MESSAGE ? size - at : MESSAGE), MPI_BYTE, 0, 0, j->comm);
}

static garner_status run_piece(struct job *j, int64_t i, const int *sends, garner_error *error)
{
    int64_t from, count = piece_of(j, j->rank, i, &from);
    garner_tensor indices = *j->asked->indices;
    indices.data = (unsigned char *)indices.data + indices.byte_offset + (size_t)from * j->index_bytes;
    indices.byte_offset = 0, indices.bytes = 0, indices.rank = 1, indices.shape = &count;
    garner_status status = garner_mpi_gather(j->table, &indices, j->rows, error);
    if (status != GARNER_OK) return status;
    if (j->file >= 0)
        put(j, j->rows, from, count);
    else
        hand_in(j, count * garner_mpi_table_part(j->table).row_bytes);
    if (j->rank == 0) collect(j, i, sends);
    return GARNER_OK;
}

/* All pieces of all ranks. Collective, from here on in step. */
static garner_status run_pieces(struct job *j, garner_error *error)
{
    int *sends = calloc((size_t)j->ranks, sizeof *sends), mine = j->file < 0;
    garner_status status =
        sends ? GARNER_OK : fail_memory(error, j->asked->out, (uint64_t)j->ranks * sizeof *sends);
    status = agree(j->comm, status, error);
    if (status == GARNER_OK) MPI_Allgather(&mine, 1, MPI_INT, sends, 1, MPI_INT, j->comm);
    for (int64_t i = 0; i < j->pieces && status == GARNER_OK; i++)
        status = run_piece(j, i, sends, error);
    free(sends);
    if (status == GARNER_OK) {
        if (error && j->status != GARNER_OK) *error = j->error;
        status = agree(j->comm, j->status, error);
    }
    j->agreed = status != GARNER_OK;
    return status;
}

struct producing {
    struct job *job;
    const struct npy_text *head;
    int begun; /* others have been told of the file */
};

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    struct producing *p = context;
    int descriptor;
    garner_status status = sink_write(sink, p->head->bytes, p->head->size, error);
    if (status == GARNER_OK) status = sink_descriptor(sink, &descriptor, error);
    if (status != GARNER_OK) return status;
    p->begun = 1;
    p->job->data_at = (int64_t)p->head->size;
    announce(p->job, descriptor);
    return run_pieces(p->job, error);
}

/* Rank 0 writes, the others take part. What fails before others know of a file, they are told. */
static garner_status save(struct job *j, const struct npy_text *head, garner_error *error)
{
    if (j->rank != 0) return find_file(j) ? run_pieces(j, error) : GARNER_OK;
    struct producing producing = {.job = j, .head = head};
    garner_status status = file_save(j->asked->out, produce, &producing, error);
    if (!producing.begun) announce(j, -1);
    return status;
}

/* ---- The whole ---- */

/* The sentence that names an index names its place among all of them. */
static garner_status check_indices(const struct job *j, garner_error *error)
{
    int64_t from, count, rows = j->data.tensor.rank ? j->data.shape[0] : 0;
    garner_tensor part = *j->asked->indices;
    struct job one = {.count = j->count, .ranks = j->ranks, .piece = j->count};
    count = piece_of(&one, j->rank, 0, &from);
    part.data = (unsigned char *)part.data + part.byte_offset + (size_t)from * j->index_bytes;
    part.byte_offset = 0, part.bytes = 0, part.rank = 1, part.shape = &count;
    garner_status status = table_check_indices(rows, &part, error);
    return status == GARNER_OUT_OF_RANGE ? table_check_indices(rows, j->asked->indices, error) : status;
}

static garner_status prepare(struct job *j, struct npy_text *head, garner_error *error)
{
    garner_op op = {.kind = GARNER_GATHER};
    garner_shape shape;
    garner_status status = store_load_one(&j->data, j->asked->path, j->asked->member, 0, error);
    if (status == GARNER_OK) status = garner_infer(&op, &j->data.tensor, j->asked->indices, &shape, error);
    if (status != GARNER_OK) return status;
    j->count = 1;
    for (int d = 0; d < j->asked->indices->rank; d++)
        j->count *= j->asked->indices->shape[d];
    j->index_bytes = (size_t)garner_dtype_bits(j->asked->indices->dtype) / 8;
    int64_t row = j->count ? shape.bytes / j->count : 1;
    j->piece = row < PIECE_BYTES ? PIECE_BYTES / (row ? row : 1) : 1;
    if (j->piece > j->count) j->piece = j->count ? j->count : 1;
    int64_t share = j->count / j->ranks + (j->count % j->ranks != 0);
    j->pieces = share / j->piece + (share % j->piece != 0);
    j->rows = malloc((size_t)(j->piece * row) + 1);
    if (!j->rows) return fail_memory(error, j->asked->out, (uint64_t)(j->piece * row));
    garner_tensor out = {
        .shape = shape.extents, .rank = shape.rank, .dtype = shape.dtype, .item_bytes = shape.item_bytes};
    status = npy_preamble(head, &out, j->data.descr, j->asked->out, error);
    return status == GARNER_OK ? check_indices(j, error) : status;
}

static garner_status run(struct job *j, garner_status status, garner_error *error)
{
    struct npy_text head = {0};
    if (status == GARNER_OK) status = prepare(j, &head, error);
    status = file_table(j->comm, status, &j->data, NULL, &j->table, error);
    array_free(&j->data);
    if (status == GARNER_OK) {
        status = save(j, &head, error);
        if (!j->agreed) status = agree(j->comm, status, error); /* what rank 0 could not do at the end */
    }
    free(head.bytes);
    if (j->file >= 0 && j->rank != 0) close(j->file);
    free(j->rows);
    garner_mpi_table_destroy(j->table);
    return status;
}

/* Ranks that have not found each other would each write the file. */
static garner_status check_ranks(const struct job *j, garner_error *error)
{
    const struct mpi_job *asked = j->asked;
    if (asked->ranks ? asked->ranks == j->ranks : asked->rank == j->rank) return GARNER_OK;
    return fail(error, GARNER_BAD_ARGUMENT,
                "gather: rank %d by its environment is rank %d of %d to this MPI: another one has started it",
                (int)asked->rank, j->rank, j->ranks);
}

garner_status garner_mpi_command(struct mpi_job *asked, garner_status status, garner_error *error)
{
    struct job j = {.asked = asked, .file = -1};
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &j.comm);
    MPI_Comm_rank(j.comm, &j.rank);
    MPI_Comm_size(j.comm, &j.ranks);
    garner_status found = check_ranks(&j, error);
    status = found == GARNER_OK ? run(&j, status, error) : found;
    /* mpirun ends all ranks once one has left with an error, which is to be told by then. */
    if (status != GARNER_OK && asked->rank == 0) asked->tell(error->message);
    MPI_Barrier(j.comm);
    MPI_Comm_free(&j.comm);
    MPI_Finalize();
    return status;
}
