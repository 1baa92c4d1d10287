/* SPDX-License-Identifier: MIT */
/* What only shows where much is moved: looking ahead, serving more rows, writing past the caches. */
#include "cpu.h"

enum {
    CACHED = 1024 * 1024,   /* a table of this size stays in a core's own caches */
    AHEAD_BYTES = 2048,     /* how far ahead runs and the tables of joined rows are asked for, */
    AHEAD_CACHED = 8192,    /* on x86, where out stays in the caches, runs that are shorter than this, */
    AHEAD_POINTS = 16,      /* at most this many, */
    AHEAD_ELEMENTS = 32,    /* single elements this many: those of tables in memory, */
    SEEN = 8 * 1024 * 1024, /* and on x86 CPUs that are short-sighted of all tables over this size */
    SMALL_TABLE = (X86 ? 512 : 32) * 1024, /* of a row, which stays near beside the next one's */
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

/* How far a CPU is to be asked ahead. A longer window of its own wants requests to be earlier, and to leave
 * the nearest cache, whose few ways to memory it fills by itself, to what is needed at once. */
struct sight {
    int64_t near;  /* a table of this size stays near enough to a core; nothing of it is asked for */
    int64_t close; /* what comes from one of this size is asked into the nearest cache */
    int64_t bytes,
        points;        /* how far ahead runs are asked for that come from elsewhere, and how many at most */
    int64_t tuples[2]; /* how many pairs of indices ahead elements are asked for, how many longer tuples */
    int64_t elements;  /* single elements out of no larger tables: to find their pages twice takes longer */
    int64_t unused;    /* of a small table a row uses at least the part that this divides */
};

static const struct sight short_sight = {NEAR, SHARED, AHEAD_BYTES, AHEAD_POINTS, {32, 16}, INT64_MAX, 2};
static const struct sight long_sight = {
    128 * 1024, 1536 * 1024, 2 * AHEAD_BYTES, 24, {64, 32}, 192 * 1024 * 1024, 1};
static const struct sight x86_sight = {NEAR, SHARED, AHEAD_BYTES, AHEAD_POINTS, {32, 32}, INT64_MAX, 0};

static const struct sight *cpu_sight(void)
{
    return X86 ? &x86_sight : is_short_sighted() ? &short_sight : &long_sight;
}

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
    const struct sight *sight = cpu_sight();
    if (is_joined(work)) return divide_up(AHEAD_BYTES, table_bytes(nest));
    const bool elements = work->fused && work->fused->run && nest->run <= MOST_ELEMENT;
    if (elements && nest->axes > 1) return touched > sight->near ? sight->tuples[nest->axes > 2] : 0;
    const int64_t seen = X86 && is_short_sighted() ? SEEN : SHARED, bytes = table_bytes(nest);
    const int64_t most = elements && work->fused->source == UNIT ? sight->elements : INT64_MAX;
    if (elements) return bytes > seen && bytes <= most ? AHEAD_ELEMENTS : 0;
    const bool seen_by_itself = goes_masked(work, nest) || (work->way == REUSES && nest->run <= MOST_ELEMENT);
    if (X86 && seen_by_itself && !is_short_sighted()) return 0;
    const bool close = touched <= sight->close;
    const int64_t reach = X86 && !stream ? AHEAD_CACHED : close ? AHEAD_BYTES : sight->bytes;
    if (touched <= sight->near || (reach == AHEAD_CACHED && nest->run >= reach)) return 0;
    return at_most(close ? AHEAD_POINTS : sight->points, divide_up(reach, nest->run));
}

/* How many bytes of a table there may be for each point of a row that asks for the next one's. */
static int64_t most_pace(const struct nest *nest)
{
    if (!X86) return cpu_sight()->unused * nest->run;
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
    const int64_t reached = nest->run <= MOST_ELEMENT ? table_bytes(nest) : touched;
    work->segment.near = X86 ? !stream || nest->run < STREAMED_FAR : reached <= cpu_sight()->close;
    work->segment.pace = choose_pace(work, nest, touched);
    if (work->segment.pace) work->segment.row_ramp = nest->dim[nest->rank - 2].data;
    work->share = choose_share(work, nest);
    bool one_block = work->columns <= BLOCK_POINTS; /* which can serve all rows: none is met again */
    if (work->way == REUSES)
        work->sweep = one_block ? INT64_MAX : at_least(LEAST_SWEEP, CACHED / 2 / table_bytes(nest));
}
