/* SPDX-License-Identifier: MIT */
/* Elements in order, whatever their strides; numbers of each width in either byte order; arrays and sentences
 * that cannot be. */
#include "array.h"
#include "byteorder.h"
#include "elements.h"
#include "fail.h"
#include "integer.h"

#include "testing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Walking ---- */

enum { ROWS = 300, COLUMNS = 1200 };

static uint32_t numbers[ROWS * COLUMNS];

/* Takes pieces until it has had so many of them, and then fails. */
struct taken {
    unsigned char bytes[sizeof numbers];
    size_t size, pieces, most;
};

static garner_status take(void *context, const void *bytes, size_t size, garner_error *error)
{
    struct taken *taken = context;
    if (taken->pieces++ == taken->most) return (fail)(error, GARNER_SYSTEM, "no more");
    assert_true(size <= sizeof taken->bytes - taken->size);
    memcpy(taken->bytes + taken->size, bytes, size);
    taken->size += size;
    return GARNER_OK;
}

static uint32_t turned(uint32_t number)
{
    byteorder_reverse(&number, sizeof number, sizeof number);
    return number;
}

static void test_walks(void **state)
{
    (void)state;
    static struct taken taken;
    static const struct {
        int64_t shape[2], strides[2];
        int has_strides;
    } views[] = {{{ROWS, COLUMNS}, {0, 0}, 0},
                 {{ROWS, COLUMNS}, {COLUMNS, 1}, 1},
                 {{ROWS, 1000}, {COLUMNS, 1}, 1},
                 {{COLUMNS, ROWS}, {1, COLUMNS}, 1},
                 {{ROWS, 1}, {COLUMNS, 7}, 1},
                 {{1, COLUMNS}, {9, 1}, 1},
                 {{ROWS, 7}, {COLUMNS, 3}, 1},
                 {{5, 70000}, {0, 1}, 1},
                 {{1, 1}, {5, 5}, 1}};
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = i * 2654435761u;
    for (size_t v = 0; v < sizeof views / sizeof *views; v++)
        for (unsigned swap = 0; swap <= 4; swap += 4) {
            const garner_tensor tensor = {.data = numbers,
                                          .shape = views[v].shape,
                                          .strides = views[v].has_strides ? views[v].strides : NULL,
                                          .rank = 2,
                                          .dtype = GARNER_U32};
            const int64_t row = views[v].has_strides ? views[v].strides[0] : COLUMNS,
                          column = views[v].has_strides ? views[v].strides[1] : 1;
            const size_t count = (size_t)(views[v].shape[0] * views[v].shape[1]);
            garner_error error;
            taken.size = taken.pieces = 0;
            taken.most = SIZE_MAX;
            assert_int_equal(elements_walk(&tensor, swap, take, &taken, &error), GARNER_OK);
            assert_int_equal(taken.size, count * sizeof *numbers);
            for (size_t i = 0; i < count; i++) {
                uint32_t got, wanted = numbers[(int64_t)i / views[v].shape[1] * row +
                                               (int64_t)i % views[v].shape[1] * column];
                memcpy(&got, taken.bytes + i * sizeof got, sizeof got);
                if (got != (swap ? turned(wanted) : wanted)) fail_msg("view %zu, element %zu", v, i);
            }
            for (size_t pieces = taken.pieces, most = 0; most < pieces; most += most < 3 ? 1 : 50) {
                taken.size = taken.pieces = 0;
                taken.most = most;
                assert_int_equal(elements_walk(&tensor, swap, take, &taken, &error), GARNER_SYSTEM);
                assert_int_equal(taken.pieces, most + 1);
            }
        }
}

/* Short runs before a long one, in one tensor: what is in the buffer comes first, and may fail. */
static void test_sizes(void **state)
{
    (void)state;
    static const int64_t large[] = {INT64_MAX, 2}, negative[] = {2, -1}, bytes[] = {INT64_C(1) << 61, 1};
    garner_tensor tensor = {.shape = large, .rank = 2, .dtype = GARNER_F32};
    garner_error error;
    uint64_t size;
    assert_int_equal(elements_bytes(&tensor, "x", &size, &error), GARNER_TOO_LARGE);
    tensor.shape = bytes;
    assert_int_equal(elements_bytes(&tensor, "x", &size, &error), GARNER_TOO_LARGE);
    tensor.shape = negative;
    assert_int_equal(elements_bytes(&tensor, "x", &size, &error), GARNER_BAD_SHAPE);
    assert_string_equal(error.message, "x: an extent is negative");
    tensor.rank = -1;
    assert_int_equal(elements_bytes(&tensor, "x", &size, &error), GARNER_BAD_SHAPE);
    tensor.rank = GARNER_MAX_RANK + 1;
    assert_int_equal(elements_bytes(&tensor, "x", &size, &error), GARNER_BAD_SHAPE);
    assert_string_equal(error.message, "x: rank 65 is outside [0, 64]");
    tensor.rank = 1;
    tensor.shape = (const int64_t[]){0};
    assert_int_equal(elements_walk(&tensor, 0, take, NULL, &error), GARNER_OK);
}

static void test_arrays_that_cannot_be(void **state)
{
    (void)state;
    static const int64_t shape[] = {INT64_C(1) << 40, INT64_C(1) << 22}, huge[] = {INT64_C(1) << 60};
    struct array array;
    garner_error error;
    assert_int_equal(array_create(&array, "x", GARNER_F32, 0, -1, shape, &error), GARNER_BAD_SHAPE);
    assert_int_equal(array_create(&array, "x", GARNER_F32, 0, GARNER_MAX_RANK + 1, shape, &error),
                     GARNER_BAD_SHAPE);
    assert_int_equal(array_create(&array, "x", GARNER_F32, 0, 2, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(array_create(&array, "x", GARNER_F32, 0, 2, shape, &error), GARNER_TOO_LARGE);
    assert_int_equal(array_create(&array, "x", GARNER_U8, 0, 1, huge, &error), GARNER_NO_MEMORY);
    assert_int_equal(array_create(&array, "x", GARNER_U8, 0, 0, NULL, &error), GARNER_OK);
    array_free(&array);
}

/* ---- Numbers ---- */

static void test_widths(void **state)
{
    (void)state;
    static const struct {
        garner_dtype dtype;
        unsigned width;
    } widths[] = {{GARNER_U8, 0},   {GARNER_BOOL, 0},   {GARNER_U4, 0},  {GARNER_I16, 2},
                  {GARNER_BF16, 2}, {GARNER_F32, 4},    {GARNER_I64, 8}, {GARNER_C64, 4},
                  {GARNER_C128, 8}, {GARNER_OPAQUE, 0}, {GARNER_STR, 0}, {GARNER_F8E4M3FN, 0}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        assert_int_equal(byteorder_width(widths[i].dtype), widths[i].width);
        assert_int_equal(byteorder_swap(widths[i].dtype), IS_LITTLE_ENDIAN ? 0 : widths[i].width);
    }
}

static void test_integers(void **state)
{
    (void)state;
    const uint64_t large = UINT64_MAX, small = 5;
    const int64_t negative = -5;
    assert_int_equal(integer_value(&large, GARNER_U64), INT64_MAX);
    assert_int_equal(integer_value(&small, GARNER_U64), 5);
    assert_int_equal(integer_value(&negative, GARNER_I64), -5);
}

/* ---- Sentences ---- */

static void test_sentences(void **state)
{
    (void)state;
    garner_error error;
    char label[FAIL_LABEL];
    assert_int_equal((fail)(NULL, GARNER_BAD_TYPE, "nobody reads this"), GARNER_BAD_TYPE);
    assert_int_equal(fail_at(NULL, GARNER_BAD_TYPE, "x", "nobody reads this"), GARNER_BAD_TYPE);
    assert_int_equal(fail_errno(NULL, "x", "open", ENOENT), GARNER_SYSTEM);
    assert_int_equal(fail_errno(&error, "", "open", ENOMEM), GARNER_NO_MEMORY);
    assert_int_equal(strncmp(error.message, "'': cannot open: ", 17), 0);
    assert_int_equal(fail_errno(&error, "x", "open", 123456), GARNER_SYSTEM);
    assert_string_equal(error.message, "x: cannot open: error 123456");
    assert_int_equal(fail_errno(&error, "x", "open", 0), GARNER_SYSTEM);
    assert_string_equal(error.message, "x: cannot open: error 0");
    assert_int_equal(succeed(NULL), GARNER_OK);
    assert_string_equal(fail_label(label, "x.npz", "member"), "x.npz:member");
    assert_string_equal(fail_label(label, "x.npy", ""), "x.npy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_arrays_that_cannot_be),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
