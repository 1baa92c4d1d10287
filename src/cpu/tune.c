/* SPDX-License-Identifier: MIT */
/* What only shows where much is moved: looking ahead, serving more rows, writing past the caches. */
#include "cpu.h"

enum {
    CACHED = 1024 * 1024,   /* a table of this size stays in a core's own caches */
    AHEAD_BYTES = 2048,     /* how far ahead runs are asked for, */
    AHEAD_CACHED = 8192,    /* on x86, where out stays in the caches, and those shorter than this, */
    AHEAD_POINTS = 16,      /* at most this many, */
    AHEAD_ELEMENTS = 32,    /* single elements this many: those of tables in memory, */
    SEEN = 8 * 1024 * 1024, /* and on x86 CPUs that are short-sighted of all tables over this size */
    SMALL_TABLE = (X86 ? 512 : 32) * 1024, /* of a row, which stays near beside the next one's */
    MOST_UNUSED = 2,                       /* of such a table a row uses at least half; */
    SHARED_PACE = 8, /* on x86 it has no more bytes for each point than this, and rows share their indices; */
    DENSE_PACE = 16, /* or than this, so that nearly all its lines are met, if the CPU is short-sighted; */
    SPARSE_PACE = 64,         /* or even this, so that most of them are, if they come from memory */
    LEAST_PACE = X86 ? 8 : 4, /* bytes of a short row's table for each point where asking for it helps, */
    MOST_PACE = 128,          /* and where enough of what is asked for is used */
    MASKED_RUN = 64,          /* bytes; AVX-512 moves shorter runs of any length at once */
    STREAMED_FAR = 512,       /* from this length on streamed runs pass the nearest cache by */
    STREAMED_OUT = 32 * 1024 * 1024, /* an out of this size is better written past the caches, */
    STREAMED_ROW = 8192,             /* but of single elements only rows of this many bytes; */
    PLAIN_OUT = 2 * 1024 * 1024,     /* one of this size stays in them; */
    PLAIN_RUN = 32 * 1024            /* then runs of this length on x86 are better left to the C library */
};

/* How many bytes the tables of all rows reach over. */
static int64_t spanned_bytes(const struct nest *nest)
{
    int64_t bytes = table_bytes(nest), span;
    for (int d = 0; d < nest->rank - 1; d++) {
        const struct dim *dim = &nest->dim[d];
        int64_t pitch = dim->data < 0 ? -(dim->data + 1) : dim->data;
        if (multiply_fits(dim->n, pitch, &span)) bytes = at_least(bytes, span);
    }
    return bytes;
}

/* How many bytes the points choose from: the table of their row; and where a row takes little of its table,
 * so that nothing is met again, the tables of all rows. */
static int64_t touched_bytes(const struct nest *nest)
{
    const int64_t bytes = table_bytes(nest);
    return nest->dim[nest->rank - 1].n > bytes / nest->run ? bytes : spanned_bytes(nest);
}

/* Whether rows are so short that AVX-512 moves each of them by one instruction. */
static bool goes_masked(const struct cpu_work *work, const struct nest *nest)
{
    const struct kernel *fused = work->fused;
    return fused && fused->level == AVX512 && fused->source == UNIT && fused->run == 0 &&
           nest->run < MASKED_RUN;
}

/* How many points, or short rows, ahead runs are asked for; 0: not at all. Single elements are found by the
 * CPU itself, which looks far enough, unless they come from memory, or tuples lead to them. */
static int64_t choose_ahead(const struct cpu_work *work, const struct nest *nest, int64_t touched,
                            bool stream)
{
    if (is_joined(work)) return divide_up(AHEAD_BYTES, table_bytes(nest));
    const bool elements = work->fused && work->fused->run && nest->run <= MOST_ELEMENT;
    if (elements && nest->axes > 1) return touched > NEAR ? AHEAD_ELEMENTS : 0;
    const int64_t seen = X86 && is_short_sighted() ? SEEN : SHARED;
    if (elements) return table_bytes(nest) > seen ? AHEAD_ELEMENTS : 0;
    const bool seen_by_itself = goes_masked(work, nest) || (work->way == REUSES && nest->run <= MOST_ELEMENT);
    if (X86 && seen_by_itself && !is_short_sighted()) return 0;
    const int64_t reach = X86 && !stream ? AHEAD_CACHED : AHEAD_BYTES;
    if (touched <= NEAR || (reach == AHEAD_CACHED && nest->run >= reach)) return 0;
    return at_most(AHEAD_POINTS, divide_up(reach, nest->run));
}

/* How many bytes of a table there may be for each point of a row that asks for the next one's. */
static int64_t most_pace(const struct nest *nest)
{
    if (!X86) return MOST_UNUSED * nest->run;
    const int64_t spanned = spanned_bytes(nest);
    if (is_short_sighted()) return spanned > SHARED ? SPARSE_PACE : DENSE_PACE;
    return nest->dim[nest->rank - 2].index == 0 && spanned > NEAR ? SHARED_PACE : 0;
}

/* How much of a later row's table is asked for with each point of a row; 0: nothing. A row that uses much of
 * a small table meets each of its lines soon, and in an order that no CPU foresees. */
static int32_t choose_pace(const struct cpu_work *work, const struct nest *nest, int64_t touched)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t bytes = table_bytes(nest), pace = divide_up(bytes, inner->n);
    if (nest->rank == 1 || inner[-1].data < bytes) return 0;
    const bool asks = is_joined(work)
                          ? is_short_sighted() && touched > NEAR && pace >= LEAST_PACE && pace <= MOST_PACE
                          : work->way == ROWS && bytes <= SMALL_TABLE && pace <= most_pace(nest);
    return asks ? (int32_t)pace : 0;
}

/* How much of the next table each of several rows that choose from the same one asks for. */
static int64_t choose_share(const struct cpu_work *work, const struct nest *nest)
{
    if (!X86 || !is_short_sighted() || nest->rank < 3 || work->way != ROWS || nest->run > MOST_ELEMENT)
        return 0;
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const int64_t bytes = table_bytes(nest);
    if (before->data != 0 || before[-1].data < bytes || bytes > SMALL_TABLE) return 0;
    return divide_up(bytes, before->n * inner->n) <= most_pace(nest) ? divide_up(bytes, before->n) : 0;
}

void garner_cpu_tune(struct cpu_work *work, const struct nest *nest)
{
    const int64_t touched = touched_bytes(nest);
    const bool stream = nest->points >= STREAMED_OUT / nest->run && !(garner_cpu_quirks() & SLOW_STREAMS);
    work->segment.ahead = choose_ahead(work, nest, touched, stream);
    work->segment.stream =
        stream && (nest->run > MOST_ELEMENT || nest->dim[nest->rank - 1].n >= STREAMED_ROW / nest->run);
    work->segment.plain = X86 && nest->run >= PLAIN_RUN && nest->points <= PLAIN_OUT / nest->run;
    work->segment.near = X86 ? !stream || nest->run < STREAMED_FAR : touched <= SHARED;
    work->segment.pace = choose_pace(work, nest, touched);
    if (work->segment.pace) work->segment.row_ramp = nest->dim[nest->rank - 2].data;
    work->share = choose_share(work, nest);
    bool one_block = work->columns <= BLOCK_POINTS; /* which can serve all rows: none is met again */
    if (work->way == REUSES)
        work->sweep = one_block ? INT64_MAX : at_least(LEAST_SWEEP, CACHED / 2 / table_bytes(nest));
}
