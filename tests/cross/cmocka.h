/* SPDX-License-Identifier: MIT */
/*
 * As much of cmocka's interface as the unit tests use, in one header, for machines that there is no
 * cmocka for: a failed assertion ends its test, a crash ends the program.
 */
#ifndef GARNER_TESTS_CROSS_CMOCKA_H
#define GARNER_TESTS_CROSS_CMOCKA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    int (*setup_func)(void **state);
    int (*teardown_func)(void **state);
    void *initial_state;
};

enum shim_verdict { SHIM_PASSED, SHIM_FAILED, SHIM_SKIPPED };

static jmp_buf shim_end_of_test;

__attribute__((noreturn)) static void shim_end(enum shim_verdict verdict)
{
    longjmp(shim_end_of_test, (int)verdict);
}

__attribute__((noreturn, format(printf, 3, 4), unused)) static void shim_fail(const char *file, int line,
                                                                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: error: ", file, line);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    shim_end(SHIM_FAILED);
}

/* Calls a function of a test, or of all of them, if there is one; true if it went well. */
static bool shim_step(int (*step)(void **state), void **state)
{
    return step == NULL || step(state) == 0;
}

/* One test between what comes before and after it. */
static enum shim_verdict shim_try(const struct CMUnitTest *test, void *group)
{
    static void *state; /* static: longjmp leaves it as it is */
    state = test->initial_state ? test->initial_state : group;
    if (!shim_step(test->setup_func, &state)) return SHIM_FAILED;
    volatile enum shim_verdict verdict = SHIM_PASSED;
    const int end = setjmp(shim_end_of_test);
    if (end == 0)
        test->test_func(&state);
    else
        verdict = (enum shim_verdict)end;
    return shim_step(test->teardown_func, &state) ? verdict : SHIM_FAILED;
}

static int shim_run(const struct CMUnitTest *tests, size_t count, int (*setup)(void **),
                    int (*teardown)(void **))
{
    int failed = 0, skipped = 0;
    void *group = NULL;
    if (!shim_step(setup, &group)) {
        fprintf(stderr, "FAILED to set up\n");
        return (int)count;
    }
    for (size_t i = 0; i < count; i++) {
        const enum shim_verdict verdict = shim_try(&tests[i], group);
        failed += verdict == SHIM_FAILED;
        skipped += verdict == SHIM_SKIPPED;
        if (verdict == SHIM_FAILED) fprintf(stderr, "FAILED %s\n", tests[i].name);
    }
    failed += !shim_step(teardown, &group);
    printf("%d tests, %d failed, %d skipped\n", (int)count, failed, skipped);
    return failed;
}

#define cmocka_unit_test_setup_teardown(test, setup, teardown) \
    {                                                          \
#test, test, setup, teardown, NULL                     \
    }
#define cmocka_unit_test(test) cmocka_unit_test_setup_teardown(test, NULL, NULL)
#define cmocka_run_group_tests(tests, setup, teardown) \
    shim_run(tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    cmocka_run_group_tests(tests, setup, teardown)

#define fail_msg(...) shim_fail(__FILE__, __LINE__, __VA_ARGS__)
#define fail() fail_msg("failure")
#define skip() shim_end(SHIM_SKIPPED)

#define assert_true(value) ((value) ? (void)0 : fail_msg("%s", #value))
#define assert_false(value) assert_true(!(value))
#define assert_null(value) assert_true((value) == NULL)
#define assert_non_null(value) assert_true((value) != NULL)
#define assert_int_equal(a, b) assert_true((int64_t)(a) == (int64_t)(b))
#define assert_int_not_equal(a, b) assert_true((int64_t)(a) != (int64_t)(b))
#define assert_in_range(a, least, most) assert_true((int64_t)(a) >= (least) && (int64_t)(a) <= (most))
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_string_not_equal(a, b) assert_true(strcmp(a, b) != 0)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((const void *)(a) != (const void *)(b))
#define assert_memory_equal(a, b, size) assert_true(memcmp(a, b, size) == 0)

#endif
