/* SPDX-License-Identifier: MIT */
/* Decides, once for each plan, how a nest is run: the strategy and the kernels. */
#include "cpu_work.h"

enum {
    SHORT_ROW = 64,     /* points; shorter rows go many at a time, if their runs are short as well */
    LITTLE_ROW = 8,     /* the same where little is moved */
    LEAST_UNIT = 4,     /* the fewest points of rows along the last axis that gain from being joined, */
    LEAST_SMALL = 8,    /* if they are of less than 4 bytes each, */
    MOST_UNIT = 255,    /* and the most, unless such rows could ask for the next table: then SHORT_ROW - 1 */
    LEAST_COLUMNS = 16, /* the fewest points of rows along another axis that do */
    REUSED_RUN = 32,    /* bytes; longer runs gain more from being asked for than from resolving once, */
    REUSED_ROW = 64,    /* unless rows have no more points than this, */
    REUSED_LONGER = 128 /* which is the number for aarch64 CPUs that see far, but for runs in pieces */
};

_Static_assert(MOST_UNIT <= UINT8_MAX && SHORT_ROW <= UINT8_MAX,
               "a segment counts the points of a row in a byte");

static bool is_little(const struct nest *nest)
{
    return nest->points * nest->run <= LITTLE;
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

/* By which kernels short rows go: joined, unless wide registers can gather them. But elements of a table in
 * memory are better asked for by a ring, as patterns are. */
static GARNER_NOINLINE enum source choose_short(const struct nest *nest, const struct dim *inner)
{
    const int64_t run = nest->run, n = inner->n, least = run < 4 ? LEAST_SMALL : LEAST_UNIT;
    const enum source other = n < SHORT_ROW ? PATTERN : UNIT;
    if (run > MOST_ELEMENT || !is_power_of_two(run) || table_bytes(nest) > SHARED) return PATTERN;
    if (garner_kernel_find(other, nest->index_type.bytes, run)->level > SCALAR) return PATTERN;
    const bool onward = X86 && nest->points * run > NEAR && is_short_sighted();
    const int64_t most = onward ? SHORT_ROW - 1 : MOST_UNIT;
    if (inner->data == 0 && nest->axis[0].stride == run && n >= least && n <= most) return SHORT_UNIT;
    if (inner->data == run && n >= LEAST_COLUMNS && n < SHORT_ROW) return SHORT_COLUMNS;
    return PATTERN;
}

/* How long rows are that gain from resolving once. */
static int64_t most_reused(const struct nest *nest)
{
    const bool in_pieces = nest->run < MOST_ELEMENT && !is_power_of_two(nest->run);
    return X86 || is_short_sighted() || in_pieces ? REUSED_ROW : REUSED_LONGER;
}

static enum strategy choose_strategy(const struct nest *nest, const struct dim *inner)
{
    if (nest->packed) return BITS;
    if (nest->rank == 1) return ROWS;
    bool little = is_little(nest) && is_adjacent(nest, inner); /* too little to prepare anything for it */
    bool reused = inner[-1].index == 0 && !little;
    if (reused && (inner->n <= most_reused(nest) || (nest->run <= REUSED_RUN && !is_adjacent(nest, inner))))
        return REUSED_INDICES;
    if (!continues(nest, inner) || !is_adjacent(nest, inner) || !is_narrow(nest)) return ROWS;
    bool is_short = inner->n < (little ? LITTLE_ROW : SHORT_ROW) && nest->run <= PATTERN_RUN;
    return is_short || choose_short(nest, inner) == SHORT_UNIT ? SHORT_ROWS : ROWS;
}

static const struct kernel *choose_kernel(enum strategy strategy, const struct nest *nest,
                                          const struct dim *inner)
{
    int bytes = nest->index_type.bytes;
    if (strategy == REUSED_INDICES || strategy == BITS || !is_adjacent(nest, inner)) return NULL;
    if (strategy == SHORT_ROWS) return garner_kernel_find(choose_short(nest, inner), bytes, nest->run);
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

/* One task takes the whole grid. */
static void keep_whole(struct cpu_work *work, const struct nest *nest)
{
    work->column_tasks = work->slices = work->tasks = 1;
    work->row_share = work->rows;
    work->column_share = work->columns;
    work->slice = nest->run;
}

/* Short rows are the columns of the grid; all are one row to the kernel. */
static GARNER_NOINLINE void prepare_short_rows(struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    work->columns = before->n;
    work->rows = nest->rank == 2 ? 1 : nest->rows / before->n; /* a division takes long */
    if (is_joined(work)) {
        work->segment.row_points = (uint8_t)inner->n;
        work->segment.row_data_stride = before->data;
    } else if (nest->points <= SHORT_PATTERN && work->rows == 1) {
        make_pattern(work->pattern, nest, nest->points);
        work->segment.pattern = work->pattern;
    }
}

/* Where one block of offsets serves all rows nothing is left to walk along. */
static void keep_one_block(struct cpu_work *work, const struct nest *nest)
{
    if (nest->rank > 2 || work->tasks > 1 || work->columns > BLOCK_POINTS) return;
    work->strategy = ONE_BLOCK;
    work->segment.rows = nest->rows;
    work->segment.row_data_stride = nest->dim[0].data;
    work->segment.row_out_stride = nest->dim[0].out;
}

/* What is known of the segments before anything is chosen. Field by field: to clear so much at once gcc uses
 * an instruction that takes as long as the rest. */
static void begin_segment(struct segment *s, const struct nest *nest, const struct dim *inner)
{
    s->data = s->index = s->out = NULL;
    s->n = s->prefetch_distance = 0;
    s->data_stride = inner->data;
    s->out_stride = inner->out;
    s->run = nest->run;
    s->points_to_l1 = s->indices_to_l1 = s->table_to_l1 = false;
    s->unaligned = s->non_temporal = s->by_memcpy = false;
    s->by_strips = true;
    s->overlap_vectors = X86 || is_short_sighted() ? 0 : 1;
    s->row_points = 0;
    s->table_bytes_per_point = 0;
    s->pattern = NULL;
    s->axis = nest->axis;
    s->rows = 1;
    s->next_table = s->row_data_stride = s->row_out_stride = s->row_index_stride = 0;
}

void garner_cpu_plan(struct backend_work *given, const struct nest *nest)
{
    struct cpu_work *work = (struct cpu_work *)(void *)given;
    const struct dim *inner = &nest->dim[nest->rank - 1];
    PIN(inner); /* or its address is computed for each field */
    work->kernel = NULL;
    work->tasks = work->scratch_rows = work->slots = 0;
    if (nest->points == 0) return;
    const enum strategy strategy = choose_strategy(nest, inner);
    work->strategy = strategy;
    if (strategy == BITS) {
        garner_cpu_cut_elements(work, nest);
        return;
    }
    begin_segment(&work->segment, nest, inner);
    work->block_rows = LEAST_SWEEP;
    work->table_share = 0;
    work->columns = inner->n;
    work->rows = nest->rows;
    work->kernel = choose_kernel(strategy, nest, inner);
    if (strategy == SHORT_ROWS) prepare_short_rows(work, nest);
    keep_whole(work, nest);
    if (!is_little(nest)) {
        garner_cpu_tune(work, nest);
        garner_panels_choose(work, nest);
        garner_cpu_cut(work, nest);
    }
    if (strategy == REUSED_INDICES) keep_one_block(work, nest);
}
