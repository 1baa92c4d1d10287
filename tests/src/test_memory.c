/* SPDX-License-Identifier: MIT */
/*
 * The promises about memory: a plan is one allocation, each failure of it is reported and leaks nothing,
 * executing and the one-call functions allocate nothing.
 * The program's own malloc stands before libc's and counts, or fails on demand.
 */
#include "fixture.h"

#include "counted_malloc.h"
#include "random.h"

static void test_the_counter_counts(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    counting_begin(2);
    void *volatile first = malloc(10), *volatile second = malloc(10);
    free(first);
    counting_end();
    assert_int_equal(allocations, 2);
    assert_int_equal(live, 0);
    assert_null(second);
}

static void test_plan_is_one_allocation(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    garner_cpu cpu = {.size = sizeof cpu};
    garner_cpu_info(&cpu); /* the first call of a process may open files to learn how large the caches are */
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++) {
        struct fixture f;
        garner_plan *plan = NULL;
        fixture_make(&f, (garner_kind)kind);
        counting_begin(0);
        const garner_status status = garner_plan_create(&plan, &f.op, &f.data, &f.indices, NULL, &f.error);
        const int made = live;
        garner_plan_destroy(plan);
        counting_end();
        assert_int_equal(status, GARNER_OK);
        assert_int_equal(allocations, 1);
        assert_int_equal(made, 1);
        assert_int_equal(live, 0);
    }
}

/* Fails the first allocation, the second, and so on, until the call needs no more. */
static void test_each_allocation_fails(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    int failures = 0;
    for (int n = 1; n < 100; n++) {
        garner_plan *plan = (garner_plan *)&f;
        counting_begin(n);
        const garner_status status = garner_plan_create(&plan, &f.op, &f.data, &f.indices, NULL, &f.error);
        counting_end();
        if (status == GARNER_OK) {
            assert_int_equal(garner_execute(plan, f.elements, f.values, f.picked, NULL, NULL), GARNER_OK);
            garner_plan_destroy(plan);
            break;
        }
        failures++;
        assert_int_equal(status, GARNER_NO_MEMORY);
        assert_int_equal(f.error.status, GARNER_NO_MEMORY);
        assert_true(f.error.message[0] != 0);
        assert_null(plan);
        assert_int_equal(live, 0);
        fixture_works(GARNER_GATHER);
    }
    assert_int_equal(failures, 1);
}

static void test_refused_plan_leaks_nothing(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    struct fixture f;
    garner_plan *plan = NULL;
    fixture_make(&f, GARNER_GATHER_ELEMENTS);
    f.op.axis = 17;
    counting_begin(0);
    const garner_status status = garner_plan_create(&plan, &f.op, &f.data, &f.indices, NULL, &f.error);
    counting_end();
    assert_int_equal(status, GARNER_BAD_SHAPE);
    assert_int_equal(live, 0);
}

static int backwards(void *context, garner_task *task, void *argument, size_t count)
{
    (void)context;
    while (count > 0)
        task(argument, --count);
    return 0;
}

static void test_execute_allocates_nothing(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    const garner_exec exec = {.parallel_for = backwards};
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++)
        for (int bad = 0; bad < 2; bad++) {
            struct fixture f;
            garner_plan *plan = NULL;
            fixture_make(&f, (garner_kind)kind);
            if (bad) f.values[3] = 77;
            assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, NULL, NULL), GARNER_OK);
            counting_begin(0);
            const garner_status status = garner_execute(plan, f.elements, f.values, f.picked, NULL, &f.error);
            const garner_status again = garner_execute(plan, f.elements, f.values, f.picked, &exec, &f.error);
            counting_end();
            assert_int_equal(status, bad ? GARNER_OUT_OF_RANGE : GARNER_OK);
            assert_int_equal(again, status);
            assert_int_equal(allocations, 0);
            garner_plan_destroy(plan);
        }
}

/* Enough for several tasks, odd types and all policies: still nothing. */
static void test_large_run_allocates_nothing(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    enum { COUNT = 200000 };
    static uint8_t values[COUNT];
    static unsigned char data[100], out[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = (uint8_t)(i % 150);
    const garner_tensor at = {.data = values, .shape = (int64_t[]){COUNT}, .rank = 1, .dtype = GARNER_U8};
    for (int oob = GARNER_OOB_ZERO; oob <= GARNER_OOB_WRAP; oob++) {
        const garner_op op = {.kind = GARNER_GATHER, .oob = (garner_oob)oob};
        const garner_dtype dtypes[] = {GARNER_U8, GARNER_U3, GARNER_I4};
        for (int t = 0; t < 3; t++) {
            const garner_tensor from = {
                .data = data, .shape = (int64_t[]){100}, .rank = 1, .dtype = dtypes[t]};
            const garner_tensor to = {
                .data = out, .shape = (int64_t[]){COUNT}, .rank = 1, .dtype = dtypes[t]};
            counting_begin(1);
            const garner_status status = garner_run(&op, &from, &at, &to, NULL, NULL);
            counting_end();
            assert_int_equal(status, GARNER_OK);
            assert_int_equal(allocations, 0);
        }
    }
}

/* The one-call functions work even where every allocation fails. */
static void test_one_call_functions_allocate_nothing(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    struct fixture a, b, c;
    garner_shape shape;
    char line[256];
    fixture_make(&a, GARNER_GATHER);
    fixture_make(&b, GARNER_GATHER_ELEMENTS);
    fixture_make(&c, GARNER_GATHER_ND);
    counting_begin(1);
    const garner_status first = garner_gather(&a.data, &a.indices, 1, &a.out, &a.error);
    const garner_status second = garner_gather_elements(&b.data, &b.indices, 2, &b.out, &b.error);
    const garner_status third = garner_gather_nd(&c.data, &c.indices, 0, &c.out, &c.error);
    const garner_status inferred = garner_infer(&a.op, &a.data, &a.indices, &shape, &a.error);
    const garner_status named = garner_op_from_spec(&a.op, "onnx-13", GARNER_GATHER, &a.error);
    const garner_status unnamed = garner_op_from_spec(&a.op, "onnx-2", GARNER_GATHER, &a.error);
    const size_t length = garner_plan_describe(NULL, line, sizeof line);
    counting_end();
    assert_int_equal(first, GARNER_OK);
    assert_int_equal(second, GARNER_OK);
    assert_int_equal(third, GARNER_OK);
    assert_int_equal(inferred, GARNER_OK);
    assert_int_equal(named, GARNER_OK);
    assert_int_equal(unnamed, GARNER_BAD_ARGUMENT);
    assert_int_equal(length, 0);
    assert_int_equal(allocations, 0);
}

static void test_pool_without_memory(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    garner_error error;
    garner_pool *pool = (garner_pool *)&error;
    counting_begin(1);
    const garner_status status = garner_pool_create(&pool, 2, &error);
    counting_end();
    assert_int_equal(status, GARNER_NO_MEMORY);
    assert_string_equal(error.message, "garner_pool_create: no memory for a pool");
    assert_null(pool);
    assert_int_equal(live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_counter_counts),
        cmocka_unit_test(test_plan_is_one_allocation),
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_refused_plan_leaks_nothing),
        cmocka_unit_test(test_execute_allocates_nothing),
        cmocka_unit_test(test_large_run_allocates_nothing),
        cmocka_unit_test(test_one_call_functions_allocate_nothing),
        cmocka_unit_test(test_pool_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
