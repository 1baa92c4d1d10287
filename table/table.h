/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder share: an open table, and one gather from it on its way down:
 *
 *     table.c          open and close
 *     table_gather.c   gather into memory
 *     table_save.c     gather into a file, part by part
 *     table_read.c     a part of the table as it is, and whether another process changed the file
 *     table_map.c      maps the file
 *     choose.c         which of the three ways
 *     cached.c         whether rows are in the page cache
 *     mapped.c         by the kernels, from the mapping into memory
 *     passes.c         points of a plan, as many at a time as the memory allows, sorted by where they lie
 *     transfer.c       blocks of the file, many under way at a time, and from them rows into out
 *     reader.h         how blocks are read: reader_ring.c, reader_pread.c
 */
#ifndef GARNER_TABLE_TABLE_H
#define GARNER_TABLE_TABLE_H

#include <pthread.h>

#include "garner_table.h"
#include "reader.h"
#include "store_place.h"

/* Who says whether a byte of the file is in the page cache. */
enum table_residency {
    TABLE_BY_READ,    /* a read that may not wait, until the file system refuses one */
    TABLE_BY_MAPPING, /* the pages of the mapping */
    TABLE_IN_MEMORY,  /* the file system is in memory: everything is */
    TABLE_UNKNOWN     /* nobody */
};

struct garner_table {
    char *path;
    struct store_place place;
    garner_table_options options; /* whole, none of them 0 but for what may be */
    pthread_mutex_t lock;         /* of what follows, which is made when it is first needed */
    unsigned char *mapping;
    size_t mapping_size;
    int looked_for_direct;
    int direct;         /* the file opened with O_DIRECT, or -1 */
    unsigned alignment; /* of offsets, sizes and memory that O_DIRECT wants */
    int was_hot;        /* whether the rows of the last gather that asked were in the page cache */
    uint64_t questions; /* how often that was asked */
    enum table_residency residency; /* who answered so far */
    int no_ring;                /* a ring was refused: by the system, or by whoever runs this in a sandbox */
    reader_opener *open_reader; /* for tests: what reads instead */
    garner_table_stats stats;
};

/* What was asked for. */
struct gather {
    struct garner_table *table;
    const garner_plan *plan;
    const void *indices;
    void *pointer;      /* of out, as its tensor has it */
    unsigned char *out; /* its element 0 */
    int64_t all;        /* points, for whoever watches */
    int64_t done;
    uint64_t memory; /* that it may take */
    garner_table_how how;
    garner_error *error;
};

/* A run to be read: `from` bytes from the beginning of the file, to be put `to` bytes into out. */
struct item {
    uint64_t from;
    int64_t to;
};

/* ---- table.c ---- */

/* Tells whoever watches how far the gather is; whether that one has seen enough. */
int table_is_stopped(const struct gather *gather);

/* GARNER_CANCELLED, with how far it came. */
garner_status table_fail_stopped(const struct gather *gather);

/* Both. */
garner_status table_watch(const struct gather *gather);

/* GARNER_SYSTEM, for a read that failed with an errno value, or (0) met the end of the file. */
garner_status table_fail_read(const struct garner_table *table, uint64_t offset, uint64_t bytes, int number,
                              garner_error *error);

/* ---- table_gather.c ---- */

/* The table's first element, in the file's mapping or in memory. */
const void *table_elements(const struct gather *gather);

/* Counts a gather that is done. */
void table_count(struct gather *gather);

/* ---- table_read.c ---- */

/* When the file was last written to. */
struct table_moment {
    int64_t seconds, nanoseconds;
};

/* Look at the file before it is read, and after: GARNER_SYSTEM if it was cut short or written to. */
garner_status table_look(const struct garner_table *table, struct table_moment *written, garner_error *error);
garner_status table_look_again(const struct garner_table *table, const struct table_moment *before,
                               garner_error *error);

/* ---- table_map.c ---- */

/* Maps the file, once; NULL if that cannot be done. */
const unsigned char *table_map(struct garner_table *table);

/* ---- choose.c ---- */

/* The way for this gather; never GARNER_TABLE_ANY. */
garner_status table_choose(struct gather *gather);

/* The descriptor to read past the page cache with, and the alignment it wants; -1: there is none. */
int table_direct(struct garner_table *table, unsigned *alignment);

/* ---- cached.c ---- */

/* Whether the byte at an offset of the file is in the page cache; 0 where nobody says so. */
int table_is_cached(struct garner_table *table, uint64_t offset);

/* ---- mapped.c ---- */

/* Gathers into memory from the mapping, in which `data` is the table's first element. */
garner_status mapped_run(struct gather *gather, const void *data);

/* ---- passes.c ---- */

/* Points `first` to `first + count` of the plan, put where they belong, less `base` bytes. */
garner_status passes_run(struct gather *gather, int64_t first, int64_t count, int64_t base);

/* ---- transfer.c ---- */

struct transfer;

/* Takes at most `memory` bytes. */
garner_status transfer_begin(struct transfer **transfer, struct gather *gather, uint64_t memory);

/* Reads what the items need and puts it into out. Items are sorted by `from`. */
garner_status transfer_run(struct transfer *transfer, const struct item *items, size_t count);

/* NULL is fine. */
void transfer_end(struct transfer *transfer);

#endif
