/* SPDX-License-Identifier: MIT */
/* Moves the points of a row: by a kernel that reads the caller's indices, and where that stops, or where none
 * reads such indices, by way of a block of resolved offsets. */
#ifndef GARNER_CPU_MOVE_POINTS_H
#define GARNER_CPU_MOVE_POINTS_H

#include "cpu_work.h"
#include "walk.h"

/* What all tasks of an execution share. */
struct execution {
    const struct cpu_work *work;
    const struct nest *nest;
    const struct buffers *buffers;
};

/* Moves `n` points of a row from a spot on, until the kernel stops; returns how many. */
static inline int64_t move_points(const struct execution *e, const struct kernel *kernel,
                                  const struct segment *like, struct spot spot, int64_t n)
{
    const struct buffers *buffers = e->buffers;
    return kernel->function(like, buffers->data + spot.data,
                            buffers->indices + spot.index * e->nest->index_type.bytes,
                            buffers->out + spot.out, n);
}

/* The same for at most a block of points, by way of resolved offsets; 0 if the policy refuses one. */
int64_t garner_move_block(const struct execution *e, const struct segment *like, struct spot spot, int64_t n);

/* Moves points [done, n) of a row: a block where the kernel stopped, then the kernel again. */
bool garner_move_rest(const struct execution *e, const struct kernel *kernel, const struct segment *like,
                      struct spot row, int64_t done, int64_t n);

/* Moves the `n` points of a row, or of a part of it; `kernel` is NULL where none reads such indices. False if
 * the policy refuses an index. */
static inline bool move_row(const struct execution *e, const struct kernel *kernel,
                            const struct segment *like, struct spot row, int64_t n)
{
    int64_t moved = kernel ? move_points(e, kernel, like, row, n) : 0;
    return __builtin_expect(moved == n, 1) || garner_move_rest(e, kernel, like, row, moved, n);
}

#endif
