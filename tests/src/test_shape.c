/* SPDX-License-Identifier: MIT */
/* Shapes at the edge of what can be counted, merged batches, and the words for what is wrong with them. */
#include "testing.h"

#include "error.h"
#include "line.h"

#include <string.h>

#define LARGE (INT64_C(1) << 40)

static garner_status infer(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                           garner_error *error)
{
    garner_shape shape;
    return garner_infer(op, data, indices, &shape, error);
}

static void expect(garner_status got, garner_status wanted, const garner_error *error, const char *words)
{
    if (got != wanted || !strstr(error->message, words))
        fail_msg("%s: %s", garner_status_name(got), error->message);
}

/* Every index is the same one, so the indices lie in 8 bytes; what they pick would not. */
static void test_output_too_large(void **state)
{
    (void)state;
    garner_error error;
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor data = {.shape = (int64_t[]){4, 4}, .rank = 2, .dtype = GARNER_F64};
    garner_tensor indices = {
        .shape = (int64_t[]){INT64_C(1) << 60}, .strides = (int64_t[]){0}, .rank = 1, .dtype = GARNER_I64};
    expect(infer(&op, &data, &indices, &error), GARNER_TOO_LARGE, &error,
           "[1152921504606846976,4]"); /* bytes */
    indices.shape = (int64_t[]){INT64_MAX};
    expect(infer(&op, &data, &indices, &error), GARNER_TOO_LARGE, &error,
           "9223372036854775807"); /* elements */
}

/* openvino-5 makes one axis of the batch; its extent may be too large though there are no elements. */
static void test_merged_batch(void **state)
{
    (void)state;
    garner_error error;
    garner_op op;
    assert_int_equal(garner_op_from_spec(&op, "openvino-5", GARNER_GATHER_ND, &error), GARNER_OK);
    op.batch_dims = 2;
    const garner_tensor data = {.shape = (int64_t[]){LARGE, LARGE, 0}, .rank = 3, .dtype = GARNER_F32};
    const garner_tensor indices = {.shape = (int64_t[]){LARGE, LARGE, 0, 1}, .rank = 4, .dtype = GARNER_I64};
    const garner_tensor out = {.shape = (int64_t[]){0, 0}, .rank = 2, .dtype = GARNER_F32};
    expect(infer(&op, &data, &indices, &error), GARNER_TOO_LARGE, &error, "more bytes than can be addressed");
    expect(garner_run(&op, &data, &indices, &out, NULL, &error), GARNER_TOO_LARGE, &error, "GatherND");
}

static void test_out_of_a_merged_batch(void **state)
{
    (void)state;
    garner_error error;
    garner_op op;
    float elements[6] = {0, 1, 2, 3, 4, 5}, picked[6];
    int64_t values[6] = {0};
    assert_int_equal(garner_op_from_spec(&op, "openvino-5", GARNER_GATHER_ND, &error), GARNER_OK);
    op.batch_dims = 2;
    const garner_tensor data = {
        .data = elements, .shape = (int64_t[]){2, 3, 1}, .rank = 3, .dtype = GARNER_F32};
    const garner_tensor indices = {
        .data = values, .shape = (int64_t[]){2, 3, 1}, .rank = 3, .dtype = GARNER_I64};
    garner_tensor out = {.data = picked, .shape = (int64_t[]){6}, .rank = 1, .dtype = GARNER_F32};
    expect(garner_run(&op, &data, &indices, &out, NULL, &error), GARNER_OK, &error, "");
    assert_memory_equal(picked, elements, sizeof elements);
    out.shape = (int64_t[]){5};
    expect(garner_run(&op, &data, &indices, &out, NULL, &error), GARNER_BAD_SHAPE, &error, "[6]");
    out.shape = (int64_t[]){2, 3};
    out.rank = 2;
    expect(garner_run(&op, &data, &indices, &out, NULL, &error), GARNER_BAD_SHAPE, &error, "[6]");
}

static void test_axis_of_gather_nd(void **state)
{
    (void)state;
    garner_error error;
    const garner_op op = {.kind = GARNER_GATHER_ND, .axis = 2};
    const garner_tensor data = {.shape = (int64_t[]){4}, .rank = 1, .dtype = GARNER_F32};
    const garner_tensor indices = {.shape = (int64_t[]){2, 1}, .rank = 2, .dtype = GARNER_I64};
    expect(infer(&op, &data, &indices, &error), GARNER_BAD_SHAPE, &error,
           "GatherND: axis is 2; this operator has none, so it must be 0");
}

/* Indices without end are no trouble to a plan whose out is empty, as long as each lies somewhere else. */
static void test_many_indices_for_nothing(void **state)
{
    (void)state;
    garner_error error;
    garner_plan *plan;
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor data = {.shape = (int64_t[]){5, 0}, .rank = 2, .dtype = GARNER_F32};
    garner_tensor indices = {.shape = (int64_t[]){INT64_C(1) << 30}, .rank = 1, .dtype = GARNER_I8};
    expect(garner_plan_create(&plan, &op, &data, &indices, NULL, &error), GARNER_OK, &error, "");
    char words[200];
    assert_true(garner_plan_describe(plan, words, sizeof words) > 0);
    assert_non_null(strstr(words, "Gather: nothing to move, axes"));
    garner_plan_destroy(plan);
    indices.shape = (int64_t[]){INT64_C(1) << 20, INT64_C(1) << 10};
    indices.strides = (int64_t[]){1, 1};
    indices.rank = 2;
    expect(garner_plan_create(&plan, &op, &data, &indices, NULL, &error), GARNER_BAD_SHAPE, &error,
           "overlap themselves more than 64 times");
    indices.byte_offset = UINT64_C(1) << 30; /* wherever they begin */
    expect(garner_plan_create(&plan, &op, &data, &indices, NULL, &error), GARNER_BAD_SHAPE, &error,
           "overlap themselves more than 64 times");
    indices.dtype = GARNER_I64; /* 2^21 elements, each of which is visited 2048 times */
    indices.shape = (int64_t[]){INT64_C(1) << 20, INT64_C(1) << 12};
    indices.strides = (int64_t[]){2, 1};
    expect(garner_plan_create(&plan, &op, &data, &indices, NULL, &error), GARNER_BAD_SHAPE, &error,
           "overlap themselves more than 64 times");
}

static void test_batch_beyond_a_negative_axis(void **state)
{
    (void)state;
    garner_error error;
    const garner_op op = {.kind = GARNER_GATHER, .axis = -2, .batch_dims = 2};
    const garner_tensor data = {.shape = (int64_t[]){2, 3, 4}, .rank = 3, .dtype = GARNER_F32};
    const garner_tensor indices = {.shape = (int64_t[]){2, 3, 1}, .rank = 3, .dtype = GARNER_I64};
    expect(infer(&op, &data, &indices, &error), GARNER_BAD_SHAPE, &error,
           "Gather: batch_dims 2 is beyond axis 1; it must be at most 1");
}

/* ONNX lets indices be smaller than data beside the axis, OpenVINO does not. */
static void test_extents_beside_the_axis(void **state)
{
    (void)state;
    garner_error error;
    garner_op op;
    const garner_tensor data = {.shape = (int64_t[]){3, 4}, .rank = 2, .dtype = GARNER_F32};
    const garner_tensor indices = {.shape = (int64_t[]){3, 5}, .rank = 2, .dtype = GARNER_I64};
    assert_int_equal(garner_op_from_spec(&op, "onnx-13", GARNER_GATHER_ELEMENTS, &error), GARNER_OK);
    expect(infer(&op, &data, &indices, &error), GARNER_BAD_SHAPE, &error,
           "indices has extent 5 on axis 1; it must be at most 4, that of data");
    assert_int_equal(garner_op_from_spec(&op, "openvino-6", GARNER_GATHER_ELEMENTS, &error), GARNER_OK);
    expect(infer(&op, &data, &indices, &error), GARNER_BAD_SHAPE, &error,
           "indices has extent 5 on axis 1; it must be equal to 4, that of data");
}

/* ---- Words ---- */

static void test_long_lists(void **state)
{
    (void)state;
    int64_t numbers[GARNER_MAX_RANK];
    for (int rank = 0; rank <= GARNER_MAX_RANK; rank++) {
        for (int i = 0; i < rank; i++)
            numbers[i] = INT64_MIN;
        const struct list_text list = garner_list_text(rank, numbers);
        const size_t length = strlen(list.text), each = strlen("-9223372036854775808,");
        assert_true(list.text[0] == '[' && list.text[length - 1] == ']');
        if (rank <= 7)
            assert_int_equal(length, rank == 0 ? 2 : (size_t)rank * each + 1);
        else
            assert_string_equal(list.text + 7 * each, ",...]");
    }
}

static void test_short_numbers_of_a_list(void **state)
{
    (void)state;
    const int64_t zeros[80] = {0};
    for (int rank = 1; rank <= 80; rank++) {
        const struct list_text list = garner_list_text(rank, zeros);
        const int whole = 67; /* those after which no number of any length would fit */
        assert_int_equal(strlen(list.text), rank <= whole ? 2 * rank + 1 : 2 * whole + 5);
    }
}

static void test_line(void **state)
{
    (void)state;
    char text[4] = "abc";
    struct line line = {text, sizeof text, 0};
    garner_line_add(&line, "%s", "");
    assert_int_equal(line.length, 0);
    assert_string_equal(text, "");
    garner_line_add(&line, "%d", 12);
    garner_line_add(&line, "%d", 345);
    assert_int_equal(line.length, 5);
    assert_string_equal(text, "123");
    garner_line_add(&line, "%d", 6);
    assert_int_equal(line.length, 6);
    assert_string_equal(text, "123");
}

static void test_status_names(void **state)
{
    (void)state;
    const char *seen[32];
    int count = 0;
    for (int status = 0; status < 32; status++) {
        const char *name = garner_status_name((garner_status)status);
        assert_non_null(name);
        for (int i = 0; i < count; i++)
            assert_string_not_equal(seen[i], name);
        seen[count++] = name;
        if (strcmp(name, "unknown") == 0) break;
    }
    assert_int_equal(count - 1, GARNER_SYSTEM + 1);
}

static void test_no_op(void **state)
{
    (void)state;
    garner_error error;
    expect(garner_op_from_spec(NULL, "onnx-13", GARNER_GATHER, &error), GARNER_BAD_ARGUMENT, &error,
           "op is NULL");
    assert_int_equal(garner_op_from_spec(NULL, "onnx-13", GARNER_GATHER, NULL), GARNER_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_too_large),
        cmocka_unit_test(test_merged_batch),
        cmocka_unit_test(test_out_of_a_merged_batch),
        cmocka_unit_test(test_axis_of_gather_nd),
        cmocka_unit_test(test_many_indices_for_nothing),
        cmocka_unit_test(test_batch_beyond_a_negative_axis),
        cmocka_unit_test(test_extents_beside_the_axis),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_short_numbers_of_a_list),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_no_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
