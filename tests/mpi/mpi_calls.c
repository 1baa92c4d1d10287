/* SPDX-License-Identifier: MIT */
/*
 * Tables over ranks against what each row must hold, and refusals that all ranks must share. Run by
 * tests/mpi/run with 1 to 5 ranks of each MPI; exits with 1 on any rank that saw something wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "garner_mpi.h"

static int rank, ranks, wrong;

static void expect(int holds, const char *what, long long number)
{
    if (holds) return;
    wrong = 1;
    fprintf(stderr, "rank %d: %s (%lld)\n", rank, what, number);
}

/* ---- Tables ---- */

enum { WIDTH = 3 };

static garner_mpi_layout layout_of(int kind, int apart, int64_t rows)
{
    static int64_t offsets[64];
    for (int r = 0; r <= ranks;
         r++) /* the first has a third, the last the rest, those between them nothing */
        offsets[r] = r == 0 ? 0 : r == ranks ? rows : rows / 3;
    return (garner_mpi_layout){.spread = (garner_mpi_spread)kind, .offsets = offsets, .apart = apart};
}

static garner_mpi_table *make_table(int64_t rows, const garner_mpi_layout *layout)
{
    garner_mpi_table *table;
    garner_error error;
    garner_tensor whole = {.shape = (int64_t[]){rows, WIDTH}, .rank = 2, .dtype = GARNER_I32};
    garner_status status = garner_mpi_table_create(MPI_COMM_WORLD, &whole, layout, &table, &error);
    if (status != GARNER_OK) {
        fprintf(stderr, "%s\n", error.message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return table;
}

static void fill(garner_mpi_table *table, int32_t plus)
{
    garner_mpi_part part = garner_mpi_table_part(table);
    int32_t *to = part.data;
    for (int64_t i = 0; i < part.rows; i++)
        for (int k = 0; k < WIDTH; k++)
            *to++ = (int32_t)((part.first + i * part.step) * 10 + k) + plus;
    expect(garner_mpi_table_publish(table, NULL) == GARNER_OK, "publish", 0);
}

static void look(const int32_t *out, const int16_t *indices, int64_t count, int64_t rows, int32_t plus)
{
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < WIDTH; k++) {
            int64_t row = indices[i] < 0 ? indices[i] + rows : indices[i];
            expect(out[i * WIDTH + k] == (int32_t)(row * 10 + k) + plus, "a row of another index", i);
        }
}

/* Each rank its own number of indices, the first none; twice by one plan, with other rows. */
static void gather(garner_mpi_table *table, int64_t rows)
{
    int64_t count = rows ? rank * 50 : 0;
    int16_t *indices = calloc((size_t)count + 1, sizeof *indices);
    int32_t *out = calloc((size_t)count + 1, WIDTH * sizeof *out);
    garner_mpi_plan *plan;
    garner_error error;
    for (int64_t i = 0; i < count; i++)
        indices[i] = (int16_t)(rand() % (2 * rows) - rows);
    garner_tensor given = {.data = indices, .shape = &count, .rank = 1, .dtype = GARNER_I16};
    expect(garner_mpi_plan_create(table, &given, &plan, &error) == GARNER_OK, error.message, 0);
    for (int32_t plus = 0; plus < 2000; plus += 1000) {
        fill(table, plus);
        expect(garner_mpi_plan_begin(plan, out, &error) == GARNER_OK, error.message, 0);
        expect(garner_mpi_plan_begin(plan, out, &error) == GARNER_BAD_ARGUMENT, "begun twice", 0);
        expect(garner_mpi_plan_end(plan, &error) == GARNER_OK, error.message, 0);
        expect(garner_mpi_plan_end(plan, &error) == GARNER_BAD_ARGUMENT, "ended twice", 0);
        look(out, indices, count, rows, plus);
    }
    expect(garner_mpi_plan_begin(plan, out, &error) == GARNER_OK, error.message, 0);
    garner_mpi_plan_destroy(plan); /* which has begun; the next gather of this table finds it free */
    free(indices);
    free(out);
}

/* A row that is asked for again and again is received once. */
static void repeat(garner_mpi_table *table, int64_t rows)
{
    enum { COUNT = 1000 };
    static int64_t indices[COUNT];
    static int32_t out[COUNT * WIDTH];
    garner_mpi_plan *plan;
    garner_error error;
    for (int i = 0; i < COUNT; i++)
        indices[i] = i % 2 ? rows - 1 : 0;
    garner_tensor given = {
        .data = indices, .shape = (int64_t[]){2, COUNT / 2}, .rank = 2, .dtype = GARNER_I64};
    expect(garner_mpi_plan_create(table, &given, &plan, &error) == GARNER_OK, error.message, 0);
    expect(garner_mpi_plan_traffic(plan).received <= 2 * WIDTH * 4, "bytes received",
           garner_mpi_plan_traffic(plan).received);
    expect(garner_mpi_plan_begin(plan, out, &error) == GARNER_OK, error.message, 0);
    expect(garner_mpi_plan_end(plan, &error) == GARNER_OK, error.message, 0);
    for (int i = 0; i < COUNT; i++)
        expect(out[i * WIDTH] == (int32_t)indices[i] * 10 + 1000, "a repeated row", i);
    garner_mpi_plan_destroy(plan);
}

/* ---- Rounds ---- */

/* Rows so large that a round has room for a few alone, and an out whose rows begin at any address. */
static void many_rounds(void)
{
    enum { ROWS = 12, BYTES = (5 << 20) + 3, COUNT = 20 };
    garner_mpi_layout layout = {.spread = GARNER_MPI_CYCLIC, .apart = 1};
    garner_tensor whole = {.shape = (int64_t[]){ROWS, BYTES}, .rank = 2, .dtype = GARNER_U8};
    garner_mpi_table *table;
    garner_mpi_plan *plan;
    garner_error error;
    unsigned char *room = malloc((size_t)COUNT * BYTES + 1), *out = room + 1;
    int64_t indices[COUNT], count = COUNT;
    expect(garner_mpi_table_create(MPI_COMM_WORLD, &whole, &layout, &table, &error) == GARNER_OK,
           error.message, 0);
    garner_mpi_part part = garner_mpi_table_part(table);
    for (int64_t i = 0; i < part.rows; i++)
        memset((unsigned char *)part.data + i * BYTES, (int)(part.first + i * part.step + 1), BYTES);
    expect(garner_mpi_table_publish(table, &error) == GARNER_OK, error.message, 0);
    for (int i = 0; i < COUNT; i++)
        indices[i] = (i * 7 + rank) % ROWS;
    garner_tensor given = {.data = indices, .shape = &count, .rank = 1, .dtype = GARNER_I64};
    expect(garner_mpi_plan_create(table, &given, &plan, &error) == GARNER_OK, error.message, 0);
    expect(ranks == 1 || garner_mpi_plan_traffic(plan).rounds > 1, "rounds",
           garner_mpi_plan_traffic(plan).rounds);
    expect(garner_mpi_plan_begin(plan, out, &error) == GARNER_OK, error.message, 0);
    expect(garner_mpi_plan_end(plan, &error) == GARNER_OK, error.message, 0);
    for (int i = 0; i < COUNT; i++)
        for (int64_t at = 0; at < BYTES; at += BYTES - 1)
            expect(out[(int64_t)i * BYTES + at] == indices[i] + 1, "a large row", i);
    garner_mpi_plan_destroy(plan);
    garner_mpi_table_destroy(table);
    free(room);
}

/* ---- Refusals ---- */

static void same_for_all(garner_status status, garner_status expected, const garner_error *error,
                         const char *sentence)
{
    expect(status == expected, "status", status);
    expect(strcmp(error->message, sentence) == 0, error->message, status);
}

static void refuse(garner_mpi_table *table, int64_t rows)
{
    int64_t indices[2] = {0, rank == ranks - 1 ? -rows - 1 : 0}, count = 2;
    int32_t out[2 * WIDTH];
    char sentence[512];
    garner_error error;
    garner_tensor given = {.data = indices, .shape = &count, .rank = 1, .dtype = GARNER_I64};
    snprintf(sentence, sizeof sentence,
             "rank %d: Gather: indices[1] = %lld is outside [%lld, %lld] of data axis 0", ranks - 1,
             (long long)-rows - 1, (long long)-rows, (long long)rows - 1);
    same_for_all(garner_mpi_gather(table, &given, out, &error), GARNER_OUT_OF_RANGE, &error, sentence);
    expect(error.position == 1 && error.value.i == -rows - 1 && error.bound == rows, "fields",
           error.position);
    given.dtype = rank == 0 ? GARNER_F32 : GARNER_I64;
    indices[1] = 0;
    expect(garner_mpi_gather(table, &given, out, &error) == GARNER_BAD_TYPE, error.message, 0);
    expect(strncmp(error.message, "rank 0: ", 8) == 0, error.message, 0);
    given.dtype = GARNER_I64;
    snprintf(sentence, sizeof sentence,
             "rank %d: garner_mpi_plan_begin: out is NULL, and there are rows for it", ranks - 1);
    same_for_all(garner_mpi_gather(table, &given, rank == ranks - 1 ? NULL : out, &error),
                 GARNER_BAD_ARGUMENT, &error, sentence);
    expect(garner_mpi_gather(table, &given, out, &error) == GARNER_OK, "a good one after bad ones", 0);
}

static void refuse_layouts(void)
{
    int last = rank == ranks - 1;
    char sentence[512];
    garner_mpi_table *table;
    garner_error error;
    garner_tensor whole = {.shape = (int64_t[]){10 + last, 2}, .rank = 2, .dtype = GARNER_F32};
    garner_status status = garner_mpi_table_create(MPI_COMM_WORLD, &whole, NULL, &table, &error);
    snprintf(sentence, sizeof sentence,
             "rank %d: garner_mpi_table_create: the shape, type or spread is another one than on rank 0",
             ranks - 1);
    if (ranks > 1) same_for_all(status, GARNER_BAD_SHAPE, &error, sentence);
    garner_mpi_table_destroy(table);
    garner_mpi_layout layout = {.spread = last ? GARNER_MPI_CYCLIC : GARNER_MPI_BLOCKS};
    whole.shape = (int64_t[]){10, 2};
    status = garner_mpi_table_create(MPI_COMM_WORLD, &whole, &layout, &table, &error);
    if (ranks > 1) same_for_all(status, GARNER_BAD_SHAPE, &error, sentence);
    garner_mpi_table_destroy(table);
    layout = layout_of(GARNER_MPI_OFFSETS, 0, 10);
    int64_t offsets[64];
    memcpy(offsets, layout.offsets, sizeof offsets);
    offsets[ranks] = last ? 11 : 10;
    layout.offsets = offsets;
    status = garner_mpi_table_create(MPI_COMM_WORLD, &whole, &layout, &table, &error);
    snprintf(sentence, sizeof sentence,
             "rank %d: garner_mpi_table_create: offsets[%d] is 11, which is outside [10, 10]", ranks - 1,
             ranks);
    same_for_all(status, GARNER_BAD_SHAPE, &error, sentence);
    whole.dtype = GARNER_STR;
    expect(garner_mpi_table_create(MPI_COMM_WORLD, &whole, NULL, &table, &error) == GARNER_BAD_TYPE,
           error.message, 0);
    status = garner_mpi_table_open(MPI_COMM_WORLD, "/nowhere.npy", NULL, NULL, &table, &error);
    same_for_all(status, GARNER_SYSTEM, &error,
                 "rank 0: /nowhere.npy: cannot open: No such file or directory");
}

/* ---- Ranks that part ---- */

/* The first rank makes another call than the others: an error of all, and the table is as good as before. */
static void disagree(int apart)
{
    int64_t zero = 0, one = 1;
    int32_t out[WIDTH];
    garner_mpi_layout layout = {.apart = apart};
    garner_mpi_table *table = make_table(10, &layout);
    garner_mpi_plan *plan;
    garner_error error;
    garner_tensor given = {.data = &zero, .shape = &one, .rank = 1, .dtype = GARNER_I64};
    fill(table, 0);
    garner_status status =
        rank == 0 ? garner_mpi_table_publish(table, &error) : garner_mpi_gather(table, &given, out, &error);
    if (ranks > 1)
        same_for_all(status, GARNER_BAD_ARGUMENT, &error,
                     "garner_mpi_table_publish on some ranks, garner_mpi_plan_create on others: all ranks "
                     "must make the same calls of a table, in the same order");
    expect(garner_mpi_plan_create(table, &given, &plan, &error) == GARNER_OK, error.message, 0);
    expect(garner_mpi_plan_begin(plan, out, &error) == GARNER_OK, error.message, 0);
    status = rank == 0 ? garner_mpi_table_publish(table, &error) : garner_mpi_plan_end(plan, &error);
    if (ranks > 1) expect(status == GARNER_BAD_ARGUMENT, error.message, status);
    garner_mpi_plan_destroy(plan);
    expect(garner_mpi_gather(table, &given, out, &error) == GARNER_OK, error.message, 0);
    garner_mpi_table_destroy(table);
}

/* The last rank gives up between begin and end, with rounds to come. */
static void give_up(int apart)
{
    enum { ROWS = 64, BYTES = 1 << 20 };
    garner_mpi_layout layout = {.spread = GARNER_MPI_CYCLIC, .apart = apart};
    garner_tensor whole = {.shape = (int64_t[]){ROWS, BYTES}, .rank = 2, .dtype = GARNER_U8};
    garner_mpi_table *table;
    garner_mpi_plan *plan;
    garner_error error;
    int64_t indices[ROWS], count = ROWS;
    char sentence[512];
    unsigned char *out = malloc((size_t)ROWS * BYTES);
    for (int i = 0; i < ROWS; i++)
        indices[i] = i;
    garner_tensor given = {.data = indices, .shape = &count, .rank = 1, .dtype = GARNER_I64};
    expect(garner_mpi_table_create(MPI_COMM_WORLD, &whole, &layout, &table, &error) == GARNER_OK,
           error.message, 0);
    expect(garner_mpi_plan_create(table, &given, &plan, &error) == GARNER_OK, error.message, 0);
    expect(garner_mpi_plan_begin(plan, out, &error) == GARNER_OK, error.message, 0);
    snprintf(sentence, sizeof sentence,
             "rank %d: garner_mpi_table_destroy: this rank has closed the table, and makes no other call",
             ranks - 1);
    for (int i = 0; rank < ranks - 1 && i < 2; i++) /* the plan, and whatever they try next */
        same_for_all(i ? garner_mpi_table_publish(table, &error) : garner_mpi_plan_end(plan, &error),
                     GARNER_BAD_ARGUMENT, &error, sentence);
    garner_mpi_plan_destroy(plan);
    garner_mpi_table_destroy(table);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    srand((unsigned)rank);
    for (int kind = GARNER_MPI_BLOCKS; kind <= GARNER_MPI_OFFSETS; kind++)
        for (int apart = 0; apart < 2; apart++)
            for (int64_t rows = 0; rows < 1200; rows = rows * 6 + 2) {
                garner_mpi_layout layout = layout_of(kind, apart, rows);
                garner_mpi_table *table = make_table(rows, &layout);
                gather(table, rows);
                if (rows) repeat(table, rows);
                if (rows) refuse(table, rows);
                garner_mpi_table_destroy(table);
            }
    many_rounds();
    refuse_layouts();
    for (int apart = 0; apart < 2; apart++) {
        disagree(apart);
        give_up(apart);
    }
    MPI_Finalize();
    return wrong;
}
