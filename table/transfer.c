/* SPDX-License-Identifier: MIT */
/*
 * Moves sorted runs from a file into out. Runs that lie near each other are read as one block, each block
 * once; as many blocks as there are slots are under way, and the runs of one that has come are put into out
 * while the others are read. A run may be longer than a block: then it is put together from several.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "fail.h"
#include "reader.h"
#include "table.h"

enum {
    PAGE = 4096,
    MOST_SLOTS = 128, /* reads under way; SSDs get no faster beyond */
    SMALL_BLOCK = 1 << 15,
    LARGE_BLOCK = 1 << 18,
    GAP = 1 << 12,    /* bytes that are read in vain rather than to begin another read */
    MOST_TRIES = 1000 /* of a read that the system wants tried again */
};

/* A block on its way. */
struct slot {
    struct read read;     /* first, so that a finished read is its slot */
    unsigned char *bytes; /* from `begin` on */
    uint64_t begin, end;  /* of what is needed; begin is aligned */
    size_t first, last;   /* items that reach into it; one more than the last */
    int tries;
    struct slot *next_free;
};

struct transfer {
    struct gather *gather;
    struct reader *reader;
    uint64_t run;
    unsigned swap, alignment;
    uint32_t block;
    unsigned slots, under_way;
    int lost; /* the reader has failed with reads under way: what they write to stays */
    struct slot *slot, *free;
    unsigned char *memory;
    const struct item *items;
    size_t count, next; /* the first item that is not wholly read for */
    uint64_t read_to;   /* up to which byte of the file everything needed is read */
    uint64_t reads, bytes;
};

/* ---- Blocks ---- */

static uint64_t align_down(const struct transfer *t, uint64_t at)
{
    return at - at % t->alignment;
}

static uint64_t align_up(const struct transfer *t, uint64_t at)
{
    return align_down(t, at + t->alignment - 1);
}

/* The next block: from the first byte that is still needed on, for as long as runs follow each other closely
 * and the block has room. A run that does not fit ends in the next block. */
static void form_block(struct transfer *t, struct slot *slot)
{
    const struct item *item = t->items;
    uint64_t start = item[t->next].from > t->read_to ? item[t->next].from : t->read_to;
    uint64_t limit = align_down(t, start) + t->block, end = item[t->next].from + t->run;
    size_t last = t->next + 1;
    for (; last < t->count && item[last].from <= end + GAP && item[last].from < limit; last++)
        end = item[last].from + t->run;
    if (end > limit) end = limit;
    slot->begin = align_down(t, start);
    slot->end = end;
    slot->first = t->next;
    slot->last = last;
    slot->tries = 0;
    while (t->next < last && item[t->next].from + t->run <= end)
        t->next++;
    t->read_to = end;
}

/* Puts what a block has of its items where it belongs. */
static void place(struct transfer *t, const struct slot *slot)
{
    unsigned char *out = t->gather->out;
    for (size_t i = slot->first; i < slot->last; i++) {
        uint64_t from = t->items[i].from, begin = from > slot->begin ? from : slot->begin;
        uint64_t end = from + t->run < slot->end ? from + t->run : slot->end;
        if (begin < end)
            memcpy(out + t->items[i].to + (begin - from), slot->bytes + (begin - slot->begin),
                   (size_t)(end - begin));
    }
}

/* ---- Reads ---- */

/* 0: the file has ended. */
static garner_status fail_read(const struct transfer *t, const struct read *read, int number)
{
    return table_fail_read(t->gather->table, read->offset, read->size, number, t->gather->error);
}

/* Begins what is still to be read of a block, `have` bytes being there. */
static garner_status start(struct transfer *t, struct slot *slot, uint64_t have)
{
    uint64_t at = align_down(t, have);
    slot->read.offset = slot->begin + at;
    slot->read.size = (uint32_t)(align_up(t, slot->end) - slot->read.offset);
    slot->read.into = slot->bytes + at;
    int number = t->reader->start(t->reader, &slot->read);
    if (number) return fail_read(t, &slot->read, number);
    t->under_way++;
    return GARNER_OK;
}

/* A read is finished: takes what came, and begins again where that is not all. */
static garner_status proceed(struct transfer *t, struct slot *slot, int *whole)
{
    const struct read *read = &slot->read;
    uint64_t have = read->offset - slot->begin;
    *whole = 0;
    if (read->got < 0) {
        int number = (int)-read->got;
        int again = (number == EINTR || number == EAGAIN) && ++slot->tries < MOST_TRIES;
        return again ? start(t, slot, have) : fail_read(t, read, number);
    }
    if (read->got == 0) return fail_read(t, read, 0);
    have += (uint64_t)read->got;
    *whole = slot->begin + have >= slot->end;
    if (*whole) return GARNER_OK;
    /* Less than a unit of the alignment came: the file ends within it. */
    if (align_down(t, have) == read->offset - slot->begin) return fail_read(t, read, 0);
    return start(t, slot, have);
}

static garner_status begin_blocks(struct transfer *t)
{
    garner_status status = GARNER_OK;
    while (!status && t->free && t->next < t->count) {
        struct slot *slot = t->free;
        t->free = slot->next_free;
        form_block(t, slot);
        status = start(t, slot, 0);
        t->reads++;
        t->bytes += align_up(t, slot->end) - slot->begin;
    }
    return status;
}

/* Waits for one read, and deals with it. */
static garner_status finish_block(struct transfer *t)
{
    int whole;
    struct read *read = t->reader->finish(t->reader);
    if (!read) {
        t->lost = 1;
        return fail_errno(t->gather->error, t->gather->table->path, "wait for reads", errno);
    }
    t->under_way--;
    struct slot *slot = (struct slot *)read;
    garner_status status = proceed(t, slot, &whole);
    if (status || !whole) return status;
    place(t, slot);
    slot->next_free = t->free;
    t->free = slot;
    return GARNER_OK;
}

/* After a failure: nothing may be written to memory that is freed. */
static void drain(struct transfer *t)
{
    while (t->under_way && !t->lost) {
        if (t->reader->finish(t->reader))
            t->under_way--;
        else
            t->lost = 1;
    }
}

static void reverse_runs(const struct transfer *t)
{
    for (size_t i = 0; t->swap && i < t->count; i++)
        byteorder_reverse(t->gather->out + t->items[i].to, (size_t)t->run, t->swap);
}

garner_status transfer_run(struct transfer *t, const struct item *items, size_t count)
{
    int64_t before = t->gather->done;
    garner_status status = GARNER_OK;
    t->items = items;
    t->count = count;
    t->next = 0;
    t->read_to = 0;
    while (!status && (t->next < count || t->under_way)) {
        status = begin_blocks(t);
        if (!status) status = finish_block(t);
        t->gather->done = before + (int64_t)t->next;
        if (!status) status = table_watch(t->gather);
    }
    if (status) drain(t);
    if (!status) reverse_runs(t);
    return status;
}

/* ---- Begin and end ---- */

static int open_reader(struct transfer *t, garner_table_how how)
{
    struct garner_table *table = t->gather->table;
    int direct = how == GARNER_TABLE_RING ? table_direct(table, &t->alignment) : -1;
    int descriptor = direct >= 0 ? direct : table->place.descriptor;
    if (direct < 0) t->alignment = 1;
    if (table->open_reader) return table->open_reader(&t->reader, descriptor, MOST_SLOTS);
    return how == GARNER_TABLE_RING ? reader_ring_open(&t->reader, descriptor, MOST_SLOTS)
                                    : reader_pread_open(&t->reader, descriptor, MOST_SLOTS);
}

/* Where there is no ring, or it is not allowed, preads do the same. Kernels before 5.12 count rings among the
 * memory that a user may lock, and have none while that is used up: the next gather may get one. */
static garner_status choose_reader(struct transfer *t)
{
    struct gather *g = t->gather;
    int number = open_reader(t, g->how);
    if (number && g->how == GARNER_TABLE_RING) {
        pthread_mutex_lock(&g->table->lock);
        g->table->no_ring = number != ENOMEM;
        pthread_mutex_unlock(&g->table->lock);
        g->how = GARNER_TABLE_PREAD;
        number = open_reader(t, g->how);
    }
    return number ? fail_errno(g->error, g->table->path, "begin to read", number) : GARNER_OK;
}

/* As many slots of a size that suits the runs as the memory holds. */
static garner_status make_slots(struct transfer *t, uint64_t memory)
{
    t->block = t->run >= SMALL_BLOCK / 2 ? LARGE_BLOCK : SMALL_BLOCK;
    while (t->block > PAGE && memory / t->block < MOST_SLOTS / 4)
        t->block /= 2;
    if (t->block < t->alignment) t->block = t->alignment;
    uint64_t slots = memory / t->block;
    t->slots = slots < 1 ? 1 : slots < MOST_SLOTS ? (unsigned)slots : MOST_SLOTS;
    t->slot = calloc(t->slots, sizeof *t->slot);
    size_t size = (size_t)t->slots * t->block;
    int number = posix_memalign((void **)&t->memory, t->alignment > PAGE ? t->alignment : PAGE, size);
    if (number || !t->slot) return fail_memory(t->gather->error, t->gather->table->path, size);
    for (unsigned i = 0; i < t->slots; i++) {
        t->slot[i].bytes = t->memory + (size_t)i * t->block;
        t->slot[i].next_free = t->free;
        t->free = &t->slot[i];
    }
    return GARNER_OK;
}

garner_status transfer_begin(struct transfer **transfer, struct gather *gather, uint64_t memory)
{
    struct transfer *t = *transfer = calloc(1, sizeof *t);
    if (!t) return fail_memory(gather->error, gather->table->path, sizeof *t);
    t->gather = gather;
    t->run = (uint64_t)garner_plan_run(gather->plan);
    t->swap = gather->table->place.swap;
    garner_status status = choose_reader(t);
    return status ? status : make_slots(t, memory);
}

void transfer_end(struct transfer *t)
{
    if (!t) return;
    garner_table_stats *stats = &t->gather->table->stats;
    pthread_mutex_lock(&t->gather->table->lock);
    stats->reads += t->reads;
    stats->bytes += t->bytes;
    stats->direct = t->alignment > 1;
    pthread_mutex_unlock(&t->gather->table->lock);
    if (t->reader) t->reader->close(t->reader);
    if (!t->lost) {
        free(t->memory);
        free(t->slot);
    }
    free(t);
}
