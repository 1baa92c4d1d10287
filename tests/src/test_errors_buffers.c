/* SPDX-License-Identifier: MIT */
/*
 * Bad buffers and arguments, each its own test. What needs threads, failing memory or huge mappings has
 * a program of its own.
 */
#include "fixture.h"

#include "guard.h"
#include "reference.h"

#include <stdlib.h>

/* The release build checks; an index just past the end is an error and nothing was read there. */
static void test_checks_are_code(void **state)
{
    (void)state;
    struct guard memory;
    guard_create(&memory, 1);
    unsigned char *last = guard_place(&memory, 1, GUARD_AFTER), out[2];
    *last = 42;
    for (int64_t index = 1; index < 100000; index *= 10) {
        const int64_t indices[] = {0, index};
        const garner_tensor data = {.data = last, .shape = (int64_t[]){1}, .rank = 1, .dtype = GARNER_U8};
        const garner_tensor at = {
            .data = (void *)indices, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_I64};
        const garner_tensor to = {.data = out, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_U8};
        assert_int_equal(garner_gather(&data, &at, 0, &to, NULL), GARNER_OUT_OF_RANGE);
    }
    guard_destroy(&memory);
}

#define TEXT_OF(x) #x
#define TEXT(...) TEXT_OF((__VA_ARGS__))

static void test_must_use(void **state)
{
    (void)state;
    assert_non_null(strstr(TEXT(GARNER_MUST_USE), "warn_unused_result"));
    struct fixture f; /* a plan that failed is NULL, not half a plan */
    fixture_make(&f, GARNER_GATHER);
    garner_plan *plan = (garner_plan *)&f;
    f.op.axis = 9;
    assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, NULL, &f.error), GARNER_BAD_SHAPE);
    assert_null(plan);
    garner_plan_destroy(plan);
}

/* A plan keeps its own copies of shapes and strides. */
static void test_shapes_are_copied(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    int64_t strides[] = {20, 5, 1};
    f.out.strides = strides;
    garner_plan *plan = NULL;
    assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, &f.out, &f.error), GARNER_OK);
    memset(f.data_shape, 0x7f, sizeof f.data_shape);
    memset(f.indices_shape, 0x7f, sizeof f.indices_shape);
    memset(f.out_shape, 0x7f, sizeof f.out_shape);
    memset(strides, 0x7f, sizeof strides);
    assert_int_equal(garner_execute(plan, f.elements, f.values, f.picked, NULL, &f.error), GARNER_OK);
    assert_true(f.picked[39] == 124 && f.picked[5] == 110 && f.picked[40] == 0);
    garner_plan_destroy(plan);
}

/* ---- Overlap ---- */

static void test_out_over_data(void **state)
{
    (void)state;
    char bytes[400];
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++) {
        struct fixture f;
        fixture_make(&f, (garner_kind)kind);
        const int64_t data_bytes = 120, out_bytes = kind == GARNER_GATHER      ? 160
                                                    : kind == GARNER_GATHER_ND ? 80
                                                                               : 64;
        f.data.data = bytes + 160;
        for (int64_t at = 160 - out_bytes - 1; at <= 160 + data_bytes + 1 && at + out_bytes <= 400; at++) {
            const bool apart = at + out_bytes <= 160 || at >= 160 + data_bytes;
            if (at < 0) continue;
            f.out.data = bytes + at;
            if (apart)
                assert_int_equal(fixture_run(&f), GARNER_OK);
            else
                REFUSED(&f, GARNER_BAD_SHAPE, garner_kind_name((garner_kind)kind), "out", "overlap", "data");
        }
        fixture_works((garner_kind)kind);
    }
}

static void test_out_over_indices(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ND);
    char *bytes = (char *)f.values; /* 64 bytes of indices; out would be 80 */
    f.out.data = bytes + 63;
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherND", "out", "overlap", "indices");
    f.out.data = bytes;
    REFUSED(&f, GARNER_BAD_SHAPE, "overlap", "indices");
    f.out.data = f.picked;
    assert_int_equal(fixture_run(&f), GARNER_OK);
}

/* What has no bytes overlaps nothing; and the plan's own door finds what overlaps. */
static void test_empty_never_overlaps(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.indices_shape[0] = f.out_shape[1] = 0;
    f.out.data = f.elements;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    fixture_make(&f, GARNER_GATHER);
    garner_plan *plan = NULL;
    assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, NULL, &f.error), GARNER_OK);
    assert_int_equal(garner_execute(plan, f.elements, f.values, f.elements + 29, NULL, &f.error),
                     GARNER_BAD_SHAPE);
    assert_int_equal(garner_execute(plan, f.elements, f.values, f.values, NULL, &f.error), GARNER_BAD_SHAPE);
    assert_int_equal(garner_execute(plan, f.elements, f.values, f.picked, NULL, &f.error), GARNER_OK);
    garner_plan_destroy(plan);
}

static void test_out_over_itself(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    const int64_t bad[][3] = {{0, 5, 1}, {20, 4, 1}, {20, 5, 0}, {1, 2, 3}, {-19, 5, 1}};
    const int64_t good[][3] = {{20, 5, 1}, {4, 1, 8}, {25, 6, 1}, {1, 2, 8}, {21, 5, 1}};
    for (int i = 0; i < 5; i++) {
        f.out.strides = bad[i];
        REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "out");
        f.out.strides = good[i];
        if (fixture_run(&f) != GARNER_OK) fail_msg("%s", f.error.message);
    }
}

/* ---- Strides ---- */

static void test_strides_leave_the_buffer(void **state)
{
    (void)state;
    const int64_t bad[][3] = {{16, 5, 1}, {-15, 5, 1}, {15, -5, 1}, {15, 5, 2}, {15, 8, 1}};
    for (int i = 0; i < 5; i++) {
        struct fixture f;
        fixture_make(&f, GARNER_GATHER);
        f.data.bytes = sizeof f.elements;
        assert_int_equal(fixture_run(&f), GARNER_OK);
        f.data.strides = bad[i];
        REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "data", "120");
    }
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.data.bytes = sizeof f.elements; /* flipped, from the last element: inside again */
    f.data.strides = (int64_t[]){-15, -5, -1};
    f.data.byte_offset = 29 * sizeof(float);
    assert_int_equal(fixture_run(&f), GARNER_OK);
    assert_true(f.picked[0] == 129 && f.picked[39] == 105);
    f.data.byte_offset -= 1;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "data");
    f.data.byte_offset += 2;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "data");
}

static void test_strides_that_wrap(void **state)
{
    (void)state;
    const int64_t bad[][3] = {
        {INT64_MAX, 5, 1},  {INT64_MIN, 5, 1},         {15, INT64_MAX, 1},
        {15, INT64_MIN, 1}, {15, 5, INT64_MAX},        {INT64_MAX, INT64_MAX, INT64_MAX},
        {15, 5, INT64_MIN}, {INT64_MIN, INT64_MIN, 1}, {(int64_t)1 << 61, 5, 1}};
    for (int i = 0; i < 9; i++) {
        struct fixture f;
        fixture_make(&f, GARNER_GATHER);
        f.data.strides = bad[i];
        REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "data", "strides");
        fixture_make(&f, GARNER_GATHER);
        f.out.strides = bad[i];
        REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "out");
    }
    struct fixture f; /* an extent of 1 is never stepped over, whatever its stride */
    fixture_make(&f, GARNER_GATHER);
    f.data_shape[0] = f.out_shape[0] = 1;
    f.data.strides = (int64_t[]){INT64_MIN, 5, 1};
    f.out.strides = (int64_t[]){INT64_MAX, 5, 1};
    assert_int_equal(fixture_run(&f), GARNER_OK);
    assert_true(f.picked[19] == 109);
}

/* Views that reach almost as far as addresses go can be planned, though nobody has the memory. */
static void test_strides_that_just_fit(void **state)
{
    (void)state;
    const int64_t far =
        (int64_t)1 << (8 * sizeof(void *) - 2); /* the addresses of a machine of 32 bits, too */
    const int64_t strides[][2] = {{far, 1}, {0, far}, {far, 0}, {-far, 1}, {far / 2, far / 2}, {1, -far}};
    for (int i = 0; i < 6; i++) {
        const garner_op op = {.kind = GARNER_GATHER_ELEMENTS, .axis = i % 2};
        const garner_tensor data = {
            .shape = (int64_t[]){2, 2}, .strides = strides[i], .rank = 2, .dtype = GARNER_U8};
        const garner_tensor indices = {
            .shape = (int64_t[]){2, 2}, .strides = strides[i], .rank = 2, .dtype = GARNER_I8};
        garner_plan *plan = NULL;
        garner_error error;
        if (garner_plan_create(&plan, &op, &data, &indices, NULL, &error) != GARNER_OK)
            fail_msg("%s", error.message);
        garner_plan_destroy(plan);
    }
}

static void test_packed_must_be_dense(void **state)
{
    (void)state;
    unsigned char bytes[64] = {0}, out[64];
    int64_t zeros[2] = {0};
    garner_tensor data = {.data = bytes, .shape = (int64_t[]){2, 4}, .rank = 2, .dtype = GARNER_U4};
    const garner_tensor indices = {.data = zeros, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_I64};
    garner_tensor to = {.data = out, .shape = (int64_t[]){2, 4}, .rank = 2, .dtype = GARNER_U4};
    garner_error error;
    data.strides = (int64_t[]){1, 2};
    assert_int_equal(garner_gather(&data, &indices, 0, &to, &error), GARNER_BAD_SHAPE);
    assert_non_null(strstr(error.message, "dense"));
    data.strides = (int64_t[]){4, 1};
    to.strides = (int64_t[]){8, 1};
    assert_int_equal(garner_gather(&data, &indices, 0, &to, &error), GARNER_BAD_SHAPE);
    assert_non_null(strstr(error.message, "out"));
    to.strides = (int64_t[]){4, 1};
    assert_int_equal(garner_gather(&data, &indices, 0, &to, &error), GARNER_OK);
}

/* ---- Alignment ---- */

static void test_misaligned(void **state)
{
    (void)state;
    char data[256], indices[256], out[256];
    for (size_t shift = 0; shift < 64; shift++)
        for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++) {
            struct fixture f;
            fixture_make(&f, (garner_kind)kind);
            assert_int_equal(fixture_run(&f), GARNER_OK);
            f.data.data = memcpy(data + shift, f.elements, sizeof f.elements);
            f.indices.data = memcpy(indices + (shift * 5 + 1) % 64, f.values, sizeof f.values);
            f.out.data = out + (shift * 11 + 3) % 64;
            assert_int_equal(fixture_run(&f), GARNER_OK);
            const size_t bytes = kind == GARNER_GATHER ? 160 : kind == GARNER_GATHER_ND ? 80 : 64;
            assert_memory_equal(f.out.data, f.picked, bytes);
        }
}

/* ---- NULL ---- */

static void test_null_tensors(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    garner_error *error = &f.error;
    assert_int_equal(garner_run(&f.op, NULL, &f.indices, &f.out, NULL, error), GARNER_BAD_ARGUMENT);
    assert_non_null(strstr(error->message, "data"));
    assert_int_equal(garner_run(&f.op, &f.data, NULL, &f.out, NULL, error), GARNER_BAD_ARGUMENT);
    assert_non_null(strstr(error->message, "indices"));
    assert_int_equal(garner_run(&f.op, &f.data, &f.indices, NULL, NULL, error), GARNER_BAD_ARGUMENT);
    assert_non_null(strstr(error->message, "out"));
    assert_int_equal(garner_run(NULL, &f.data, &f.indices, &f.out, NULL, error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_gather(NULL, NULL, 0, NULL, error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_gather_elements(NULL, NULL, 0, NULL, NULL), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_gather_nd(&f.data, NULL, 0, NULL, NULL), GARNER_BAD_ARGUMENT);
    garner_shape shape;
    assert_int_equal(garner_infer(&f.op, &f.data, &f.indices, NULL, error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_infer(NULL, &f.data, &f.indices, &shape, error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_infer(&f.op, NULL, &f.indices, &shape, error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_op_from_spec(NULL, "onnx-13", GARNER_GATHER, error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_op_from_spec(&f.op, NULL, (garner_kind)99, error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_plan_create(NULL, &f.op, &f.data, &f.indices, NULL, error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_execute(NULL, f.elements, f.values, f.picked, NULL, error), GARNER_BAD_ARGUMENT);
    garner_plan_destroy(NULL);
    fixture_works(GARNER_GATHER);
}

static void test_null_pointers(void **state)
{
    (void)state;
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++) {
        struct fixture f;
        const char *name = garner_kind_name((garner_kind)kind);
        fixture_make(&f, (garner_kind)kind);
        f.data.data = NULL;
        REFUSED(&f, GARNER_BAD_ARGUMENT, name, "data", "NULL");
        fixture_make(&f, (garner_kind)kind);
        f.indices.data = NULL;
        REFUSED(&f, GARNER_BAD_ARGUMENT, name, "indices", "NULL");
        fixture_make(&f, (garner_kind)kind);
        f.out.data = NULL;
        REFUSED(&f, GARNER_BAD_ARGUMENT, name, "out", "NULL");
        fixture_make(&f, (garner_kind)kind);
        f.data.shape = NULL;
        REFUSED(&f, GARNER_BAD_ARGUMENT, name, "data", "shape", "NULL");
        fixture_make(&f, (garner_kind)kind);
        f.indices.shape = NULL;
        REFUSED(&f, GARNER_BAD_ARGUMENT, name, "indices", "shape", "NULL");
        fixture_make(&f, (garner_kind)kind);
        f.out.shape = NULL;
        REFUSED(&f, GARNER_BAD_ARGUMENT, name, "out", "shape", "NULL");
        fixture_works((garner_kind)kind);
    }
}

/* Enum values that are none, and structs of another size. */
static void test_unknown_values(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.op.kind = (garner_kind)0;
    REFUSED(&f, GARNER_BAD_ARGUMENT, "kind");
    f.op.kind = (garner_kind)4;
    REFUSED(&f, GARNER_BAD_ARGUMENT, "kind");
    fixture_make(&f, GARNER_GATHER);
    f.op.oob = (garner_oob)4;
    REFUSED(&f, GARNER_BAD_ARGUMENT, "Gather", "oob");
    fixture_make(&f, GARNER_GATHER);
    f.op.negative = (garner_negative)2;
    REFUSED(&f, GARNER_BAD_ARGUMENT, "Gather", "negative");
    fixture_make(&f, GARNER_GATHER);
    f.op.size = 3;
    REFUSED(&f, GARNER_BAD_ARGUMENT, "size");
    f.op.size = sizeof f.op;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    assert_string_equal(garner_status_name((garner_status)99), "unknown");
}

/* ---- Out ---- */

static void test_out_too_small(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.out.bytes = 159;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "out", "159");
    f.out.bytes = 160;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    f.out.byte_offset = 4;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "out", "160");
    f.out.bytes = 164;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    f.indices.bytes = 31;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "indices", "31");
    f.indices.bytes = 32;
    f.data.bytes = 119;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "data", "119");
    f.data.bytes = 120;
    assert_int_equal(fixture_run(&f), GARNER_OK);
}

static void test_out_of_another_shape(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.out_shape[1] = 3;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "out", "[2,3,5]", "[2,4,5]");
    f.out_shape[1] = 4;
    f.out.rank = 2;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "out", "[2,4,5]");
    f.out.rank = 3;
    f.out.dtype = GARNER_I32; /* of the same size */
    REFUSED(&f, GARNER_BAD_TYPE, "Gather", "out", "i32", "f32");
    fixture_make(&f, GARNER_GATHER);
    f.data.dtype = f.out.dtype = GARNER_OPAQUE;
    f.data.item_bytes = 4;
    f.out.item_bytes = 3;
    REFUSED(&f, GARNER_BAD_TYPE, "Gather", "out", "3", "4");
    f.out.item_bytes = 4;
    assert_int_equal(fixture_run(&f), GARNER_OK);
}

/* ---- Types ---- */

static void test_unknown_element_type(void **state)
{
    (void)state;
    const garner_dtype none[] = {0, 27, 62, 64, -1, 1000, INT32_MIN};
    for (int i = 0; i < 7; i++) {
        struct fixture f;
        char text[16];
        snprintf(text, sizeof text, "%d", (int)none[i]);
        fixture_make(&f, GARNER_GATHER);
        f.data.dtype = none[i];
        REFUSED(&f, GARNER_BAD_TYPE, "Gather", "data", text);
        fixture_make(&f, GARNER_GATHER);
        f.indices.dtype = none[i];
        REFUSED(&f, GARNER_BAD_TYPE, "Gather", "indices", text);
        fixture_make(&f, GARNER_GATHER);
        f.out.dtype = none[i];
        REFUSED(&f, GARNER_BAD_TYPE, "Gather", "out");
    }
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.data.dtype = f.out.dtype = GARNER_OPAQUE;
    REFUSED(&f, GARNER_BAD_TYPE, "Gather", "data", "item_bytes");
    f.data.item_bytes = UINT64_MAX;
    REFUSED(&f, GARNER_BAD_TYPE, "Gather", "data");
    fixture_works(GARNER_GATHER);
}

static void test_types_of_versions(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    assert_int_equal(garner_op_from_spec(&f.op, "onnx-11", GARNER_GATHER, NULL), GARNER_OK);
    f.op.axis = 1;
    f.data.dtype = f.out.dtype = GARNER_BF16;
    REFUSED(&f, GARNER_BAD_TYPE, "Gather", "data", "bf16", "onnx-11");
    assert_int_equal(garner_op_from_spec(&f.op, "onnx-13", GARNER_GATHER, NULL), GARNER_OK);
    f.op.axis = 1;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    f.indices.dtype = GARNER_I8;
    REFUSED(&f, GARNER_BAD_TYPE, "Gather", "indices", "i8", "onnx-13");
    fixture_make(&f, GARNER_GATHER_ND);
    assert_int_equal(garner_op_from_spec(&f.op, "onnx-13", GARNER_GATHER_ND, NULL), GARNER_OK);
    f.indices.dtype = GARNER_I32;
    REFUSED(&f, GARNER_BAD_TYPE, "GatherND", "indices", "i32", "onnx-13");
    fixture_make(&f, GARNER_GATHER); /* strict without a version is onnx-13 */
    f.op.strict = 1;
    f.data.dtype = f.out.dtype = GARNER_U4;
    REFUSED(&f, GARNER_BAD_TYPE, "Gather", "data", "u4");
}

static void test_odd_counts_of_packed(void **state)
{
    (void)state;
    const unsigned char data[] = {0x21, 0x43, 0x05}; /* u4: 1 2 3 4 5 */
    unsigned char out[] = {0xff, 0xff, 0xff};
    const int64_t indices[] = {4, 0, 2};
    const garner_tensor from = {.data = (void *)data, .shape = (int64_t[]){5}, .rank = 1, .dtype = GARNER_U4};
    const garner_tensor at = {
        .data = (void *)indices, .shape = (int64_t[]){3}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor to = {
        .data = out, .shape = (int64_t[]){3}, .rank = 1, .dtype = GARNER_U4, .bytes = 2};
    assert_int_equal(garner_gather(&from, &at, 0, &to, NULL), GARNER_OK);
    assert_int_equal(out[0], 0x15);
    assert_int_equal(out[1], 0x03); /* the unused half is 0 */
    assert_int_equal(out[2], 0xff); /* and what lies beyond is untouched */
}

static void test_bits_arrive_as_they_were(void **state)
{
    (void)state;
    const uint32_t bits[] = {0x7f800001, 0xffc12345, 0x80000000, 0x7fbfffff, 0xff800001, 0};
    const uint64_t wide[] = {0x7ff0000000000001, 0xfff8123456789abc, 0x8000000000000000, 0x7ff7ffffffffffff};
    const int64_t indices[] = {0, 1, 2, 3, 0, 1, 2, 3};
    const garner_tensor at = {
        .data = (void *)indices, .shape = (int64_t[]){8}, .rank = 1, .dtype = GARNER_I64};
    uint32_t out[8];
    uint64_t wide_out[8];
    const garner_tensor f32 = {.data = (void *)bits, .shape = (int64_t[]){6}, .rank = 1, .dtype = GARNER_F32};
    const garner_tensor f64 = {.data = (void *)wide, .shape = (int64_t[]){4}, .rank = 1, .dtype = GARNER_F64};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){8}, .rank = 1, .dtype = GARNER_F32};
    const garner_tensor wide_to = {.data = wide_out, .shape = (int64_t[]){8}, .rank = 1, .dtype = GARNER_F64};
    assert_int_equal(garner_gather(&f32, &at, 0, &to, NULL), GARNER_OK);
    assert_int_equal(garner_gather(&f64, &at, 0, &wide_to, NULL), GARNER_OK);
    for (int i = 0; i < 8; i++) {
        assert_true(out[i] == bits[indices[i]]);
        assert_true(wide_out[i] == wide[indices[i]]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks_are_code),
        cmocka_unit_test(test_must_use),
        cmocka_unit_test(test_shapes_are_copied),
        cmocka_unit_test(test_out_over_data),
        cmocka_unit_test(test_out_over_indices),
        cmocka_unit_test(test_empty_never_overlaps),
        cmocka_unit_test(test_out_over_itself),
        cmocka_unit_test(test_strides_leave_the_buffer),
        cmocka_unit_test(test_strides_that_wrap),
        cmocka_unit_test(test_strides_that_just_fit),
        cmocka_unit_test(test_packed_must_be_dense),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_null_tensors),
        cmocka_unit_test(test_null_pointers),
        cmocka_unit_test(test_unknown_values),
        cmocka_unit_test(test_out_too_small),
        cmocka_unit_test(test_out_of_another_shape),
        cmocka_unit_test(test_unknown_element_type),
        cmocka_unit_test(test_types_of_versions),
        cmocka_unit_test(test_odd_counts_of_packed),
        cmocka_unit_test(test_bits_arrive_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
