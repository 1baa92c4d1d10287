/* SPDX-License-Identifier: MIT */
/*
 * Stage 0 alone: views whose numbers come to the edge of what can be addressed, and views that overlap
 * themselves or nearly do.
 */
#include "testing.h"

#include "view.h"

#define HALF_OF_ALL (INT64_C(1) << 62)

static enum view_fault fault_of(const garner_tensor *tensor)
{
    struct view view;
    return garner_view_make(&view, tensor);
}

/* Bytes of some shape, strides and offset. */
static enum view_fault fault_of_bytes(int rank, const int64_t *shape, const int64_t *strides, uint64_t offset)
{
    return fault_of(&(garner_tensor){
        .shape = shape, .strides = strides, .rank = rank, .dtype = GARNER_U8, .byte_offset = offset});
}

static void test_strides_reach_too_far(void **state)
{
    (void)state;
    const int64_t three[] = {3}, two[] = {2}, pair[] = {2, 2};
    assert_int_equal(fault_of_bytes(1, three, (int64_t[]){INT64_MAX}, 0), VIEW_STRIDES);
    assert_int_equal(fault_of_bytes(2, pair, (int64_t[]){HALF_OF_ALL, HALF_OF_ALL}, 0), VIEW_STRIDES);
    assert_int_equal(fault_of_bytes(2, pair, (int64_t[]){INT64_MIN, -1}, 0), VIEW_STRIDES);
    assert_int_equal(fault_of_bytes(1, two, (int64_t[]){INT64_MAX}, 0), VIEW_STRIDES); /* one more byte */
    assert_int_equal(fault_of_bytes(2, pair, (int64_t[]){HALF_OF_ALL, -HALF_OF_ALL}, 0),
                     VIEW_STRIDES); /* wide */
    assert_int_equal(fault_of_bytes(1, two, (int64_t[]){-1}, INT64_MAX),
                     sizeof(void *) == 8 ? VIEW_STRIDES : VIEW_OFFSET); /* beyond the offset */
    garner_tensor wide = {.shape = two, .rank = 1, .dtype = GARNER_F64};
    wide.strides = (int64_t[]){-HALF_OF_ALL};
    assert_int_equal(fault_of(&wide), VIEW_STRIDES);
    wide.strides = (int64_t[]){HALF_OF_ALL};
    assert_int_equal(fault_of(&wide), VIEW_STRIDES);
    wide.strides = (int64_t[]){2};
    assert_int_equal(fault_of(&wide), VIEW_FINE);
}

static void test_span_of_strides(void **state)
{
    (void)state;
    struct view view;
    const garner_tensor tensor = {.shape = (int64_t[]){3, 2},
                                  .strides = (int64_t[]){-5, 7},
                                  .rank = 2,
                                  .dtype = GARNER_F32,
                                  .byte_offset = 40,
                                  .bytes = 72};
    assert_int_equal(garner_view_make(&view, &tensor), VIEW_FINE);
    assert_int_equal(view.span.low, 0);
    assert_int_equal(view.span.high, 72);
    garner_tensor less = tensor;
    less.bytes = 71;
    assert_int_equal(fault_of(&less), VIEW_BUFFER);
    less.bytes = 72;
    less.byte_offset = 39;
    assert_int_equal(fault_of(&less), VIEW_BUFFER);
}

static void test_dense_reaches_too_far(void **state)
{
    (void)state;
    const int64_t half[] = {HALF_OF_ALL}, one[] = {1}, all[] = {INT64_MAX};
    garner_tensor tensor = {.shape = half, .rank = 1, .dtype = GARNER_F64};
    assert_int_equal(fault_of(&tensor), VIEW_BYTES);
    tensor.dtype = GARNER_U8;
    assert_int_equal(fault_of(&tensor), sizeof(void *) == 8 ? VIEW_FINE : VIEW_BYTES);
    tensor.byte_offset = HALF_OF_ALL;
    assert_int_equal(fault_of(&tensor), sizeof(void *) == 8 ? VIEW_BYTES : VIEW_OFFSET);
    tensor = (garner_tensor){.shape = one, .rank = 1, .dtype = GARNER_U8, .byte_offset = UINT64_MAX};
    assert_int_equal(fault_of(&tensor), VIEW_OFFSET);
    tensor = (garner_tensor){.shape = all, .rank = 1, .dtype = GARNER_U8, .byte_offset = 1};
    assert_int_equal(fault_of(&tensor), VIEW_BYTES);
}

/* Where pointers have 32 bits, 2^31 bytes are too many, wherever they come from. */
static void test_edge_of_small_machines(void **state)
{
    (void)state;
    const bool small = sizeof(void *) == 4;
    const int64_t many[] = {INT64_C(1) << 31}, half[] = {INT64_C(1) << 30}, one[] = {1}, two[] = {2};
    const garner_tensor beyond = {.shape = many, .rank = 1, .dtype = GARNER_U8};
    const garner_tensor at_offset = {
        .shape = half, .rank = 1, .dtype = GARNER_U8, .byte_offset = UINT64_C(3) << 30};
    const garner_tensor plain_at_offset = {
        .shape = half, .rank = 1, .dtype = GARNER_U8, .byte_offset = UINT64_C(1) << 30};
    const garner_tensor opaque = {
        .shape = one, .rank = 1, .dtype = GARNER_OPAQUE, .item_bytes = UINT64_C(1) << 31};
    const garner_tensor packed_at_offset = {
        .shape = half, .rank = 1, .dtype = GARNER_U4, .byte_offset = UINT64_C(3) << 29};
    assert_int_equal(fault_of(&beyond), small ? VIEW_BYTES : VIEW_FINE);
    assert_int_equal(fault_of(&at_offset), small ? VIEW_OFFSET : VIEW_FINE);
    assert_int_equal(fault_of(&plain_at_offset), small ? VIEW_BYTES : VIEW_FINE);
    assert_int_equal(fault_of(&packed_at_offset), small ? VIEW_BYTES : VIEW_FINE);
    assert_int_equal(fault_of(&opaque), small ? VIEW_ITEM : VIEW_FINE);
    assert_int_equal(fault_of_bytes(1, two, many, 0), small ? VIEW_STRIDES : VIEW_FINE);
    assert_int_equal(fault_of_bytes(1, two, half, UINT64_C(3) << 29), small ? VIEW_STRIDES : VIEW_FINE);
    assert_int_equal(fault_of_bytes(1, two, (int64_t[]){-(INT64_C(1) << 31)}, 0),
                     small ? VIEW_STRIDES : VIEW_FINE);
}

static void test_numbers_of_the_struct(void **state)
{
    (void)state;
    const int64_t one[] = {1};
    assert_int_equal(fault_of(NULL), VIEW_IS_NULL);
    assert_int_equal(fault_of(&(garner_tensor){.dtype = GARNER_F32}), VIEW_FINE);
    assert_int_equal(fault_of(&(garner_tensor){.strides = one, .dtype = GARNER_F32}), VIEW_FINE); /* rank 0 */
    assert_int_equal(fault_of(&(garner_tensor){.rank = 1, .dtype = GARNER_F32}), VIEW_NO_SHAPE);
    assert_int_equal(fault_of(&(garner_tensor){.shape = one, .rank = -1, .dtype = GARNER_F32}), VIEW_RANK);
    assert_int_equal(
        fault_of(&(garner_tensor){.shape = one, .rank = GARNER_MAX_RANK + 1, .dtype = GARNER_F32}),
        VIEW_RANK);
    for (int type = DTYPES; type <= 4 * DTYPES; type++) /* none of them is one of the table, less so many */
        assert_int_equal(fault_of(&(garner_tensor){.shape = one, .rank = 1, .dtype = (garner_dtype)type}),
                         VIEW_TYPE);
    assert_int_equal(fault_of(&(garner_tensor){.shape = one, .rank = 1, .dtype = GARNER_OPAQUE}), VIEW_ITEM);
    assert_int_equal(
        fault_of(&(garner_tensor){.shape = one, .rank = 1, .dtype = GARNER_OPAQUE, .item_bytes = UINT64_MAX}),
        VIEW_ITEM);
}

/* A view without elements reaches nothing, wherever it begins, and steps nowhere. */
static void test_nothing(void **state)
{
    (void)state;
    struct view view;
    const garner_tensor tensor = {
        .shape = (int64_t[]){3, 0, 2}, .rank = 3, .dtype = GARNER_F32, .byte_offset = 100, .bytes = 10};
    assert_int_equal(garner_view_make(&view, &tensor), VIEW_FINE);
    assert_int_equal(view.offset, 0);
    assert_int_equal(view.span.low, 0);
    assert_int_equal(view.span.high, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(view.stride[i], 0);
}

/* The status and the sentence for a view that has the fault. */
static void assert_said(const garner_tensor *tensor, garner_status status, const char *sentence)
{
    struct view view;
    garner_error error;
    const enum view_fault fault = garner_view_make(&view, tensor);
    assert_int_equal(garner_view_fail(fault, &view, "Gather", "data", &error), status);
    assert_string_equal(error.message, sentence);
}

static void test_sentences(void **state)
{
    (void)state;
    assert_said(&(garner_tensor){.shape = (int64_t[]){4, 0, -7, -8}, .rank = 4, .dtype = GARNER_U8},
                GARNER_BAD_SHAPE, "Gather: data has extent -7 on axis 2; an extent is at least 0");
    assert_said(&(garner_tensor){.shape = (int64_t[]){HALF_OF_ALL, 2}, .rank = 2, .dtype = GARNER_U8},
                GARNER_TOO_LARGE,
                "Gather: data of shape [4611686018427387904,2] has more than 2^63 - 1 elements");
}

/* ---- Overlap ---- */

static bool overlaps(int rank, const int64_t *shape, const int64_t *strides)
{
    struct view view;
    const garner_tensor tensor = {.shape = shape, .strides = strides, .rank = rank, .dtype = GARNER_U8};
    assert_int_equal(garner_view_make(&view, &tensor), VIEW_FINE);
    return garner_view_overlaps_itself(&view);
}

static void test_overlap(void **state)
{
    (void)state;
    assert_false(overlaps(1, (int64_t[]){5}, (int64_t[]){1}));
    assert_false(overlaps(1, (int64_t[]){5}, (int64_t[]){-3}));
    assert_true(overlaps(1, (int64_t[]){2}, (int64_t[]){0}));
    assert_false(overlaps(2, (int64_t[]){0, 1}, (int64_t[]){0, 0}));
    assert_false(overlaps(2, (int64_t[]){0, 3}, (int64_t[]){1, 1}));
    assert_false(overlaps(2, (int64_t[]){3, 2}, (int64_t[]){2, 1}));
    assert_true(overlaps(2, (int64_t[]){3, 3}, (int64_t[]){2, 1}));
    assert_false(overlaps(2, (int64_t[]){3, 2}, (int64_t[]){2, 3})); /* 0 2 4 3 5 7 */
    assert_true(overlaps(2, (int64_t[]){4, 3}, (int64_t[]){2, 3}));  /* 6 twice */
    assert_true(overlaps(2, (int64_t[]){4, 3}, (int64_t[]){-2, 3}));
    assert_false(overlaps(2, (int64_t[]){3, 3}, (int64_t[]){3, -1}));
    assert_true(overlaps(3, (int64_t[]){2, 2, 2}, (int64_t[]){5, 3, 2}));
    assert_false(overlaps(3, (int64_t[]){2, 2, 2}, (int64_t[]){6, 3, 2}));
}

/* Strides of which no two sums are equal though none is above the sum of the rest (Conway and Guy): pairs
 * along every axis never meet, and a few of them are seen not to. */
static bool dense_sums_overlap(int count)
{
    int64_t u[65] = {0, 1}, shape[64], strides[64];
    for (int n = 1; n < count; n++) {
        int root = 0;
        while (4 * root * root - 4 * root + 1 <= 8 * n) /* (root - 1/2)^2 <= 2 n: that root, rounded */
            root++;
        u[n + 1] = 2 * u[n] - u[n - (root - 1)];
    }
    for (int i = 0; i < count; i++) {
        shape[i] = 2;
        strides[i] = u[count] - u[count - 1 - i];
    }
    return overlaps(count, shape, strides);
}

static void test_patience(void **state)
{
    (void)state;
    for (int count = 2; count <= 12; count++)
        assert_false(dense_sums_overlap(count));
    assert_true(dense_sums_overlap(26)); /* it would take too long to see that they do not */
}

/* Three strides of which each two share a prime, and as many elements along each as the prime that the others
 * share: no two sums are equal. That is seen soon only by divisors, since none is above the sum of the rest.
 */
static void test_divisors_save_patience(void **state)
{
    (void)state;
    enum { A = 601, B = 599, C = 593 };
    const int64_t strides[] = {A * B, A * C, B * C};
    assert_false(overlaps(3, (int64_t[]){C, B, A}, strides));
    assert_true(overlaps(3, (int64_t[]){C + 1, B, A + 1}, strides)); /* C * (A * B) is A * (B * C) */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strides_reach_too_far),
        cmocka_unit_test(test_span_of_strides),
        cmocka_unit_test(test_dense_reaches_too_far),
        cmocka_unit_test(test_edge_of_small_machines),
        cmocka_unit_test(test_numbers_of_the_struct),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_divisors_save_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
