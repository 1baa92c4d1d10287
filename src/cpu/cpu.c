/* SPDX-License-Identifier: MIT */
/* Chooses kernels, cuts the work, and walks a task's points segment by segment. */
#include "cpu.h"

enum {
    TASK_COST = 256 * 1024, /* bytes moved, or as good as moved, that make a task worth handing out */
    POINT_COST = 16,        /* what finding a point costs, in bytes moved */
    MOST_TASKS = 64 * 1024,
    FEW_POINTS = 64, /* with so few points a long run is cut too */
    PIECE_ALIGNMENT = 4096
};

/* Kernels read indices of 4 or 8 bytes that lie side by side; all others are resolved first. */
static bool indices_are_adjacent(const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    bool tuple = nest->axes == 1 || nest->step == 1;
    return !nest->index_type.is_unsigned && tuple && (inner->n == 1 || inner->index == nest->axes);
}

static void choose_kernels(struct cpu_work *work, const struct nest *nest)
{
    enum source source = nest->axes == 1 ? ONE : TUPLE;
    work->fused = work->block = NULL;
    if (nest->packed) return;
    work->block = garner_kernel_find(BLOCK, sizeof(int64_t), nest->run);
    if (indices_are_adjacent(nest))
        work->fused = garner_kernel_find(source, nest->index_type.bytes, nest->run);
}

/* How many tasks a cost is worth. */
static int64_t worth(int64_t points, int64_t cost)
{
    int64_t total;
    if (!multiply_fits(points, cost, &total)) return MOST_TASKS;
    return at_least(1, at_most(total / TASK_COST, MOST_TASKS));
}

static int64_t round_up(int64_t a, int64_t multiple)
{
    return divide_up(a, multiple) * multiple;
}

static void cut_points(struct cpu_work *work, const struct nest *nest)
{
    int64_t cost, few = at_least(1, nest->points);
    if (!add_fits(nest->run, POINT_COST, &cost)) cost = nest->run;
    work->piece = nest->run;
    work->pieces = 1;
    if (few < FEW_POINTS && nest->run > TASK_COST) {
        int64_t most = MOST_TASKS / few;
        work->piece = round_up(at_least(TASK_COST, divide_up(nest->run, most)), PIECE_ALIGNMENT);
        work->pieces = divide_up(nest->run, work->piece);
        work->share = 1;
    } else {
        work->share = divide_up(few, worth(few, cost));
    }
    work->tasks = divide_up(nest->points, work->share) * work->pieces;
}

/* Packed data: every element costs about as much as a point. */
static void cut_elements(struct cpu_work *work, const struct nest *nest)
{
    int64_t elements = nest->points * nest->run;
    work->pieces = 1;
    work->piece = nest->run;
    work->share = round_up(divide_up(elements, worth(elements, POINT_COST)), nest->packed->per_unit);
    work->tasks = divide_up(elements, work->share);
}

void garner_cpu_choose(struct cpu_work *work, const struct nest *nest)
{
    choose_kernels(work, nest);
    if (nest->packed && nest->points > 0)
        cut_elements(work, nest);
    else
        cut_points(work, nest);
}

void garner_cursor_seek(struct cursor *cursor, const struct nest *nest, int64_t point)
{
    cursor->data = cursor->index = cursor->out = 0;
    for (int d = nest->rank - 1; d >= 0; d--) {
        const struct dim *dim = &nest->dim[d];
        int64_t at = point % dim->n;
        point /= dim->n;
        cursor->at[d] = at;
        cursor->data += at * dim->data;
        cursor->index += at * dim->index;
        cursor->out += at * dim->out;
    }
}

void garner_cursor_advance(struct cursor *cursor, const struct nest *nest, int64_t n)
{
    for (int d = nest->rank - 1; d >= 0; d--, n = 1) {
        const struct dim *dim = &nest->dim[d];
        cursor->at[d] += n;
        cursor->data += n * dim->data;
        cursor->index += n * dim->index;
        cursor->out += n * dim->out;
        if (cursor->at[d] < dim->n) return;
        cursor->data -= dim->n * dim->data;
        cursor->index -= dim->n * dim->index;
        cursor->out -= dim->n * dim->out;
        cursor->at[d] = 0;
    }
}

/* Moves up to BLOCK_POINTS points by way of resolved offsets; how many, or 0 if one is refused. */
static int64_t move_block(const struct cpu_work *work, const struct nest *nest, const struct segment *s,
                          const struct buffers *buffers, int64_t index)
{
    int64_t offset[BLOCK_POINTS];
    struct segment block = *s;
    block.n = at_most(s->n, BLOCK_POINTS);
    block.index = (const char *)offset;
    if (!garner_resolve(nest, buffers->indices, index, block.n, offset)) return 0;
    return work->block->function(&block);
}

/* Moves `n` points of one row from the cursor on, bytes [from, from + length) of each run. */
static bool move_row(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     const struct cursor *cursor, int64_t n, int64_t from, int64_t length)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    for (int64_t done = 0, moved; done < n; done += moved) {
        int64_t index = cursor->index + done * inner->index;
        struct segment s = {
            .data = buffers->data + cursor->data + done * inner->data + from,
            .index = buffers->indices + index * nest->index_type.bytes,
            .out = buffers->out + cursor->out + done * inner->out + from,
            .n = n - done,
            .ramp = inner->data,
            .step = inner->out,
            .run = length,
            .axis = nest->axis,
            .axes = nest->axes,
        };
        moved = work->fused ? work->fused->function(&s) : 0;
        if (moved == 0) moved = move_block(work, nest, &s, buffers, index);
        if (moved == 0) return false;
    }
    return true;
}

bool garner_cpu_task(const struct cpu_work *work, const struct nest *nest, const struct buffers *buffers,
                     int64_t task)
{
    int64_t first = task / work->pieces * work->share;
    if (nest->packed) {
        int64_t elements = nest->points * nest->run;
        return garner_bits_task(nest, buffers, first, at_most(first + work->share, elements));
    }
    int64_t left = at_most(work->share, nest->points - first);
    int64_t from = task % work->pieces * work->piece;
    int64_t length = at_most(work->piece, nest->run - from);
    const int inner = nest->rank - 1;
    struct cursor cursor;
    garner_cursor_seek(&cursor, nest, first);
    while (left > 0) {
        int64_t n = at_most(left, nest->dim[inner].n - cursor.at[inner]);
        if (!move_row(work, nest, buffers, &cursor, n, from, length)) return false;
        garner_cursor_advance(&cursor, nest, n);
        left -= n;
    }
    return true;
}
