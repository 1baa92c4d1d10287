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

/* Headers that are nearly right, in a file that ends at a guard page; NULL: it is read. */
static void test_headers(void **state)
{
    (void)state;
    static const char one[] = "{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}";
    static const struct {
        const char *name; /* of the tensor, as JSON has it */
        int fine;
    } names[] = {
        {"a", 1},
        {"\\u00e9", 1},
        {"\\ud83d\\ude00", 1},
        {"\\n\\t\\\\\\\"\\/\\b\\f\\r", 1},
        {"\\u12", 0},
        {"\\u12g4", 0},
        {"\\ud83d", 0},
        {"\\ud83dx", 0},
        {"\\ud83d\\u0041", 0},
        {"\\ud83d\\n", 0},
        {"\\ud83d\\ud83d", 0},
        {"\\ude00", 0},
        {"\\x41", 0},
        {"\\", 0},
        {"\\uD83D\\uE000", 0},
        {"\\ud83d\\ude0", 0},
        {"\\ue000", 1},
        {"\\uffff", 1},
        {"\x01", 0},
        {"\xff", 0},
        {"", 1},
        {"\\u0000", 0},
    };
    static const char *const headers[] = {
        "",
        "[]",
        "{",
        "{}x",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":}",
        "{\"a\":{}}",
        "{\"a\":{\"dtype\":\"U8\"}}",
        "{,}",
        "{\"a\":1}",
        "{\"__metadata__\":{\"k\":1}}",
        "{\"__metadata__\":{\"k\"}}",
        "{\"__metadata__\":{\"k\":\"v\"",
        "{\"__metadata__\":[]}",
        "{\"__metadata__\":{k:\"v\"}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,3]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[-2],\"data_offsets\":[0,2]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,0]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,2]}}",
        "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"more\":1}}",
        "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}"};
    struct guard guard;
    char header[400];
    guard_create(&guard, 512);
    for (size_t i = 0; i < sizeof names / sizeof *names + sizeof headers / sizeof *headers; i++) {
        const size_t of_names = sizeof names / sizeof *names;
        if (i < of_names)
            snprintf(header, sizeof header, "{\"%s\":%s}", names[i].name, one);
        else
            snprintf(header, sizeof header, "%s", headers[i - of_names]);
        const size_t length = strlen(header), size = 8 + length + 2;
        unsigned char *file = guard_place(&guard, size, GUARD_AFTER);
        memset(file, 0, size);
        file[0] = (unsigned char)length, file[1] = (unsigned char)(length >> 8);
        memcpy(file + 8, header, length);
        int fine = i < of_names && names[i].fine;
        if (open_any("x.safetensors", file, size) != fine)
            fail_msg("'%s' is %s", header, fine ? "refused" : "taken");
    }
    guard_destroy(&guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lifetimes),    cmocka_unit_test(test_names),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_unknown_type), cmocka_unit_test(test_headers),
    };
    return cmocka_run_group_tests_name("safetensors", tests, make_folder, remove_folder);
}
