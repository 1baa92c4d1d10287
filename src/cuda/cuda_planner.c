/* SPDX-License-Identifier: MIT */
/* Decides how a nest is run on a GPU: kernel, vectors, threads, shared memory. Plain C, and the same on every
 * machine. */
#include <string.h>

#include "cuda_work.h"

enum {
    MOST_VECTOR = 16,
    MOST_THREADS = 256,     /* of a block of LONG_ROWS */
    MOST_GROUP = 64,        /* rows of TABLE that are staged at once */
    STAGING_THREADS = 1024, /* of a block of TABLE or PANEL, at most, and of a multiprocessor's registers */
    LEAST_STAGING = 128,    /* of a block of TABLE */
    LONG_ROW = 192,         /* vectors: from this on a row of a table is moved by blocks of its own; */
    LONG_RUN = 16,          /* from this on any other run is moved in chunks, */
    LEAST_LANE_SHIFT = 2,   /* by at least 4 threads */
    MOST_LANE_SHIFT = 8,    /* and at most 256 */
    PANEL_POINTS = 8        /* that each of them moves at least, where data stays in L2 anyway */
};

static const int64_t most_blocks = INT32_MAX;

/* The largest power of two up to MOST_VECTOR that divides all of the numbers whose bits are in `bits`. */
static int common_vector(int64_t bits)
{
    const int64_t limited = bits | MOST_VECTOR;
    return (int)(limited & -limited);
}

static int64_t outer_strides(const struct nest *nest)
{
    int64_t bits = 0;
    for (int d = 0; d < nest->rank - 1; d++)
        bits |= nest->dim[d].data;
    return bits;
}

/* What every address of a vector is a multiple of. */
static int move_vector(const struct nest *nest, struct cuda_alignment alignment)
{
    int64_t bits = nest->run | alignment.data | alignment.out;
    for (int d = 0; d < nest->rank; d++)
        bits |= nest->dim[d].data | nest->dim[d].out;
    for (int k = 0; k < nest->axes; k++)
        bits |= nest->axis[k].stride;
    return common_vector(bits);
}

/* The index of the kernel's name: bytes where it is signed and aligned. */
static int kernel_index(const struct nest *nest, struct cuda_alignment alignment)
{
    const int bytes = nest->index_type.bytes;
    return !nest->index_type.is_unsigned && bytes >= 4 && alignment.indices % bytes == 0 ? bytes : 0;
}

/* For by >= 1; of numbers below 2^31. */
static struct divisor make_divisor(int64_t by)
{
    uint32_t shift = 0;
    while ((INT64_C(1) << shift) < by)
        shift++;
    const uint64_t magic = ((UINT64_C(1) << 32) * ((UINT64_C(1) << shift) - (uint64_t)by)) / (uint64_t)by + 1;
    return (struct divisor){(uint32_t)by, (uint32_t)magic, shift};
}

static int64_t table_bytes(const struct nest *nest)
{
    int64_t bytes = nest->run, axis;
    for (int k = 0; k < nest->axes; k++) {
        const int64_t stride = nest->axis[k].stride < 0 ? -nest->axis[k].stride : nest->axis[k].stride;
        bytes = multiply_fits(nest->axis[k].bound, stride, &axis) ? at_least(bytes, axis) : INT64_MAX;
    }
    return bytes;
}

/* Whether all that may be read of data stays in L2 beside indices and out. */
static bool stays_in_l2(const struct nest *nest, const struct cuda_profile *profile, int64_t table)
{
    int64_t bytes = table, dim;
    for (int d = 0; d < nest->rank; d++) {
        const int64_t stride = nest->dim[d].data < 0 ? -nest->dim[d].data : nest->dim[d].data;
        if (!multiply_fits(nest->dim[d].n, stride, &dim)) return false;
        bytes = at_least(bytes, dim);
    }
    return bytes <= profile->l2 / 2;
}

/* Whether the kernels that divide by multiplication can run it. */
static bool is_few(const struct nest *nest, int vector)
{
    return nest->rank <= FEW && nest->axes <= FEW && nest->rows < INT32_MAX && nest->run > 0 &&
           nest->run / vector < NARROW_LIMIT &&
           (nest->rank == 1 || nest->dim[nest->rank - 1].n < NARROW_LIMIT);
}

/* Points that a thread moves at once where that is possible. */
static int packed_points(int vector)
{
    return vector == 16 ? 1 : vector == 8 ? 2 : 4;
}

/* Whether it is: they lie side by side, in indices and in out, each pack aligned and in one row. */
static bool packs_points(const struct nest *nest, int vector, struct cuda_alignment alignment)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int count = packed_points(vector), index_bytes = count * nest->index_type.bytes;
    int64_t indices = alignment.indices, out = alignment.out;
    if (count == 1 || inner->index != 1 || inner->out != nest->run || inner->n % count != 0) return false;
    for (int d = 0; d < nest->rank - 1; d++) {
        indices |= nest->dim[d].index * nest->index_type.bytes;
        out |= nest->dim[d].out;
    }
    return common_vector(indices) >= at_most(index_bytes, MOST_VECTOR) &&
           common_vector(out) >= count * vector;
}

/* ---- Vectors of runs ---- */

/* Whether the device runs most threads at a time, if each moves one vector. */
static bool runs_at_a_time(const struct cuda_work *work, const struct cuda_profile *profile)
{
    return work->task.items <= profile->waves * profile->multiprocessors * profile->resident;
}

/* How many threads move a chunk of a run of so many vectors, each of them `flight`: the most of which few are
 * idle. */
static int chunk_shift(int64_t vectors, int64_t flight)
{
    int shift = MOST_LANE_SHIFT;
    for (; shift > LEAST_LANE_SHIFT; shift--) {
        const int64_t chunk = flight << shift;
        if (divide_up(vectors, chunk) * chunk - vectors <= vectors / 8) break;
    }
    return shift;
}

static void plan_long(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile)
{
    struct cuda_task *task = &work->task;
    task->is_short = runs_at_a_time(work, profile);
    const int64_t flight = task->is_short ? IN_FLIGHT_LINE_LONG / 2 : IN_FLIGHT_LINE_LONG;
    task->lane_shift = (uint8_t)chunk_shift(task->vectors, flight);
    const int64_t chunks = divide_up(task->vectors, flight << task->lane_shift);
    task->by_vectors = make_divisor(chunks);
    task->items = nest->points * chunks;
    work->source = nest->rank == 1 ? CUDA_LINE_LONG : CUDA_GRID_LONG;
}

/* Whether vectors of runs lie side by side in out, in packs of which none meets more than two runs. */
static bool packs_runs(const struct nest *nest, int vector, int64_t vectors, struct cuda_alignment alignment)
{
    const int count = packed_points(vector);
    return nest->rank == 1 && vectors > 1 && count > 1 && vectors >= count - 1 &&
           nest->dim[0].out == nest->run && nest->points * vectors % count == 0 &&
           alignment.out >= count * vector;
}

static void plan_runs(struct cuda_work *work)
{
    work->task.items /= packed_points(work->vector);
    work->source = CUDA_RUNS;
}

/* A pack of points for each thread; false if there are none. */
static bool plan_packs(struct cuda_work *work, const struct nest *nest, struct cuda_alignment alignment)
{
    struct cuda_task *task = &work->task;
    const int count = packed_points(work->vector);
    task->packs_points = task->vectors == 1 && nest->axes == 1 && packs_points(nest, work->vector, alignment);
    if (!task->packs_points) return false;
    if (nest->rank > 1) task->level[nest->rank - 1].by = make_divisor(nest->dim[nest->rank - 1].n / count);
    task->items /= count;
    return true;
}

/* Whether the nest takes rows of a table: data stands still, while points go on side by side in indices and
 * in out. */
static bool is_rows(const struct nest *nest, const struct cuda_task *task)
{
    const struct dim *dim = &nest->dim[0];
    const bool goes_on = dim->data == 0 && dim->index == 1 && dim->out == nest->run;
    return nest->rank == 1 && nest->axes == 1 && (goes_on || nest->points == 1) && task->items < NARROW_LIMIT;
}

/* Vectors that a thread moves at once: more where there are more threads than run at a time, and most of
 * what is near and narrow. */
static uint8_t rows_in_flight(const struct cuda_work *work, const struct cuda_profile *profile, bool is_near)
{
    if (work->task.items <= profile->multiprocessors * profile->resident / 2) return 1;
    return work->source == CUDA_ELEMENTS && is_near && work->vector < MOST_VECTOR ? 4 : 2;
}

/* Blocks, of as many threads as have something to move, each with a piece of a row. */
static void plan_long_rows(struct cuda_work *work, const struct nest *nest)
{
    struct cuda_task *task = &work->task;
    const int64_t pieces = divide_up(task->vectors, (int64_t)IN_FLIGHT_LONG_ROWS * MOST_THREADS);
    const int64_t threads = divide_up(task->vectors, IN_FLIGHT_LONG_ROWS * pieces);
    work->source = CUDA_LONG_ROWS;
    work->threads = (int)(divide_up(threads, WARP) * WARP);
    task->by_vectors = make_divisor(pieces);
    task->items = work->blocks = nest->points * pieces;
}

static void plan_rows(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile)
{
    const int64_t vectors = work->task.vectors;
    if (vectors >= LONG_ROW) {
        plan_long_rows(work, nest);
        return;
    }
    work->source = vectors == 1 && nest->axis[0].stride == nest->run ? CUDA_ELEMENTS : CUDA_ROWS;
    work->task.flight = rows_in_flight(work, profile, stays_in_l2(nest, profile, table_bytes(nest)));
}

static void plan_few(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile,
                     struct cuda_alignment alignment)
{
    const int64_t vectors = work->task.vectors;
    const bool is_line = nest->rank == 1;
    const bool is_tiny = work->task.items <= profile->multiprocessors * WARP;
    const bool is_little = runs_at_a_time(work, profile) || stays_in_l2(nest, profile, table_bytes(nest));
    work->task.by_vectors = make_divisor(vectors);
    work->source = is_line ? CUDA_LINE : CUDA_GRID;
    if (work->index == 0) return;
    if (packs_runs(nest, work->vector, vectors, alignment))
        plan_runs(work);
    else if (is_rows(nest, &work->task))
        plan_rows(work, nest, profile);
    else if (vectors >= LONG_RUN && !is_tiny)
        plan_long(work, nest, profile);
    else if (plan_packs(work, nest, alignment) || is_little)
        work->source = is_line ? CUDA_LINE_ONCE : CUDA_GRID_ONCE;
}

/* As many blocks as it takes, of so many threads that all multiprocessors have some. */
static void cut_into_blocks(struct cuda_work *work, const struct cuda_profile *profile)
{
    const int flight = work->source == CUDA_LINE   ? (int)IN_FLIGHT_LINE
                       : work->source == CUDA_GRID ? (int)IN_FLIGHT_GRID
                                                   : (int)at_least(work->task.flight, 1);
    const int lanes = 1 << work->task.lane_shift;
    const int64_t threads = work->task.items * lanes;
    work->threads = 256;
    while (work->threads > at_least(WARP, lanes) &&
           threads < (int64_t)work->threads * flight * profile->multiprocessors)
        work->threads /= 2;
    work->blocks = divide_up(threads, (int64_t)work->threads * flight);
}

static void plan_nest(struct cuda_work *work, const struct nest *nest)
{
    work->source = CUDA_NEST;
    work->index = 0;
    work->task.items = nest->points * at_least(work->task.vectors, 1);
    work->threads = 256;
    work->blocks = at_most(divide_up(work->task.items, work->threads), most_blocks);
}

static void plan_vectors(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile,
                         struct cuda_alignment alignment)
{
    struct cuda_task *task = &work->task;
    task->vectors = nest->run / work->vector;
    task->items = nest->points * at_least(task->vectors, 1);
    if (!is_few(nest, work->vector)) {
        plan_nest(work, nest);
        return;
    }
    plan_few(work, nest, profile, alignment);
    task->narrow = task->items < NARROW_LIMIT / packed_points(work->vector);
    if (work->blocks == 0) cut_into_blocks(work, profile);
    if (work->blocks > most_blocks) plan_nest(work, nest);
}

static void plan_packed(struct cuda_work *work, const struct nest *nest)
{
    work->source = CUDA_PACKED;
    work->index = 0;
    work->vector = 1;
    work->task.packed = *nest->packed;
    work->task.items = divide_up(nest->points * nest->run, nest->packed->per_unit);
    work->threads = 256;
    work->blocks = at_most(divide_up(work->task.items, work->threads), most_blocks);
}

/* ---- Tables in shared memory ---- */

/* Bytes that a thread stages at once: MOST_VECTOR where all of these numbers are multiples of it, else an
 * element. */
static uint8_t copy_vector(int64_t bits, int vector)
{
    return (uint8_t)(common_vector(bits) == MOST_VECTOR ? MOST_VECTOR : vector);
}

/* Rows of elements along a contiguous axis, with so many points that reading their whole tables is less than
 * reading a sector for each of them. */
static bool wants_tables(const struct nest *nest, const struct cuda_profile *profile, int vector,
                         int64_t table)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    /* Large elements waste little of a sector, and gain by the lines of a table alone that come from memory.
     */
    if (vector >= MOST_VECTOR / 2 && stays_in_l2(nest, profile, table)) return false;
    return nest->rank > 1 && nest->axes == 1 && nest->run == vector && nest->axis[0].stride == nest->run &&
           inner->data == 0 && nest->axis[0].bound > 0 && table >= profile->table_least &&
           table <= at_most(profile->table_most, profile->shared - spots_bytes(1)) &&
           table / profile->table_point <= inner->n && nest->rows >= profile->multiprocessors;
}

static bool shares_indices(const struct nest *nest)
{
    int64_t bits = 0;
    for (int d = 0; d < nest->rank - 1; d++)
        bits |= nest->dim[d].index;
    return bits == 0;
}

/* Where shared memory has room for all blocks at a time, so few threads for each that their registers do,
 * too: the blocks of a second wave would wait. */
static void run_all_at_a_time(struct cuda_work *work, const struct cuda_profile *profile)
{
    if (work->blocks * work->shared > profile->multiprocessors * profile->shared) return;
    while (work->threads > LEAST_STAGING &&
           work->blocks * work->threads > profile->multiprocessors * STAGING_THREADS)
        work->threads /= 2;
}

static void plan_tables(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile,
                        int64_t table, struct cuda_alignment alignment)
{
    struct cuda_task *task = &work->task;
    const int64_t n = nest->dim[nest->rank - 1].n;
    task->packs_points = packs_points(nest, work->vector, alignment);
    if (task->packs_points) task->level[nest->rank - 1].by = make_divisor(n / packed_points(work->vector));
    task->shares_indices = shares_indices(nest);
    int64_t group = at_most(MOST_GROUP, profile->table_group / at_least(table, n * nest->run));
    group =
        at_least(1, at_most(group, task->shares_indices ? divide_up(nest->rows, 2 * profile->multiprocessors)
                                                        : nest->rows / (4 * profile->multiprocessors)));
    work->source = CUDA_TABLE;
    task->copy = copy_vector(table | outer_strides(nest) | alignment.data, work->vector);
    task->group = (int32_t)group;
    task->staged = table;
    task->items = divide_up(nest->rows, group);
    task->by_vectors = make_divisor(table / task->copy);
    const int64_t at_once = (int64_t)IN_FLIGHT_TABLE * (task->packs_points ? packed_points(work->vector) : 1);
    work->threads = STAGING_THREADS;
    while (work->threads > LEAST_STAGING && work->threads * at_once > (task->shares_indices ? 1 : group) * n)
        work->threads /= 2;
    work->shared = spots_bytes(group) + group * table;
    work->blocks = at_most(task->items, most_blocks);
    run_all_at_a_time(work, profile);
}

/* ---- Panels in shared memory ---- */

/* Rows that share a table along an axis that is not the last: a column of points chooses from a column of it.
 */
static bool wants_panels(const struct nest *nest, const struct cuda_profile *profile, int vector)
{
    if (nest->rank < 2 || nest->axes != 1 || nest->run != vector || nest->axis[0].bound == 0) return false;
    const struct dim *column = &nest->dim[nest->rank - 1], *row = column - 1;
    return column->data == nest->run && row->data == 0 && row->index != 0 &&
           nest->axis[0].bound < NARROW_LIMIT && row->n < NARROW_LIMIT &&
           nest->axis[0].bound / profile->panel_repeats <= row->n &&
           column->n * nest->run >= profile->panel_narrow && nest->axis[0].bound >= WARP;
}

/* Data in L2 is as near as a panel that was copied from there for few points, or by few multiprocessors. */
static bool pays_in_l2(const struct nest *nest, const struct cuda_profile *profile, int64_t width)
{
    const struct dim *column = &nest->dim[nest->rank - 1], *row = column - 1;
    const int64_t columns = width / nest->run, panels = nest->rows / row->n * divide_up(column->n, columns);
    return row->n * columns >= (int64_t)PANEL_POINTS * STAGING_THREADS &&
           panels >= profile->multiprocessors / 4;
}

static bool plan_panels(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile,
                        struct cuda_alignment alignment)
{
    struct cuda_task *task = &work->task;
    const struct dim *column = &nest->dim[nest->rank - 1], *row = column - 1;
    const int64_t bound = nest->axis[0].bound;
    int64_t width =
        bound <= profile->shared / profile->panel_wide ? profile->panel_wide : profile->panel_narrow;
    width = at_least(width, nest->run);
    if (stays_in_l2(nest, profile, table_bytes(nest)) && !pays_in_l2(nest, profile, width)) return false;
    task->staged = at_most(bound, profile->shared / width);
    if (task->staged * 100 / bound < profile->panel_percent) return false;
    task->panel_shift = 0;
    while (nest->run << task->panel_shift < width)
        task->panel_shift++;
    task->copy =
        copy_vector(width | nest->axis[0].stride | outer_strides(nest) | alignment.data, work->vector);
    task->packs_points = packs_points(nest, work->vector, alignment);
    task->by_vectors = make_divisor(width / task->copy); /* a power of two: its shift is what counts */
    task->panels = divide_up(column->n, INT64_C(1) << task->panel_shift);
    const int64_t panels = nest->rows / row->n * task->panels;
    task->parts = at_least(1, at_most(profile->multiprocessors / panels, row->n / bound));
    if (task->staged <
        bound) /* what is not staged comes from L2, if the tables of all blocks fit there together */
        task->parts = divide_up(profile->multiprocessors * bound * width, profile->panel_l2);
    task->items = panels * task->parts;
    work->source = CUDA_PANEL;
    work->threads = STAGING_THREADS;
    work->shared = task->staged * width;
    work->blocks = at_most(task->items, most_blocks);
    return true;
}

/* ---- All of them ---- */

static void copy_nest(struct cuda_task *task, const struct nest *nest)
{
    for (int k = 0; k < nest->axes; k++)
        task->level[k].axis = nest->axis[k];
    for (int d = 0; d < nest->rank; d++) {
        task->level[d].dim = nest->dim[d];
        if (nest->dim[d].n < NARROW_LIMIT) task->level[d].by = make_divisor(nest->dim[d].n);
    }
}

void garner_cuda_plan_for(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile,
                          struct cuda_alignment alignment)
{
    const int64_t table = table_bytes(nest);
    memset(work, 0, sizeof *work);
    work->vector = move_vector(nest, alignment);
    work->index = kernel_index(nest, alignment);
    work->task = (struct cuda_task){.rows = nest->rows,
                                    .points = nest->points,
                                    .run = nest->run,
                                    .step = nest->step,
                                    .rank = (uint8_t)nest->rank,
                                    .axes = (uint8_t)nest->axes,
                                    .index_type = nest->index_type,
                                    .policy = (int)nest->policy};
    if (nest->points == 0) return;
    if (nest->rank <= FEW && nest->axes <= FEW) copy_nest(&work->task, nest);
    const bool few = is_few(nest, work->vector), staged = few && work->index != 0;
    if (nest->packed)
        plan_packed(work, nest);
    else if (staged && wants_tables(nest, profile, work->vector, table))
        plan_tables(work, nest, profile, table, alignment);
    else if (!staged || !wants_panels(nest, profile, work->vector) ||
             !plan_panels(work, nest, profile, alignment))
        plan_vectors(work, nest, profile, alignment);
}

bool garner_cuda_takes_any(enum cuda_source source)
{
    return source == CUDA_NEST || source == CUDA_PACKED;
}

void garner_cuda_any(struct cuda_any *any, const struct cuda_work *work, const struct nest *nest)
{
    any->task = work->task;
    memcpy(any->axis, nest->axis, (size_t)nest->axes * sizeof any->axis[0]);
    memcpy(any->dim, nest->dim, (size_t)nest->rank * sizeof any->dim[0]);
}
