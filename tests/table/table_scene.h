/* SPDX-License-Identifier: MIT */
/* Gathers from a table in a file, and the same in memory to compare with: what the tests of this folder
 * share. */
#ifndef GARNER_TESTS_TABLE_SCENE_H
#define GARNER_TESTS_TABLE_SCENE_H

#include "testing.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "npy_header.h"
#include "store.h"
#include "table.h"

static char folder[] = "/var/tmp/garner-table-XXXXXX";
static char path[64], result_path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/table.npy", folder);
    snprintf(result_path, sizeof result_path, "%s/result.npy", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(result_path);
    return rmdir(folder); /* fails if anything else is left behind */
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *open = opendir("/proc/self/fd");
    if (!open) return 0;
    while (readdir(open))
        count++;
    closedir(open);
    return count;
}

/* ---- Numbers ---- */

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static int64_t below(int64_t bound)
{
    return (int64_t)(next_random() % (uint64_t)bound);
}

/* One gather, its data both in memory and in the file at `path`. */
struct scene {
    garner_op op;
    garner_tensor data, indices, out, expected;
    int64_t data_shape[4], indices_shape[4];
    garner_shape shape;
    unsigned char *bytes;
    int64_t *values;
    garner_error error;
};

static void scene_free(struct scene *s)
{
    free(s->bytes);
    free(s->values);
    free(s->out.data);
    free(s->expected.data);
}

static garner_tensor result_of(const struct scene *s)
{
    size_t bytes = (size_t)s->shape.bytes;
    garner_tensor tensor = {.shape = s->shape.extents, .rank = s->shape.rank, .dtype = s->shape.dtype};
    tensor.data = malloc(bytes + 1);
    assert_non_null(tensor.data);
    memset(tensor.data, 0x5a, bytes + 1);
    return tensor;
}

/* A new file, which takes the name of the old one. It is not synced, which takes longer than all the rest. */
static void save_data(struct scene *s)
{
    struct npy_text text;
    size_t bytes = (size_t)garner_dtype_bytes(s->data.dtype, array_count(s->data.rank, s->data_shape), 0);
    assert_int_equal(npy_preamble(&text, &s->data, NULL, path, &s->error), GARNER_OK);
    unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text.bytes, 1, text.size, file), text.size);
    assert_int_equal(fwrite(s->bytes, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    free(text.bytes);
}

/* Makes and saves the data, and makes room for results. Indices are made by the caller. */
static void scene_make(struct scene *s, garner_op op, garner_dtype dtype, int rank, const int64_t *shape,
                       int index_rank, const int64_t *index_shape)
{
    int64_t count = 1, index_count = 1;
    memset(s, 0, sizeof *s);
    s->op = op;
    for (int i = 0; i < rank; i++)
        count *= s->data_shape[i] = shape[i];
    for (int i = 0; i < index_rank; i++)
        index_count *= s->indices_shape[i] = index_shape[i];
    size_t bytes = (size_t)garner_dtype_bytes(dtype, count, 0);
    s->bytes = malloc(bytes + 8);
    s->values = calloc((size_t)index_count + 1, sizeof *s->values);
    assert_non_null(s->bytes);
    assert_non_null(s->values);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = next_random();
        memcpy(s->bytes + i, &word, 8);
    }
    s->data = (garner_tensor){.data = s->bytes, .shape = s->data_shape, .rank = rank, .dtype = dtype};
    s->indices = (garner_tensor){
        .data = s->values, .shape = s->indices_shape, .rank = index_rank, .dtype = GARNER_I64};
    save_data(s);
    assert_int_equal(garner_infer(&s->op, &s->data, &s->indices, &s->shape, &s->error), GARNER_OK);
    s->out = result_of(s);
    s->expected = result_of(s);
}

static garner_table *open_table(garner_table_how how, uint64_t memory)
{
    garner_table *table;
    garner_error error;
    garner_table_options options = {.how = how, .memory = memory};
    if (garner_table_open(path, NULL, &options, &table, &error)) fail_msg("%s", error.message);
    return table;
}

/* Gathers by one way and compares, status and sentence too. */
static void compare(struct scene *s, garner_table *table)
{
    garner_error error;
    garner_status wanted = garner_run(&s->op, &s->data, &s->indices, &s->expected, NULL, &s->error);
    memset(s->out.data, 0xa5, (size_t)s->shape.bytes);
    garner_status status = garner_table_gather(table, &s->op, &s->indices, &s->out, &error);
    assert_string_equal(error.message, s->error.message);
    assert_int_equal(status, wanted);
    if (!status) assert_memory_equal(s->out.data, s->expected.data, (size_t)s->shape.bytes);
}

static const garner_table_how hows[] = {GARNER_TABLE_ANY, GARNER_TABLE_MAPPED, GARNER_TABLE_RING,
                                        GARNER_TABLE_PREAD};
enum { HOWS = sizeof hows / sizeof *hows };

/* Rows far from each other in a table with a length that no alignment divides. */
static void scattered(struct scene *s)
{
    enum { ROWS = 5000, WIDTH = 1001 };
    scene_make(s, (garner_op){.kind = GARNER_GATHER}, GARNER_U8, 2, (int64_t[]){ROWS, WIDTH}, 1,
               (int64_t[]){900});
    for (int64_t i = 0; i < 900; i++)
        s->values[i] = below(ROWS);
    s->values[3] = ROWS - 1;
}

#endif
