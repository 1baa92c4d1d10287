/* SPDX-License-Identifier: MIT */
/*
 * What a kernel is: a function that moves the points of one segment, a part of the innermost dim of
 * a nest. And what a resolver is: a function that turns indices of any type, under any policy, into a
 * block of checked offsets, which a kernel of source BLOCK or HOLED then moves.
 */
#ifndef GARNER_CPU_KERNEL_H
#define GARNER_CPU_KERNEL_H

#include "../../nest.h"

#if defined(__x86_64__)
enum { X86 = 1 };
#else
enum { X86 = 0 };
#endif

/* Bytes that caches and memory deal in. */
enum { LINE = 64 };

enum source {
#define SOURCE(source, name, axes) source,
#include "sources.def"
#undef SOURCE
    SOURCES
};

/* How many indices lead to a point. */
GARNER_INLINE int source_axes(enum source source)
{
    static const int axes_of[] = {
#define SOURCE(source, name, axes) [source] = axes,
#include "sources.def"
#undef SOURCE
    };
    return axes_of[source];
}

enum { TINY_ENTRIES = 16 }; /* of a table that stays in registers */

/* Whether points are given by offsets that were checked before, instead of by indices. */
GARNER_INLINE bool source_is_resolved(enum source source)
{
    return source == BLOCK || source == HOLED;
}

/* A row of points; for BLOCK and HOLED many rows that use the same offsets; for SHORT_... many
 * short ones, and for PANEL many of a line or half a line each, `n` points in all. Distances are in bytes.
 */
struct segment {
    const char *data;          /* source of a point whose indices are all 0 */
    const char *index;         /* indices of the first point; or offsets, which are int64_t */
    char *out;                 /* destination of the first point */
    int64_t n;                 /* points of a row */
    int64_t data_stride;       /* from point to point in data, apart from their indices */
    int64_t out_stride;        /* from point to point in out */
    int64_t run;               /* bytes of a point */
    int64_t prefetch_distance; /* points; 0: no point is prefetched */
    bool points_to_l1;         /* points are prefetched into L1, else into L2 */
    bool indices_to_l1;        /* so are indices */
    bool table_to_l1;          /* so is the next row's table */
    bool by_strips;            /* for BLOCK: few columns of many rows at a time, not row by row */
    bool row_by_row;   /* for BLOCK and HOLED: rows of few points as others, no later row prefetched */
    bool unaligned;    /* for the kernel's own use: runs may begin or end within a cache line */
    bool non_temporal; /* out is written by non-temporal stores */
    bool by_memcpy;    /* runs of any length are moved by memcpy */
    uint8_t
        overlap_vectors;    /* runs of no more whole vectors are stored unaligned, the last one overlapping */
    uint8_t row_points;     /* for PANEL and SHORT_...: points of a row */
    uint16_t prefetch_rows; /* rows: how much later a row is whose table is prefetched, for SHORT_UNIT, or
                               whose points are, for BLOCK by strips; 0: none */
    int32_t table_bytes_per_point; /* bytes of a later row's table to prefetch with each point; 0: none */
    int64_t next_part; /* for UNIT: from data to the part of that table that the first point prefetches */
    const int64_t *pattern;   /* for PATTERN: distance in data of each point from the first */
    const struct axis *axis;  /* gathered axes */
    int64_t rows;             /* where there are many: how many, */
    int64_t row_data_stride;  /* and from row to row in data, */
    int64_t row_out_stride;   /* in out, */
    int64_t row_index_stride; /* and, for PANEL, in indices */
};

/* Rows that share their offsets. */
enum {
    FEW_ELEMENTS = 8, /* of a row, whose offsets fit into registers */
    FEW_POINTS = 16,  /* of a row, for which aarch64 prefetches a later row: */
    FEW_BYTES = 256,  /* no longer runs, */
    ROW_DISTANCE = 4  /* so many rows later */
};

/* Moves points until one has an index outside [-wrap, bound), and returns how many it moved. What changes
 * from call to call comes beside the segment, in registers: its data, index, out and n are not looked at. */
typedef int64_t kernel_function(const struct segment *like, const char *data, const char *index, char *out,
                                int64_t n);

/* A segment like another one, elsewhere. */
GARNER_INLINE struct segment segment_at(const struct segment *like, const char *data, const char *index,
                                        char *out, int64_t n)
{
    struct segment here = *like;
    here.data = data;
    here.index = index;
    here.out = out;
    here.n = n;
    return here;
}

enum level { SCALAR, AVX2, AVX512, AVX512_GATHER, LEVELS };

/* Which kernel it is, a line of kernels.def; or what a function is compiled for. That is passed by value
 * through functions that are all inlined, so that its fields are constants in them; where code is shared by
 * several kernels some are not. */
struct kernel_id {
    enum level level; /* the instruction set */
    enum source source;
    int index; /* bytes of an index */
    int run;   /* bytes of a point; ANY; or, of a function that several lines share, ELEMENT */
};

/* Whether rows of `n` points that share their offsets are moved by strips: they have few elements, or these
 * lie in a cache, so that a strip of rows stays in L1 or L2 for all its columns. */
GARNER_INLINE bool goes_by_strips(const struct segment *s, int64_t n, const struct kernel_id id)
{
    return id.source == BLOCK && id.run > 0 && id.run <= 8 && (s->out_stride == id.run || n == 1) &&
           (n <= FEW_ELEMENTS || s->by_strips);
}

enum {
    ANY = 0,     /* as many bytes as the segment says, */
    ELEMENT = -1 /* which are 1, 2, 4, 8 or 16 */
};

struct kernel {
    struct kernel_id id;
    kernel_function *function;
};

/* Slots of a level's table: indices of 4 and 8 bytes; runs of 0 (any) and powers of two up to 256. */
#define INDEX_SLOT(index) ((index) == 8)
#define RUN_SLOT(run)       \
    ((run) < 4      ? (run) \
     : (run) == 4   ? 3     \
     : (run) == 8   ? 4     \
     : (run) == 16  ? 5     \
     : (run) == 32  ? 6     \
     : (run) == 64  ? 7     \
     : (run) == 128 ? 8     \
                    : 9)
enum { INDEX_SLOTS = 2, RUN_SLOTS = RUN_SLOT(256) + 1 };

/* The kernels of a level; those it lacks have no function. */
typedef struct kernel kernel_table[SOURCES][INDEX_SLOTS][RUN_SLOTS];
extern const kernel_table garner_scalar_kernels, garner_avx2_kernels, garner_avx512_kernels,
    garner_avx512_gather_kernels;

/* The highest level that this machine has, whatever the environment says. */
enum level garner_cpu_detected(void);

#if defined(__x86_64__)
/* What a CPU has of these features (EBX of CPUID's leaf 7) in a system that saves this state (XCR0). */
enum level garner_x86_level(unsigned features, uint64_t state);
#endif

/* The kernels of a level; NULL if this architecture has no such level. */
const kernel_table *garner_level_kernels(enum level level);

/* The level's name, as GARNER_CPU spells it. */
const char *garner_level_name(enum level level);

/* The kernel of the highest level up to the one in use for a run of that many bytes. */
const struct kernel *garner_kernel_find(enum source source, int index, int64_t run);

/* Offset of a point that lies nowhere: its run is zeros. No view reaches that far. */
#define OFFSET_NOWHERE INT64_MIN

enum { BLOCK_POINTS = 1024, LITTLE_BLOCK = 64 };

/* Resolves `n` points, at most BLOCK_POINTS, from index number `at` on: their offsets from the data of
 * a point whose indices are all 0. REFUSED if the policy refuses one, NOWHERE if some lie nowhere. */
enum landing garner_resolve(const struct nest *nest, const char *indices, int64_t at, int64_t n,
                            int64_t *offset);

#endif
