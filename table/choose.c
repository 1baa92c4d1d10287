/* SPDX-License-Identifier: MIT */
/* Chooses how a gather reads: mapped where a sample of its rows is in the page cache, or there are few; else
 * past it. Finds out, once for each table, what the system allows. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "byteorder.h"
#include "fail.h"
#include "table.h"

enum {
    FEW = 16,     /* points that are not worth a reader: making one takes as long as so many page faults */
    SAMPLES = 64, /* points that are looked at, which takes half a microsecond each */
    GLANCE = 4,   /* of them where the gather before found its rows in the page cache */
    /* The share of them that must be there, in percent: with a twentieth of all rows missing, page faults
     * take as long as reads of all. */
    HOT = 95
};

/* ---- O_DIRECT ---- */

#ifdef O_DIRECT

/* The same file once more: by the descriptor, since its name may be another's by now. */
static int open_again(int descriptor)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    return open(name, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NOCTTY);
}

/* Whether a read of this alignment works; what the file system says about itself is not always so. */
static int reads_aligned(int descriptor, unsigned alignment)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, alignment)) return 0;
    ssize_t got;
    do
        got = pread(descriptor, memory, alignment, (off_t)alignment);
    while (got < 0 && errno == EINTR);
    free(memory);
    return got >= 0;
}

static void look_for_direct(struct garner_table *table)
{
    static const unsigned alignments[] = {512, 4096};
    table->direct = open_again(table->place.descriptor);
    for (size_t i = 0; table->direct >= 0 && i < sizeof alignments / sizeof *alignments; i++)
        if (reads_aligned(table->direct, alignments[i])) {
            table->alignment = alignments[i];
            return;
        }
    if (table->direct >= 0) close(table->direct);
    table->direct = -1;
}

#else

static void look_for_direct(struct garner_table *table)
{
    (void)table;
}

#endif

int table_direct(struct garner_table *table, unsigned *alignment)
{
    pthread_mutex_lock(&table->lock);
    if (!table->looked_for_direct) look_for_direct(table);
    table->looked_for_direct = 1;
    *alignment = table->alignment;
    int direct = table->direct;
    pthread_mutex_unlock(&table->lock);
    return direct;
}

/* ---- Hot or cold ---- */

/* Looks at so many points at even distances, at other ones in each turn; how many lie somewhere, and of these
 * in the page cache. */
static garner_status sample(const struct gather *g, int64_t samples, uint64_t turn, int *looked, int *cached)
{
    int64_t all = garner_plan_points(g->plan);
    if (samples > all) samples = all;
    int64_t distance = all / samples; /* analysis: a gather of few points, or none, is not sampled */
    int64_t first = (int64_t)((turn * 0x9E3779B97F4A7C15u >> 1) % (uint64_t)distance);
    *looked = *cached = 0;
    /* A question about a row that is not there begins to read it: no more of these than it takes to know. */
    for (int64_t i = 0; i < samples && (int64_t)(*looked - *cached) * 100 <= samples * (100 - HOT); i++) {
        garner_point point;
        int64_t at = distance * i + all % samples * i / samples + first;
        garner_status status = garner_plan_locate(g->plan, g->indices, at, 1, &point, g->error);
        if (status) return status;
        if (point.from == GARNER_NOWHERE) continue;
        ++*looked;
        *cached += table_is_cached(g->table, g->table->place.offset + (uint64_t)point.from);
    }
    return GARNER_OK;
}

/* A glance is enough for as long as it finds everything there: all questions would be a tenth of a gather
 * that is small and hot. What a glance does not see, one of the next does: each looks elsewhere. */
static garner_status is_hot(const struct gather *g, int *hot)
{
    struct garner_table *table = g->table;
    int looked, cached;
    pthread_mutex_lock(&table->lock);
    int was_hot = table->was_hot;
    uint64_t turn = table->questions++;
    pthread_mutex_unlock(&table->lock);
    garner_status status = GARNER_OK;
    *hot = 0;
    if (was_hot) {
        status = sample(g, GLANCE, turn, &looked, &cached);
        *hot = !status && cached == looked;
    }
    if (!status && !*hot) {
        status = sample(g, SAMPLES, turn, &looked, &cached);
        *hot = !status && cached * 100 >= looked * HOT;
    }
    if (status || *hot == was_hot) return status;
    pthread_mutex_lock(&table->lock);
    table->was_hot = *hot;
    pthread_mutex_unlock(&table->lock);
    return GARNER_OK;
}

/* ---- The choice ---- */

/* The ring, or what stands for it where there is none. */
static garner_table_how ring_or_pread(struct garner_table *table)
{
    pthread_mutex_lock(&table->lock);
    int no_ring = table->no_ring;
    pthread_mutex_unlock(&table->lock);
    return no_ring ? GARNER_TABLE_PREAD : GARNER_TABLE_RING;
}

static garner_status choose_any(struct gather *g)
{
    int hot = garner_plan_points(g->plan) <= FEW;
    garner_status status = hot ? GARNER_OK : is_hot(g, &hot);
    if (status) return status;
    int mapped = hot && !g->table->place.swap && table_map(g->table);
    g->how = mapped ? GARNER_TABLE_MAPPED : ring_or_pread(g->table);
    return GARNER_OK;
}

garner_status table_choose(struct gather *g)
{
    struct garner_table *table = g->table;
    g->how = table->options.how;
    if (table->place.descriptor < 0) g->how = GARNER_TABLE_MAPPED; /* it is in memory */
    if (!garner_plan_run(g->plan) && garner_plan_points(g->plan) > 0) {
        if (g->how != GARNER_TABLE_ANY && g->how != GARNER_TABLE_MAPPED)
            return fail_at(g->error, GARNER_UNSUPPORTED, table->path,
                           "elements that do not lie on whole bytes are read by the mapped way alone");
        g->how = GARNER_TABLE_MAPPED;
    }
    if (g->how == GARNER_TABLE_ANY) return choose_any(g);
    if (g->how == GARNER_TABLE_RING) g->how = ring_or_pread(table);
    if (g->how != GARNER_TABLE_MAPPED || table->place.descriptor < 0) return GARNER_OK;
    if (table->place.swap)
        return fail_at(g->error, GARNER_UNSUPPORTED, table->path,
                       "numbers whose %s byte comes first are read by the ways ring and pread, which "
                       "turn them round",
                       byteorder_is_little() ? "highest" : "lowest");
    return table_map(table) ? GARNER_OK : fail_errno(g->error, table->path, "map the file", errno);
}
