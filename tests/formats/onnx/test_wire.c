/* SPDX-License-Identifier: MIT */
/*
 * Protobuf's wire format alone: each kind of field, packed numbers, what is malformed and at which byte, how
 * deep messages may lie. Every message ends at a page that may not be touched, and so does each of its
 * beginnings.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "guarded.h"
#include "wire.h"

static garner_error error;

/* A message that ends where memory does, and the file that it is. */
static struct wire_span place_message(const void *bytes, size_t size, struct wire_file *file)
{
    unsigned char *place = guard_place(&guard, size, GUARD_AFTER);
    if (size) memcpy(place, bytes, size);
    memset(&error, 0, sizeof error);
    *file = (struct wire_file){"model.onnx", place, &error};
    return (struct wire_span){place, size};
}

static void expect_malformed(const void *bytes, size_t size, size_t place, const char *what)
{
    struct wire_file file;
    struct wire_field field;
    struct wire_span message = place_message(bytes, size, &file);
    char sentence[160];
    int more;
    while ((more = wire_next(&file, &message, &field)) > 0)
        continue;
    assert_int_equal(more, -1);
    assert_int_equal(error.status, GARNER_BAD_FILE);
    snprintf(sentence, sizeof sentence, "model.onnx: malformed at byte %zu: %s", place, what);
    assert_string_equal(error.message, sentence);
}

/* ---- Fields ---- */

/* One of each kind: field 1 = 300, field 2 = "ab", field 3 and 4 of 8 and 4 bytes, field 16 = -1. */
static const unsigned char every_kind[] = {
    0x08, 0xAC, 0x02,                                                       /* varint */
    0x12, 2,    'a',  'b',                                                  /* bytes */
    0x19, 1,    2,    3,    4,    5,    6,    7,    8,                      /* fixed64 */
    0x25, 1,    2,    3,    4,                                              /* fixed32 */
    0x80, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, /* ten bytes */
};

static void test_every_kind(void **state)
{
    (void)state;
    static const struct wire_field wanted[] = {
        {.number = 1, .type = WIRE_VARINT, .value = 300},
        {.number = 2, .type = WIRE_BYTES, .span = {.size = 2}},
        {.number = 3, .type = WIRE_FIXED64, .value = 0x0807060504030201},
        {.number = 4, .type = WIRE_FIXED32, .value = 0x04030201},
        {.number = 16, .type = WIRE_VARINT, .value = UINT64_MAX},
    };
    static const size_t places[] = {0, 3, 7, 16, 21};
    struct wire_file file;
    struct wire_field field;
    struct wire_span message = place_message(every_kind, sizeof every_kind, &file);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(wire_next(&file, &message, &field), 1);
        assert_int_equal(field.number, wanted[i].number);
        assert_int_equal(field.type, wanted[i].type);
        assert_true(field.value == wanted[i].value);
        assert_int_equal(field.span.size, wanted[i].span.size);
        assert_int_equal(field.place - file.bytes, places[i]);
        if (field.type == WIRE_BYTES) assert_memory_equal(field.span.bytes, "ab", 2);
    }
    assert_int_equal(wire_next(&file, &message, &field), 0);
}

/* Each beginning of a message is whole fields, or refused; nothing is read beyond it. */
static void test_truncated_anywhere(void **state)
{
    (void)state;
    static const size_t ends[] = {0, 3, 7, 16, 21, sizeof every_kind};
    for (size_t size = 0, next = 0; size <= sizeof every_kind; size++) {
        struct wire_file file;
        struct wire_field field;
        struct wire_span message = place_message(every_kind, size, &file);
        int more;
        while ((more = wire_next(&file, &message, &field)) > 0)
            continue;
        int whole = size == ends[next];
        assert_int_equal(more, whole ? 0 : -1);
        next += (size_t)whole;
    }
}

static void test_largest_number(void **state)
{
    (void)state;
    struct wire_file file;
    struct wire_field field;
    struct wire_span message = place_message("\xF8\xFF\xFF\xFF\x0F\x07", 6, &file);
    assert_int_equal(wire_next(&file, &message, &field), 1);
    assert_int_equal(field.number, (1 << 29) - 1);
    assert_int_equal(field.value, 7);
    expect_malformed("\xF8\xFF\xFF\xFF\x1F\x07", 6, 0, "a field number above the largest there is");
}

static void test_malformed(void **state)
{
    (void)state;
    expect_malformed("\x08\x01\x08\x80", 4, 3, "a varint reaches past the end of its message");
    expect_malformed("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, 1,
                     "a varint of more than 10 bytes");
    expect_malformed("\x25\1\2\3", 4, 1, "a number reaches past the end of its message");
    expect_malformed("\x19\1\2\3\4\5\6\7", 8, 1, "a number reaches past the end of its message");
    expect_malformed("\x08\x01\x12\x03zz", 6, 3, "a length reaches past the end of its message");
    expect_malformed("\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11, 1,
                     "a length reaches past the end of its message");
    expect_malformed("\x00\x01", 2, 0, "field number 0");
    expect_malformed("\x08\x01\x0B", 3, 2, "a group, which ONNX files never have");
    expect_malformed("\x0C", 1, 0, "a group, which ONNX files never have");
    expect_malformed("\x0E", 1, 0, "an unknown wire type");
}

/* ---- Packed numbers ---- */

static void expect_packed(const void *bytes, size_t size, enum wire_type type, const uint64_t *values,
                          size_t count)
{
    struct wire_file file;
    uint64_t value;
    struct wire_span packed = place_message(bytes, size, &file);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(wire_next_packed(&file, &packed, type, &value), 1);
        assert_true(value == values[i]);
    }
    assert_int_equal(wire_next_packed(&file, &packed, type, &value), 0);
    assert_int_equal(packed.size, 0);
}

static void test_packed(void **state)
{
    (void)state;
    expect_packed("", 0, WIRE_VARINT, NULL, 0);
    expect_packed("\x00\x7F\x80\x01", 4, WIRE_VARINT, (const uint64_t[]){0, 127, 128}, 3);
    expect_packed("\1\0\0\0\0\0\0\x80", 8, WIRE_FIXED32, (const uint64_t[]){1, 0x80000000u}, 2);
    expect_packed("\1\0\0\0\0\0\0\x80", 8, WIRE_FIXED64, (const uint64_t[]){UINT64_C(0x8000000000000001)}, 1);
}

static void test_packed_cut_off(void **state)
{
    (void)state;
    static const enum wire_type types[] = {WIRE_VARINT, WIRE_FIXED32, WIRE_FIXED64};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct wire_file file;
        uint64_t value;
        struct wire_span packed = place_message("\x80\x80\x80", 3, &file);
        assert_int_equal(wire_next_packed(&file, &packed, types[i], &value), -1);
        assert_int_equal(error.status, GARNER_BAD_FILE);
    }
}

/* ---- Whole files ---- */

/* Field 1 is such a message again, field 2 is text. */
static const struct wire_schema nested[] = {{1, nested}, {0, NULL}};

/* `levels` messages within each other, the innermost empty; returns where they begin. */
static struct wire_span nest(int levels, struct wire_file *file)
{
    unsigned char bytes[1024];
    size_t start = sizeof bytes;
    for (int i = 1; i < levels; i++) {
        size_t inner = sizeof bytes - start;
        if (inner > 127) bytes[--start] = (unsigned char)(inner >> 7);
        bytes[--start] = (unsigned char)(inner > 127 ? 0x80 | (inner & 0x7F) : inner);
        bytes[--start] = 0x0A;
    }
    return place_message(bytes + start, sizeof bytes - start, file);
}

static void test_depth(void **state)
{
    (void)state;
    struct wire_file file;
    struct wire_span message = nest(WIRE_MOST_DEPTH, &file);
    assert_int_equal(wire_check(&file, message, nested), GARNER_OK);
    message = nest(WIRE_MOST_DEPTH + 1, &file);
    assert_int_equal(wire_check(&file, message, nested), GARNER_BAD_FILE);
    assert_non_null(strstr(error.message, "messages lie more than 64 levels deep"));
}

static void test_malformed_inside(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0x0A, 4, 0x0A, 2, 0x08, 0x80};
    static const struct wire_schema outer[] = {{1, nested + 1},
                                               {0, NULL}}; /* its messages have none inside */
    struct wire_file file;
    struct wire_span message = place_message(bytes, sizeof bytes, &file);
    assert_int_equal(wire_check(&file, message, nested), GARNER_BAD_FILE);
    assert_string_equal(error.message,
                        "model.onnx: malformed at byte 5: a varint reaches past the end of its message");
    assert_int_equal(wire_check(&file, message, outer),
                     GARNER_OK); /* what the schema does not know is not looked into */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),     cmocka_unit_test(test_truncated_anywhere),
        cmocka_unit_test(test_largest_number), cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_packed),         cmocka_unit_test(test_packed_cut_off),
        cmocka_unit_test(test_depth),          cmocka_unit_test(test_malformed_inside),
    };
    return cmocka_run_group_tests(tests, make_guard, drop_guard);
}
