/* SPDX-License-Identifier: MIT */
/*
 * Bad sizes, ranks, extents, batch_dims and versions, each its own test, on the release build like all
 * the others.
 */
#include "fixture.h"

#include "reference.h"

/* ---- Sizes ---- */

static void test_all_empty(void **state)
{
    (void)state;
    const int64_t empty[] = {0, 0};
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++) {
        const bool nd = kind == GARNER_GATHER_ND;
        const garner_op op = {.kind = (garner_kind)kind};
        const garner_tensor data = {.shape = empty, .rank = nd ? 1 : 2, .dtype = GARNER_F32};
        const garner_tensor indices = {
            .shape = nd ? (int64_t[]){0, 1} : empty, .rank = 2, .dtype = GARNER_I64};
        const garner_tensor out = {.shape = (int64_t[]){0, 0, 0},
                                   .rank = kind == GARNER_GATHER ? 3
                                           : nd                  ? 1
                                                                 : 2,
                                   .dtype = GARNER_F32};
        garner_error error;
        if (garner_run(&op, &data, &indices, &out, NULL, &error) != GARNER_OK) fail_msg("%s", error.message);
    }
}

static void test_huge_but_empty(void **state)
{
    (void)state;
    const int64_t huge = (int64_t)1 << 62;
    const garner_op op = {.kind = GARNER_GATHER, .axis = 1};
    const garner_tensor data = {.shape = (int64_t[]){0, huge, huge}, .rank = 3, .dtype = GARNER_C128};
    const garner_tensor indices = {
        .data = (int64_t[]){5, -1}, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor out = {.shape = (int64_t[]){0, 2, huge}, .rank = 3, .dtype = GARNER_C128};
    garner_error error;
    garner_shape shape;
    assert_int_equal(garner_infer(&op, &data, &indices, &shape, &error), GARNER_OK);
    assert_int_equal(shape.count, 0);
    assert_int_equal(shape.bytes, 0);
    assert_int_equal(shape.extents[2], huge);
    if (garner_run(&op, &data, &indices, &out, NULL, &error) != GARNER_OK) fail_msg("%s", error.message);
    garner_plan *plan = NULL;
    assert_int_equal(garner_plan_create(&plan, &op, &data, &indices, NULL, &error), GARNER_OK);
    assert_int_equal(garner_execute(plan, NULL, indices.data, NULL, NULL, &error), GARNER_OK);
    garner_plan_destroy(plan);
    const garner_tensor strided = {.shape = (int64_t[]){0, huge, huge},
                                   .strides = (int64_t[]){huge, huge, huge},
                                   .rank = 3,
                                   .dtype = GARNER_C128};
    if (garner_run(&op, &strided, &indices, &out, NULL, &error) != GARNER_OK) fail_msg("%s", error.message);
}

static void test_too_many_elements(void **state)
{
    (void)state;
    struct fixture f;
    const int64_t shape[] = {(int64_t)1 << 32, (int64_t)1 << 31, 3};
    fixture_make(&f, GARNER_GATHER);
    f.data.shape = shape;
    REFUSED(&f, GARNER_TOO_LARGE, "Gather", "data", "4294967296,2147483648,3");
    fixture_make(&f, GARNER_GATHER);
    f.indices.shape = shape;
    f.indices.rank = 3;
    REFUSED(&f, GARNER_TOO_LARGE, "Gather", "indices", "4294967296,2147483648,3");
    const bool wide = sizeof(void *) >= 8; /* each fits in memory, their product in out does not */
    const int64_t extent = (int64_t)1 << (wide ? 40 : 27);
    fixture_make(&f, GARNER_GATHER);
    f.data.shape = (int64_t[]){3, 3, extent};
    f.data.dtype = GARNER_U8;
    f.indices.shape = (int64_t[]){extent};
    f.indices.dtype = GARNER_U8;
    REFUSED(&f, GARNER_TOO_LARGE, "Gather", "out", wide ? "1099511627776" : "134217728");
    fixture_works(GARNER_GATHER);
}

static void test_too_many_bytes(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.data.shape = (int64_t[]){(int64_t)1 << 30, 3, (int64_t)1 << 30};
    f.data.dtype = GARNER_F64;
    REFUSED(&f, GARNER_TOO_LARGE, "Gather", "data", "f64");
    f.data.dtype = GARNER_OPAQUE;
    f.data.item_bytes = 5;
    REFUSED(&f, GARNER_TOO_LARGE, "data");
    fixture_make(&f, GARNER_GATHER);
    f.data.byte_offset = UINT64_MAX;
    REFUSED(&f, GARNER_TOO_LARGE, "data", "byte_offset");
    f.data.byte_offset = INT64_MAX - 8;
    REFUSED(&f, GARNER_TOO_LARGE, "data");
    garner_shape shape; /* and garner_infer says the same before anything is allocated */
    assert_int_equal(garner_infer(&f.op, &f.data, &f.indices, &shape, NULL), GARNER_TOO_LARGE);
    fixture_works(GARNER_GATHER);
}

static void test_negative_extent(void **state)
{
    (void)state;
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++) {
        struct fixture f;
        fixture_make(&f, (garner_kind)kind);
        f.data_shape[0] = -1;
        REFUSED(&f, GARNER_BAD_SHAPE, garner_kind_name((garner_kind)kind), "data", "-1", "axis 0");
        f.data_shape[0] = 2;
        f.indices_shape[0] = INT64_MIN;
        REFUSED(&f, GARNER_BAD_SHAPE, "indices", "-9223372036854775808", "axis 0");
        f.data_shape[0] = 0; /* a zero elsewhere excuses nothing */
        f.data_shape[1] = -3;
        f.indices_shape[0] = 1;
        REFUSED(&f, GARNER_BAD_SHAPE, "data", "-3");
        fixture_works((garner_kind)kind);
    }
}

static void test_rank_above_64(void **state)
{
    (void)state;
    int64_t ones[128];
    for (int i = 0; i < 128; i++)
        ones[i] = 1;
    const int32_t ranks[] = {65, -1, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        struct fixture f;
        char text[32];
        snprintf(text, sizeof text, "rank %d", (int)ranks[i]);
        fixture_make(&f, GARNER_GATHER);
        f.data.shape = ones;
        f.data.rank = ranks[i];
        REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "data", text, "64");
        fixture_make(&f, GARNER_GATHER);
        f.indices.shape = ones;
        f.indices.rank = ranks[i];
        REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "indices", text, "64");
        fixture_make(&f, GARNER_GATHER);
        f.out.shape = ones;
        f.out.rank = ranks[i];
        REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "out");
    }
    all_work();
}

/* The output has q + r - 1 - b axes: 64 is fine, 65 is not. */
static void test_output_rank_above_64(void **state)
{
    (void)state;
    int64_t ones[64];
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    float one = 1;
    int64_t zero = 0;
    garner_error error;
    garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor data = {.data = &one, .shape = ones, .rank = 33, .dtype = GARNER_F32};
    garner_tensor indices = {.data = &zero, .shape = ones, .rank = 32, .dtype = GARNER_I64};
    garner_shape shape;
    assert_int_equal(garner_infer(&op, &data, &indices, &shape, &error), GARNER_OK);
    assert_int_equal(shape.rank, 64);
    indices.rank = 33;
    assert_int_equal(garner_infer(&op, &data, &indices, &shape, &error), GARNER_BAD_SHAPE);
    assert_non_null(strstr(error.message, "rank 65"));
    op.axis = op.batch_dims = 1;
    assert_int_equal(garner_infer(&op, &data, &indices, &shape, &error), GARNER_OK);
    op = (garner_op){.kind = GARNER_GATHER_ND};
    indices.rank = 64;
    assert_int_equal(garner_infer(&op, &data, &indices, &shape, &error), GARNER_BAD_SHAPE);
    assert_non_null(strstr(error.message, "95"));
    all_work();
}

/* ---- Ranks and extents of the operators ---- */

static void test_scalar_indices(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.indices.rank = 0;
    f.indices.shape = NULL;
    f.out.rank = 2;
    f.out.shape = (int64_t[]){2, 5};
    f.values[0] = 1;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    assert_true(f.picked[0] == 105 && f.picked[9] == 124);
    for (int kind = GARNER_GATHER_ELEMENTS; kind <= GARNER_GATHER_ND; kind++) {
        fixture_make(&f, (garner_kind)kind);
        f.indices.rank = 0;
        REFUSED(&f, GARNER_BAD_SHAPE, garner_kind_name((garner_kind)kind), "indices", "rank 0");
        fixture_works((garner_kind)kind);
    }
}

static void test_ranks_differ(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ELEMENTS);
    f.indices.rank = 2;
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherElements", "indices", "rank 2", "3", "data");
    fixture_works(GARNER_GATHER_ELEMENTS);
}

static void test_extent_off_the_axis(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ELEMENTS);
    f.indices_shape[1] = f.out_shape[1] = 4;
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherElements", "indices", "4", "axis 1", "3");
    assert_true(f.error.has & GARNER_HAS_AXIS);
    assert_int_equal(f.error.axis, 1);
    fixture_make(&f, GARNER_GATHER_ELEMENTS); /* OpenVINO wants them equal */
    assert_int_equal(garner_op_from_spec(&f.op, "openvino-6", GARNER_GATHER_ELEMENTS, NULL), GARNER_OK);
    f.op.axis = 2;
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherElements", "indices", "1", "axis 1", "3");
    assert_int_equal(f.error.axis, 1);
    f.data_shape[1] = 1;
    assert_int_equal(fixture_run(&f), GARNER_OK);
}

static void test_tuple_length(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ND);
    f.indices_shape[1] = 0;
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherND", "indices", "0", "[1, 3]");
    f.indices_shape[0] = 2;
    f.indices_shape[1] = 4;
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherND", "indices", "4", "[1, 3]");
    f.op.batch_dims = 1;
    f.indices_shape[1] = 3;
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherND", "indices", "3", "[1, 2]");
    fixture_works(GARNER_GATHER_ND);
}

static void test_batch_dims(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ND);
    const int64_t bad[] = {-1, 2, 3, INT64_MIN, INT64_MAX};
    for (int i = 0; i < 5; i++) {
        f.op.batch_dims = bad[i];
        REFUSED(&f, GARNER_BAD_SHAPE, "GatherND", "batch_dims", "[0, 1]");
    }
    f.op.batch_dims = 1; /* 4 against 2, which divides it but is not equal */
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherND", "indices", "4", "axis 0", "2");
    assert_int_equal(f.error.axis, 0);
    fixture_make(&f, GARNER_GATHER);
    f.op.batch_dims = 1;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "indices", "4", "axis 0", "2");
    f.op.axis = 0;
    f.indices_shape[0] = 2;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "batch_dims 1", "axis 0");
    f.op.batch_dims = 2;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "batch_dims 2", "[-1, 1]");
    f.op.batch_dims = INT64_MIN;
    REFUSED(&f, GARNER_BAD_SHAPE, "Gather", "batch_dims", "[-1, 1]");
    fixture_make(&f, GARNER_GATHER_ELEMENTS);
    f.op.batch_dims = 1;
    REFUSED(&f, GARNER_BAD_SHAPE, "GatherElements", "batch_dims", "1");
    all_work();
}

/* A version without batch_dims takes 0 alone. */
static void test_batch_dims_of_versions(void **state)
{
    (void)state;
    for (int v = 0; v < REF_VERSIONS; v++) {
        const struct ref_version *version = &ref_versions[v];
        if (version->batch != REF_BATCH_NONE || !version->spec) continue;
        struct fixture f;
        fixture_make(&f, version->kind);
        f.op.axis = 0;
        const int64_t axis = version->kind == GARNER_GATHER_ND ? 0 : f.data.rank - 1;
        assert_int_equal(garner_op_from_spec(&f.op, version->spec, version->kind, NULL), GARNER_OK);
        f.op.axis = axis;
        f.op.batch_dims = 1;
        f.data_shape[0] = f.data_shape[1] = f.indices_shape[0] = 1;
        if (f.indices.rank == 3) f.indices_shape[1] = 1;
        REFUSED(&f, GARNER_BAD_SHAPE, garner_kind_name(version->kind), "batch_dims", version->spec);
    }
}

/* ---- Versions ---- */

static void test_unknown_versions(void **state)
{
    (void)state;
    static const struct {
        garner_kind kind;
        const char *spec, *known;
    } rows[] = {
        {GARNER_GATHER, "onnx-12", "onnx-1, onnx-11, onnx-13, openvino-1, openvino-7, openvino-8"},
        {GARNER_GATHER, "onnx-99", "onnx-13"},
        {GARNER_GATHER, "", "onnx-13"},
        {GARNER_GATHER, "ONNX-13", "onnx-13"},
        {GARNER_GATHER_ELEMENTS, "onnx-1", "onnx-11, onnx-13, openvino-6"},
        {GARNER_GATHER_ELEMENTS, "openvino-8", "openvino-6"},
        {GARNER_GATHER_ND, "onnx-1", "onnx-11, onnx-12, onnx-13, openvino-5, openvino-8"},
        {GARNER_GATHER_ND, "openvino-6", "openvino-5, openvino-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        garner_op op;
        garner_error error;
        assert_int_equal(garner_op_from_spec(&op, rows[i].spec, rows[i].kind, &error), GARNER_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, garner_kind_name(rows[i].kind)));
        assert_non_null(strstr(error.message, rows[i].spec));
        if (!strstr(error.message, rows[i].known)) fail_msg("%s", error.message);
    }
}

static void test_known_versions(void **state)
{
    (void)state;
    int known = 0;
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++)
        for (int i = 0; garner_spec_name((garner_kind)kind, i); i++, known++) {
            garner_op op;
            assert_non_null(ref_find_version((garner_kind)kind, garner_spec_name((garner_kind)kind, i)));
            assert_int_equal(
                garner_op_from_spec(&op, garner_spec_name((garner_kind)kind, i), (garner_kind)kind, NULL),
                GARNER_OK);
        }
    assert_int_equal(known, REF_VERSIONS - 3); /* all but the three lenient ones */
    assert_null(garner_spec_name(GARNER_GATHER, -1));
    assert_null(garner_spec_name((garner_kind)9, 0));
    assert_null(garner_kind_name((garner_kind)0));
    assert_null(garner_kind_name((garner_kind)4));
}

static void test_spec_of_another_operator(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    assert_int_equal(garner_op_from_spec(&f.op, "openvino-6", GARNER_GATHER_ELEMENTS, NULL), GARNER_OK);
    f.op.kind = GARNER_GATHER;
    f.op.axis = 1;
    REFUSED(&f, GARNER_BAD_ARGUMENT, "Gather", "spec");
    const int32_t none[] = {-1, 1000, INT32_MIN, INT32_MAX};
    for (int i = 0; i < 4; i++) {
        f.op.spec = none[i];
        REFUSED(&f, GARNER_BAD_ARGUMENT, "Gather", "spec");
    }
    fixture_works(GARNER_GATHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_empty),
        cmocka_unit_test(test_huge_but_empty),
        cmocka_unit_test(test_too_many_elements),
        cmocka_unit_test(test_too_many_bytes),
        cmocka_unit_test(test_negative_extent),
        cmocka_unit_test(test_rank_above_64),
        cmocka_unit_test(test_output_rank_above_64),
        cmocka_unit_test(test_scalar_indices),
        cmocka_unit_test(test_ranks_differ),
        cmocka_unit_test(test_extent_off_the_axis),
        cmocka_unit_test(test_tuple_length),
        cmocka_unit_test(test_batch_dims),
        cmocka_unit_test(test_batch_dims_of_versions),
        cmocka_unit_test(test_unknown_versions),
        cmocka_unit_test(test_known_versions),
        cmocka_unit_test(test_spec_of_another_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
