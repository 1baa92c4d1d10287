/* SPDX-License-Identifier: MIT */
/*
 * .npz from C: what is written reads back, arrays outlive their file, a file damaged at any byte is refused
 * or harmless, and members beyond 4 GiB. Bad files one by one, and real NumPy's, are in tests/cli.
 */
#define _XOPEN_SOURCE 700

#include "stored.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "file.h"
#include "random.h"
#include "zip.h"

static void test_lifetimes(void **state)
{
    (void)state;
    set_path("x.npz");
    check_lifetimes(STORE_NPZ);
}

static void test_names(void **state)
{
    (void)state;
    set_path("x.npz");
    check_names(STORE_NPZ);
}

static void test_damage(void **state)
{
    (void)state;
    size_t size;
    set_path("x.npz");
    save_samples(STORE_NPZ);
    unsigned char *bytes = slurp(&size);
    int whole = damage("x.npz", bytes, size);
    /* What is not noticed: dates, versions, modes, padding, disagreement in fields that nobody needs. */
    assert_in_range(whole, 1, 3 * (int)size / 3);
    free(bytes);
}

/* ---- Elements that change while they are written ---- */

static unsigned char moving[1 << 20];

/* The watcher is called between two pieces: it stands for another thread. */
static void move(void *context, uint64_t written)
{
    (void)context, (void)written;
    memset(moving, moving[0] + 1, sizeof moving);
}

static garner_status save_moving(garner_error *error)
{
    static const int64_t shape[1] = {sizeof moving};
    const garner_tensor tensor = {.data = moving, .shape = shape, .rank = 1, .dtype = GARNER_U8};
    file_watch(move, NULL);
    garner_status status = store_save_one(path, STORE_NPZ, "a", &tensor, NULL, error);
    file_watch(NULL, NULL);
    return status;
}

static void *read_away(void *context)
{
    char buffer[4096];
    int fifo = open(path, O_RDONLY);
    (void)context;
    while (fifo >= 0 && read(fifo, buffer, sizeof buffer) > 0)
        continue;
    if (fifo >= 0) close(fifo);
    return NULL;
}

/* The checksum is that of what is written; in a pipe, where it has gone ahead, that is refused. */
static void test_changing_elements(void **state)
{
    (void)state;
    struct array array;
    garner_error error;
    pthread_t reader;
    set_path("x.npz");
    unlink(path);
    if (save_moving(&error)) fail_msg("%s", error.message);
    if (store_load_one(&array, path, "a", 0, &error)) fail_msg("%s", error.message);
    const unsigned char *elements = array.tensor.data;
    assert_int_not_equal(elements[0], elements[sizeof moving - 1]);
    array_free(&array);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_away, NULL), 0);
    assert_int_equal(save_moving(&error), GARNER_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "changed"));
    assert_int_equal(pthread_join(reader, NULL), 0);
    unlink(path);
}

/* ---- Beyond 4 GiB ---- */

/* Reads a FIFO and keeps both ends of what came; all between them is zeros. */
enum { KEPT = 4096 };
struct ends {
    unsigned char head[KEPT], tail[2 * KEPT];
    size_t head_size, tail_size;
    uint64_t total;
};

static void keep(struct ends *ends, const unsigned char *bytes, size_t size)
{
    size_t first = ends->head_size < KEPT ? KEPT - ends->head_size : 0;
    if (first > size) first = size;
    memcpy(ends->head + ends->head_size, bytes, first);
    ends->head_size += first;
    ends->total += size;
    if (size > KEPT) bytes += size - KEPT, size = KEPT;
    memcpy(ends->tail + ends->tail_size, bytes, size);
    ends->tail_size += size;
    if (ends->tail_size <= KEPT) return;
    memmove(ends->tail, ends->tail + ends->tail_size - KEPT, KEPT);
    ends->tail_size = KEPT;
}

static void *drain(void *context)
{
    static unsigned char buffer[1 << 20];
    struct ends *ends = context;
    int fifo = open(path, O_RDONLY);
    ssize_t got = 0;
    while (fifo >= 0 && (got = read(fifo, buffer, sizeof buffer)) > 0)
        keep(ends, buffer, (size_t)got);
    if (fifo >= 0) close(fifo);
    return NULL;
}

/* The same block of zeros again and again: many bytes to write, few to hold. */
static const int64_t large_shape[2] = {65537, 65536}, large_strides[2] = {0, 1};
static unsigned char zeros[65536];
static const garner_tensor large[2] = {
    {.data = zeros, .shape = large_shape, .strides = large_strides, .rank = 2, .dtype = GARNER_U8},
    {.data = (void *)(uintptr_t)&scalar, .rank = 0, .dtype = GARNER_I8},
};

static garner_status describe_large(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    (void)context, (void)error;
    memset(entry, 0, sizeof *entry);
    entry->name = i ? "after" : "large";
    return GARNER_OK;
}

static garner_status load_large(void *context, size_t i, struct array *array, garner_error *error)
{
    (void)context, (void)error;
    memset(array, 0, sizeof *array);
    array->tensor = large[i];
    return GARNER_OK;
}

static void write_sparse(const struct ends *ends)
{
    assert_int_equal(unlink(path), 0);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, ends->head, KEPT, 0), KEPT);
    assert_int_equal(pwrite(file, ends->tail, KEPT, (off_t)ends->total - KEPT), KEPT);
    assert_int_equal(close(file), 0);
}

static void test_zip64(void **state)
{
    (void)state;
    if (sizeof(void *) < 8) SKIP_LOUDLY("no machine of 32 bits has room for 4 GiB");
    if (!test_is_long()) SKIP_LOUDLY("a checksum of 4 GiB is left to long runs");
    static struct ends ends;
    pthread_t reader;
    struct store store;
    struct array array;
    garner_error error;
    struct store_source source = {.count = 2, .describe = describe_large, .load = load_large};
    set_path("x.npz");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, drain, &ends), 0);
    garner_status status = store_save(path, STORE_NPZ, &source, &error);
    assert_int_equal(pthread_join(reader, NULL), 0);
    if (status) fail_msg("%s", error.message);
    assert_true(ends.total > UINT64_C(65537) * 65536);
    write_sparse(&ends);

    if (store_open(&store, path, 0, &error)) fail_msg("%s", error.message);
    assert_int_equal(store.count, 2);
    if (store_load(&store, 0, &array, &error)) fail_msg("%s", error.message);
    assert_int_equal(array.tensor.shape[0], large_shape[0]);
    assert_int_equal(((unsigned char *)array.tensor.data)[UINT64_C(65537) * 65536 - 1], 0);
    array_free(&array);
    if (store_load(&store, 1, &array, &error)) fail_msg("%s", error.message);
    assert_int_equal(*(int8_t *)array.tensor.data, scalar);
    array_free(&array);
    store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lifetimes),         cmocka_unit_test(test_names), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_changing_elements), cmocka_unit_test(test_zip64),
    };
    return cmocka_run_group_tests_name("npz", tests, make_folder, remove_folder);
}
