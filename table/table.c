/* SPDX-License-Identifier: MIT */
/* Opens and closes tables, and says what is known of them. */
#define _POSIX_C_SOURCE 200809L

#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail.h"
#include "store.h"

enum { LEAST_MEMORY = 1 << 20, USUAL_MEMORY = 1 << 28 };

static const char *const how_names[] = {"any", "mapped", "ring", "pread"};
enum { HOWS = sizeof how_names / sizeof *how_names };

const char *garner_table_how_name(garner_table_how how)
{
    return (unsigned)how < HOWS ? how_names[how] : NULL;
}

/* ---- Open and close ---- */

static garner_status take_options(garner_table_options *options, const garner_table_options *given,
                                  garner_error *error)
{
    *options = (garner_table_options){.memory = USUAL_MEMORY};
    if (!given) return GARNER_OK;
    if (given->size != 0 && given->size != sizeof *given)
        return fail(error, GARNER_BAD_ARGUMENT, "garner_table_options: size %u is none of 0 and %zu",
                    given->size, sizeof *given);
    if ((unsigned)given->how >= HOWS)
        return fail(error, GARNER_BAD_ARGUMENT, "garner_table_options: how is %d, which is none of 0 to %d",
                    (int)given->how, HOWS - 1);
    if (given->memory && given->memory < LEAST_MEMORY)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "garner_table_options: memory is %llu bytes, and at least %d are needed",
                    (unsigned long long)given->memory, LEAST_MEMORY);
    *options = *given;
    if (!options->memory) options->memory = USUAL_MEMORY;
    return GARNER_OK;
}

static garner_status open_table(garner_table *table, const char *path, const char *member,
                                garner_error *error)
{
    garner_status status = store_place_find(&table->place, path, member,
                                            table->options.follow_links ? STORE_FOLLOW_LINKS : 0, error);
    if (status) return status;
    table->path = store_copy_text(path);
    return table->path ? GARNER_OK : fail_memory(error, path, strlen(path) + 1);
}

garner_status garner_table_open(const char *path, const char *member, const garner_table_options *options,
                                garner_table **table, garner_error *error)
{
    if (table) *table = NULL;
    if (!path || !table)
        return fail(error, GARNER_BAD_ARGUMENT, "garner_table_open: %s is NULL", path ? "table" : "path");
    garner_table *made = calloc(1, sizeof *made);
    if (!made) return fail_memory(error, path, sizeof *made);
    made->place.descriptor = made->direct = -1;
    pthread_mutex_init(&made->lock, NULL);
    garner_status status = take_options(&made->options, options, error);
    if (!status) status = open_table(made, path, member, error);
    if (status) {
        garner_table_close(made);
        return status;
    }
    *table = made;
    return succeed(error);
}

void garner_table_close(garner_table *table)
{
    if (!table) return;
    if (table->mapping) munmap(table->mapping, table->mapping_size);
    if (table->direct >= 0) close(table->direct);
    store_place_close(&table->place);
    pthread_mutex_destroy(&table->lock);
    free(table->path);
    free(table);
}

const garner_tensor *garner_table_tensor(const garner_table *table)
{
    return table ? &table->place.array.tensor : NULL;
}

const char *garner_table_descr(const garner_table *table)
{
    return table ? table->place.array.descr : NULL;
}

int table_is_stopped(const struct gather *gather)
{
    const garner_table_options *options = &gather->table->options;
    return options->watch && options->watch(options->context, gather->done, gather->all) != 0;
}

garner_status table_fail_stopped(const struct gather *gather)
{
    return fail(gather->error, GARNER_CANCELLED, "the gather was stopped after %lld of %lld points",
                (long long)gather->done, (long long)gather->all);
}

garner_status table_watch(const struct gather *gather)
{
    return table_is_stopped(gather) ? table_fail_stopped(gather) : GARNER_OK;
}

garner_status table_fail_read(const struct garner_table *table, uint64_t offset, uint64_t bytes, int number,
                              garner_error *error)
{
    char what[80];
    snprintf(what, sizeof what, "read %llu bytes at offset %llu", (unsigned long long)bytes,
             (unsigned long long)offset);
    if (number) return fail_errno(error, table->path, what, number);
    return fail_at(error, GARNER_SYSTEM, table->path,
                   "cannot %s: the file ends there, it has become shorter while it was read", what);
}

void garner_table_report(const garner_table *table, garner_table_stats *stats)
{
    if (!table || !stats || (stats->size != 0 && stats->size != sizeof *stats)) return;
    uint32_t size = stats->size;
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&table->lock);
    *stats = table->stats;
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&table->lock);
    stats->size = size;
}
