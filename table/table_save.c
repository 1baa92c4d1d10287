/* SPDX-License-Identifier: MIT */
/* Gathers from a table into a file: .npy part by part, the others from memory. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "file.h"
#include "npy_header.h"
#include "store.h"
#include "table.h"

enum { LARGEST_NUMBER = 16 }; /* bytes; parts hold whole numbers, which may be in the other byte order */

/* What is written, and how much of it at a time. */
struct saving {
    struct gather *gather;
    struct npy_text preamble;
    unsigned char *part;
    uint64_t room;
    int64_t run;
};

/* Copies points from the mapping. */
static garner_status copy_points(struct gather *g, int64_t first, int64_t count, int64_t base)
{
    enum { AT_ONCE = 1024 };
    garner_point points[AT_ONCE];
    const unsigned char *data = table_elements(g);
    size_t run = (size_t)garner_plan_run(g->plan);
    garner_status status = GARNER_OK;
    for (int64_t done = 0; done < count && !status;) {
        int64_t some = count - done < AT_ONCE ? count - done : AT_ONCE;
        status = garner_plan_locate(g->plan, g->indices, first + done, some, points, g->error);
        for (int64_t i = 0; i < some && !status; i++) {
            unsigned char *to = g->out + points[i].to - base;
            if (points[i].from == GARNER_NOWHERE)
                memset(to, 0, run);
            else
                memcpy(to, data + points[i].from, run);
        }
        done += some;
    }
    g->done += count;
    return status ? status : table_watch(g);
}

/* A run that is longer than a part, in pieces. */
static garner_status write_long(struct saving *s, struct sink *sink, int64_t point)
{
    struct gather *g = s->gather;
    garner_point where;
    garner_status status = garner_plan_locate(g->plan, g->indices, point, 1, &where, g->error);
    for (int64_t at = 0; at < s->run && !status;) {
        int64_t size = s->run - at < (int64_t)s->room ? s->run - at : (int64_t)s->room;
        if (where.from == GARNER_NOWHERE)
            memset(s->part, 0, (size_t)size);
        else
            status =
                garner_table_read(g->table, (uint64_t)(where.from + at), (uint64_t)size, s->part, g->error);
        if (!status) status = sink_write(sink, s->part, (size_t)size, g->error);
        at += size;
    }
    g->done++;
    return status ? status : table_watch(g);
}

static garner_status write_part(struct saving *s, struct sink *sink, int64_t first, int64_t count)
{
    struct gather *g = s->gather;
    if ((uint64_t)s->run > s->room) return write_long(s, sink, first);
    g->out = s->part;
    garner_status status = g->how == GARNER_TABLE_MAPPED ? copy_points(g, first, count, first * s->run)
                                                         : passes_run(g, first, count, first * s->run);
    return status ? status : sink_write(sink, s->part, (size_t)(count * s->run), g->error);
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    struct saving *s = context;
    struct table_moment before;
    /* save_planned lets no empty run come here */
    int64_t most = s->room / (uint64_t)s->run ? (int64_t)(s->room / (uint64_t)s->run) : 1;
    garner_status status = sink_write(sink, s->preamble.bytes, s->preamble.size, error);
    if (!status) status = table_look(s->gather->table, &before, error);
    for (int64_t first = 0; first < s->gather->all && !status; first += most)
        status = write_part(s, sink, first, s->gather->all - first < most ? s->gather->all - first : most);
    return status ? status : table_look_again(s->gather->table, &before, error);
}

/* .npy is written part by part. */
static garner_status save_parts(struct saving *s, const garner_tensor *out, const char *path)
{
    struct gather *g = s->gather;
    uint64_t all = (uint64_t)(g->all * s->run);
    s->room = g->memory / 2 < all ? g->memory / 2 / LARGEST_NUMBER * LARGEST_NUMBER : all;
    g->memory /= 2;
    garner_status status = npy_preamble(&s->preamble, out, g->table->place.array.descr, path, g->error);
    if (status) return status;
    s->part = malloc((size_t)s->room);
    status = s->part ? file_save(path, produce, s, g->error) : fail_memory(g->error, path, s->room);
    free(s->part);
    free(s->preamble.bytes);
    return status;
}

static enum store_kind kind_of(const char *path)
{
    return strcmp(path, "-") == 0 ? STORE_NPY : store_kind_of_path(path);
}

/* The other formats take a tensor that is there. */
static garner_status save_whole(struct gather *g, const garner_op *op, const garner_tensor *indices,
                                const char *path, const char *name)
{
    struct array array;
    const garner_shape *shape = garner_plan_output(g->plan);
    garner_status status =
        array_create(&array, path, shape->dtype, shape->item_bytes, shape->rank, shape->extents, g->error);
    if (status) return status;
    status = garner_table_gather(g->table, op, indices, &array.tensor, g->error);
    if (!status)
        status =
            store_save_one(path, kind_of(path), name, &array.tensor, g->table->place.array.descr, g->error);
    array_free(&array);
    return status;
}

static garner_status save_planned(struct gather *g, const garner_op *op, const garner_tensor *indices,
                                  const char *path, const char *name)
{
    const garner_shape *shape = garner_plan_output(g->plan);
    struct saving saving = {.gather = g, .run = garner_plan_run(g->plan)};
    garner_tensor out = {
        .shape = shape->extents, .rank = shape->rank, .dtype = shape->dtype, .item_bytes = shape->item_bytes};
    enum store_kind kind = kind_of(path);
    if (kind == STORE_UNKNOWN)
        return fail_at(g->error, GARNER_BAD_ARGUMENT, path,
                       "names no known kind of file; those known are .npy, .npz, .safetensors and .pb");
    if (kind != STORE_NPY || !saving.run || !g->all) return save_whole(g, op, indices, path, name);
    garner_status status = table_choose(g);
    if (!status) status = save_parts(&saving, &out, path);
    if (!status) table_count(g);
    return status;
}

garner_status garner_table_save(garner_table *table, const garner_op *op, const garner_tensor *indices,
                                const char *path, const char *name, garner_error *error)
{
    garner_error spare;
    garner_plan *plan;
    if (!error) error = &spare;
    if (!table || !path)
        return fail(error, GARNER_BAD_ARGUMENT, "garner_table_save: %s is NULL", table ? "path" : "table");
    garner_status status = garner_plan_create(&plan, op, &table->place.array.tensor, indices, NULL, error);
    if (status) return status;
    struct gather gather = {.table = table,
                            .plan = plan,
                            .indices = indices->data,
                            .all = garner_plan_points(plan),
                            .memory = table->options.memory,
                            .error = error};
    status = save_planned(&gather, op, indices, path, name ? name : "");
    garner_plan_destroy(plan);
    return status ? status : succeed(error);
}
