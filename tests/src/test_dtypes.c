/* SPDX-License-Identifier: MIT */
/*
 * The element types as a caller asks about them: names here and elsewhere, bits, and dense sizes with
 * their rounding and their limits. Expectations are written out, not taken from the library's list.
 */
#include "testing.h"

#include "reference.h"

#include <string.h>

static void test_names_both_ways(void **state)
{
    (void)state;
    for (int t = 0; t < REF_TYPES; t++) {
        assert_string_equal(garner_dtype_name(ref_types[t]), ref_type_name(ref_types[t]));
        assert_int_equal(garner_dtype_from_name(ref_type_name(ref_types[t])), ref_types[t]);
    }
}

/* What NumPy (and ml_dtypes), ONNX and OpenVINO say. */
static const struct alias {
    const char *name;
    garner_dtype dtype;
} aliases[] = {
    {"float16", GARNER_F16},
    {"float32", GARNER_F32},
    {"float64", GARNER_F64},
    {"int8", GARNER_I8},
    {"int16", GARNER_I16},
    {"int32", GARNER_I32},
    {"int64", GARNER_I64},
    {"uint8", GARNER_U8},
    {"uint16", GARNER_U16},
    {"uint32", GARNER_U32},
    {"uint64", GARNER_U64},
    {"bool", GARNER_BOOL},
    {"complex64", GARNER_C64},
    {"complex128", GARNER_C128},
    {"bfloat16", GARNER_BF16},
    {"int4", GARNER_I4},
    {"uint4", GARNER_U4},
    {"int2", GARNER_I2},
    {"uint2", GARNER_U2},
    {"float8_e4m3fn", GARNER_F8E4M3FN},
    {"float8_e4m3fnuz", GARNER_F8E4M3FNUZ},
    {"float8_e5m2", GARNER_F8E5M2},
    {"float8_e5m2fnuz", GARNER_F8E5M2FNUZ},
    {"float8_e8m0fnu", GARNER_F8E8M0},
    {"float4_e2m1fn", GARNER_F4E2M1},
    {"FLOAT", GARNER_F32},
    {"DOUBLE", GARNER_F64},
    {"FLOAT16", GARNER_F16},
    {"BFLOAT16", GARNER_BF16},
    {"INT8", GARNER_I8},
    {"INT16", GARNER_I16},
    {"INT32", GARNER_I32},
    {"INT64", GARNER_I64},
    {"UINT8", GARNER_U8},
    {"UINT16", GARNER_U16},
    {"UINT32", GARNER_U32},
    {"UINT64", GARNER_U64},
    {"BOOL", GARNER_BOOL},
    {"STRING", GARNER_STR},
    {"COMPLEX64", GARNER_C64},
    {"COMPLEX128", GARNER_C128},
    {"FLOAT8E4M3FN", GARNER_F8E4M3FN},
    {"FLOAT8E4M3FNUZ", GARNER_F8E4M3FNUZ},
    {"FLOAT8E5M2", GARNER_F8E5M2},
    {"FLOAT8E5M2FNUZ", GARNER_F8E5M2FNUZ},
    {"UINT4", GARNER_U4},
    {"INT4", GARNER_I4},
    {"FLOAT4E2M1", GARNER_F4E2M1},
    {"FLOAT8E8M0", GARNER_F8E8M0},
    {"UINT2", GARNER_U2},
    {"INT2", GARNER_I2},
    {"double", GARNER_F64},
    {"string", GARNER_STR},
    {"boolean", GARNER_BOOL},
    {"f8e4m3", GARNER_F8E4M3FN},
    {"f8e5m2", GARNER_F8E5M2},
    {"f8e8m0", GARNER_F8E8M0},
    {"f4e2m1", GARNER_F4E2M1},
    {"nf4", GARNER_NF4},
    {"u1", GARNER_U1},
    {"u3", GARNER_U3},
    {"u6", GARNER_U6},
};

static void test_aliases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (garner_dtype_from_name(aliases[i].name) != aliases[i].dtype)
            fail_msg("%s is %d", aliases[i].name, (int)garner_dtype_from_name(aliases[i].name));
}

static void test_names_that_are_none(void **state)
{
    (void)state;
    const char *const none[] = {"float",          "",     " ",     "f", "f33", "F 32", "f32 ", " f32",
                                "float32 single", "i128", "object"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (garner_dtype_from_name(none[i]) != 0) fail_msg("'%s' is taken as a type", none[i]);
    assert_int_equal(garner_dtype_from_name(NULL), 0);
}

static void test_types_that_are_none(void **state)
{
    (void)state;
    const garner_dtype none[] = {0, -1, 27, 47, 52, 62, 64, 65, 1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_null(garner_dtype_name(none[i]));
        assert_int_equal(garner_dtype_bits(none[i]), 0);
        assert_int_equal(garner_dtype_bytes(none[i], 1, 1), -1);
    }
}

static void test_numbers_are_onnx_numbers(void **state)
{
    (void)state;
    assert_int_equal(garner_dtype_from_name("f32"), 1);
    assert_int_equal(garner_dtype_from_name("str"), 8);
    assert_int_equal(garner_dtype_from_name("c128"), 15);
    assert_int_equal(garner_dtype_from_name("bf16"), 16);
    assert_int_equal(garner_dtype_from_name("f8e5m2fnuz"), 20);
    assert_int_equal(garner_dtype_from_name("f4e2m1"), 23);
    assert_int_equal(garner_dtype_from_name("i2"), 26);
}

static void test_bits_and_bytes(void **state)
{
    (void)state;
    for (int t = 0; t < REF_TYPES; t++) {
        assert_int_equal(garner_dtype_bits(ref_types[t]), ref_bits(ref_types[t]));
        for (int64_t count = 0; count < 40; count++)
            assert_int_equal(garner_dtype_bytes(ref_types[t], count, 7), ref_bytes(ref_types[t], 7, count));
    }
}

static void test_units_of_three_bytes(void **state)
{
    (void)state;
    assert_int_equal(garner_dtype_bytes(GARNER_U3, 1, 0), 3);
    assert_int_equal(garner_dtype_bytes(GARNER_U3, 8, 0), 3);
    assert_int_equal(garner_dtype_bytes(GARNER_U3, 9, 0), 6);
    assert_int_equal(garner_dtype_bytes(GARNER_U6, 1, 0), 3);
    assert_int_equal(garner_dtype_bytes(GARNER_U6, 4, 0), 3);
    assert_int_equal(garner_dtype_bytes(GARNER_U6, 5, 0), 6);
    assert_int_equal(garner_dtype_bytes(GARNER_U1, 9, 0), 2);
    assert_int_equal(garner_dtype_bytes(GARNER_I4, 3, 0), 2);
    assert_int_equal(garner_dtype_bytes(GARNER_U2, 5, 0), 2);
}

static void test_sizes_that_do_not_fit(void **state)
{
    (void)state;
    assert_int_equal(garner_dtype_bytes(GARNER_F32, INT64_MAX, 0), -1);
    assert_int_equal(garner_dtype_bytes(GARNER_F32, INT64_MAX / 4, 0), INT64_MAX / 4 * 4);
    assert_int_equal(garner_dtype_bytes(GARNER_F32, INT64_MAX / 4 + 1, 0), -1);
    assert_int_equal(garner_dtype_bytes(GARNER_U8, INT64_MAX, 0), INT64_MAX);
    assert_int_equal(garner_dtype_bytes(GARNER_U4, INT64_MAX, 0), INT64_MAX / 2 + 1);
    assert_int_equal(garner_dtype_bytes(GARNER_U1, INT64_MAX, 0), INT64_MAX / 8 + 1);
    assert_int_equal(garner_dtype_bytes(GARNER_STR, INT64_MAX / 15, 0), -1);
    assert_int_equal(garner_dtype_bytes(GARNER_OPAQUE, 2, (uint64_t)1 << 62), -1);
    assert_int_equal(garner_dtype_bytes(GARNER_OPAQUE, 1, (uint64_t)1 << 63), -1);
    assert_int_equal(garner_dtype_bytes(GARNER_OPAQUE, 1, UINT64_MAX), -1);
    assert_int_equal(garner_dtype_bytes(GARNER_OPAQUE, 1, 0), -1);
    assert_int_equal(garner_dtype_bytes(GARNER_F32, -1, 0), -1);
    assert_int_equal(garner_dtype_bytes(GARNER_F32, INT64_MIN, 0), -1);
}

static void test_strings_are_16_bytes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(garner_string), 16);
    assert_int_equal(garner_dtype_bytes(GARNER_STR, 3, 0), 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_both_ways),          cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_names_that_are_none),      cmocka_unit_test(test_types_that_are_none),
        cmocka_unit_test(test_numbers_are_onnx_numbers), cmocka_unit_test(test_bits_and_bytes),
        cmocka_unit_test(test_units_of_three_bytes),     cmocka_unit_test(test_sizes_that_do_not_fit),
        cmocka_unit_test(test_strings_are_16_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
