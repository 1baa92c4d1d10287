/* SPDX-License-Identifier: MIT */
/*
 * The .npy reader and writer from C: every rule of the header's grammar with the file that breaks it,
 * then arrays of every type and any strides there and back. Real NumPy files are read in tests/cli.
 */
#define _XOPEN_SOURCE 700

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "npy.h"
#include "store.h"

/* Under the address sanitizer an allocation that is too large shall fail, as it does without. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static char folder[] = "/tmp/garner-npy-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/x.npy", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if the writer has left anything behind */
}

static void write_bytes(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A file of that version with that header and so many bytes 0, 1, 2, ... after it. */
static void write_npy(int version, const char *header, size_t payload)
{
    unsigned char bytes[8192] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version};
    size_t size = strlen(header), at = version == 1 ? 10 : 12;
    assert_true(at + size + payload <= sizeof bytes);
    bytes[8] = (unsigned char)(size & 0xff);
    bytes[9] = (unsigned char)(size >> 8);
    memcpy(bytes + at, header, size);
    for (size_t i = 0; i < payload; i++)
        bytes[at + size + i] = (unsigned char)i;
    write_bytes(bytes, at + size + payload);
}

/* Loads x.npy and expects a refusal that begins with the path and has the words. */
static void expect_refusal(garner_status expected, const char *words)
{
    struct array array;
    garner_error error;
    memset(&array, 0x5a, sizeof array);
    garner_status status = npy_load(&array, path, &error);
    if (status != expected || !strstr(error.message, words))
        fail_msg("status %s, '%s'; expected %s with '%s'", garner_status_name(status), error.message,
                 garner_status_name(expected), words);
    assert_int_equal(error.status, expected);
    assert_memory_equal(error.message, path, strlen(path));
    assert_null(array.memory);
    assert_null(array.region);
    assert_null(array.descr);
    assert_int_equal(npy_load(&array, path, NULL), expected);
}

#define REST "'fortran_order': False, 'shape': (2,), }"

static const struct {
    int version;
    const char *header;
    size_t payload;
    garner_status status;
    const char *words;
} refused[] = {
    {4, "{}", 0, GARNER_BAD_FILE, "version 4.0"},
    {0, "{}", 0, GARNER_BAD_FILE, "version 0.0"},
    {1, "", 0, GARNER_BAD_FILE, "expected '{'"},
    {1, "{", 0, GARNER_BAD_FILE, "expected a quoted string"},
    {1, "{}", 0, GARNER_BAD_FILE, "no 'descr'"},
    {1, "{'descr': '<f4', 'shape': (2,), }", 8, GARNER_BAD_FILE, "no 'fortran_order'"},
    {1, "{'descr': '<f4', 'fortran_order': False, }", 8, GARNER_BAD_FILE, "no 'shape'"},
    {1, "{'descr': '<f4', 'descr': '<f4', " REST, 8, GARNER_BAD_FILE, "'descr' twice"},
    {1, "{'descr': '<f4', 'other': 1, " REST, 8, GARNER_BAD_FILE, "key 'other'"},
    {1, "{'descr': '<f4' " REST, 8, GARNER_BAD_FILE, "malformed at byte 16"},
    {1, "{'descr': '<f4', " REST " x", 8, GARNER_BAD_FILE, "expected the end"},
    {1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8, GARNER_BAD_FILE, "True or False"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}", 8, GARNER_BAD_FILE, "expected '('"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", 8, GARNER_BAD_FILE, "a comma"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", 24, GARNER_BAD_FILE, "',' or ')'"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", 8, GARNER_BAD_FILE, "an extent"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8, GARNER_BAD_FILE, "an extent"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (02,)}", 8, GARNER_BAD_FILE,
     "byte 51: expected an extent without a leading zero"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 007L)}", 56, GARNER_BAD_FILE,
     "a leading zero"},
    {1, "{'descr': [('a', '<f4', (02,))], " REST, 16, GARNER_BAD_FILE, "a leading zero"},
    {1, "{b'descr': '<f4', " REST, 8, GARNER_BAD_FILE, "a quoted string"},
    {1, "{uu'descr': '<f4', " REST, 8, GARNER_BAD_FILE, "a quoted string"},
    {1, "{u 'descr': '<f4', " REST, 8, GARNER_BAD_FILE, "a quoted string"},
    {1, "{u", 0, GARNER_BAD_FILE, "a quoted string"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}", 8, GARNER_BAD_FILE, "',' or ')'"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2LL,)}", 8, GARNER_BAD_FILE, "',' or ')'"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", 8, GARNER_BAD_FILE,
     "63 bits"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 2)}", 8, GARNER_BAD_FILE,
     "63 bits"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", 8, GARNER_BAD_FILE,
     "63 bits"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2305843009213693951,)}", 8, GARNER_BAD_FILE,
     "truncated: expected 9223372036854775804 bytes, found 8"},
    {1, "{'descr': '<f4', " REST, 7, GARNER_BAD_FILE, "truncated: expected 8 bytes, found 7"},
    {1, "{'descr': '<f4", 8, GARNER_BAD_FILE, "the end of a string"},
    {1, "{'descr': __import__('os').system('id'), " REST, 8, GARNER_BAD_FILE, "a quoted string"},
    {1, "{'descr': '<f3', " REST, 8, GARNER_UNSUPPORTED, "'<f3'"},
    {1, "{'descr': '<f99999999999999999999', " REST, 8, GARNER_UNSUPPORTED, "not supported"},
    {1, "{'descr': '', " REST, 8, GARNER_UNSUPPORTED, "''"},
    {1, "{'descr': '|S0', " REST, 8, GARNER_UNSUPPORTED, "'|S0'"},
    {1, "{'descr': '<M8[ns', " REST, 16, GARNER_UNSUPPORTED, "'<M8[ns'"},
    {1, "{'descr': '<f4[ns]', " REST, 16, GARNER_UNSUPPORTED, "'<f4[ns]'"},
    {1, "{'descr': '|O', " REST, 8, GARNER_UNSUPPORTED, "allow_pickle=True"},
    {1, "{'descr': [('a', '|O8')], " REST, 8, GARNER_UNSUPPORTED, "allow_pickle=True"},
    {1, "{'descr': [], " REST, 8, GARNER_UNSUPPORTED, "'[]'"},
    {1, "{'descr': [('a')], " REST, 8, GARNER_BAD_FILE, "expected ','"},
    {1, "{'descr': [('a', '<f4'], " REST, 8, GARNER_BAD_FILE, "expected ','"},
    {1, "{'descr': [('a', '<f4')('b', '<f4')], " REST, 8, GARNER_BAD_FILE, "expected ']'"},
    {1, "{'descr': [('a', '<f4', (9223372036854775807, 9))], " REST, 8, GARNER_BAD_FILE, "element size"},
    {1, "{'descr': [('a', '<f4'), " REST, 8, GARNER_BAD_FILE, "expected '('"},
    {3, "{'descr': [('\xff', '<f4')], " REST, 8, GARNER_BAD_FILE, "UTF-8"},
    {1, "{'descr': '<M8ns]', " REST, 16, GARNER_UNSUPPORTED, "'<M8ns]'"},
    {1, "{'descr': '<M8[]', " REST, 16, GARNER_UNSUPPORTED, "'<M8[]'"},
    {1, "{'descr': '<M8[-1s]', " REST, 16, GARNER_UNSUPPORTED, "'<M8[-1s]'"},
    {1, "{'descr': '<M8[n:s]', " REST, 16, GARNER_UNSUPPORTED, "'<M8[n:s]'"},
    {1, "{'descr': '<M8[~]', " REST, 16, GARNER_UNSUPPORTED, "'<M8[~]'"},
    {1, "{'descr': '<M8[Z_]', " REST, 16, GARNER_UNSUPPORTED, "'<M8[Z_]'"},
    {1, "{'descr': '<', " REST, 8, GARNER_UNSUPPORTED, "'<'"},
    {1, "{'descr': '?1', " REST, 8, GARNER_UNSUPPORTED, "'?1'"},
    {1, "{'descr': '|V18446744073709551616', " REST, 8, GARNER_UNSUPPORTED, "not supported"},
    {1, "{'descr': '|V18446744073709551619', " REST, 8, GARNER_UNSUPPORTED, "not supported"},
    {1, "{'descr': '|V9223372036854775808', " REST, 8, GARNER_UNSUPPORTED, "not supported"},
    {1, "{'descr': '<U4611686018427387904', " REST, 8, GARNER_UNSUPPORTED, "not supported"},
    {1, "{'descr': 'a_type_whose_name_is_far_longer_than_any_that_there_is_in_numpy_at_all', " REST, 8,
     GARNER_UNSUPPORTED, "not supported"},
    {1, "{'descr': '<f4\\", 8, GARNER_BAD_FILE, "the end of a string"},
    {1, "{'descr': '<f4\n', " REST, 8, GARNER_BAD_FILE, "the end of a string"},
    {1, "{'descr': [(('a' 'b'), '<f4')], " REST, 8, GARNER_BAD_FILE, "expected ','"},
    {1, "{'descr': [((1, 'b'), '<f4')], " REST, 8, GARNER_BAD_FILE, "a quoted string"},
    {1, "{'descr': [(('a', 2), '<f4')], " REST, 8, GARNER_BAD_FILE, "a quoted string"},
    {1, "{'descr': [(('a', 'b', '<f4')], " REST, 8, GARNER_BAD_FILE, "expected ')'"},
    {1, "{'descr': [('a', '<f4', ], " REST, 8, GARNER_BAD_FILE, "expected '('"},
    {1, "{'descr': [('a', '<f4', (2,) 3)], " REST, 16, GARNER_BAD_FILE, "expected ')'"},
    {1, "{'descr': [('a', '|V9223372036854775807'), ('b', '|V9223372036854775807'), ('c', '|V2')], " REST, 8,
     GARNER_BAD_FILE, "element size"},
    {1, "{'descr': [('a', '|V9223372036854775807'), ('b', '|V1')], " REST, 8, GARNER_BAD_FILE,
     "element size"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2", 8, GARNER_BAD_FILE, "',' or ')'"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (", 8, GARNER_BAD_FILE, "an extent"},
    {1, "{'descr': '<f4', 'fortran_order': Tru", 8, GARNER_BAD_FILE, "True or False"},
    {1, "{'a_key_that_is_longer_than_what_is_shown_of_it_in_a_message_about_it_all': 1, " REST, 8,
     GARNER_BAD_FILE, "key '"},
};

static void test_refused_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        write_npy(refused[i].version, refused[i].header, refused[i].payload);
        expect_refusal(refused[i].status, refused[i].words);
    }
}

static void test_not_npy(void **state)
{
    static const unsigned char start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 4};
    (void)state;
    write_bytes("", 0);
    expect_refusal(GARNER_BAD_FILE, "it is empty");
    for (size_t size = 1; size <= sizeof start; size++) {
        write_bytes(start, size);
        expect_refusal(GARNER_BAD_FILE,
                       size < 6 ? "begins with the bytes 93" : "truncated: expected 10 bytes");
    }
    write_bytes("P", 1);
    expect_refusal(GARNER_BAD_FILE, "begins with the bytes 50");
    write_bytes("Python", 6);
    expect_refusal(GARNER_BAD_FILE, "begins with the bytes 50 79 74 68 6f 6e");
    write_bytes("PK\3\4 and so on", 14);
    expect_refusal(GARNER_BAD_FILE, "50 4b 03 04 20 61 of a zip file");
    unlink(path);
    expect_refusal(GARNER_SYSTEM, "No such file or directory");
}

/* Lengths that the file does not have, or that nobody needs, before anything is allocated. */
static void test_header_lengths(void **state)
{
    static const unsigned char beyond[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0x00, 0x01, 0, 0, '{', '}'};
    static const unsigned char huge[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 3, 0, 0xff, 0xff, 0xff, 0xff, '{'};
    (void)state;
    write_bytes(beyond, sizeof beyond);
    expect_refusal(GARNER_BAD_FILE, "the header ends at byte 268, the file at 14");
    write_bytes(huge, sizeof huge);
    expect_refusal(GARNER_BAD_FILE, "4294967295 bytes is above the limit of 65536");
    write_bytes(beyond, 11);
    expect_refusal(GARNER_BAD_FILE, "truncated");
}

static void test_nesting_is_bounded(void **state)
{
    char header[4096];
    (void)state;
    for (int depth = 1; depth <= 40; depth++) {
        struct array array;
        int at = snprintf(header, sizeof header, "{'descr': ");
        for (int i = 0; i < depth; i++)
            at += snprintf(header + at, sizeof header - (size_t)at, "[('a', ");
        at += snprintf(header + at, sizeof header - (size_t)at, "'<f4'");
        for (int i = 0; i < depth; i++)
            at += snprintf(header + at, sizeof header - (size_t)at, ")]");
        snprintf(header + at, sizeof header - (size_t)at, ", " REST);
        write_npy(1, header, 8);
        if (depth > 16) {
            expect_refusal(GARNER_BAD_FILE, "nested");
            continue;
        }
        assert_int_equal(npy_load(&array, path, NULL), GARNER_OK);
        assert_int_equal(array.tensor.item_bytes, 4);
        array_free(&array);
    }
}

static const struct {
    const char *header;
    garner_dtype dtype;
    uint64_t item_bytes; /* of opaque ones */
    const char *descr;
} accepted[] = {
    {"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", GARNER_I16, 0, NULL},
    {"{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}", GARNER_I16, 0, NULL},
    {" {\n\t\"shape\" :( 2L, ),'descr'\r: \"<i2\" ,'fortran_order':True,}  \n\n", GARNER_I16, 0, NULL},
    {"{'descr': '=u2', " REST, GARNER_U16, 0, NULL},
    {"{'descr': 'u2', " REST, GARNER_U16, 0, NULL},
    {"{u'descr': u'<i2', U\"fortran_order\": False, u'shape': (2L,)}", GARNER_I16, 0, NULL},
    {"{'descr': [(u'a', u'<f4')], " REST, GARNER_OPAQUE, 4, "[(u'a', u'<f4')]"},
    {"{'descr': '?', " REST, GARNER_BOOL, 0, NULL},
    {"{'descr': '|b1', " REST, GARNER_BOOL, 0, NULL},
    {"{'descr': '|V3', " REST, GARNER_OPAQUE, 3, "'|V3'"},
    {"{'descr': '<U2', " REST, GARNER_OPAQUE, 8, "'<U2'"},
    {"{'descr': '<M8[25s]', " REST, GARNER_OPAQUE, 8, "'<M8[25s]'"},
    {"{'descr': '<m8', " REST, GARNER_OPAQUE, 8, "'<m8'"},
    {"{'descr': '<f16', " REST, GARNER_OPAQUE, 16, "'<f16'"},
    {"{'descr': '<c32', " REST, GARNER_OPAQUE, 32, "'<c32'"},
    {"{'descr': [('a', '<f4'), ('b', '>i2', (2, 3)), ('', '|V5')], " REST, GARNER_OPAQUE, 21,
     "[('a', '<f4'), ('b', '>i2', (2, 3)), ('', '|V5')]"},
    {"{'descr': [(('t', 'n'), [('x', '|S3'), ('y', '|u1')], (2,)),], " REST, GARNER_OPAQUE, 8,
     "[(('t', 'n'), [('x', '|S3'), ('y', '|u1')], (2,)),]"},
    {"{'descr': [('it\\'s ]', '<f4')], " REST, GARNER_OPAQUE, 4, "[('it\\'s ]', '<f4')]"},
    {"{'descr': [('\xe9', '<f4')], " REST, GARNER_OPAQUE, 4, "[('\xc3\xa9', '<f4')]"},
};

static void test_accepted_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct array array;
        struct store store;
        garner_error error;
        write_npy(1, accepted[i].header, 70);
        if (store_open(&store, path, 0, &error) || store_load(&store, 0, &array, &error))
            fail_msg("%s: %s", accepted[i].header, error.message);
        assert_int_equal(store.trailing, 70 - array.tensor.bytes);
        store_close(&store);
        assert_int_equal(array.tensor.dtype, accepted[i].dtype);
        assert_int_equal(array.tensor.item_bytes, accepted[i].item_bytes);
        assert_int_equal(array.tensor.rank, 1);
        assert_int_equal(array.tensor.shape[0], 2);
        /* Numbers of two bytes that say '<' are turned round on big-endian machines. */
        const int turned = !IS_LITTLE_ENDIAN && accepted[i].dtype == GARNER_I16;
        assert_int_equal(((unsigned char *)array.tensor.data)[turned], 0);
        assert_int_equal(((unsigned char *)array.tensor.data)[!turned], 1);
        if (accepted[i].descr)
            assert_string_equal(array.descr, accepted[i].descr);
        else
            assert_null(array.descr);
        array_free(&array);
    }
}

/* Byte orders: '>' and '<' of one number differ, and each half of a complex number is one. */
static void test_byte_orders(void **state)
{
    static const struct {
        const char *type;
        int width;
    } types[] = {{"i2", 2}, {"u4", 4}, {"f8", 8}, {"c8", 4}, {"c16", 8}};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int big = 0; big < 2; big++) {
            char header[128];
            struct array array;
            const uint16_t one = 1;
            int native_is_big = *(const unsigned char *)&one == 0, width = types[i].width;
            snprintf(header, sizeof header, "{'descr': '%c%s', " REST, big ? '>' : '<', types[i].type);
            write_npy(1, header, 32);
            assert_int_equal(npy_load(&array, path, NULL), GARNER_OK);
            for (int at = 0; at < (int)array.tensor.bytes; at++) {
                int expected = big == native_is_big ? at : at / width * width + width - 1 - at % width;
                assert_int_equal(((unsigned char *)array.tensor.data)[at], expected);
            }
            array_free(&array);
        }
}

static void test_fortran_order_is_strides(void **state)
{
    struct array array;
    (void)state;
    write_npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", 24);
    assert_int_equal(npy_load(&array, path, NULL), GARNER_OK);
    assert_int_equal(array.tensor.strides[0], 1);
    assert_int_equal(array.tensor.strides[1], 2);
    assert_int_equal(array.tensor.strides[2], 6);
    assert_non_null(array.region);
    assert_null(array.memory);
    array_free(&array);
}

static void test_empty_may_be_huge(void **state)
{
    struct array array;
    (void)state;
    for (int fortran = 0; fortran < 2; fortran++) {
        write_npy(1,
                  fortran ? "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 4611686018427387904, 8)}"
                          : "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 8, 0)}",
                  0);
        assert_int_equal(npy_load(&array, path, NULL), GARNER_OK);
        assert_int_equal(array.tensor.bytes, 0);
        assert_int_equal(array.tensor.shape[fortran], (int64_t)1 << 62);
        assert_null(array.tensor.strides);
        array_free(&array);
    }
}

static void test_rank_limit(void **state)
{
    char header[512];
    struct array array;
    (void)state;
    for (int rank = 63; rank <= 66; rank++) {
        int at = snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': (");
        for (int i = 0; i < rank; i++)
            at += snprintf(header + at, sizeof header - (size_t)at, "1, ");
        snprintf(header + at, sizeof header - (size_t)at, ")}");
        write_npy(2, header, 1);
        if (rank > 64) {
            expect_refusal(GARNER_BAD_FILE, "rank is above 64");
            continue;
        }
        assert_int_equal(npy_load(&array, path, NULL), GARNER_OK);
        assert_int_equal(array.tensor.rank, rank);
        array_free(&array);
    }
}

/* ---- Writing ---- */

/* Saves a view of bytes 0, 1, 2, ... and expects the elements `expected` in C order. */
static void round_trip(const garner_tensor *tensor, const unsigned char *expected, size_t size)
{
    struct array array;
    garner_error error;
    if (npy_save(path, tensor, NULL, &error)) fail_msg("%s", error.message);
    if (npy_load(&array, path, &error)) fail_msg("%s", error.message);
    assert_int_equal(array.tensor.dtype, tensor->dtype);
    assert_int_equal(array.tensor.rank, tensor->rank);
    for (int32_t i = 0; i < tensor->rank; i++)
        assert_int_equal(array.tensor.shape[i], tensor->shape[i]);
    assert_int_equal(array.tensor.bytes, size);
    if (size) assert_memory_equal(array.tensor.data, expected, size);
    array_free(&array);
}

static void test_any_strides(void **state)
{
    unsigned char bytes[24];
    static const unsigned char reversed[] = {5, 4, 3, 2, 1, 0}, repeated[] = {7, 7, 7, 7};
    static const unsigned char transposed[] = {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11};
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    round_trip(&(garner_tensor){.data = bytes, .shape = (int64_t[]){2, 3, 4}, .rank = 3, .dtype = GARNER_U8},
               bytes, 24);
    round_trip(&(garner_tensor){.data = bytes,
                                .shape = (int64_t[]){6},
                                .strides = (int64_t[]){-1},
                                .rank = 1,
                                .dtype = GARNER_U8,
                                .byte_offset = 5},
               reversed, 6);
    round_trip(&(garner_tensor){.data = bytes,
                                .shape = (int64_t[]){2, 1, 2},
                                .strides = (int64_t[]){0, 99, 0},
                                .rank = 3,
                                .dtype = GARNER_U8,
                                .byte_offset = 7},
               repeated, 4);
    round_trip(&(garner_tensor){.data = bytes,
                                .shape = (int64_t[]){3, 2},
                                .strides = (int64_t[]){1, 3},
                                .rank = 2,
                                .dtype = GARNER_I16},
               transposed, 12);
    round_trip(&(garner_tensor){.data = bytes, .rank = 0, .dtype = GARNER_F64}, bytes, 8);
    round_trip(&(garner_tensor){.shape = (int64_t[]){3, 0}, .rank = 2, .dtype = GARNER_C128}, bytes, 0);
}

static void test_every_type_or_a_sentence(void **state)
{
    static const garner_dtype absent[] = {
        GARNER_STR, GARNER_BF16, GARNER_F8E4M3FN, GARNER_F8E4M3FNUZ, GARNER_F8E5M2, GARNER_F8E5M2FNUZ,
        GARNER_U4,  GARNER_I4,   GARNER_F4E2M1,   GARNER_F8E8M0,     GARNER_U2,     GARNER_I2,
        GARNER_U1,  GARNER_U3,   GARNER_U6,       GARNER_NF4};
    static const garner_dtype present[] = {GARNER_F32, GARNER_U8,  GARNER_I8,   GARNER_U16, GARNER_I16,
                                           GARNER_I32, GARNER_I64, GARNER_BOOL, GARNER_F16, GARNER_F64,
                                           GARNER_U32, GARNER_U64, GARNER_C64,  GARNER_C128};
    unsigned char bytes[32] = {1, 0, 1, 1};
    garner_error error;
    (void)state;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        garner_tensor tensor = {.data = bytes, .shape = (int64_t[]){2}, .rank = 1, .dtype = absent[i]};
        unlink(path);
        assert_int_equal(npy_save(path, &tensor, NULL, &error), GARNER_UNSUPPORTED);
        assert_non_null(strstr(error.message, garner_dtype_name(absent[i])));
        assert_int_equal(access(path, F_OK), -1);
    }
    for (size_t i = 0; i < sizeof present / sizeof *present; i++) {
        garner_tensor tensor = {.data = bytes, .shape = (int64_t[]){2}, .rank = 1, .dtype = present[i]};
        round_trip(&tensor, bytes, (size_t)garner_dtype_bytes(present[i], 2, 0));
    }
}

static int read_version(void)
{
    unsigned char start[8];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(start, 1, sizeof start, file), sizeof start);
    fclose(file);
    return start[6];
}

static void test_opaque_keeps_its_type(void **state)
{
    unsigned char bytes[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    garner_tensor tensor = {
        .data = bytes, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_OPAQUE, .item_bytes = 6};
    static const char *const types[] = {"'|S6'", "[('\xe6\x97\xa5', '<f4'), ('b', '<i2')]", NULL};
    struct array array;
    garner_error error;
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(npy_save(path, &tensor, types[i], &error), GARNER_OK);
        assert_int_equal(npy_load(&array, path, &error), GARNER_OK);
        assert_string_equal(array.descr, types[i] ? types[i] : "'|V6'");
        assert_int_equal(read_version(), i == 1 ? 3 : 1);
        assert_memory_equal(array.tensor.data, bytes, 12);
        array_free(&array);
    }
    assert_int_equal(npy_save(path, &tensor, "'|S5'", &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(npy_save(path, &tensor, "'|S6', 'more'", &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(npy_save(path, &tensor, "nonsense", &error), GARNER_BAD_FILE);
    tensor.shape = (int64_t[]){-1};
    assert_int_equal(npy_save(path, &tensor, NULL, &error), GARNER_BAD_SHAPE);
}

static void test_arrays(void **state)
{
    struct array array;
    garner_error error;
    (void)state;
    assert_int_equal(array_create(&array, "DATA", GARNER_U3, 0, 1, (int64_t[]){9}, &error), GARNER_OK);
    assert_int_equal(array.tensor.bytes, 6);
    array_free(&array);
    assert_int_equal(array_create(&array, "DATA", GARNER_F32, 0, 0, NULL, &error), GARNER_OK);
    assert_int_equal(array.tensor.bytes, 4);
    array_free(&array);
    int64_t huge = (int64_t)1 << 62;
    assert_int_equal(array_create(&array, "DATA", GARNER_F32, 0, 2, (int64_t[]){0, huge}, &error), GARNER_OK);
    array_free(&array);
    assert_int_equal(array_create(&array, "DATA", GARNER_F32, 0, 1, &huge, &error), GARNER_TOO_LARGE);
    assert_int_equal(array_create(&array, "DATA", GARNER_F32, 0, 2, (int64_t[]){huge, 4}, &error),
                     GARNER_TOO_LARGE);
    assert_int_equal(array_create(&array, "DATA", GARNER_U8, 0, 1, (int64_t[]){huge}, &error),
                     GARNER_NO_MEMORY);
    assert_int_equal(array_create(&array, "DATA", GARNER_U8, 0, 1, (int64_t[]){-1}, &error),
                     GARNER_BAD_SHAPE);
    assert_int_equal(array_create(&array, "DATA", GARNER_U8, 0, 65, &huge, &error), GARNER_BAD_SHAPE);
    assert_int_equal(array_create(&array, "DATA", GARNER_OPAQUE, 0, 0, NULL, &error), GARNER_BAD_TYPE);
    assert_int_equal(array_create(&array, "DATA", 99, 0, 0, NULL, &error), GARNER_BAD_TYPE);
    array_free(&array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_headers),
        cmocka_unit_test(test_not_npy),
        cmocka_unit_test(test_header_lengths),
        cmocka_unit_test(test_nesting_is_bounded),
        cmocka_unit_test(test_accepted_headers),
        cmocka_unit_test(test_byte_orders),
        cmocka_unit_test(test_fortran_order_is_strides),
        cmocka_unit_test(test_empty_may_be_huge),
        cmocka_unit_test(test_rank_limit),
        cmocka_unit_test(test_any_strides),
        cmocka_unit_test(test_every_type_or_a_sentence),
        cmocka_unit_test(test_opaque_keeps_its_type),
        cmocka_unit_test(test_arrays),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
