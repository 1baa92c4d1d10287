/* SPDX-License-Identifier: MIT */
#include "mpi_wants.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

static const char me[] = "garner_mpi_plan_create";

/* ---- Indices ---- */

#define READ(type) return *(const type *)((const unsigned char *)from + (size_t)i * sizeof(type))

/* An index of any type, which is known to lie within the rows, negative or not. */
static int64_t read_index(const void *from, garner_dtype dtype, int64_t i)
{
    switch (dtype) {
    case GARNER_I8:
        READ(int8_t);
    case GARNER_U8:
        READ(uint8_t);
    case GARNER_I16:
        READ(int16_t);
    case GARNER_U16:
        READ(uint16_t);
    case GARNER_I32:
        READ(int32_t);
    case GARNER_U32:
        READ(uint32_t);
    default:
        READ(int64_t); /* a U64 in range is the same number */
    }
}

/* Another thread may have changed it since it was checked: then it is some row. */
static int64_t row_of(const garner_mpi_table *t, const garner_tensor *indices, int64_t i)
{
    int64_t rows = t->spread.rows, index = read_index(indices->data, indices->dtype, i);
    if (index < 0) index += rows;
    return index >= 0 && index < rows ? index : 0;
}

/* ---- Sorting ---- */

/* By row, two bytes at a time, as many as the largest has. Leaves the result in `from`, with `to` as the
 * other place. */
static void sort_wants(struct want *from, struct want *to, int64_t count, int64_t rows)
{
    enum { DIGITS = 1 << 16 };
    static _Thread_local int64_t begin[DIGITS + 1];
    struct want *first = from, *swap;
    for (int shift = 0; shift < 63 && (rows - 1) >> shift > 0; shift += 16) {
        memset(begin, 0, sizeof begin);
        for (int64_t i = 0; i < count; i++)
            begin[((from[i].row >> shift) & (DIGITS - 1)) + 1]++;
        for (int d = 0; d < DIGITS; d++)
            begin[d + 1] += begin[d];
        for (int64_t i = 0; i < count; i++)
            to[begin[(from[i].row >> shift) & (DIGITS - 1)]++] = from[i];
        swap = from, from = to, to = swap;
    }
    if (from != first) memcpy(first, from, (size_t)count * sizeof *from);
}

/* Adds up numbers of wants that lie one further: where each place begins. */
static void add_up(int64_t *begin, int64_t places)
{
    for (int64_t i = 0; i < places; i++)
        begin[i + 1] += begin[i];
}

/* From the order of rows into that in which they are first wanted, rank by rank: a row that comes is then put
 * behind the one before it, and scattered are the reads of whoever packs them, which can be prefetched.
 * before: by rank, and the end, where its rows begin among all. first and start are scratch yet. */
static void order_by_use(struct wants *w, const int64_t *before, int ranks, struct want *far,
                         struct want *spare, int64_t count)
{
    memset(w->first, 0, ((size_t)w->count + 1) * sizeof *w->first);
    memset(w->start, 0, ((size_t)ranks + 1) * sizeof *w->start);
    for (int64_t i = 0, use = 0; i < count; i++) {
        if (i == 0 || far[i].row != far[i - 1].row) use = far[i].at;
        w->first[use + 1]++;
        w->start[spread_find(before, ranks, far[i].row) + 1]++;
    }
    add_up(w->first, w->count);
    add_up(w->start, ranks);
    for (int64_t i = 0, use = 0; i < count; i++) {
        if (i == 0 || far[i].row != far[i - 1].row) use = far[i].at;
        spare[w->first[use]++] = far[i];
    }
    for (int64_t i = 0; i < count; i++)
        far[w->start[spread_find(before, ranks, spare[i].row)]++] = spare[i];
}

/* ---- Lists ---- */

static int64_t *list(int64_t count)
{
    return malloc(((size_t)count + 1) * sizeof(int64_t));
}

/* The node holds everything. */
static garner_status all_near(struct wants *w, const garner_mpi_table *t, const garner_tensor *indices,
                              garner_error *error)
{
    w->near = list(w->count);
    if (!w->near) return fail_memory(error, me, (uint64_t)w->count * sizeof *w->near);
    for (int64_t i = 0; i < w->count; i++) {
        struct owner owner = spread_owner(&t->spread, row_of(t, indices, i));
        w->near[i] = t->near_start[owner.rank] + owner.local;
    }
    return GARNER_OK;
}

/* Wants of others, by rank and equal ones together, as distinct rows. before: by rank, and the end, where its
 * rows begin among all. */
static void make_distinct(struct wants *w, const garner_mpi_table *t, const struct want *far, int64_t count,
                          const int64_t *before)
{
    int rank = 0;
    w->start[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || far[i].row != far[i - 1].row) {
            while (far[i].row >= before[rank + 1])
                w->start[++rank] = w->far_count;
            w->local[w->far_count] = far[i].row - before[rank];
            w->first[w->far_count++] = i;
        }
        w->at[i] = far[i].at;
    }
    while (rank < t->ranks)
        w->start[++rank] = w->far_count;
    w->first[w->far_count] = count;
}

/* Near ones into here, others into far, of which it returns the number. */
static int64_t divide(struct wants *w, const garner_mpi_table *t, const garner_tensor *indices,
                      const int64_t *before, struct want *far)
{
    int64_t count = 0;
    for (int64_t i = 0; i < w->count; i++) {
        struct owner owner = spread_owner(&t->spread, row_of(t, indices, i));
        int64_t near = t->near_start[owner.rank];
        if (near >= 0)
            w->here[w->here_count++] = (struct want){near + owner.local, i};
        else
            far[count++] = (struct want){before[owner.rank] + owner.local, i};
    }
    return count;
}

static garner_status divided(struct wants *w, const garner_mpi_table *t, const garner_tensor *indices,
                             garner_error *error)
{
    size_t room = (size_t)w->count + 1;
    struct want *far = malloc(room * sizeof *far), *spare = malloc(room * sizeof *spare);
    int64_t *before = list(t->ranks);
    garner_status status = GARNER_OK;
    w->here = malloc(room * sizeof *w->here);
    w->start = list(t->ranks), w->local = list(w->count), w->first = list(w->count), w->at = list(w->count);
    if (far && spare && before && w->here && w->start && w->local && w->first && w->at) {
        before[0] = 0;
        for (int r = 0; r < t->ranks; r++)
            before[r + 1] = before[r] + spread_count(&t->spread, r);
        int64_t count = divide(w, t, indices, before, far);
        sort_wants(far, spare, count, t->spread.rows);
        order_by_use(w, before, t->ranks, far, spare, count);
        make_distinct(w, t, far, count, before);
    } else {
        status = fail_memory(error, me, (uint64_t)room * (3 * sizeof *far + 3 * sizeof *before));
    }
    free(far);
    free(spare);
    free(before);
    return status;
}

garner_status wants_create(struct wants *w, const garner_mpi_table *t, const garner_tensor *indices,
                           int64_t count, garner_error *error)
{
    memset(w, 0, sizeof *w);
    w->count = count;
    return t->alone ? all_near(w, t, indices, error) : divided(w, t, indices, error);
}

void wants_free(struct wants *w)
{
    free(w->near);
    free(w->here);
    free(w->local);
    free(w->first);
    free(w->at);
    free(w->start);
    memset(w, 0, sizeof *w);
}
