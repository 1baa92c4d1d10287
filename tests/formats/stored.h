/* SPDX-License-Identifier: MIT */
/*
 * What the tests of files of named tensors share: a folder, files in memory that end at a guard page, and a
 * look at everything that a store gives. Each failure must leave the message beginning with the path.
 */
#ifndef GARNER_TESTS_STORED_H
#define GARNER_TESTS_STORED_H

#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elements.h"
#include "guard.h"
#include "store.h"

static char folder[] = "/tmp/garner-stored-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if a writer has left anything behind */
}

static void set_path(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
}

/* ---- Three tensors: f32 [2,3], i8 [] and bool [0,4] ---- */

static const float table[6] = {0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f};
static const int8_t scalar = -7;
static const int64_t shapes[2][2] = {{2, 3}, {0, 4}};
static const garner_tensor samples[3] = {
    {.data = (void *)(uintptr_t)table, .shape = shapes[0], .rank = 2, .dtype = GARNER_F32},
    {.data = (void *)(uintptr_t)&scalar, .rank = 0, .dtype = GARNER_I8},
    {.shape = shapes[1], .rank = 2, .dtype = GARNER_BOOL},
};
static const char *const sample_names[3] = {"table", "a/\xc3\xa9\"", "none"};

static garner_status describe_sample(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    uint64_t bytes;
    (void)context;
    memset(entry, 0, sizeof *entry);
    entry->name = sample_names[i];
    entry->dtype = samples[i].dtype;
    entry->rank = samples[i].rank;
    for (int32_t k = 0; k < entry->rank; k++)
        entry->shape[k] = samples[i].shape[k];
    garner_status status = elements_bytes(&samples[i], "sample", &bytes, error);
    entry->bytes = bytes;
    return status;
}

static garner_status load_sample(void *context, size_t i, struct array *array, garner_error *error)
{
    (void)context, (void)error;
    memset(array, 0, sizeof *array);
    array->tensor = samples[i];
    return GARNER_OK;
}

static inline void save_samples(enum store_kind kind)
{
    struct store_source source = {.count = 3, .describe = describe_sample, .load = load_sample};
    garner_error error;
    if (store_save(path, kind, &source, &error)) fail_msg("%s", error.message);
}

static inline void check_samples(const struct store *store)
{
    assert_int_equal(store->count, 3);
    for (size_t i = 0; i < 3; i++) {
        size_t at;
        struct array array;
        garner_error error;
        assert_int_equal(store_find(store, sample_names[i], &at, &error), GARNER_OK);
        assert_string_equal(store_name(store, at), sample_names[i]);
        if (store_load_verified(store, at, &array, &error)) fail_msg("%s", error.message);
        assert_int_equal(array.tensor.dtype, samples[i].dtype);
        assert_int_equal(array.tensor.rank, samples[i].rank);
        if (array.tensor.bytes) assert_memory_equal(array.tensor.data, samples[i].data, array.tensor.bytes);
        array_free(&array);
    }
}

/* ---- Files in memory ---- */

static inline unsigned char *slurp(size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 16);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    assert_in_range(*size, 1, (1 << 16) - 1);
    return bytes;
}

static inline garner_status sum_up(void *context, const void *bytes, size_t size, garner_error *error)
{
    uint64_t *sum = context;
    (void)error;
    for (size_t i = 0; i < size; i++)
        *sum += ((const unsigned char *)bytes)[i];
    return GARNER_OK;
}

/* Opens any bytes, loads what they have, and returns whether all of it could be loaded. */
static inline int open_any(const char *name, const void *bytes, size_t size)
{
    struct store store;
    garner_error error;
    uint64_t sum = 0;
    if (store_open_bytes(&store, name, bytes, size, &error)) {
        assert_memory_equal(error.message, name, strlen(name));
        assert_null(store.names);
        return 0;
    }
    int whole = 1;
    for (size_t i = 0; i < store.count; i++) {
        struct array array;
        if (store_load(&store, i, &array, &error)) {
            assert_memory_equal(error.message, name, strlen(name));
            whole = 0;
            continue;
        }
        assert_int_equal(elements_walk(&array.tensor, 0, sum_up, &sum, &error), GARNER_OK);
        array_free(&array);
    }
    store_close(&store);
    return whole;
}

/* Every cut, and every byte changed in a few ways: refused or harmless, never a look outside. Returns how
 * many of the changed files could be loaded whole. */
static inline int damage(const char *name, const unsigned char *bytes, size_t size)
{
    static const unsigned char flips[] = {1, 0x80, 0xff};
    struct guard guard;
    int whole = 0;
    guard_create(&guard, size);
    unsigned char *copy = guard_place(&guard, size, GUARD_AFTER);
    memcpy(copy, bytes, size);
    assert_int_equal(open_any(name, copy, size), 1);
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < sizeof flips; k++) {
            copy[i] = bytes[i] ^ flips[k];
            whole += open_any(name, copy, size);
            copy[i] = bytes[i];
        }
    for (size_t left = 0; left < size; left++) {
        unsigned char *cut = guard_place(&guard, left, GUARD_AFTER);
        memcpy(cut, bytes, left);
        assert_int_equal(open_any(name, cut, left), 0);
    }
    guard_destroy(&guard);
    return whole;
}

/* ---- What holds for every format ---- */

/* Arrays outlive their store; a copy outlives the file. */
static inline void check_lifetimes(enum store_kind kind)
{
    struct store store;
    struct array mapped, copied;
    size_t i;
    save_samples(kind);
    assert_int_equal(store_open(&store, path, 0, NULL), GARNER_OK);
    check_samples(&store);
    assert_int_equal(store_find(&store, "table", &i, NULL), GARNER_OK);
    assert_int_equal(store_load(&store, i, &mapped, NULL), GARNER_OK);
    if (IS_LITTLE_ENDIAN) assert_null(mapped.memory); /* it lies in the file */
    store_close(&store);
    assert_int_equal(store_load_one(&copied, path, "table", STORE_COPY, NULL), GARNER_OK);
    assert_memory_equal(mapped.tensor.data, table, sizeof table);
    array_free(&mapped);
    assert_int_equal(truncate(path, 0), 0);
    assert_memory_equal(copied.tensor.data, table, sizeof table);
    array_free(&copied);
}

static inline void check_names(enum store_kind kind)
{
    struct store store;
    garner_error error;
    size_t i;
    save_samples(kind);
    assert_int_equal(store_open(&store, path, 0, NULL), GARNER_OK);
    assert_int_equal(store_has(&store, "none", &i), 1);
    assert_int_equal(store_has(&store, "nothing", &i), 0);
    assert_int_equal(store_find(&store, "nothing", &i, &error), GARNER_BAD_FILE);
    for (size_t k = 0; k < 3; k++)
        assert_non_null(strstr(error.message, sample_names[k]));
    assert_int_equal(store_find(&store, NULL, &i, &error), GARNER_BAD_FILE);
    assert_non_null(strstr(error.message, "3 tensors"));
    store_close(&store);
    store_close(&store); /* a closed store is a zeroed one */
}

#endif
