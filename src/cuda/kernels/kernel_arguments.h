/* SPDX-License-Identifier: MIT */
/*
 * What a kernel gets, by value: the nest, three pointers, where to report, and how the work is divided. C and
 * C++: the host fills it in, the kernels read it. Every driver passes 4 KiB of arguments, and every nest
 * fits.
 */
#ifndef GARNER_CUDA_ARGUMENTS_H
#define GARNER_CUDA_ARGUMENTS_H

#include "../../nest.h"

/* Which points a kernel moves, and where it finds them. */
enum cuda_source {
#define CUDA_SOURCE(source, name, in_flight) CUDA_##source,
#include "cuda_sources.def"
#undef CUDA_SOURCE
    CUDA_SOURCES
};

/* How many items a thread has in flight. */
enum cuda_in_flight {
#define CUDA_SOURCE(source, name, in_flight) IN_FLIGHT_##source = in_flight,
#include "cuda_sources.def"
#undef CUDA_SOURCE
};

/* The refused index that is reported, in pinned memory. Of several it is that of the earliest launch, of
 * these that of the lowest point, of these the first component. */
struct cuda_record {
    int64_t launch; /* NO_LAUNCH: none was refused */
    int64_t point;
    int64_t component;
    int64_t value;
    uint64_t plan; /* whose launch it was */
};

#define NO_LAUNCH INT64_MAX

/* Divides numbers below 2^31 with one multiplication. */
struct divisor {
    uint32_t by, magic, shift;
};

enum {
    WARP = 32,
    FEW = 4, /* dims and axes of nests that most kernels take */
    MOST_DIMS = 63,
    NARROW_LIMIT = 1 << 30 /* numbers below it may be divided by a divisor, after some thousands were added */
};

/* An axis of data, a dim of the nest, and what divides by its extent: in packs, where points are moved so. */
struct cuda_level {
    struct axis axis;
    struct dim dim;
    struct divisor by;
};

/*
 * What all kernels get. A multiprocessor reads arguments through a small cache, line by line, and a tiny
 * gather waits for each of them: what every thread needs comes first, what few do comes last.
 */
struct cuda_task {
    const char *data, *indices;
    char *out;
    int64_t items; /* of all threads, or of all blocks */
    struct divisor by_vectors;
    uint8_t rank, axes;
    bool narrow;       /* items are so few that 32-bit divisions find them all */
    bool packs_points; /* points lie side by side, and a thread moves several at once */
    uint8_t flight;    /* ROWS: vectors that a thread moves: 1, 2, or 4 of less than 16 bytes */

    /* The nest where it has no more dims and axes than these: kernels of other nests have lists of their own.
     */
    struct cuda_level level[FEW];

    int64_t rows, points, run, step; /* as in the nest */
    int64_t vectors;                 /* of a run; 0: the indices are checked and nothing is moved */

    /* Indices that are not simply inside. */
    struct cuda_record *record;
    int64_t launch;
    uint64_t plan;
    struct index_type index_type;
    int policy; /* a garner_oob */

    bool shares_indices; /* TABLE: all rows of out have the same indices */
    bool is_short;       /* LONG: a chunk has half as many vectors */
    uint8_t lane_shift;  /* LONG: 1 << it threads move a chunk */
    uint8_t copy;        /* TABLE, PANEL: bytes that a thread copies into shared memory at once */
    uint8_t panel_shift; /* PANEL: 1 << it is the columns of a panel */
    int32_t group;       /* TABLE: rows that a block stages at once */
    int64_t staged;      /* TABLE: bytes of a table; PANEL: rows of a table that are staged */
    int64_t panels;      /* PANEL: of a row */
    int64_t parts;       /* PANEL: blocks that share one */
    struct dtype packed; /* PACKED */
};

/* A nest of any number of dims and axes. */
struct cuda_any {
    struct cuda_task task;
    struct axis axis[GARNER_MAX_RANK];
    struct dim dim[MOST_DIMS];
};

/* Where a row lies: how far from element 0 of data and of out, and the number of its first index. */
struct row_spot {
    int64_t data, index, out;
};

/* Bytes of shared memory that the spots of so many rows take before the tables. */
GARNER_ANYWHERE static inline int64_t spots_bytes(int64_t rows)
{
    const int64_t bytes = rows * (int64_t)sizeof(struct row_spot);
    return bytes + (16 - bytes % 16) % 16;
}

#endif
