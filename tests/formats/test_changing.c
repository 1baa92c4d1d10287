/* SPDX-License-Identifier: MIT */
/*
 * Every format, read while another process changes the file: refused, or read as one of the two, never a look
 * or a write outside what was allocated, and never a tensor larger than what it points at.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "stored.h"

#include "changing.h"
#include "npy_header.h"

static void look_at(const garner_tensor *tensor)
{
    uint64_t bytes = 0, sum = 0;
    garner_error error;
    assert_int_equal(elements_bytes(tensor, "x", &bytes, &error), GARNER_OK);
    assert_int_equal(bytes, tensor->bytes);
    assert_int_equal(elements_walk(tensor, 0, sum_up, &sum, &error), GARNER_OK);
}

/* ---- Stores ---- */

/* The size of an element as .npy writes its type; 0 if it is none. */
static uint64_t bytes_of(const char *descr)
{
    struct npy_type type = {0};
    struct npy_scan scan = {.start = descr, .at = descr, .end = descr + strlen(descr), .path = "x"};
    return npy_type(&scan, &type) || scan.at != scan.end ? 0 : type.item_bytes;
}

static const char *store_name_read;

static void read_store(const void *bytes, size_t size)
{
    struct store store;
    garner_error error;
    if (store_open_bytes(&store, store_name_read, bytes, size, &error)) {
        assert_memory_equal(error.message, store_name_read, strlen(store_name_read));
        return;
    }
    for (size_t i = 0; i < store.count; i++) {
        struct array array;
        struct store_entry entry;
        size_t found;
        if (*store_name(&store, i)) assert_int_equal(store_has(&store, store_name(&store, i), &found), 1);
        (void)store_describe(&store, i, &entry, &error);
        if (store_load_verified(&store, i, &array, &error)) continue;
        look_at(&array.tensor);
        if (array.descr) assert_int_equal(bytes_of(array.descr), array.tensor.item_bytes);
        array_free(&array);
    }
    store_close(&store);
}

static void change_store(enum store_kind kind, const char *name, const garner_tensor *tensor,
                         const char *descr)
{
    size_t size;
    garner_error error;
    set_path(name);
    store_name_read = name;
    if (store_save_one(path, kind, "\xc3\xa9\"", tensor, descr, &error)) fail_msg("%s", error.message);
    unsigned char *bytes = slurp(&size);
    change_everywhere(bytes, size, read_store);
    free(bytes);
    unlink(path);
}

static void test_npy(void **state)
{
    (void)state;
    static const unsigned char items[5] = {0};
    static const int64_t one = 1;
    const garner_tensor fields = {.data = (void *)(uintptr_t)items,
                                  .shape = &one,
                                  .rank = 1,
                                  .dtype = GARNER_OPAQUE,
                                  .bytes = sizeof items,
                                  .item_bytes = sizeof items};
    change_store(STORE_NPY, "x.npy", &fields, "[('a', '<f4'), ('b', 'S1')]");
}

static void test_npz(void **state)
{
    (void)state;
    change_store(STORE_NPZ, "x.npz", &samples[0], NULL);
}

static void test_safetensors(void **state)
{
    (void)state;
    change_store(STORE_SAFETENSORS, "x.safetensors", &samples[0], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_npy), cmocka_unit_test(test_npz),
                                       cmocka_unit_test(test_safetensors)};
    return cmocka_run_group_tests_name("changing", tests, make_folder, remove_folder);
}
