/* SPDX-License-Identifier: MIT */
/*
 * Bad axes and bad indices, each its own test.
 * Status, fields and sentence are checked, and after every refusal a good call works.
 */
#include "fixture.h"

#include "reference.h"

/* ---- Axes and ranks ---- */

static void test_axis_outside(void **state)
{
    (void)state;
    const int64_t axes[] = {3, -4, 100, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    const char *const texts[] = {"axis 3",
                                 "axis -4",
                                 "axis 100",
                                 "9223372036854775807",
                                 "-9223372036854775808",
                                 "-9223372036854775807"};
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ELEMENTS; kind++)
        for (size_t i = 0; i < 6; i++) {
            struct fixture f;
            fixture_make(&f, (garner_kind)kind);
            f.op.axis = axes[i];
            REFUSED(&f, GARNER_BAD_SHAPE, garner_kind_name((garner_kind)kind), "axis", texts[i], "[-3, 2]",
                    "rank 3");
            fixture_works((garner_kind)kind);
        }
}

static void test_axis_of_rank_0(void **state)
{
    (void)state;
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++) {
        struct fixture f;
        fixture_make(&f, (garner_kind)kind);
        f.op.axis = 0;
        f.data.rank = 0;
        REFUSED(&f, GARNER_BAD_SHAPE, garner_kind_name((garner_kind)kind), "data", "rank 0", "1");
        f.data.shape = NULL;
        REFUSED(&f, GARNER_BAD_SHAPE, "rank 0");
        fixture_works((garner_kind)kind);
    }
}

/* ---- Indices ---- */

/* What a bad index must leave in the record. */
static void index_fields(const struct fixture *f, int64_t axis, int64_t position, int64_t value,
                         int64_t bound)
{
    const uint32_t all = GARNER_HAS_AXIS | GARNER_HAS_POSITION | GARNER_HAS_VALUE | GARNER_HAS_BOUND;
    assert_int_equal(f->error.has & (all | GARNER_HAS_UNSIGNED), all);
    assert_int_equal(f->error.axis, axis);
    assert_int_equal(f->error.position, position);
    assert_int_equal(f->error.value.i, value);
    assert_int_equal(f->error.bound, bound);
    assert_int_equal(f->error.rank, f->indices.rank);
    for (int d = f->indices.rank - 1; d >= 0; position /= f->indices_shape[d--])
        assert_int_equal(f->error.coordinates[d], position % f->indices_shape[d]);
}

static void test_bad_index_of_gather_elements(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ELEMENTS);
    f.values[15] = 12;
    REFUSED(&f, GARNER_OUT_OF_RANGE, "GatherElements: indices[1,0,7] = 12 is outside [-5, 4] of data axis 2");
    index_fields(&f, 2, 15, 12, 5);
    f.values[9] = -6; /* a lower position takes over */
    REFUSED(&f, GARNER_OUT_OF_RANGE, "GatherElements: indices[1,0,1] = -6 is outside [-5, 4] of data axis 2");
    index_fields(&f, 2, 9, -6, 5);
    f.values[9] = -5;
    f.values[15] = 4;
    assert_int_equal(fixture_run(&f), GARNER_OK);
}

static void test_bad_index_of_gather(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.values[2] = 3;
    REFUSED(&f, GARNER_OUT_OF_RANGE, "Gather: indices[2] = 3 is outside [-3, 2] of data axis 1");
    index_fields(&f, 1, 2, 3, 3);
    f.values[2] = -3;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    f.op.axis = -2; /* the axis is reported counted from 0 */
    f.values[3] = -4;
    REFUSED(&f, GARNER_OUT_OF_RANGE, "indices[3] = -4 is outside [-3, 2] of data axis 1");
    index_fields(&f, 1, 3, -4, 3);
    fixture_works(GARNER_GATHER);
}

static void test_bad_scalar_index_of_gather(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.indices.rank = 0;
    f.out.rank = 2;
    f.out.shape = (int64_t[]){2, 5};
    f.values[0] = 7;
    REFUSED(&f, GARNER_OUT_OF_RANGE, "Gather: indices", "= 7 is outside [-3, 2] of data axis 1");
    assert_int_equal(f.error.rank, 0);
    assert_int_equal(f.error.position, 0);
    f.values[0] = 2;
    assert_int_equal(fixture_run(&f), GARNER_OK);
}

static void test_bad_index_of_gather_nd(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ND);
    f.values[5] = 3; /* the component, not the tuple */
    REFUSED(&f, GARNER_OUT_OF_RANGE, "GatherND: indices[2,1] = 3 is outside [-3, 2] of data axis 1");
    index_fields(&f, 1, 5, 3, 3);
    f.values[2] = -3;
    REFUSED(&f, GARNER_OUT_OF_RANGE, "GatherND: indices[1,0] = -3 is outside [-2, 1] of data axis 0");
    index_fields(&f, 0, 2, -3, 2);
    fixture_works(GARNER_GATHER_ND);
}

/* Under strict, where the text says [0, s-1], the sentence says so too. */
static void test_strict_range(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ELEMENTS);
    assert_int_equal(garner_op_from_spec(&f.op, "openvino-6", GARNER_GATHER_ELEMENTS, &f.error), GARNER_OK);
    f.op.axis = 2;
    f.indices_shape[1] = f.out_shape[1] = 1;
    f.data_shape[1] = 1;
    f.values[3] = -1;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    f.op.strict = 1;
    REFUSED(&f, GARNER_OUT_OF_RANGE, "GatherElements: indices[0,0,3] = -1 is outside [0, 4] of data axis 2");
    index_fields(&f, 2, 3, -1, 5);
    f.op.oob = GARNER_OOB_CLAMP; /* a policy decides for what is outside the strict range: -1 becomes 0 */
    assert_int_equal(fixture_run(&f), GARNER_OK);
    assert_true(f.picked[3] == 100);
    f.op.oob = GARNER_OOB_WRAP; /* and here the last one */
    assert_int_equal(fixture_run(&f), GARNER_OK);
    assert_true(f.picked[3] == 104);
}

static void test_least_index(void **state)
{
    (void)state;
    const int64_t values[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MIN + 5, -INT64_MAX};
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++)
        for (size_t i = 0; i < 5; i++) {
            struct fixture f;
            char text[32];
            fixture_make(&f, (garner_kind)kind);
            f.values[1] = values[i];
            snprintf(text, sizeof text, "= %lld is outside", (long long)values[i]);
            REFUSED(&f, GARNER_OUT_OF_RANGE, text);
            assert_int_equal(f.error.value.i, values[i]);
            assert_int_equal(f.error.position, 1);
            fixture_works((garner_kind)kind);
        }
}

/* One axis of 70000 bytes, each saying where it lies: index 1, and one that only this width reads well. */
static void width_reads(garner_dtype dtype, ref_int value, int64_t place)
{
    static uint16_t elements[70000];
    for (int i = 0; i < 70000; i++)
        elements[i] = (uint16_t)(i * 7919);
    unsigned char indices[2 * 8 + 1];
    const size_t width = (size_t)ref_bits(dtype) / 8;
    ref_store_index(dtype, indices + 1, 1); /* unaligned, too */
    ref_store_index(dtype, indices + 1 + width, value);
    uint16_t out[2];
    const garner_tensor data = {
        .data = elements, .shape = (int64_t[]){70000}, .rank = 1, .dtype = GARNER_U16};
    const garner_tensor at = {.data = indices + 1, .shape = (int64_t[]){2}, .rank = 1, .dtype = dtype};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_U16};
    assert_int_equal(garner_gather(&data, &at, 0, &to, NULL), GARNER_OK);
    assert_int_equal(out[0], elements[1]);
    assert_int_equal(out[1], elements[place]);
}

static void test_index_widths(void **state)
{
    (void)state;
    width_reads(GARNER_I8, -56, 70000 - 56);
    width_reads(GARNER_U8, 200, 200); /* -56 as i8 */
    width_reads(GARNER_I16, 300, 300);
    width_reads(GARNER_I16, -30000, 40000);
    width_reads(GARNER_U16, 40000, 40000); /* negative as i16 */
    width_reads(GARNER_I32, 66000, 66000);
    width_reads(GARNER_I32, -66000, 4000);
    width_reads(GARNER_U32, 66000, 66000);
    width_reads(GARNER_I64, 69999, 69999);
    width_reads(GARNER_I64, -70000, 0);
    width_reads(GARNER_U64, 69999, 69999);
}

/* Values that would be fine if they were read in another width, or with a sign. */
static void test_unsigned_is_not_negative(void **state)
{
    (void)state;
    const garner_dtype dtypes[] = {GARNER_U8, GARNER_U16, GARNER_U32, GARNER_U64};
    for (int t = 0; t < 4; t++) {
        struct fixture f;
        fixture_make(&f, GARNER_GATHER);
        f.indices.dtype = dtypes[t];
        for (size_t i = 0; i < 4; i++)
            ref_store_index(dtypes[t], (unsigned char *)f.values + i * (size_t)ref_bits(dtypes[t]) / 8,
                            i == 2 ? ref_most(dtypes[t]) : (ref_int)0);
        char text[64];
        snprintf(text, sizeof text, "indices[2] = %llu is outside", (unsigned long long)ref_most(dtypes[t]));
        REFUSED(&f, GARNER_OUT_OF_RANGE, text, "data axis 1");
        assert_true(f.error.has & GARNER_HAS_UNSIGNED);
        assert_true(f.error.value.u == (uint64_t)ref_most(dtypes[t]));
        assert_int_equal(f.error.bound, 3);
        fixture_works(GARNER_GATHER);
    }
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.values[3] = ((int64_t)1 << 32) + 1; /* 1, read as i32 */
    REFUSED(&f, GARNER_OUT_OF_RANGE, "indices[3] = 4294967297 is outside [-3, 2]");
}

static void test_indices_of_types_that_do_not_index(void **state)
{
    (void)state;
    const garner_dtype dtypes[] = {GARNER_F32,  GARNER_F64, GARNER_F16, GARNER_BF16,
                                   GARNER_BOOL, GARNER_STR, GARNER_C64, GARNER_U4,
                                   GARNER_C128, GARNER_I4,  GARNER_U1,  GARNER_OPAQUE};
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++)
        for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
            struct fixture f;
            fixture_make(&f, (garner_kind)kind);
            f.indices.dtype = dtypes[i];
            f.indices.item_bytes = 8;
            REFUSED(&f, GARNER_BAD_TYPE, garner_kind_name((garner_kind)kind), "indices",
                    ref_type_name(dtypes[i]), "integer");
            fixture_works((garner_kind)kind);
        }
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.indices.dtype = GARNER_BOOL;
    REFUSED(&f, GARNER_BAD_TYPE, "mask"); /* the way out is named */
}

static void test_empty_axis(void **state)
{
    (void)state;
    const int axes[] = {[GARNER_GATHER] = 1, [GARNER_GATHER_ELEMENTS] = 2, [GARNER_GATHER_ND] = 0};
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++) {
        struct fixture f;
        fixture_make(&f, (garner_kind)kind);
        f.data_shape[axes[kind]] = 0;
        memset(f.values, 0, sizeof f.values);
        const garner_oob policies[] = {GARNER_OOB_ERROR, GARNER_OOB_CLAMP, GARNER_OOB_WRAP};
        for (int p = 0; p < 3; p++) {
            f.op.oob = policies[p];
            REFUSED(&f, GARNER_OUT_OF_RANGE, "indices[0", "= 0", "data axis", "empty");
            index_fields(&f, axes[kind], 0, 0, 0);
        }
        f.op.oob = GARNER_OOB_ZERO;
        f.picked[0] = 5;
        assert_int_equal(fixture_run(&f), GARNER_OK);
        assert_true(f.picked[0] == 0);
        fixture_works((garner_kind)kind);
    }
}

/* Every index is checked, also when out is empty for another reason. */
static void test_empty_out(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.data_shape[2] = f.out_shape[2] = 0;
    f.values[3] = 3;
    REFUSED(&f, GARNER_OUT_OF_RANGE, "Gather: indices[3] = 3 is outside [-3, 2] of data axis 1");
    f.values[3] = 2;
    assert_int_equal(fixture_run(&f), GARNER_OK);
    fixture_make(&f, GARNER_GATHER_ND);
    f.data_shape[2] = f.out_shape[1] = 0;
    f.values[7] = 9;
    REFUSED(&f, GARNER_OUT_OF_RANGE, "GatherND: indices[3,1] = 9 is outside [-3, 2] of data axis 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis_outside),
        cmocka_unit_test(test_axis_of_rank_0),
        cmocka_unit_test(test_bad_index_of_gather_elements),
        cmocka_unit_test(test_bad_index_of_gather),
        cmocka_unit_test(test_bad_scalar_index_of_gather),
        cmocka_unit_test(test_bad_index_of_gather_nd),
        cmocka_unit_test(test_strict_range),
        cmocka_unit_test(test_least_index),
        cmocka_unit_test(test_index_widths),
        cmocka_unit_test(test_unsigned_is_not_negative),
        cmocka_unit_test(test_indices_of_types_that_do_not_index),
        cmocka_unit_test(test_empty_axis),
        cmocka_unit_test(test_empty_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
