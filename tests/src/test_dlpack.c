/* SPDX-License-Identifier: MIT */
/*
 * garner_dlpack.h: types both ways, whole tensors both ways, and what has no counterpart. The structures are
 * those that the Python package declares, which are DLPack's.
 */
#include "testing.h"

#include <string.h>

#include "../../python/src/dlpack_abi.h"

#include "garner_dlpack.h"

static void test_types_both_ways(void **state)
{
    static const struct {
        garner_dtype dtype;
        uint8_t code, bits;
    } pairs[] = {{GARNER_F32, kDLFloat, 32},
                 {GARNER_F16, kDLFloat, 16},
                 {GARNER_BF16, kDLBfloat, 16},
                 {GARNER_I64, kDLInt, 64},
                 {GARNER_U8, kDLUInt, 8},
                 {GARNER_BOOL, kDLBool, 8},
                 {GARNER_C64, kDLComplex, 64},
                 {GARNER_I4, kDLInt, 4},
                 {GARNER_U2, kDLUInt, 2},
                 {GARNER_F4E2M1, kDLFloat4_e2m1fn, 4},
                 {GARNER_F8E8M0, kDLFloat8_e8m0fnu, 8},
                 {GARNER_F8E4M3FN, kDLFloat8_e4m3fn, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        DLDataType type = garner_dtype_to_dlpack(pairs[i].dtype);
        assert_int_equal(type.code, pairs[i].code);
        assert_int_equal(type.bits, pairs[i].bits);
        assert_int_equal(type.lanes, 1);
        assert_int_equal(garner_dtype_from_dlpack(type), pairs[i].dtype);
        type.lanes = 2;
        assert_int_equal(garner_dtype_from_dlpack(type), 0);
    }
    assert_int_equal(garner_dtype_to_dlpack(GARNER_STR).lanes, 0);
    assert_int_equal(garner_dtype_to_dlpack(GARNER_OPAQUE).lanes, 0);
}

static void test_gather_of_a_dltensor(void **state)
{
    float table[3][2] = {{1, 2}, {3, 4}, {5, 6}}, picked[2][2];
    int64_t rows[2] = {2, -3}, shape[2] = {3, 2}, index_shape[1] = {2}, out_shape[2] = {2, 2};
    DLDevice cpu = {kDLCPU, 0};
    DLTensor from = {table, cpu, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
    DLTensor at = {rows, cpu, 1, {kDLInt, 64, 1}, index_shape, NULL, 0};
    DLTensor to = {picked, cpu, 2, {kDLFloat, 32, 1}, out_shape, NULL, 0};
    garner_tensor data, indices, out;
    garner_error error;
    (void)state;
    memset(&error, 0x5a, sizeof error);
    assert_int_equal(garner_from_dlpack(&data, &from, &error), GARNER_OK);
    assert_true(error.status == GARNER_OK && error.has == 0 && error.message[0] == '\0');
    assert_int_equal(garner_from_dlpack(&indices, &at, &error), GARNER_OK);
    assert_int_equal(garner_from_dlpack(&out, &to, &error), GARNER_OK);
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_OK);
    assert_true(picked[0][1] == 6 && picked[1][0] == 1);
    DLTensor back = {0};
    memset(&error, 0x5a, sizeof error);
    assert_int_equal(garner_to_dlpack(&back, &data, &error), GARNER_OK);
    assert_true(error.status == GARNER_OK && error.has == 0 && error.message[0] == '\0');
    assert_true(back.data == table && back.shape == shape && back.ndim == 2 && back.dtype.bits == 32);
}

static void test_refusals(void **state)
{
    garner_tensor tensor;
    garner_error error;
    DLTensor made, given = {NULL, {kDLCUDA, 3}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
    (void)state;
    assert_int_equal(garner_from_dlpack(&tensor, &given, &error), GARNER_BAD_TYPE);
    assert_non_null(strstr(error.message, "device type 2, number 3"));
    assert_int_equal(garner_from_dlpack(&tensor, &given, NULL), GARNER_BAD_TYPE);
    given.device.device_type = kDLCPU;
    given.dtype = (DLDataType){kDLFloat, 12, 1};
    assert_int_equal(garner_from_dlpack(&tensor, &given, &error), GARNER_BAD_TYPE);
    given.dtype = (DLDataType){7, 8, 1}; /* a type that only DLPack has, of whole bytes */
    assert_int_equal(garner_from_dlpack(&tensor, &given, &error), GARNER_OK);
    assert_int_equal(tensor.dtype, GARNER_OPAQUE);
    assert_int_equal(tensor.item_bytes, 1);
    assert_int_equal(garner_to_dlpack(&made, &tensor, &error), GARNER_BAD_TYPE);
    given.dtype = (DLDataType){77, 8, 1}; /* one that nobody has */
    assert_int_equal(garner_from_dlpack(&tensor, &given, &error), GARNER_BAD_TYPE);
    assert_non_null(strstr(error.message, "type code 77"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_both_ways),
        cmocka_unit_test(test_gather_of_a_dltensor),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
