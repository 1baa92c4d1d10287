/* SPDX-License-Identifier: MIT */
/* Decides, once for each plan, how a nest is run: the way, the kernels, and the cut into tasks. */
#include "cpu.h"

enum {
    TASK_COST = 128 * 1024, /* bytes moved, or as good as moved, that make a task worth handing out */
    SMALL_COST = 64 * 1024, /* the same while tasks are few, so that they come out even on many threads: */
    FEW_TASKS = 64,
    POINT_COST = 16, /* what finding a point costs, in bytes moved */
    MOST_TASKS = 64 * 1024,
    LEAST_PIECE = 512 * 1024, /* of a long run: each begins slowly */
    PIECE_ALIGNMENT = 4096,
    PATTERN_ROW = 64,                 /* rows shorter than this gain from a pattern, */
    PATTERN_RUN = 32,                 /* if their runs are short as well, */
    LITTLE_ROW = 8,                   /* and if they are this short where little is moved */
    REUSED_RUN = 32,                  /* longer runs gain more from prefetching than from resolving once */
    REUSED_ROW = 64,                  /* unless rows are this short */
    REUSED_ROWS = 32,                 /* rows that a task takes at least, so that resolving pays */
    CACHED = 1024 * 1024,             /* a table of this size stays in a core's own caches, */
    NEAR = (X86 ? 2048 : 256) * 1024, /* one of this size near enough, */
    SHARED = 32 * 1024 * 1024,        /* one of this size in the cache that cores share */
    LEAST_SWEEP = 8,                  /* rows that a resolved block serves at least */
    AHEAD_BYTES = 2048,               /* how far ahead runs are asked for, */
    AHEAD_CACHED = 8192,            /* on x86, where out stays in the caches, and those shorter than this, */
    AHEAD_POINTS = 16,              /* at most this many, */
    AHEAD_ELEMENTS = 32,            /* single elements this many, */
    MOST_ELEMENT = 16,              /* of no more bytes */
    SMALL_TABLE = 32 * 1024,        /* of a row, in the nearest cache beside the next one's, */
    MOST_PACE = 2,                  /* of which a row uses at least half */
    LITTLE = 1024,                  /* bytes of out for which none of this matters */
    STREAMED_FAR = 512,             /* from this length on streamed runs pass the nearest cache by */
    STREAMED_OUT = 32 * 1024 * 1024 /* an out of this size is better written past the caches */
};

_Static_assert(LITTLE + LITTLE * POINT_COST < TASK_COST, "what is little is not cut into tasks");
_Static_assert(PATTERN_RUN < LEAST_PIECE, "runs that go by a pattern are never cut into pieces");

static bool is_little(const struct nest *nest)
{
    return nest->points * nest->run <= LITTLE;
}

/* How many bytes the points choose from: the table of their row; and where a row takes little of its table,
 * so that nothing is met again, the tables of all rows. */
static int64_t touched_bytes(const struct nest *nest)
{
    int64_t bytes = table_bytes(nest), span;
    if (nest->dim[nest->rank - 1].n > bytes / nest->run) return bytes;
    for (int d = 0; d < nest->rank - 1; d++) {
        const struct dim *dim = &nest->dim[d];
        int64_t pitch = dim->data < 0 ? -(dim->data + 1) : dim->data;
        if (multiply_fits(dim->n, pitch, &span)) bytes = at_least(bytes, span);
    }
    return bytes;
}

/* Products of place and stride can be formed from 32-bit numbers. */
static bool is_narrow(const struct nest *nest)
{
    for (int k = 0; k < nest->axes; k++)
        if (nest->axis[k].bound > INT32_MAX || nest->axis[k].stride < 0 || nest->axis[k].stride > UINT32_MAX)
            return false;
    return true;
}

/* Kernels read signed indices of 4 or 8 bytes that lie side by side. */
static bool is_adjacent(const struct nest *nest, const struct dim *inner)
{
    return !nest->index_type.is_unsigned && nest->index_type.bytes >= 4 &&
           (nest->axes == 1 || nest->step == 1) && (inner->n == 1 || inner->index == nest->axes);
}

/* The dim before the innermost continues its indices and its out; only data starts anew. */
static bool continues(const struct nest *nest, const struct dim *inner)
{
    const struct dim *before = inner - 1;
    return nest->axes == 1 && inner->out == nest->run &&
           continues_stride(before->index, inner->n, inner->index) &&
           continues_stride(before->out, inner->n, inner->out);
}

static enum way choose_way(const struct nest *nest, const struct dim *inner)
{
    if (nest->packed) return BITS;
    if (nest->rank == 1) return ROWS;
    bool little = is_little(nest) && is_adjacent(nest, inner); /* too little to prepare anything for it */
    bool reused = inner[-1].index == 0 && !little;
    if (reused && (inner->n <= REUSED_ROW || (nest->run <= REUSED_RUN && !is_adjacent(nest, inner))))
        return REUSES;
    bool is_short = inner->n < (little ? LITTLE_ROW : PATTERN_ROW) && nest->run <= PATTERN_RUN;
    if (is_short && continues(nest, inner) && is_adjacent(nest, inner) && is_narrow(nest)) return PATTERNS;
    return ROWS;
}

static const struct kernel *choose_fused(enum way way, const struct nest *nest, const struct dim *inner)
{
    int bytes = nest->index_type.bytes;
    if (way == REUSES || way == BITS || !is_adjacent(nest, inner)) return NULL;
    if (way == PATTERNS) return garner_kernel_find(PATTERN, bytes, nest->run);
    bool dense = inner->out == nest->run || inner->n == 1;
    bool flat = inner->data == 0 || inner->n == 1;
    if (nest->axes == 1 && nest->axis[0].stride == nest->run && dense && flat)
        return garner_kernel_find(UNIT, bytes, nest->run);
    if (nest->axes > 4 || !is_narrow(nest)) return NULL;
    static const enum source by_axes[] = {[2] = PAIR, [3] = TRIPLE, [4] = QUAD};
    if (nest->axes > 1)
        return dense && flat ? garner_kernel_find(by_axes[nest->axes], bytes, nest->run) : NULL;
    return garner_kernel_find(dense && inner->data == nest->run ? COLUMNS : RAMP, bytes, nest->run);
}

static int64_t round_up(int64_t a, int64_t multiple)
{
    return divide_up(a, multiple) * multiple;
}

/* How many tasks `count` things of a cost each are worth. */
static int64_t worth(int64_t count, int64_t cost)
{
    int64_t total;
    if (!multiply_fits(count, cost, &total)) return MOST_TASKS;
    if (total < TASK_COST) return 1;
    return at_most(at_least(total / TASK_COST, at_most(total / SMALL_COST, FEW_TASKS)), MOST_TASKS);
}

/* One task takes the whole grid. */
static void keep_whole(struct cpu_work *work, const struct nest *nest)
{
    work->column_tasks = work->pieces = work->tasks = 1;
    work->row_share = work->rows;
    work->column_share = work->columns;
    work->piece = nest->run;
}

/* Rows are dealt out first; where they are too few columns are too; then pieces of a run. */
static void cut_grid(struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    int64_t grain = work->way == PATTERNS  ? inner->n
                    : work->way == SLIVERS ? work->segment.row_bytes / nest->run
                                           : 1;
    int64_t together = work->way == SLIVERS ? inner[-1].n : 1, least = work->way == REUSES ? REUSED_ROWS : 1;
    int64_t blocks = work->rows / together, cost;
    if (!add_fits(nest->run, POINT_COST, &cost)) cost = nest->run;
    int64_t wanted = worth(nest->points, cost);
    if (wanted == 1) return;
    work->row_share = at_least(least, divide_up(blocks, at_most(wanted, blocks)) * together);
    int64_t row_tasks = divide_up(work->rows, work->row_share);
    int64_t columns = at_most(at_least(1, wanted / row_tasks), divide_up(work->columns, grain));
    work->column_share = round_up(divide_up(work->columns, columns), grain);
    work->column_tasks = divide_up(work->columns, work->column_share);
    int64_t pieces = at_least(1, wanted / (row_tasks * work->column_tasks));
    work->piece = at_least(LEAST_PIECE, round_up(divide_up(nest->run, pieces), PIECE_ALIGNMENT));
    work->pieces = divide_up(nest->run, work->piece);
    work->tasks = row_tasks * work->column_tasks * work->pieces;
}

/* Packed data: the rows of the grid are the elements of out, and each costs about as much as a point. */
static void cut_elements(struct cpu_work *work, const struct nest *nest)
{
    work->rows = nest->points * nest->run;
    work->columns = work->column_share = work->column_tasks = work->pieces = 1;
    work->piece = nest->run;
    work->row_share = round_up(divide_up(work->rows, worth(work->rows, POINT_COST)), nest->packed->per_unit);
    work->tasks = divide_up(work->rows, work->row_share);
}

/* How many points ahead runs are asked for; 0: not at all. Single elements are found by the CPU itself, which
 * looks far enough, unless on aarch64 they come from memory, or tuples lead to them. */
static int64_t choose_ahead(const struct cpu_work *work, const struct nest *nest, int64_t touched,
                            bool stream)
{
    const bool elements = !X86 && work->fused && work->fused->run && nest->run <= MOST_ELEMENT;
    if (elements && nest->axes > 1) return touched > NEAR ? AHEAD_ELEMENTS : 0;
    if (elements) return table_bytes(nest) > SHARED ? AHEAD_ELEMENTS : 0;
    const int64_t reach = X86 && !stream ? AHEAD_CACHED : AHEAD_BYTES;
    if (touched <= NEAR || (reach == AHEAD_CACHED && nest->run >= reach)) return 0;
    return at_most(AHEAD_POINTS, divide_up(reach, nest->run));
}

/* How much of the next row's table is asked for with each point of a row; 0: nothing. A row that uses most of
 * a small table meets each of its lines soon, and in an order that no CPU foresees. */
static int32_t choose_pace(const struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t bytes = table_bytes(nest);
    if (work->way != ROWS || nest->rank == 1 || inner[-1].data < bytes || bytes > SMALL_TABLE) return 0;
    const int64_t pace = divide_up(bytes, inner->n);
    return pace <= MOST_PACE * nest->run ? (int32_t)pace : 0;
}

/* What only shows where much is moved: looking ahead, serving more rows, writing past the caches. */
static void tune(struct cpu_work *work, const struct nest *nest)
{
    const int64_t touched = touched_bytes(nest);
    const bool stream = nest->points >= STREAMED_OUT / nest->run;
    work->segment.ahead = choose_ahead(work, nest, touched, stream);
    work->segment.stream = stream;
    work->segment.near = X86 ? !stream || nest->run < STREAMED_FAR : touched <= SHARED;
    work->segment.pace = choose_pace(work, nest);
    if (work->segment.pace) work->segment.row_ramp = nest->dim[nest->rank - 2].data;
    bool one_block = work->columns <= BLOCK_POINTS; /* which can serve all rows: none is met again */
    if (work->way == REUSES)
        work->sweep = one_block ? INT64_MAX : at_least(LEAST_SWEEP, CACHED / 2 / table_bytes(nest));
}

/* Where one block of offsets serves all rows nothing is left to walk along. */
static void keep_one_block(struct cpu_work *work, const struct nest *nest)
{
    if (nest->rank > 2 || work->tasks > 1 || work->columns > BLOCK_POINTS) return;
    work->way = ONE_BLOCK;
    work->segment.rows = nest->rows;
    work->segment.row_ramp = nest->dim[0].data;
    work->segment.row_step = nest->dim[0].out;
}

/* Where much is moved caches matter, and several tasks may be worth it. */
static GARNER_NOINLINE void choose_much(struct cpu_work *work, const struct nest *nest)
{
    tune(work, nest);
    garner_slivers_choose(work, nest);
    cut_grid(work, nest);
}

void garner_cpu_choose(struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    PIN(inner); /* or its address is computed for each field */
    work->fused = NULL;
    work->tasks = 0;
    if (nest->points == 0) return;
    const enum way way = choose_way(nest, inner);
    work->way = way;
    if (way == BITS) {
        cut_elements(work, nest);
        return;
    }
    work->segment = (struct segment){
        .ramp = inner->data, .step = inner->out, .run = nest->run, .axis = nest->axis, .rows = 1};
    work->sweep = LEAST_SWEEP;
    work->columns = inner->n;
    work->rows = nest->rows;
    if (way == PATTERNS) {
        work->columns *= inner[-1].n;
        work->rows /= inner[-1].n;
    }
    keep_whole(work, nest);
    work->fused = choose_fused(way, nest, inner);
    if (way == PATTERNS && nest->points <= SHORT_PATTERN && work->rows == 1) {
        make_pattern(work->pattern, nest, nest->points);
        work->segment.pattern = work->pattern;
    }
    if (!is_little(nest)) choose_much(work, nest);
    if (way == REUSES) keep_one_block(work, nest);
}
