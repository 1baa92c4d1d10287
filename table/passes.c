/* SPDX-License-Identifier: MIT */
/*
 * Points of a plan, as many at a time as the memory holds, each time those of one range of the file: so each
 * block is read in one pass, whatever the order of indices. Where one pass holds all of them there is one
 * range. Otherwise points are counted first, by where they lie, and ranges are chosen so that each fills a
 * pass. A block that more points want than a pass holds is read once for each pass that it takes.
 */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "table.h"

enum {
    AT_ONCE = 2048, /* points that are located by one call */
    BUCKETS = 4096, /* that points are counted in */
    DIGIT = 11,     /* bits that one step of the sort looks at */
    VALUES = 1 << DIGIT
};

struct passes {
    struct gather *gather;
    int64_t first, count, base;
    struct transfer *transfer;
    struct item *items, *spare; /* `room` of each */
    size_t room, used;
    uint64_t low, high; /* the range of the file that this pass takes */
    int zeroes;         /* whether it zeroes points that lie nowhere, which the first pass does */
};

/* ---- Sorting ---- */

/* One step: items from one array into the other, in the order of DIGIT bits. */
static void sort_step(const struct item *from, struct item *to, size_t count, uint64_t low, int shift)
{
    size_t place[VALUES] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        place[(from[i].from - low) >> shift & (VALUES - 1)]++;
    for (size_t v = 0; v < VALUES; v++) {
        size_t here = place[v];
        place[v] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[(from[i].from - low) >> shift & (VALUES - 1)]++] = from[i];
}

/* Sorts p->items by where they lie; p->spare is scratch. */
static void sort(struct passes *p)
{
    uint64_t low = UINT64_MAX, high = 0;
    int sorted = 1;
    for (size_t i = 0; i < p->used; i++) {
        uint64_t from = p->items[i].from;
        if (from < low) low = from;
        if (from < high) sorted = 0;
        if (from > high) high = from;
    }
    for (int shift = 0; !sorted && shift < 64 && (high - low) >> shift; shift += DIGIT) {
        sort_step(p->items, p->spare, p->used, low, shift);
        struct item *other = p->items;
        p->items = p->spare;
        p->spare = other;
    }
}

static garner_status flush(struct passes *p)
{
    if (!p->used) return GARNER_OK;
    sort(p);
    garner_status status = transfer_run(p->transfer, p->items, p->used);
    p->used = 0;
    return status;
}

/* ---- Points ---- */

/* What is done with points as they are located. */
typedef garner_status point_taker(struct passes *passes, const garner_point *points, int64_t count,
                                  void *context);

static garner_status each_point(struct passes *p, point_taker *take, void *context)
{
    garner_point points[AT_ONCE];
    garner_status status = GARNER_OK;
    for (int64_t done = 0; done < p->count && !status;) {
        int64_t count = p->count - done < AT_ONCE ? p->count - done : AT_ONCE;
        status = garner_plan_locate(p->gather->plan, p->gather->indices, p->first + done, count, points,
                                    p->gather->error);
        if (!status) status = take(p, points, count, context);
        if (!status) status = table_watch(p->gather);
        done += count;
    }
    return status;
}

static garner_status collect(struct passes *p, const garner_point *points, int64_t count, void *context)
{
    struct gather *g = p->gather;
    uint64_t offset = g->table->place.offset;
    garner_status status = GARNER_OK;
    (void)context;
    for (int64_t i = 0; i < count && !status; i++) {
        int64_t to = points[i].to - p->base;
        if (points[i].from == GARNER_NOWHERE) {
            if (p->zeroes) memset(g->out + to, 0, (size_t)garner_plan_run(g->plan));
            if (p->zeroes) g->done++;
            continue;
        }
        uint64_t from = offset + (uint64_t)points[i].from;
        if (from < p->low || from >= p->high) continue;
        if (p->used == p->room) status = flush(p);
        p->items[p->used++] = (struct item){from, to};
    }
    return status;
}

static garner_status one_pass(struct passes *p)
{
    garner_status status = each_point(p, collect, NULL);
    return status ? status : flush(p);
}

/* ---- Several passes ---- */

static uint64_t bucket_bytes(const struct passes *p)
{
    return p->gather->table->place.array.tensor.bytes / BUCKETS + 1;
}

static garner_status count_points(struct passes *p, const garner_point *points, int64_t count, void *context)
{
    uint64_t *buckets = context, width = bucket_bytes(p);
    for (int64_t i = 0; i < count; i++)
        if (points[i].from != GARNER_NOWHERE) buckets[(uint64_t)points[i].from / width]++;
    return GARNER_OK;
}

static garner_status several_passes(struct passes *p)
{
    uint64_t *buckets = calloc(BUCKETS, sizeof *buckets), width = bucket_bytes(p);
    uint64_t offset = p->gather->table->place.offset;
    if (!buckets) return fail_memory(p->gather->error, p->gather->table->path, BUCKETS * sizeof *buckets);
    garner_status status = each_point(p, count_points, buckets);
    p->low = 0;
    for (size_t next = 0; next < BUCKETS && !status;) {
        uint64_t sum = buckets[next++];
        while (next < BUCKETS && sum + buckets[next] <= p->room)
            sum += buckets[next++];
        p->high = next < BUCKETS ? offset + next * width : UINT64_MAX;
        status = one_pass(p);
        p->low = p->high;
        p->zeroes = 0;
    }
    free(buckets);
    return status;
}

/* Half of the memory is for points, half for blocks, which want no more than some megabytes. */
static garner_status make_room(struct passes *p)
{
    struct gather *g = p->gather;
    enum { BOTH = 2 * sizeof(struct item) };
    uint64_t room = g->memory / 2 / BOTH;
    if (room > (uint64_t)p->count) room = (uint64_t)p->count;
    p->room = (size_t)room;
    p->items = malloc(p->room * sizeof *p->items);
    p->spare = malloc(p->room * sizeof *p->spare);
    if (!p->items || !p->spare) return fail_memory(g->error, g->table->path, room * BOTH);
    return transfer_begin(&p->transfer, g, g->memory / 2);
}

garner_status passes_run(struct gather *gather, int64_t first, int64_t count, int64_t base)
{
    struct passes p = {
        .gather = gather, .first = first, .count = count, .base = base, .high = UINT64_MAX, .zeroes = 1};
    garner_status status = make_room(&p);
    if (!status) status = (uint64_t)count <= p.room ? one_pass(&p) : several_passes(&p);
    transfer_end(p.transfer);
    free(p.items);
    free(p.spare);
    return status;
}
