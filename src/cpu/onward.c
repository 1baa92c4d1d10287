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

/* How many bytes of a table there may be for each point of a row that asks for the next one's. */
static int64_t most_pace(const struct nest *nest)
{
    const int64_t spanned = spanned_bytes(nest);
    if (!X86) return is_short_sighted() ? 2 * nest->run : AFAR_PACE;
    if (is_short_sighted()) return spanned > SHARED ? SPARSE_PACE : DENSE_PACE;
    if (spanned > SHARED) return AFAR_PACE;
    return nest->dim[nest->rank - 2].index == 0 && spanned > NEAR ? SHARED_PACE : 0;
}

/* Whether the next row's table is asked for into the nearest cache, where it stays until that row comes. On
 * aarch64 CPUs that see far only if it has few bytes for each point, the fewer the further away it lies: what
 * is asked for there keeps the points of this row waiting; */
static bool comes_near(const struct nest *nest, int64_t pace)
{
    const int64_t bytes = table_bytes(nest), spanned = spanned_bytes(nest);
    if (is_short_sighted() || (X86 && spanned <= SHARED)) return bytes <= SMALL_TABLE;
    const int64_t most = X86 ? AFAR_PACE : spanned > SHARED ? 3 : spanned > CLOSE_SPAN ? 7 : 4 * nest->run;
    return bytes <= LITTLE_TABLE && pace <= most;
}

/* otherwise into the second one, unless all tables are in it anyway. */
static bool comes_second(const struct nest *nest)
{
    const int64_t spanned = spanned_bytes(nest);
    if (is_short_sighted() || spanned <= (X86 ? SHARED : SECOND_SPAN)) return false;
    return table_bytes(nest) <= (X86 ? SMALL_TABLE : spanned > CLOSE_SPAN ? LARGER_TABLE : LARGE_TABLE);
}

/* Whether elements are moved row by row along the axis on which they lie side by side. */
static bool goes_along_rows(const struct cpu_work *work, const struct nest *nest)
{
    return work->way == ROWS && work->fused && work->fused->source == UNIT && nest->run <= MOST_ELEMENT;
}

/* How much of a later row's table is asked for with each point of a row; 0: nothing. */
static int32_t choose_pace(const struct cpu_work *work, const struct nest *nest, int64_t touched)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t bytes = table_bytes(nest), pace = divide_up(bytes, inner->n);
    if (nest->rank == 1 || inner[-1].data < bytes) return 0;
    const bool asks = is_joined(work)
                          ? is_short_sighted() && touched > NEAR && pace >= LEAST_PACE && pace <= MOST_PACE
                          : goes_along_rows(work, nest) && pace >= LEAST_ONWARD && pace <= most_pace(nest) &&
                                (comes_near(nest, pace) || comes_second(nest));
    return asks ? (int32_t)pace : 0;
}

/* How much of the next table each of several rows that choose from the same one asks for. */
static int64_t choose_share(const struct cpu_work *work, const struct nest *nest)
{
    if (nest->rank < 3 || work->way != ROWS || nest->run > MOST_ELEMENT) return 0;
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const int64_t bytes = table_bytes(nest);
    if (before->data != 0 || before[-1].data < bytes) return 0;
    const bool asks = is_short_sighted() ? X86 && bytes <= SMALL_TABLE : comes_second(nest);
    return asks && divide_up(bytes, before->n * inner->n) <= most_pace(nest) ? divide_up(bytes, before->n)
                                                                             : 0;
}

void garner_cpu_look_onward(struct cpu_work *work, const struct nest *nest, int64_t touched)
{
    struct segment *s = &work->segment;
    s->pace = choose_pace(work, nest, touched);
    if (s->pace) s->row_ramp = nest->dim[nest->rank - 2].data;
    if (s->pace && !is_joined(work)) s->near = comes_near(nest, s->pace);
    work->share = choose_share(work, nest);
}
