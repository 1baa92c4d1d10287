/* SPDX-License-Identifier: MIT */
/*
 * What a kernel is: a function that moves the points of one segment, a stretch of the innermost dim of
 * a nest. And what a resolver is: a function that turns indices of any type, under any policy, into a
 * block of checked offsets, which a kernel of source BLOCK or HOLED then moves.
 */
#ifndef GARNER_CPU_KERNEL_H
#define GARNER_CPU_KERNEL_H

#include "../nest.h"

enum source { UNIT, RAMP, PATTERN, TUPLE, BLOCK, HOLED };

/* A row of points; for BLOCK and HOLED many rows that use the same offsets. Distances are in bytes. */
struct segment {
    const char *data;        /* source of a point whose indices are all 0 */
    const char *index;       /* indices of the first point; or offsets */
    char *out;               /* destination of the first point */
    int64_t n;               /* points of a row */
    int64_t ramp;            /* distance in data from point to point */
    int64_t step;            /* distance in out from point to point */
    int64_t run;             /* bytes of a point */
    int64_t ahead;           /* how many points ahead to prefetch long runs; 0: not at all */
    const int64_t *pattern;  /* for PATTERN: distance in data of each point from the first */
    const struct axis *axis; /* gathered axes */
    int axes;
    int64_t rows, row_ramp, row_step; /* for BLOCK and HOLED: how many rows, their distances */
};

/* Moves points until one has an index outside [-wrap, bound), and returns how many it moved. */
typedef int64_t kernel_function(const struct segment *segment);

struct kernel {
    const char *level; /* the instruction set: "scalar" */
    enum source source;
    int index; /* bytes of an index */
    int run;   /* bytes of a point; 0: any */
    kernel_function *function;
};

/* The kernel for a run of that many bytes, or NULL if no kernel reads such indices. */
const struct kernel *garner_kernel_find(enum source source, int index, int64_t run);

/* Offset of a point that lies nowhere: its run is zeros. No view reaches that far. */
#define OFFSET_NOWHERE INT64_MIN

enum { BLOCK_POINTS = 1024 };

/* Resolves `n` points, at most BLOCK_POINTS, from index number `at` on: their offsets from the data of
 * a point whose indices are all 0. REFUSED if the policy refuses one, NOWHERE if some lie nowhere. */
enum landing garner_resolve(const struct nest *nest, const char *indices, int64_t at, int64_t n,
                            int64_t *offset);

#endif
