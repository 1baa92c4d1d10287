/* SPDX-License-Identifier: MIT */
/* Decides how a nest is run on a GPU: kernel, vectors, threads, shared memory. Plain C, and the same on every
 * machine. */
#include <string.h>

#include "cuda_work.h"

enum {
    WARP = 32,
    SECTOR = 32, /* bytes that memory gives at least */
    MOST_VECTOR = 16,
    MOST_GROUP = 64,        /* rows of TABLE that are staged at once */
    STAGING_THREADS = 1024, /* of a block of TABLE or PANEL, at most */
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
    return nest->rank <= FEW_DIMS && nest->axes <= FEW_AXES && nest->rows < INT32_MAX && nest->run > 0 &&
           nest->run / vector < NARROW_LIMIT &&
           (nest->rank == 1 || nest->dim[nest->rank - 1].n < NARROW_LIMIT);
}

/* ---- Vectors of runs ---- */

static void plan_vectors(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile)
{
    struct cuda_task *task = &work->task;
    task->vectors = nest->run / work->vector;
    task->items = nest->points * at_least(task->vectors, 1);
    int flight = 1;
    work->source = CUDA_NEST;
    if (is_few(nest, work->vector)) {
        work->source = nest->rank == 1 ? CUDA_LINE : CUDA_GRID;
        flight = nest->rank == 1 ? (int)IN_FLIGHT_LINE : (int)IN_FLIGHT_GRID;
        task->by_vectors = make_divisor(task->vectors);
        task->narrow = task->items < NARROW_LIMIT;
    }
    work->threads = 256;
    while (work->threads > WARP && task->items < (int64_t)work->threads * flight * profile->multiprocessors)
        work->threads /= 2;
    work->blocks = divide_up(task->items, (int64_t)work->threads * flight);
    if (work->source != CUDA_NEST && work->blocks <= most_blocks) return;
    work->source = CUDA_NEST;
    work->index = 0;
    work->blocks = at_most(divide_up(task->items, work->threads), most_blocks);
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

/* Points that a thread of TABLE or PANEL moves at once where that is possible. */
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

/* Rows of elements along a contiguous axis, with so many points that reading their whole tables is less than
 * reading a sector for each of them. */
static bool wants_tables(const struct nest *nest, const struct cuda_profile *profile, int vector,
                         int64_t table)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    /* Large elements waste little of a sector, and gain by the lines of a table alone that come from memory.
     */
    if (vector == MOST_VECTOR && stays_in_l2(nest, profile, table)) return false;
    return nest->rank > 1 && nest->axes == 1 && nest->run == vector && nest->axis[0].stride == nest->run &&
           inner->data == 0 && nest->axis[0].bound > 0 && table >= profile->table_least &&
           table <= at_most(profile->table_most, profile->shared - spots_bytes(1)) &&
           table / profile->table_point <= inner->n && nest->rows >= profile->multiprocessors;
}

static void plan_tables(struct cuda_work *work, const struct nest *nest, const struct cuda_profile *profile,
                        int64_t table, struct cuda_alignment alignment)
{
    struct cuda_task *task = &work->task;
    const int64_t n = nest->dim[nest->rank - 1].n;
    task->packs_points = packs_points(nest, work->vector, alignment);
    if (task->packs_points) task->by_dim[nest->rank - 1] = make_divisor(n / packed_points(work->vector));
    int64_t group = at_most(MOST_GROUP, profile->table_group / at_least(table, n * nest->run));
    group = at_least(1, at_most(group, nest->rows / (4 * profile->multiprocessors)));
    work->source = CUDA_TABLE;
    task->copy = copy_vector(table | outer_strides(nest) | alignment.data, work->vector);
    task->group = (int32_t)group;
    task->staged = table;
    task->items = divide_up(nest->rows, group);
    task->by_vectors = make_divisor(table / task->copy);
    const int64_t at_once = (int64_t)IN_FLIGHT_TABLE * (task->packs_points ? packed_points(work->vector) : 1);
    work->threads = STAGING_THREADS;
    while (work->threads > 2 * MOST_GROUP && work->threads * at_once > group * n)
        work->threads /= 2;
    work->shared = spots_bytes(group) + group * table;
    work->blocks = at_most(task->items, most_blocks);
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
                                    .rank = nest->rank,
                                    .axes = nest->axes,
                                    .index_type = nest->index_type,
                                    .policy = (int)nest->policy};
    if (nest->points == 0) return;
    for (int d = 0; d < nest->rank && nest->rank <= FEW_DIMS; d++)
        if (nest->dim[d].n < NARROW_LIMIT) work->task.by_dim[d] = make_divisor(nest->dim[d].n);
    const bool few = is_few(nest, work->vector), staged = few && work->index != 0;
    if (nest->packed)
        plan_packed(work, nest);
    else if (staged && wants_tables(nest, profile, work->vector, table))
        plan_tables(work, nest, profile, table, alignment);
    else if (!staged || !wants_panels(nest, profile, work->vector) ||
             !plan_panels(work, nest, profile, alignment))
        plan_vectors(work, nest, profile);
}

bool garner_cuda_takes_any(enum cuda_source source)
{
    return source == CUDA_NEST || source == CUDA_PACKED;
}

void garner_cuda_few(struct cuda_few *few, const struct cuda_work *work, const struct nest *nest)
{
    few->task = work->task;
    memcpy(few->axis, nest->axis, (size_t)nest->axes * sizeof few->axis[0]);
    memcpy(few->dim, nest->dim, (size_t)nest->rank * sizeof few->dim[0]);
}

void garner_cuda_any(struct cuda_any *any, const struct cuda_work *work, const struct nest *nest)
{
    any->task = work->task;
    memcpy(any->axis, nest->axis, (size_t)nest->axes * sizeof any->axis[0]);
    memcpy(any->dim, nest->dim, (size_t)nest->rank * sizeof any->dim[0]);
}
