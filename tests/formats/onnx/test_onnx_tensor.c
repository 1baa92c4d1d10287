/* SPDX-License-Identifier: MIT */
/*
 * The reader of TensorProto alone: where elements may lie, what does not fit together, external data. Each
 * message ends at a page that may not be touched. Every type in every form, as the onnx package writes it, is
 * in tests/cli.
 */
#include "onnx_tensor.h" /* before cmocka, which has another fail */

#include "testing.h"

#include <stdlib.h>

#include "guarded.h"
#include "protobuf.h"

enum {
    DIMS = 1,
    DATA_TYPE = 2,
    SEGMENT = 3,
    FLOATS = 4,
    INT32S = 5,
    STRINGS = 6,
    INT64S = 7,
    NAME = 8,
    RAW = 9,
    EXTERNAL = 13,
    LOCATION = 14
};

static const float two[2] = {1.5f, -2.0f};
static const unsigned char two_stored[2][4] = {{0, 0, 0xc0, 0x3f}, {0, 0, 0, 0xc0}}; /* little-endian */
static garner_error error;
static struct wire_file file;

/* A tensor called t with one extent, and no elements yet. */
static struct message tensor_of(garner_dtype dtype, int64_t extent)
{
    struct message message = {.size = 0};
    put_number(&message, DIMS, (uint64_t)extent);
    put_number(&message, DATA_TYPE, (uint64_t)dtype);
    put_text(&message, NAME, "t");
    return message;
}

static garner_status read_message(const struct message *message, struct onnx_tensor *tensor)
{
    unsigned char *place = guard_place(&guard, message->size, GUARD_AFTER);
    memcpy(place, message->bytes, message->size);
    memset(&error, 0, sizeof error);
    file = (struct wire_file){"t.pb", place, &error};
    return onnx_tensor_read(tensor, &file, (struct wire_span){place, message->size});
}

static void expect_refused(const struct message *message, garner_status status, const char *what)
{
    struct onnx_tensor tensor;
    char sentence[160];
    assert_int_equal(read_message(message, &tensor), status);
    snprintf(sentence, sizeof sentence, "t.pb: tensor 't': %s", what);
    assert_string_equal(error.message, sentence);
}

/* ---- Elements ---- */

static void expect_two_floats(const struct message *message)
{
    struct onnx_tensor tensor;
    const void *data;
    void *memory;
    assert_int_equal(read_message(message, &tensor), GARNER_OK);
    assert_int_equal(tensor.dtype, GARNER_F32);
    assert_int_equal(tensor.rank, 1);
    assert_int_equal(tensor.count, 2);
    assert_int_equal(tensor.bytes, sizeof two);
    assert_int_equal(onnx_tensor_load(&tensor, &file, NULL, NULL, &data, &memory), GARNER_OK);
    assert_memory_equal(data, two, sizeof two);
    free(memory);
}

static void test_forms_of_elements(void **state)
{
    (void)state;
    struct message raw = tensor_of(GARNER_F32, 2), packed = raw, pieces = raw;
    put_bytes(&raw, RAW, two_stored, sizeof two);
    expect_two_floats(&raw);
    put_bytes(&packed, FLOATS, two_stored, sizeof two);
    expect_two_floats(&packed);
    put_bytes(&pieces, FLOATS, two_stored[0], sizeof *two);
    put_bytes(&pieces, FLOATS, two_stored[1], sizeof *two);
    expect_two_floats(&pieces);
}

static void test_integers_are_narrowed(void **state)
{
    (void)state;
    static const int8_t wanted[] = {-1, 127};
    struct message message = tensor_of(GARNER_I8, 2);
    struct onnx_tensor tensor;
    const void *data;
    void *memory;
    put_number(&message, INT32S, UINT64_MAX);
    put_number(&message, INT32S, 127);
    assert_int_equal(read_message(&message, &tensor), GARNER_OK);
    assert_int_equal(onnx_tensor_load(&tensor, &file, NULL, NULL, &data, &memory), GARNER_OK);
    assert_memory_equal(data, wanted, sizeof wanted);
    free(memory);
}

/* Numbers at the edges of their types, and just beyond. */
static void test_narrow_numbers(void **state)
{
    (void)state;
    static const struct {
        garner_dtype dtype;
        int64_t number;
        int fits;
    } numbers[] = {
        {GARNER_I8, 127, 1},     {GARNER_I8, 128, 0},     {GARNER_I8, -128, 1},     {GARNER_I8, -129, 0},
        {GARNER_I16, -32768, 1}, {GARNER_I16, -32769, 0}, {GARNER_I16, 32768, 0},   {GARNER_U8, 255, 1},
        {GARNER_U8, 256, 0},     {GARNER_U8, -1, 0},      {GARNER_U16, 65535, 1},   {GARNER_U16, 65536, 0},
        {GARNER_BOOL, 77, 1},    {GARNER_U4, 255, 1},     {GARNER_U4, 256, 0},      {GARNER_F16, 65535, 1},
        {GARNER_F16, -1, 0},     {GARNER_I32, -1, 1},     {GARNER_F8E4M3FN, 255, 1}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int packed = 0; packed < 2; packed++) {
            struct message message = tensor_of(numbers[i].dtype, 1), list = {.size = 0};
            struct onnx_tensor tensor;
            const void *data;
            void *memory = NULL;
            put_varint(&list, (uint64_t)numbers[i].number);
            if (packed)
                put_message(&message, INT32S, &list);
            else
                put_number(&message, INT32S, (uint64_t)numbers[i].number);
            assert_int_equal(read_message(&message, &tensor), GARNER_OK);
            garner_status status = onnx_tensor_load(&tensor, &file, NULL, NULL, &data, &memory);
            if (status != (numbers[i].fits ? GARNER_OK : GARNER_BAD_FILE))
                fail_msg("number %zu: %s", i, error.message);
            if (status) assert_non_null(strstr(error.message, "does not fit in"));
            free(memory);
        }
}

/* Fields of the right number and of another wire type are not theirs, and are not counted. */
static void test_fields_of_another_kind(void **state)
{
    (void)state;
    struct message floats = tensor_of(GARNER_F32, 2), strings = tensor_of(GARNER_STR, 1),
                   unsigned_ints = tensor_of(GARNER_U32, 1);
    struct onnx_tensor tensor;
    const void *data;
    void *memory;
    put_number(&floats, FLOATS, 7);
    put_bytes(&floats, FLOATS, two_stored[0], sizeof *two);
    put_bytes(&floats, FLOATS, two_stored[1], sizeof *two);
    assert_int_equal(read_message(&floats, &tensor), GARNER_OK);
    assert_int_equal(onnx_tensor_load(&tensor, &file, NULL, NULL, &data, &memory), GARNER_OK);
    assert_memory_equal(data, two, sizeof two);
    free(memory);
    put_number(&strings, STRINGS, 7);
    put_text(&strings, STRINGS, "word");
    assert_int_equal(read_message(&strings, &tensor), GARNER_OK);
    assert_int_equal(onnx_tensor_load(&tensor, &file, NULL, NULL, &data, &memory), GARNER_OK);
    assert_int_equal(((const garner_string *)data)->size, 4);
    free(memory);
    put_number(&unsigned_ints, 11, UINT64_C(1) << 32); /* uint64_data */
    assert_int_equal(read_message(&unsigned_ints, &tensor), GARNER_OK);
    assert_int_equal(onnx_tensor_load(&tensor, &file, NULL, NULL, &data, &memory), GARNER_BAD_FILE);
    assert_non_null(strstr(error.message, "does not fit in u32"));
}

static void test_elements_that_do_not_fit(void **state)
{
    (void)state;
    struct message elsewhere = tensor_of(GARNER_F32, 2), both = elsewhere, strings = tensor_of(GARNER_STR, 1);
    struct onnx_tensor tensor;
    put_number(&elsewhere, INT64S, 1);
    expect_refused(&elsewhere, GARNER_BAD_FILE, "int64_data holds elements, which for f32 belong elsewhere");
    put_bytes(&both, FLOATS, two_stored, sizeof two);
    put_bytes(&both, RAW, two_stored, sizeof two);
    expect_refused(&both, GARNER_BAD_FILE, "raw_data holds elements, which for f32 belong elsewhere");
    put_bytes(&strings, RAW, "a", 1);
    expect_refused(&strings, GARNER_BAD_FILE, "raw_data holds elements, which for str belong elsewhere");
    for (size_t bytes = 0; bytes <= 3 * sizeof *two; bytes += 2) { /* too few, right, too many */
        struct message raw = tensor_of(GARNER_F32, 2);
        put_bytes(&raw, RAW, "\0\0\0\0\0\0\0\0\0\0\0", bytes);
        assert_int_equal(read_message(&raw, &tensor), bytes == sizeof two ? GARNER_OK : GARNER_BAD_FILE);
    }
}

/* ---- What it says of itself ---- */

static void test_shapes_and_types(void **state)
{
    (void)state;
    struct message negative = tensor_of(GARNER_F32, -1), untyped = {.size = 0},
                   unknown = tensor_of((garner_dtype)99, 1);
    struct message huge = tensor_of(GARNER_F32, INT64_MAX), segment = tensor_of(GARNER_F32, 0),
                   deep = segment;
    expect_refused(&negative, GARNER_BAD_FILE, "an extent is negative");
    put_text(&untyped, NAME, "t");
    expect_refused(&untyped, GARNER_BAD_FILE, "it has no element type");
    assert_int_equal(read_message(&unknown, &(struct onnx_tensor){.rank = 0}), GARNER_UNSUPPORTED);
    assert_non_null(strstr(error.message, "element type 99 is not known here"));
    expect_refused(&huge, GARNER_BAD_FILE, "its size does not fit in 63 bits");
    put_bytes(&segment, SEGMENT, "", 0);
    expect_refused(&segment, GARNER_UNSUPPORTED,
                   "it is a segment of a larger one, which garner does not put together");
    for (int i = 0; i < GARNER_MAX_RANK; i++)
        put_number(&deep, DIMS, 1);
    expect_refused(&deep, GARNER_BAD_FILE, "its rank is above 64");
}

static void put_external(struct message *message, const char *key, const char *value)
{
    struct message entry = {.size = 0};
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_message(message, EXTERNAL, &entry);
}

static void test_external(void **state)
{
    (void)state;
    struct message nowhere = tensor_of(GARNER_F32, 2), good, length, number;
    struct onnx_tensor tensor;
    put_number(&nowhere, LOCATION, 1);
    good = nowhere;
    expect_refused(&nowhere, GARNER_BAD_FILE, "its external data have no location");
    put_external(&good, "location", "weights");
    put_external(&good, "offset", "4096");
    length = number = good;
    assert_int_equal(read_message(&good, &tensor), GARNER_OK);
    assert_int_equal(tensor.external, 1);
    assert_int_equal(tensor.offset, 4096);
    assert_int_equal(tensor.location.size, strlen("weights"));
    put_external(&length, "length", "9");
    expect_refused(&length, GARNER_BAD_FILE, "its external data have 9 bytes, and its elements take 8");
    put_external(&number, "length", "8x");
    expect_refused(&number, GARNER_BAD_FILE, "the length of its external data is no decimal number");
}

/* ---- Damage ---- */

/* A message that ends anywhere, or has any byte changed, is read within its bounds: refused, or taken for
 * something else. */
static void test_damaged_anywhere(void **state)
{
    (void)state;
    struct message whole = tensor_of(GARNER_F32, 2);
    put_bytes(&whole, RAW, two_stored, sizeof two);
    for (size_t at = 0; at < whole.size; at++) {
        for (unsigned change = 0; change < 256; change++) {
            struct message damaged = whole;
            struct onnx_tensor tensor;
            const void *data;
            void *memory = NULL;
            if (change)
                damaged.bytes[at] ^= (unsigned char)change;
            else
                damaged.size = at;
            garner_status status = read_message(&damaged, &tensor);
            if (!status && !tensor.external)
                status = onnx_tensor_load(&tensor, &file, NULL, NULL, &data, &memory);
            assert_int_equal(status != GARNER_OK, error.message[0] != '\0');
            free(memory);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_of_elements),
        cmocka_unit_test(test_integers_are_narrowed),
        cmocka_unit_test(test_narrow_numbers),
        cmocka_unit_test(test_fields_of_another_kind),
        cmocka_unit_test(test_elements_that_do_not_fit),
        cmocka_unit_test(test_shapes_and_types),
        cmocka_unit_test(test_external),
        cmocka_unit_test(test_damaged_anywhere),
    };
    return cmocka_run_group_tests(tests, make_guard, drop_guard);
}
