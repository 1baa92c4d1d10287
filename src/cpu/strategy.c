/* SPDX-License-Identifier: MIT */
/* Decides, once for each plan, how a nest is run: the strategy and the kernels. */
#include "planner.h"

enum {
    SHORT_ROW = 64,     /* points; shorter rows go many at a time, if their runs are short as well */
    LITTLE_ROW = 8,     /* the same where little is moved */
    LEAST_UNIT = 4,     /* the fewest points of rows along the last axis that gain from being joined, */
    LEAST_SMALL = 8,    /* if they are of less than 4 bytes each */
    LEAST_COLUMNS = 16, /* the fewest points of rows along another axis that do, */
    FEW_TOGETHER = 128, /* rather than be gathered, if so few of a table follow each other */
    REUSED_RUN = 32,    /* bytes; longer runs gain more from prefetching than from indices resolved once, */
    TINY_ROW = 32,      /* the fewest points of a row that gain from a table in registers */
    HALVES_ROW = 64     /* unless rows are short; and points of a row of runs that are moved in two halves */
};

static inline bool is_element(const struct nest *nest)
{
    return nest->run <= MOST_ELEMENT && is_power_of_two(nest->run);
}

/* Products of index and stride can be formed from 32-bit numbers. */
static bool is_narrow(const struct nest *nest)
{
    for (int k = 0; k < nest->axes; k++)
        if (nest->axis[k].bound > INT32_MAX || nest->axis[k].stride < 0 || nest->axis[k].stride > UINT32_MAX)
            return false;
    return true;
}

static bool is_adjacent(const struct nest *nest, const struct dim *inner)
{
    return !nest->index_type.is_unsigned && nest->index_type.bytes >= 4 &&
           (nest->axes == 1 || nest->step == 1) && (inner->n == 1 || inner->index == nest->axes);
}

static int64_t table_bytes(const struct nest *nest)
{
    int64_t bytes = nest->run, axis;
    for (int k = 0; k < nest->axes; k++)
        if (multiply_fits(nest->axis[k].bound, nest->axis[k].stride, &axis)) bytes = at_least(bytes, axis);
    return bytes;
}

static int64_t spanned_bytes(const struct nest *nest, int64_t table)
{
    int64_t bytes = table, span;
    for (int d = 0; d < nest->rank - 1; d++) {
        const struct dim *dim = &nest->dim[d];
        int64_t pitch = dim->data < 0 ? -(dim->data + 1) : dim->data;
        if (multiply_fits(dim->n, pitch, &span)) bytes = at_least(bytes, span);
    }
    return bytes;
}

/* The bytes of all tables, if a row uses so little of its own that no run of it is used again, or a long run
 * no more than a few times. */
static int64_t touched_bytes(const struct footprint *f, const struct profile *profile)
{
    enum { LONG_RUN = 192 }; /* bytes; longer runs are worth prefetching even if they may be in a cache */
    const int64_t repeats = f->nest->run >= LONG_RUN ? profile->run_repeats : 1;
    return f->inner->n / repeats > f->table / f->nest->run ? f->table : f->spanned;
}

/* The dim before the innermost continues its indices and its out; only data starts anew. */
static bool continues(const struct nest *nest, const struct dim *inner)
{
    const struct dim *before = inner - 1;
    return nest->axes == 1 && inner->out == nest->run &&
           continues_stride(before->index, inner->n, inner->index) &&
           continues_stride(before->out, inner->n, inner->out);
}

/* By which source short rows go that choose from a table of so many bytes: joined, unless wide registers can
 * gather them, and so many that it is worth beginning with. But elements of a table in memory are better
 * prefetched by a ring, as patterns are. */
static GARNER_NOINLINE enum source choose_short_source(const struct nest *nest, int64_t bytes,
                                                       const struct cpu_target *target)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const struct profile *profile = &target->profile;
    const int64_t run = nest->run, n = inner->n, least = run < 4 ? LEAST_SMALL : LEAST_UNIT;
    const enum source other = n < SHORT_ROW ? PATTERN : UNIT;
    if (!is_element(nest) || bytes > profile->l3_table) return PATTERN;
    const bool columns = inner->data == run && n >= LEAST_COLUMNS && n < SHORT_ROW;
    if (columns && inner[-1].n * n <= FEW_TOGETHER) return SHORT_COLUMNS;
    if (target_kernel(target, other, nest->index_type.bytes, run)->id.level > SCALAR) return PATTERN;
    const int64_t most =
        nest->points * run > profile->l2_table ? profile->joined_row_far : profile->joined_row;
    if (inner->data == 0 && nest->axis[0].stride == run && n >= least && n <= most) return SHORT_UNIT;
    return columns ? SHORT_COLUMNS : PATTERN;
}

/* How long rows are that gain from indices resolved once for all of them. */
static int64_t most_reused(const struct nest *nest, const struct profile *profile)
{
    const bool in_halves = nest->run < MOST_ELEMENT && !is_power_of_two(nest->run);
    return in_halves ? at_most(HALVES_ROW, profile->reused_row) : profile->reused_row;
}

/* Whether short rows of such runs may go many at a time. Long runs that come from beyond L2 do so that those
 * of later rows are prefetched; but runs of a line have a kernel of their own, which waits less. */
static bool goes_by_pattern(const struct footprint *f, const struct profile *profile)
{
    const int64_t run = f->nest->run;
    if (run <= PATTERN_RUN) return true;
    return !f->little && run <= profile->far_pattern_run && run != LINE && f->spanned > profile->l2;
}

/* The source of a kernel that reads the indices of a row; SOURCES: none does. */
GARNER_INLINE enum source choose_row_source(const struct footprint *f)
{
    static const enum source by_axes[] = {[2] = PAIR, [3] = TRIPLE, [4] = QUAD};
    const struct nest *nest = f->nest;
    const struct dim *inner = f->inner;
    const bool dense = inner->out == nest->run || inner->n == 1;
    const bool flat = inner->data == 0; /* also where there is but one point */
    if (!f->adjacent) return SOURCES;
    if (nest->axes == 1 && nest->axis[0].stride == nest->run && dense && flat) return UNIT;
    if (nest->axes > 4 || !is_narrow(nest)) return SOURCES;
    if (nest->axes > 1) return dense && flat ? by_axes[nest->axes] : SOURCES;
    if (!dense) return SOURCES;
    return inner->data == nest->run ? COLUMNS : RAMP;
}

/* The kernel that keeps a table of few entries in registers, for rows of a source; NULL if there is none, or
 * rows are too short to load them. */
static inline const struct kernel *find_tiny(const struct footprint *f, enum source source,
                                             const struct cpu_target *target)
{
    const struct nest *nest = f->nest;
    if (nest->axis[0].bound > TINY_ENTRIES || f->inner->n < TINY_ROW) return NULL;
    if (source != UNIT || !is_element(nest)) return NULL;
    return target_kernel(target, TINY, nest->index_type.bytes, nest->run);
}

/* The strategy, and the source of the kernel that reads indices. */
struct choice {
    enum strategy strategy;
    enum source source; /* SOURCES: no kernel does */
};

GARNER_INLINE struct choice choose(const struct footprint *f, const struct cpu_target *target)
{
    const struct nest *nest = f->nest;
    const struct dim *inner = f->inner;
    if (nest->packed) return (struct choice){BITS, SOURCES};
    const enum source of_row = choose_row_source(f);
    if (nest->rank == 1) return (struct choice){ROWS, of_row};
    const bool little = f->little && f->adjacent; /* too little to prepare anything for it */
    const bool reused = inner[-1].index == 0 && !little;
    if (reused &&
        (inner->n <= most_reused(nest, &target->profile) || (nest->run <= REUSED_RUN && !f->adjacent)))
        return (struct choice){REUSED_INDICES, SOURCES};
    if (find_tiny(f, of_row, target)) return (struct choice){ROWS, UNIT};
    if (continues(nest, inner) && f->adjacent && is_narrow(nest)) {
        const bool is_short =
            inner->n < (little ? LITTLE_ROW : SHORT_ROW) && goes_by_pattern(f, &target->profile);
        const enum source source = choose_short_source(nest, f->table, target);
        if (is_short || source == SHORT_UNIT) return (struct choice){SHORT_ROWS, source};
    }
    return (struct choice){ROWS, of_row};
}

/* The kernel of a source. Out of L1 and most of L2 loads of single elements may be faster than gathers, of
 * which more are under way at a time. */
GARNER_INLINE const struct kernel *choose_kernel(const struct footprint *f, enum source source,
                                                 const struct cpu_target *target)
{
    const struct nest *nest = f->nest;
    const struct kernel *tiny = find_tiny(f, source, target);
    if (tiny) return tiny;
    if (source == PAIR && is_element(nest) && f->table < target->profile.pair_loads_table)
        return &(*target->plain)[PAIR][INDEX_SLOT(nest->index_type.bytes)][RUN_SLOT(nest->run)];
    return target_kernel(target, source, nest->index_type.bytes, nest->run);
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

/* What is known of the segments before anything is chosen; where they lie comes beside them. Field by field:
 * to clear so much at once gcc uses an instruction that takes as long as the rest. */
static void begin_segment(struct segment *s, const struct nest *nest, const struct dim *inner,
                          const struct profile *profile)
{
    s->prefetch_distance = 0;
    s->data_stride = inner->data;
    s->out_stride = inner->out;
    s->run = nest->run;
    s->points_to_l1 = s->indices_to_l1 = s->table_to_l1 = false;
    s->unaligned = s->row_by_row = s->non_temporal = s->by_memcpy = false;
    s->by_strips = true;
    s->overlap_vectors = (uint8_t)profile->overlap_vectors;
    s->row_points = 0;
    s->prefetch_rows = 0;
    s->table_bytes_per_point = 0;
    s->pattern = NULL;
    s->axis = nest->axis;
    s->rows = 1;
    s->next_part = s->row_data_stride = s->row_out_stride = s->row_index_stride = 0;
}

/* What only shows where much is moved. Takes a copy, so that the footprint of little work stays in registers.
 */
static GARNER_NOINLINE void plan_much(struct cpu_work *work, struct footprint f,
                                      const struct cpu_target *target)
{
    f.touched = touched_bytes(&f, &target->profile);
    garner_plan_stores(work, &f, &target->profile);
    garner_plan_panels(work, &f, target);
    garner_plan_tasks(work, f.nest);
}

void garner_cpu_plan_for(struct cpu_work *work, const struct nest *nest, const struct cpu_target *target)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    PIN(inner); /* or its address is computed for each field */
    work->kernel = NULL;
    work->tasks = work->scratch_rows = work->slots = 0;
    if (nest->points == 0) return;
    const bool little = nest->points * nest->run <= LITTLE;
    struct footprint f = {.nest = nest,
                          .inner = inner,
                          .table = little && nest->rank == 1 ? 0 : table_bytes(nest), /* nobody asks */
                          .little = little,
                          .adjacent = is_adjacent(nest, inner)};
    if (!little) f.spanned = spanned_bytes(nest, f.table);
    const struct choice choice = choose(&f, target);
    work->strategy = choice.strategy;
    if (choice.strategy == BITS) {
        garner_plan_packed_tasks(work, nest);
        return;
    }
    begin_segment(&work->segment, nest, inner, &target->profile);
    work->block_rows = LEAST_BLOCK;
    work->table_share = 0;
    work->columns = inner->n;
    work->rows = nest->rows;
    if (choice.source != SOURCES) work->kernel = choose_kernel(&f, choice.source, target);
    if (choice.strategy == SHORT_ROWS) prepare_short_rows(work, nest);
    keep_whole(work, nest);
    if (!little) plan_much(work, f, target);
    if (choice.strategy == REUSED_INDICES) keep_one_block(work, nest);
}
