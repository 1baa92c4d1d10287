/* SPDX-License-Identifier: MIT */
/*
 * Tables in files: gathers from data that need not fit in memory.
 *
 * A table is one tensor of a file: a .npy, a tensor of a .safetensors file, a member of an .npz, a .pb, or an
 * initializer of an .onnx model, whose data may lie in a file beside it. The operators are those of garner.h,
 * with the same meaning of every index, the same errors and the same bits.
 *
 *     garner_table *table;
 *     garner_error  error;
 *     garner_op     op = {.kind = GARNER_GATHER};
 *
 *     if (garner_table_open("embeddings.npy", NULL, NULL, &table, &error) != GARNER_OK ||
 *         garner_table_gather(table, &op, &indices, &out, &error) != GARNER_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *     garner_table_close(table);
 *
 * All indices are known before anything is read. So their rows are sorted by where they lie in the file,
 * neighbours are read together, and each block of the file is read once, however often its rows are asked
 * for. Reads are under way while rows that have come are put into out. There are three ways underneath:
 *
 *   mapped  the file is mapped, and the gather runs on it as on memory: for data that are in the page cache,
 *           or few
 *   ring    reads past the page cache (O_DIRECT where its alignment allows) through io_uring, many at a time;
 *           Linux with liburing
 *   pread   the same blocks, read by a few threads: everywhere
 *
 * GARNER_TABLE_ANY takes mapped where the rows that are asked for are in the page cache, as a sample of them
 * tells, or are few; else ring, and pread where there is no ring. docs/scale.md has the measurements.
 *
 * The file is opened once. Another file that takes its name changes nothing; one that becomes shorter, or is
 * written to while a gather reads, makes that gather fail. With the mapped way a file that becomes shorter in
 * the very moment ends the process by SIGBUS, as with every mapped file; ring and pread report it.
 *
 * Functions may be called from any thread at any time; gathers from one table run at once. Link with
 * libgarner_files (pkg-config garner-files, CMake garner::files).
 */
#ifndef GARNER_TABLE_H
#define GARNER_TABLE_H

#include "garner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a table is read. */
typedef enum garner_table_how {
    GARNER_TABLE_ANY = 0, /* whichever is fastest, decided for each gather */
    GARNER_TABLE_MAPPED,
    GARNER_TABLE_RING, /* pread where the system has, or allows, no ring */
    GARNER_TABLE_PREAD
} garner_table_how;

/* "mapped", "ring", "pread"; "any" for 0, NULL for anything else. */
GARNER_API const char *garner_table_how_name(garner_table_how how);

/* Options; all zero is what a call without them means. */
typedef struct garner_table_options {
    uint32_t size; /* sizeof(garner_table_options), or 0 for this first version */
    garner_table_how how;
    uint64_t memory; /* bytes that one gather may take beside indices and out: at least 1 MiB; 0: 256 MiB */
    int32_t threads; /* of the mapped way, as for garner_threads; 0: all */
    int32_t follow_links; /* non-zero: a model's external data may be links, or lie behind links */

    /* If set, it is told now and then, on the thread that called, how many points (garner_plan_points) are
     * done; a return other than 0 stops the gather with GARNER_CANCELLED. The mapped way into memory asks it
     * before each task of that thread (tens of microseconds), and says how far it is in tasks. */
    int (*watch)(void *context, int64_t done, int64_t all);
    void *context;
} garner_table_options;

typedef struct garner_table garner_table;

/*
 * Opens the tensor `member` of the file at `path`. NULL means the only one that the file has. `options` may
 * be NULL. Reads no elements. "-" is standard input. Strings are refused. On failure *table is NULL:
 * GARNER_BAD_ARGUMENT for options that make no sense or a path that is NULL; GARNER_BAD_FILE,
 * GARNER_UNSUPPORTED or GARNER_SYSTEM, whose message begins with the path.
 */
GARNER_API GARNER_MUST_USE garner_status garner_table_open(const char *path, const char *member,
                                                           const garner_table_options *options,
                                                           garner_table **table, garner_error *error);

/* Type, shape and strides of the table, for garner_infer and garner_plan_create; valid as long as the table.
 * Its data pointer means nothing. */
GARNER_API const garner_tensor *garner_table_tensor(const garner_table *table);

/* Of GARNER_OPAQUE elements of a .npy file, their type as written there; else NULL. */
GARNER_API const char *garner_table_descr(const garner_table *table);

/*
 * Gathers into memory. `out` may have any strides that garner_run takes. A read that fails is GARNER_SYSTEM:
 * the sentence names the file and the offset. After an error out holds anything.
 */
GARNER_API GARNER_MUST_USE garner_status garner_table_gather(garner_table *table, const garner_op *op,
                                                             const garner_tensor *indices,
                                                             const garner_tensor *out, garner_error *error);

/*
 * Gathers into a file, which may be larger than memory: .npy, .npz, .safetensors or .pb, as its ending says;
 * "-" is .npy on standard output. It appears whole or not at all, and an old file of that name survives every
 * failure. In formats that have names the tensor is called `name`.
 */
GARNER_API GARNER_MUST_USE garner_status garner_table_save(garner_table *table, const garner_op *op,
                                                           const garner_tensor *indices, const char *path,
                                                           const char *name, garner_error *error);

/* Copies `bytes` bytes of the elements, from byte `first` on, counted from element 0 as they lie in the file
 * (in this machine's byte order): a part of a table, for those who hold parts. */
GARNER_API GARNER_MUST_USE garner_status garner_table_read(garner_table *table, uint64_t first,
                                                           uint64_t bytes, void *into, garner_error *error);

/* What gathers from a table have done so far. */
typedef struct garner_table_stats {
    uint32_t size; /* sizeof(garner_table_stats), or 0 for this first version; set it before the call */
    garner_table_how how; /* of the last gather */
    int32_t direct;       /* whether that read past the page cache */
    uint64_t gathers, points;
    uint64_t reads, bytes; /* blocks read from the file, and how large they were in all */
} garner_table_stats;

GARNER_API void garner_table_report(const garner_table *table, garner_table_stats *stats);

/* Closes the file and frees the table; nobody may be using it. NULL is fine. */
GARNER_API void garner_table_close(garner_table *table);

#ifdef __cplusplus
}
#endif

#endif /* GARNER_TABLE_H */
