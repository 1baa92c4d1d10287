/* SPDX-License-Identifier: MIT */
/*
 * Opening, loading and saving when the n-th allocation fails, for every n and every format: an answer that
 * says so, nothing leaked, nothing left in the folder. The program's own malloc stands before libc's.
 */
#define _XOPEN_SOURCE 700

#include "stored.h"

#include "counted_malloc.h"
#include "random.h"

static garner_status load_all(garner_error *error)
{
    struct store store;
    garner_status status = store_open(&store, path, STORE_COPY, error);
    for (size_t i = 0; i < store.count && !status; i++) {
        struct array array;
        status = store_load_verified(&store, i, &array, error);
        array_free(&array);
    }
    store_close(&store);
    return status;
}

static garner_status save_all(enum store_kind kind, garner_error *error)
{
    struct store_source source = {.count = 3, .describe = describe_sample, .load = load_sample};
    if (kind == STORE_NPY || kind == STORE_PB) source.count = 1;
    return store_save(path, kind, &source, error);
}

static void check_failures(enum store_kind kind, int saving)
{
    garner_error error;
    int n = 0, failures = 0;
    do {
        counting_begin(++n);
        garner_status status = saving ? save_all(kind, &error) : load_all(&error);
        counting_end();
        assert_int_equal(live, 0);
        if (allocations < n) { /* none failed */
            assert_int_equal(status, GARNER_OK);
        } else if (status) {
            assert_int_equal(status, GARNER_NO_MEMORY);
            assert_memory_equal(error.message, path, strlen(path));
            failures++;
        }
        if (saving && status) assert_int_equal(access(path, F_OK), -1);
        if (saving && !status) unlink(path);
    } while (allocations >= n && n < 1000);
    assert_in_range(failures, 1, 100);
}

static void test_failures(void **state)
{
    (void)state;
    static const struct {
        enum store_kind kind;
        const char *name;
    } kinds[] = {
        {STORE_NPY, "x.npy"}, {STORE_NPZ, "x.npz"}, {STORE_SAFETENSORS, "x.safetensors"}, {STORE_PB, "x.pb"}};
    NEEDS_MALLOC();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        garner_error error;
        set_path(kinds[i].name);
        check_failures(kinds[i].kind, 1);
        assert_int_equal(save_all(kinds[i].kind, &error), GARNER_OK);
        check_failures(kinds[i].kind, 0);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests_name("store memory", tests, make_folder, remove_folder);
}
