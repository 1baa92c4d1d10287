/* SPDX-License-Identifier: MIT */
/* Gathers from a table into memory, and into a file part by part. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#define _DARWIN_C_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "byteorder.h"
#include "fail.h"
#include "file.h"
#include "npy_header.h"
#include "store.h"
#include "table.h"

#ifdef __APPLE__
#define st_mtim st_mtimespec /* the time of the last write, under its name there */
#endif

/* ---- What another process does to the file ---- */

/* Looks at the file before it is read, and after. */
static garner_status look(const garner_table *table, struct stat *about, garner_error *error)
{
    if (table->place.descriptor < 0) return GARNER_OK;
    if (fstat(table->place.descriptor, about)) return fail_errno(error, table->path, "read", errno);
    uint64_t end = table->place.offset + table->place.array.tensor.bytes;
    if ((uint64_t)about->st_size >= end) return GARNER_OK;
    return fail_at(
        error, GARNER_SYSTEM, table->path,
        "the file has become shorter since it was opened: it ends at offset %llu, and the table at %llu",
        (unsigned long long)about->st_size, (unsigned long long)end);
}

static garner_status look_again(const garner_table *table, const struct stat *before, garner_error *error)
{
    struct stat after;
    if (table->place.descriptor < 0) return GARNER_OK;
    garner_status status = look(table, &after, error);
    if (status) return status;
    if (before->st_mtim.tv_sec == after.st_mtim.tv_sec && before->st_mtim.tv_nsec == after.st_mtim.tv_nsec)
        return GARNER_OK;
    return fail_at(error, GARNER_SYSTEM, table->path, "the file was written to while it was read");
}

/* ---- Gathering ---- */

static const void *elements(const struct gather *g)
{
    const struct store_place *place = &g->table->place;
    return place->descriptor < 0 ? place->array.tensor.data : table_map(g->table) + place->offset;
}

static void count(struct gather *g)
{
    garner_table_stats *stats = &g->table->stats;
    pthread_mutex_lock(&g->table->lock);
    stats->how = g->how;
    stats->gathers++;
    stats->points += (uint64_t)g->all;
    pthread_mutex_unlock(&g->table->lock);
}

/* ---- Into memory ---- */

/* Where the elements of a tensor begin and end, as addresses. Its shape has been checked. */
static void measure(const garner_tensor *tensor, uintptr_t *low, uintptr_t *high)
{
    int64_t item = garner_dtype_bytes(tensor->dtype, 1, tensor->item_bytes), count = 1, least = 0, most = 0;
    for (int32_t i = 0; i < tensor->rank; i++) {
        int64_t reach = tensor->strides ? (tensor->shape[i] - 1) * tensor->strides[i] : 0;
        count *= tensor->shape[i];
        *(reach < 0 ? &least : &most) += reach;
    }
    uintptr_t begin = (uintptr_t)tensor->data + (uintptr_t)tensor->byte_offset;
    int64_t dense = garner_dtype_bytes(tensor->dtype, count, tensor->item_bytes);
    *low = begin + (uintptr_t)(least * item);
    *high = begin + (uintptr_t)(tensor->strides ? (most + 1) * item : dense);
    if (count == 0) *high = *low;
}

static garner_status check_out(const garner_op *op, const garner_tensor *indices, const garner_tensor *out,
                               int64_t points, garner_error *error)
{
    uintptr_t low, high, other_low, other_high;
    if (!points) return GARNER_OK;
    if (!out->data)
        return fail(error, GARNER_BAD_ARGUMENT, "%s: the pointer of out is NULL, but it has elements",
                    garner_kind_name(op->kind));
    measure(out, &low, &high);
    measure(indices, &other_low, &other_high);
    if (low >= other_high || other_low >= high) return GARNER_OK;
    return fail(error, GARNER_BAD_SHAPE, "%s: out overlaps indices; they must not share memory",
                garner_kind_name(op->kind));
}

static garner_status gather_planned(struct gather *g)
{
    struct stat before;
    if (!g->all) return garner_plan_locate(g->plan, g->indices, 0, 0, NULL, g->error); /* which checks them */
    garner_status status = look(g->table, &before, g->error);
    if (!status) status = table_choose(g);
    if (!status)
        status = g->how == GARNER_TABLE_MAPPED ? mapped_run(g, elements(g)) : passes_run(g, 0, g->all, 0);
    if (status) return status;
    count(g);
    return look_again(g->table, &before, g->error);
}

garner_status garner_table_gather(garner_table *table, const garner_op *op, const garner_tensor *indices,
                                  const garner_tensor *out, garner_error *error)
{
    garner_error spare;
    garner_plan *plan;
    if (!error) error = &spare;
    if (!table || !out)
        return fail(error, GARNER_BAD_ARGUMENT, "garner_table_gather: %s is NULL", table ? "out" : "table");
    garner_status status = garner_plan_create(&plan, op, &table->place.array.tensor, indices, out, error);
    if (status) return status;
    struct gather gather = {.table = table,
                            .plan = plan,
                            .indices = indices->data,
                            .pointer = out->data,
                            .out = (unsigned char *)out->data + out->byte_offset,
                            .all = garner_plan_points(plan),
                            .memory = table->options.memory,
                            .error = error};
    status = check_out(op, indices, out, gather.all, error);
    if (!status) status = gather_planned(&gather);
    garner_plan_destroy(plan);
    return status ? status : succeed(error);
}

/* ---- Into a file ---- */

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
    const unsigned char *data = elements(g);
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
    struct stat before;
    /* save_planned lets no empty run come here */
    int64_t most = s->room / (uint64_t)s->run ? (int64_t)(s->room / (uint64_t)s->run) : 1;
    garner_status status = sink_write(sink, s->preamble.bytes, s->preamble.size, error);
    if (!status) status = look(s->gather->table, &before, error);
    for (int64_t first = 0; first < s->gather->all && !status; first += most)
        status = write_part(s, sink, first, s->gather->all - first < most ? s->gather->all - first : most);
    return status ? status : look_again(s->gather->table, &before, error);
}

/* .npy is written part by part. */
static garner_status save_parts(struct saving *s, const garner_tensor *out, const char *path)
{
    struct gather *g = s->gather;
    uint64_t all = (uint64_t)(g->all * s->run);
    s->room = g->memory / 2 < all ? g->memory / 2 : all;
    g->memory /= 2;
    garner_status status = npy_preamble(&s->preamble, out, g->table->place.array.descr, path, g->error);
    if (status) return status;
    s->part = malloc((size_t)s->room);
    status = s->part ? file_save(path, produce, s, g->error) : fail_memory(g->error, path, s->room);
    free(s->part);
    free(s->preamble.bytes);
    return status;
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
        status = store_save_one(path, strcmp(path, "-") == 0 ? STORE_NPY : store_kind_of_path(path), name,
                                &array.tensor, g->table->place.array.descr, g->error);
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
    enum store_kind kind = strcmp(path, "-") == 0 ? STORE_NPY : store_kind_of_path(path);
    if (kind == STORE_UNKNOWN)
        return fail_at(g->error, GARNER_BAD_ARGUMENT, path,
                       "names no known kind of file; those known are .npy, .npz, .safetensors and .pb");
    if (kind != STORE_NPY || !saving.run || !g->all) return save_whole(g, op, indices, path, name);
    garner_status status = table_choose(g);
    if (!status) status = save_parts(&saving, &out, path);
    if (!status) count(g);
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

/* ---- A part of a table ---- */

/* Reads a range of the file, however often the system must be asked. */
static garner_status read_range(const garner_table *table, uint64_t offset, uint64_t bytes,
                                unsigned char *into, garner_error *error)
{
    enum { LARGEST = 1 << 30 };
    while (bytes) {
        ssize_t got =
            pread(table->place.descriptor, into, bytes < LARGEST ? (size_t)bytes : LARGEST, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return table_fail_read(table, offset, bytes, got < 0 ? errno : 0, error);
        into += got, offset += (uint64_t)got, bytes -= (uint64_t)got;
    }
    return GARNER_OK;
}

garner_status garner_table_read(garner_table *table, uint64_t first, uint64_t bytes, void *into,
                                garner_error *error)
{
    if (!table || (!into && bytes))
        return fail(error, GARNER_BAD_ARGUMENT, "garner_table_read: %s is NULL", table ? "into" : "table");
    const struct store_place *place = &table->place;
    if (first > place->array.tensor.bytes || bytes > place->array.tensor.bytes - first)
        return fail_at(error, GARNER_BAD_ARGUMENT, table->path,
                       "%llu bytes from byte %llu on are not within the %llu of the table",
                       (unsigned long long)bytes, (unsigned long long)first,
                       (unsigned long long)place->array.tensor.bytes);
    if (place->descriptor < 0) {
        if (bytes) memcpy(into, (const unsigned char *)place->array.tensor.data + first, (size_t)bytes);
        return succeed(error);
    }
    if (place->swap && (first % place->swap || bytes % place->swap))
        return fail_at(error, GARNER_BAD_ARGUMENT, table->path,
                       "the part does not begin and end with a number");
    garner_status status = read_range(table, place->offset + first, bytes, into, error);
    if (status) return status;
    byteorder_reverse(into, (size_t)bytes, place->swap);
    return succeed(error);
}
