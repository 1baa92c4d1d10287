/* SPDX-License-Identifier: MIT */
/* Tables of later rows, which are asked for while the points of a row are moved: a row that uses much of its
 * table meets each line of it soon, and in an order that no CPU foresees. */
#include "cpu.h"

enum {
    SMALL_TABLE = (X86 ? 512 : 32) * 1024, /* of a row, which stays near beside the next one's; */
    LITTLE_TABLE = (X86 ? 8 : 16) * 1024,  /* or this, if it comes from far away and the CPU sees far; */
    LARGE_TABLE = 64 * 1024,               /* this, on aarch64, in the second cache, */
    LARGER_TABLE = 256 * 1024,             /* or this, if all rows have more */
    CLOSE_SPAN = 8 * 1024 * 1024,          /* than this; if they have no more */
    SECOND_SPAN = 1024 * 1024,             /* than this they are there anyway */
    LEAST_ONWARD = X86 ? 1 : 2,            /* bytes of it for each point from which on asking for it helps; */
    AFAR_PACE = X86 ? 16 : 32, /* no more than this if the CPU sees far, on x86 if they come from memory, */
    SHARED_PACE = 8,           /* otherwise than this, and if rows share their indices; */
    DENSE_PACE = 16,           /* than this, so that nearly all its lines are met, if x86 is short-sighted; */
    SPARSE_PACE = 64,          /* or even this, so that most of them are, if they come from memory */
    LEAST_PACE = X86 ? 8 : 4,  /* bytes of a short row's table for each point where asking for it helps, */
    MOST_PACE = 128            /* and where enough of what is asked for is used */
};

/* The tables of all rows: how many bytes one has, how many they reach over, and how many of one there are for
 * each point of a row. */
struct reach {
    int64_t bytes, spanned, pace;
};

/* How many bytes of a table there may be for each point of a row that asks for the next one's. */
static int64_t most_pace(const struct nest *nest, const struct reach *reach)
{
    if (!X86) return is_short_sighted() ? 2 * nest->run : AFAR_PACE;
    if (is_short_sighted()) return reach->spanned > SHARED ? SPARSE_PACE : DENSE_PACE;
    if (reach->spanned > SHARED) return AFAR_PACE;
    return nest->dim[nest->rank - 2].index == 0 && reach->spanned > NEAR ? SHARED_PACE : 0;
}

/* Whether the next row's table is asked for into the nearest cache, where it stays until that row comes. On
 * aarch64 CPUs that see far only if it has few bytes for each point, the fewer the further away it lies: what
 * is asked for there keeps the points of this row waiting; */
static bool comes_near(const struct nest *nest, const struct reach *reach)
{
    const int64_t spanned = reach->spanned;
    if (is_short_sighted() || (X86 && spanned <= SHARED)) return reach->bytes <= SMALL_TABLE;
    const int64_t most = X86 ? AFAR_PACE : spanned > SHARED ? 3 : spanned > CLOSE_SPAN ? 7 : 4 * nest->run;
    return reach->bytes <= LITTLE_TABLE && reach->pace <= most;
}

/* otherwise into the second one, unless all tables are in it anyway. */
static bool comes_second(const struct reach *reach)
{
    const int64_t spanned = reach->spanned;
    if (is_short_sighted() || spanned <= (X86 ? SHARED : SECOND_SPAN)) return false;
    return reach->bytes <= (X86 ? SMALL_TABLE : spanned > CLOSE_SPAN ? LARGER_TABLE : LARGE_TABLE);
}

/* Whether elements are moved row by row along the axis on which they lie side by side. */
static bool goes_along_rows(const struct cpu_work *work, const struct nest *nest)
{
    return work->way == ROWS && work->fused && work->fused->source == UNIT && nest->run <= MOST_ELEMENT;
}

/* Whether a part of a later row's table is asked for with the points of a row. */
static bool asks_onward(const struct cpu_work *work, const struct nest *nest, const struct reach *reach,
                        int64_t touched)
{
    const int64_t pace = reach->pace;
    if (nest->dim[nest->rank - 2].data < reach->bytes) return false;
    if (is_joined(work))
        return is_short_sighted() && touched > NEAR && pace >= LEAST_PACE && pace <= MOST_PACE;
    return goes_along_rows(work, nest) && pace >= LEAST_ONWARD && pace <= most_pace(nest, reach) &&
           (comes_near(nest, reach) || comes_second(reach));
}

/* How much of the next table each of several rows that choose from the same one asks for. */
static int64_t choose_share(const struct cpu_work *work, const struct nest *nest, const struct reach *reach)
{
    if (nest->rank < 3 || work->way != ROWS || nest->run > MOST_ELEMENT) return 0;
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const int64_t bytes = reach->bytes;
    if (before->data != 0 || before[-1].data < bytes) return 0;
    const bool asks = is_short_sighted() ? X86 && bytes <= SMALL_TABLE : comes_second(reach);
    return asks && divide_up(bytes, before->n * inner->n) <= most_pace(nest, reach)
               ? divide_up(bytes, before->n)
               : 0;
}

void garner_cpu_look_onward(struct cpu_work *work, const struct nest *nest, int64_t touched)
{
    struct segment *s = &work->segment;
    s->pace = 0;
    work->share = 0;
    if (nest->rank == 1) return; /* there is no later row */
    const int64_t bytes = table_bytes(nest);
    const struct reach reach = {bytes, spanned_bytes(nest), divide_up(bytes, nest->dim[nest->rank - 1].n)};
    work->share = choose_share(work, nest, &reach);
    if (!asks_onward(work, nest, &reach, touched)) return;
    s->pace = (int32_t)reach.pace;
    s->row_ramp = nest->dim[nest->rank - 2].data;
    if (!is_joined(work)) s->near = comes_near(nest, &reach);
}
