/* SPDX-License-Identifier: MIT */
/*
 * Plans: ranks tell each other once which rows they want; each run of the plan then packs, exchanges and
 * places them.
 */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "mpi_agree.h"
#include "mpi_move.h"
#include "mpi_rounds.h"
#include "mpi_wants.h"

struct garner_mpi_plan {
    garner_mpi_table *table;
    struct wants wants;
    int64_t *asked, *served; /* by rank: distinct rows that this rank wants of it, and it of this one */
    int64_t *serve;       /* the latter, one rank's after the other's, counted from this rank's first row */
    int64_t *serve_start; /* by rank, where in serve */
    struct rounds rounds; /* of rows */
    unsigned char *out;   /* while a run is under way */
    int begun;
    garner_status status; /* of this rank's part of it */
    garner_error error;
};

static const char me[] = "garner_mpi_plan_create";

/* ---- Requests ---- */

static void pack_requests(void *context, int rank, int64_t from, int64_t count, unsigned char *into)
{
    const garner_mpi_plan *p = context;
    memcpy(into, p->wants.local + p->wants.start[rank] + from, (size_t)count * sizeof(int64_t));
}

static void unpack_requests(void *context, int rank, int64_t from, int64_t count, const unsigned char *items)
{
    const garner_mpi_plan *p = context;
    memcpy(p->serve + p->serve_start[rank] + from, items, (size_t)count * sizeof(int64_t));
}

/* ---- Rows ---- */

/* Of this rank's own, those that another asked for. What it asked for it has checked, and we gather checks
 * again. */
static void pack_rows(void *context, int rank, int64_t from, int64_t count, unsigned char *into)
{
    garner_mpi_plan *p = context;
    const garner_mpi_table *t = p->table;
    garner_op op = {.kind = GARNER_GATHER};
    int64_t shapes[2][2];
    garner_tensor data = table_bytes(t->own, shapes[0], spread_count(&t->spread, t->rank), t->row_bytes);
    garner_tensor out = table_bytes(into, shapes[1], count, t->row_bytes);
    garner_tensor rows = {
        .data = p->serve + p->serve_start[rank] + from, .shape = &count, .rank = 1, .dtype = GARNER_I64};
    garner_status status =
        garner_run(&op, &data, &rows, &out, NULL, p->status == GARNER_OK ? &p->error : NULL);
    if (p->status == GARNER_OK) p->status = status;
}

static void unpack_rows(void *context, int rank, int64_t from, int64_t count, const unsigned char *items)
{
    enum { AHEAD = 8 };
    const garner_mpi_plan *p = context;
    const struct wants *w = &p->wants;
    const size_t bytes = (size_t)p->table->row_bytes;
    const int non_temporal = move_is_non_temporal(bytes, (size_t)w->count * bytes);
    const int64_t *first = w->first + w->start[rank] + from, last = first[count];
    for (int64_t u = 0; u < count; u++, items += bytes)
        for (int64_t k = first[u]; k < first[u + 1]; k++) {
            if (!non_temporal && k + AHEAD < last)
                __builtin_prefetch(p->out + (size_t)w->at[k + AHEAD] * bytes, 1);
            move_row(p->out + (size_t)w->at[k] * bytes, items, bytes, non_temporal);
        }
    move_finish();
}

/* Rows of this node, where it does not hold all. */
static void place_here(const garner_mpi_plan *p)
{
    enum { AHEAD = 8 };
    const struct wants *w = &p->wants;
    const size_t bytes = (size_t)p->table->row_bytes;
    const int non_temporal = move_is_non_temporal(bytes, (size_t)w->count * bytes);
    const unsigned char *near = p->table->near;
    for (int64_t i = 0; i < w->here_count; i++) {
        if (i + AHEAD < w->here_count) move_prefetch(near + (size_t)w->here[i + AHEAD].row * bytes, bytes);
        move_row(p->out + (size_t)w->here[i].at * bytes, near + (size_t)w->here[i].row * bytes, bytes,
                 non_temporal);
    }
    move_finish();
}

/* A plain gather, where the node holds all. */
static garner_status gather_near(garner_mpi_plan *p, garner_error *error)
{
    const garner_mpi_table *t = p->table;
    garner_op op = {.kind = GARNER_GATHER};
    int64_t shapes[2][2], count = p->wants.count;
    garner_tensor data = table_bytes(t->near, shapes[0], t->near_rows, t->row_bytes);
    garner_tensor out = table_bytes(p->out, shapes[1], count, t->row_bytes);
    garner_tensor rows = {.data = p->wants.near, .shape = &count, .rank = 1, .dtype = GARNER_I64};
    return garner_run(&op, &data, &rows, &out, NULL, error);
}

/* ---- Making a plan ---- */

/* How many each rank wants of each, and room for the lists. */
static garner_status count_requests(garner_mpi_plan *p, garner_error *error)
{
    int ranks = p->table->ranks; /* analysis: all ranks have agreed that they have their plans */
    int64_t all = 0;
    for (int r = 0; r < ranks; r++)
        p->asked[r] = p->wants.start[r + 1] - p->wants.start[r]; /* analysis: the same of what look() made */
    MPI_Alltoall(p->asked, 1, MPI_INT64_T, p->served, 1, MPI_INT64_T, p->table->comm);
    for (int r = 0; r < ranks; r++) {
        p->serve_start[r] = all;
        all += p->served[r];
    }
    p->serve = malloc(((size_t)all + 1) * sizeof *p->serve);
    return p->serve ? GARNER_OK : fail_memory(error, me, (uint64_t)all * sizeof *p->serve);
}

static garner_status exchange_requests(garner_mpi_plan *p, garner_error *error)
{
    const garner_mpi_table *t = p->table;
    struct rounds requests = {.comm = t->comm,
                              .item = MPI_INT64_T,
                              .ranks = t->ranks,
                              .item_bytes = sizeof(int64_t),
                              .pack = pack_requests,
                              .unpack = unpack_requests,
                              .context = p};
    p->rounds = (struct rounds){.comm = t->comm,
                                .item = t->row,
                                .ranks = t->ranks,
                                .item_bytes = t->row_bytes,
                                .pack = pack_rows,
                                .unpack = unpack_rows,
                                .context = p};
    garner_status status = rounds_prepare(&requests, p->asked, p->served, error);
    garner_status also = rounds_prepare(&p->rounds, p->served, p->asked, status == GARNER_OK ? error : NULL);
    status = agree(t->comm, status != GARNER_OK ? status : also, error);
    if (status == GARNER_OK) rounds_finish(&requests, 0);
    rounds_free(&requests);
    return status;
}

/* This rank's own part: nothing is said to others yet. */
static garner_status look(garner_mpi_plan *p, const garner_tensor *indices, garner_error *error)
{
    size_t ranks = (size_t)p->table->ranks;
    int64_t count = 1;
    if (!indices) return fail(error, GARNER_BAD_ARGUMENT, "%s: indices is NULL", me);
    garner_status status = table_check_indices(p->table->spread.rows, indices, error);
    if (status != GARNER_OK) return status;
    if (indices->strides)
        return fail(error, GARNER_BAD_ARGUMENT, "%s: indices must be dense, and have strides", me);
    for (int d = 0; d < indices->rank; d++)
        count *= indices->shape[d];
    garner_tensor dense = *indices;
    if (dense.data) dense.data = (unsigned char *)dense.data + dense.byte_offset;
    status = wants_create(&p->wants, p->table, &dense, count, error);
    p->asked = calloc(ranks, sizeof *p->asked), p->served = calloc(ranks, sizeof *p->served);
    p->serve_start = calloc(ranks, sizeof *p->serve_start);
    if (status == GARNER_OK && (!p->asked || !p->served || !p->serve_start))
        status = fail_memory(error, me, ranks * 3 * sizeof *p->asked);
    return status;
}

garner_status garner_mpi_plan_create(garner_mpi_table *table, const garner_tensor *indices,
                                     garner_mpi_plan **plan, garner_error *error)
{
    garner_mpi_plan *p = calloc(1, sizeof *p);
    garner_status status = fail_memory(error, me, sizeof *p);
    *plan = NULL;
    if (p) {
        p->table = table;
        status = look(p, indices, error);
    }
    status = meet(table->comm, CALL_PLAN, status, error);
    if (status == GARNER_OK && !table->alone) {
        status = agree(table->comm, count_requests(p, error), error);
        if (status == GARNER_OK) status = exchange_requests(p, error);
    }
    if (status == GARNER_OK)
        *plan = p;
    else
        garner_mpi_plan_destroy(p);
    return status;
}

/* Waits for what has begun, and takes nothing from it. */
static void abandon(garner_mpi_plan *p)
{
    if (!p->begun) return;
    rounds_abandon(&p->rounds);
    p->begun = p->table->busy = 0;
    p->out = NULL;
}

void garner_mpi_plan_destroy(garner_mpi_plan *p)
{
    if (!p) return;
    abandon(p);
    rounds_free(&p->rounds);
    wants_free(&p->wants);
    free(p->asked);
    free(p->served);
    free(p->serve);
    free(p->serve_start);
    free(p);
}

/* ---- Running it ---- */

garner_status garner_mpi_plan_begin(garner_mpi_plan *p, void *out, garner_error *error)
{
    garner_mpi_table *table = p->table; /* analysis: whose plan was made, on all ranks */
    garner_status status = GARNER_OK;
    if (!out && p->wants.count && table->row_bytes)
        status =
            fail(error, GARNER_BAD_ARGUMENT, "garner_mpi_plan_begin: out is NULL, and there are rows for it");
    if (table->busy)
        status = fail(error, GARNER_BAD_ARGUMENT,
                      "garner_mpi_plan_begin: another gather of this table has not ended");
    status = meet(table->comm, CALL_BEGIN, status, error);
    if (status != GARNER_OK) return status;
    p->out = out;
    p->status = GARNER_OK;
    p->begun = table->busy = 1;
    if (p->rounds.count) rounds_begin(&p->rounds, 0);
    return GARNER_OK;
}

garner_status garner_mpi_plan_end(garner_mpi_plan *p, garner_error *error)
{
    if (!p->begun) /* on no rank: they begin together */
        return fail(error, GARNER_BAD_ARGUMENT, "garner_mpi_plan_end: this gather has not begun");
    const int alone = p->table->alone;
    if (alone)
        p->status = gather_near(p, &p->error);
    else
        place_here(p);
    if (error && p->status != GARNER_OK) *error = p->error;
    garner_status status = meet(p->table->comm, CALL_END, p->status, error);
    if (status == GARNER_OK && !alone) {
        rounds_finish(&p->rounds, p->rounds.count ? 1 : 0);
        if (error && p->status != GARNER_OK) *error = p->error;
        status = agree(p->table->comm, p->status, error);
    }
    abandon(p);
    return status;
}

garner_status garner_mpi_gather(garner_mpi_table *table, const garner_tensor *indices, void *out,
                                garner_error *error)
{
    garner_mpi_plan *plan;
    garner_status status = garner_mpi_plan_create(table, indices, &plan, error);
    if (status == GARNER_OK) status = garner_mpi_plan_begin(plan, out, error);
    if (status == GARNER_OK) status = garner_mpi_plan_end(plan, error);
    garner_mpi_plan_destroy(plan);
    return status;
}

garner_mpi_traffic garner_mpi_plan_traffic(const garner_mpi_plan *p)
{
    garner_mpi_traffic traffic = {.near = p->table->alone ? p->wants.count : p->wants.here_count,
                                  .received = p->wants.far_count,
                                  .rounds = p->rounds.count};
    for (int r = 0; r < p->table->ranks; r++)
        traffic.sent += p->served[r];
    traffic.near *= p->table->row_bytes;
    traffic.sent *= p->table->row_bytes;
    traffic.received *= p->table->row_bytes;
    return traffic;
}
