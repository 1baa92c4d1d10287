/* SPDX-License-Identifier: MIT */
/*
 * The reference against the worked examples, before anything is held against the reference: the
 * stated shapes and values must come out of it, its packing must store what it reads, and an index
 * must survive each index type.
 */
#include "testing.h"

#include "examples.h"

#include <string.h>

static void gives_the_stated_values(const struct example *example)
{
    struct test_case c = example_case(example, GARNER_I64);
    assert_int_equal(case_complete(&c), GARNER_OK);
    if (!example_shape_stated(example, &c)) {
        case_describe(&c, "not the stated shape");
        fail_msg("%s example %s", example->text, example->number);
    }
    if (!example->elements) return;
    float out[64];
    struct ref_result result;
    const struct ref_op op = case_ref_op(&c);
    const struct ref_view data = case_ref_view(&c.data, GARNER_F32, 0, (unsigned char *)example->elements);
    const struct ref_view indices =
        case_ref_view(&c.indices, GARNER_I64, 0, (unsigned char *)example->values);
    const struct ref_view to = case_ref_view(&c.out, GARNER_F32, 0, (unsigned char *)out);
    assert_int_equal(ref_run(&op, &data, &indices, &to, &result), GARNER_OK);
    assert_memory_equal(out, example->expected, (size_t)ref_count(c.out.rank, c.out.shape) * sizeof(float));
}

static void test_examples(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++)
        gives_the_stated_values(&examples[i]);
}

static void test_packing_round_trip(void **state)
{
    (void)state;
    for (int t = 0; t < REF_TYPES; t++) {
        if (!ref_is_packed(ref_types[t])) continue;
        unsigned char bytes[32] = {0};
        const unsigned mask = (1u << ref_bits(ref_types[t])) - 1;
        for (int64_t n = 0; n < 19; n++)
            ref_put_code(ref_types[t], bytes, n, (unsigned)(n * 5 + 3) & mask);
        for (int64_t n = 0; n < 19; n++)
            assert_int_equal(ref_get_code(ref_types[t], bytes, n), (unsigned)(n * 5 + 3) & mask);
    }
}

/* The layouts as SEMANTICS words them, worked out by hand. */
static void test_packing_by_hand(void **state)
{
    (void)state;
    const unsigned char u4[] = {0x21, 0x03}, u2[] = {0xe4}, u1[] = {0xa0};
    const unsigned char u3[] = {0x1b, 0x1b, 0x0f}; /* low pairs 0 1 2 3 0 1 2 3, high bits 0 0 0 0 1 1 1 1 */
    const unsigned char u6[] = {0x12, 0x34, 0x1b}; /* low nibbles 1 2 3 4, high pairs 0 1 2 3 */
    for (unsigned n = 0; n < 3; n++)
        assert_int_equal(ref_get_code(GARNER_U4, u4, n), n + 1);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(ref_get_code(GARNER_U2, u2, n), n);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(ref_get_code(GARNER_U1, u1, n), n % 2 == 0);
    for (unsigned n = 0; n < 8; n++)
        assert_int_equal(ref_get_code(GARNER_U3, u3, n), n);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(ref_get_code(GARNER_U6, u6, n), n + 1 + 16 * n);
}

static void test_indices_round_trip(void **state)
{
    (void)state;
    for (int t = 0; t < REF_INDEX_TYPES; t++) {
        unsigned char bytes[8];
        const ref_int ends[] = {ref_least(ref_index_types[t]), ref_most(ref_index_types[t]), 1};
        for (int i = 0; i < 3; i++) {
            ref_store_index(ref_index_types[t], bytes, ends[i]);
            assert_true(ref_load_index(ref_index_types[t], bytes) == ends[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_packing_round_trip),
        cmocka_unit_test(test_packing_by_hand),
        cmocka_unit_test(test_indices_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
