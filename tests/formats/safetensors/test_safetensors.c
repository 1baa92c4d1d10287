/* SPDX-License-Identifier: MIT */
/*
 * .safetensors from C: what is written reads back, arrays outlive their file, and a file damaged at any
 * byte is refused or harmless. Bad headers one by one, and the real package's files, are in tests/cli.
 */
#define _XOPEN_SOURCE 700

#include "stored.h"

static void test_lifetimes(void **state)
{
    (void)state;
    set_path("x.safetensors");
    check_lifetimes(STORE_SAFETENSORS);
}

static void test_names(void **state)
{
    (void)state;
    set_path("x.safetensors");
    check_names(STORE_SAFETENSORS);
}

static void test_damage(void **state)
{
    (void)state;
    size_t size;
    set_path("x.safetensors");
    save_samples(STORE_SAFETENSORS);
    unsigned char *bytes = slurp(&size);
    assert_int_equal(size % 64, 25); /* the data begins aligned: 24 bytes, and 1 */
    int whole = damage("x.safetensors", bytes, size);
    /* The format has no checksum: changed elements, names and spaces are not noticed, structure is. */
    assert_in_range(whole, 3 * 25, 3 * (int)size / 2);
    free(bytes);
}

/* A type that garner lacks has its place, and is refused when it is asked for. */
static void test_unknown_type(void **state)
{
    (void)state;
    static const char header[] = "{\"a\":{\"dtype\":\"Q3\",\"shape\":[5],\"data_offsets\":[0,2]}}";
    unsigned char file[8 + sizeof header - 1 + 2] = {sizeof header - 1};
    struct store store;
    struct store_entry entry;
    struct array array;
    garner_error error;
    memcpy(file + 8, header, sizeof header - 1);
    assert_int_equal(store_open_bytes(&store, "x.safetensors", file, sizeof file, &error), GARNER_OK);
    assert_int_equal(store_describe(&store, 0, &entry, &error), GARNER_UNSUPPORTED);
    assert_string_equal(entry.name, "a");
    assert_string_equal(entry.type, "Q3");
    assert_int_equal(entry.dtype, 0);
    assert_int_equal(entry.rank, 1);
    assert_int_equal(entry.shape[0], 5);
    assert_int_equal(entry.bytes, 2);
    assert_int_equal(store_load(&store, 0, &array, &error), GARNER_UNSUPPORTED);
    assert_non_null(strstr(error.message, "x.safetensors:a: elements of type 'Q3'"));
    assert_null(array.region);
    store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lifetimes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_unknown_type),
    };
    return cmocka_run_group_tests_name("safetensors", tests, make_folder, remove_folder);
}
