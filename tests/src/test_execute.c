/* SPDX-License-Identifier: MIT */
/* How calls end that other tests do not bring about: indices that change under way, operands that are empty.
 */
#define _GNU_SOURCE
#include "fixture.h"

#include <stdbool.h>
#include <stdlib.h>

static garner_plan *plan_of(struct fixture *f)
{
    garner_plan *plan = NULL;
    if (garner_plan_create(&plan, &f->op, &f->data, &f->indices, NULL, &f->error) != GARNER_OK)
        fail_msg("%s", f->error.message);
    return plan;
}

/* Runs all tasks, then mends the index at its context, as another thread might. */
static int run_and_mend(void *context, garner_task *task, void *argument, size_t count)
{
    for (size_t i = 0; i < count; i++)
        task(argument, i);
    *(int64_t *)context = 0;
    return 0;
}

static void test_refused_index_is_mended(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    garner_plan *plan = plan_of(&f);
    const garner_exec exec = {.size = sizeof exec, .parallel_for = run_and_mend, .context = &f.values[2]};
    f.values[2] = 77;
    /* Work of a single task need not be given to the executor: then the index is still there, and reported.
     */
    const garner_status status = garner_execute(plan, f.elements, f.values, f.picked, &exec, &f.error);
    assert_int_equal(status, GARNER_OUT_OF_RANGE);
    assert_non_null(
        strstr(f.error.message, f.values[2] == 0 ? "changed by another thread" : "indices[2] = 77"));
    garner_plan_destroy(plan);
}

/* The same with work that is worth several tasks. */
static void test_refused_index_is_mended_between_tasks(void **state)
{
    (void)state;
    enum { ROWS = 4096, ROW = 256 };
    static float data[16 * ROW], out[ROWS * ROW];
    static int64_t rows[ROWS];
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor from = {.data = data, .shape = (int64_t[]){16, ROW}, .rank = 2, .dtype = GARNER_F32};
    const garner_tensor at = {.data = rows, .shape = (int64_t[]){ROWS}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){ROWS, ROW}, .rank = 2, .dtype = GARNER_F32};
    const garner_exec exec = {.size = sizeof exec, .parallel_for = run_and_mend, .context = &rows[ROWS / 2]};
    garner_error error;
    rows[ROWS / 2] = 16;
    assert_int_equal(garner_run(&op, &from, &at, &to, &exec, &error), GARNER_OUT_OF_RANGE);
    assert_int_equal(rows[ROWS / 2], 0);
    assert_string_equal(error.message,
                        "Gather: an index was out of range, and was changed by another thread before it "
                        "could be reported");
    assert_int_equal(garner_run(&op, &from, &at, &to, &exec, &error), GARNER_OK);
}

/* Data without elements share no memory with out, wherever their pointer leads. */
static void test_empty_data_inside_out(void **state)
{
    (void)state;
    float out[6] = {1, 2, 3, 4, 5, 6};
    const int64_t values[] = {0, 7};
    const garner_op op = {.kind = GARNER_GATHER, .oob = GARNER_OOB_ZERO};
    const garner_tensor data = {.data = out + 2, .shape = (int64_t[]){0, 3}, .rank = 2, .dtype = GARNER_F32};
    const garner_tensor indices = {
        .data = (void *)(uintptr_t)values, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){2, 3}, .rank = 2, .dtype = GARNER_F32};
    garner_error error;
    assert_int_equal(garner_run(&op, &data, &indices, &to, NULL, &error), GARNER_OK);
    for (int i = 0; i < 6; i++)
        assert_true(out[i] == 0);
}

/* An executor that is none is refused, however small the call is. */
static void test_small_call_with_a_bad_executor(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    const garner_exec exec = {.size = 3};
    assert_int_equal(garner_run(&f.op, &f.data, &f.indices, &f.out, &exec, &f.error), GARNER_BAD_ARGUMENT);
    assert_non_null(strstr(f.error.message, "garner_exec: size 3 "));
    assert_true(f.picked[0] == 0);
}

/* ---- Panels that two threads keep in out ---- */

enum { TABLE_ROWS = 1024, COLUMNS = 1024, PICKED_ROWS = 600 };

static int32_t table[TABLE_ROWS][COLUMNS], picked_rows[PICKED_ROWS][COLUMNS];
static int32_t picks[PICKED_ROWS][COLUMNS];

/* Two threads, one after the other, which may leave out the last task, or stop from some question on. */
struct two {
    size_t left_out;
    int asked, stops_at; /* 0: never */
    int jobs;
};

static int run_two(void *context, garner_task *task, void *argument, size_t count)
{
    struct two *two = context;
    two->jobs++;
    for (size_t i = 0; i + two->left_out < count; i++)
        task(argument, i);
    return 0;
}

static int stop_two(void *context)
{
    struct two *two = context;
    return ++two->asked == two->stops_at || (two->stops_at && two->asked > two->stops_at);
}

static int threads_of_two(void *context)
{
    (void)context;
    return 2;
}

static garner_status gather_columns(struct two *two, bool cancels, garner_error *error)
{
    const garner_op op = {.kind = GARNER_GATHER_ELEMENTS};
    const int64_t from[] = {TABLE_ROWS, COLUMNS}, to[] = {PICKED_ROWS, COLUMNS};
    const garner_tensor data = {.data = table, .shape = from, .rank = 2, .dtype = GARNER_I32};
    const garner_tensor indices = {.data = picks, .shape = to, .rank = 2, .dtype = GARNER_I32};
    const garner_tensor out = {.data = picked_rows, .shape = to, .rank = 2, .dtype = GARNER_I32};
    const garner_exec exec = {.size = sizeof exec,
                              .parallel_for = run_two,
                              .cancelled = cancels ? stop_two : NULL,
                              .context = two,
                              .threads = threads_of_two};
    return garner_run(&op, &data, &indices, &out, &exec, error);
}

static void fill_columns(void)
{
    for (int row = 0; row < TABLE_ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            table[row][column] = row * COLUMNS + column;
    for (int row = 0; row < PICKED_ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            picks[row][column] = (row * 31 + column * 7) % TABLE_ROWS;
}

static bool columns_are_right(void)
{
    for (int row = 0; row < PICKED_ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            if (picked_rows[row][column] != picks[row][column] * COLUMNS + column) return false;
    return true;
}

static void test_panels_in_out(void **state)
{
    (void)state;
    garner_error error;
    struct two two = {0};
    fill_columns();
    assert_int_equal(gather_columns(&two, false, &error), GARNER_OK);
    assert_int_equal(two.jobs, 2); /* the panels' rows come last */
    assert_true(columns_are_right());
}

/* Each question in turn is answered by stopping, until nobody asks any more. */
static void test_panels_are_cancelled(void **state)
{
    (void)state;
    garner_error error;
    fill_columns();
    for (int at = 1;; at++) {
        struct two two = {.stops_at = at};
        const garner_status status = gather_columns(&two, true, &error);
        if (status == GARNER_OK) {
            assert_true(at > 2 && two.asked < at);
            assert_true(columns_are_right());
            break;
        }
        assert_int_equal(status, GARNER_CANCELLED);
        assert_non_null(strstr(error.message, "the executor stopped after"));
    }
}

static void test_panels_are_left_out(void **state)
{
    (void)state;
    garner_error error;
    struct two two = {.left_out = 1};
    fill_columns();
    assert_int_equal(gather_columns(&two, false, &error), GARNER_CANCELLED);
    assert_int_equal(two.jobs, 1); /* no use in writing the rows that held panels */
}

static void test_panels_are_refused(void **state)
{
    (void)state;
    garner_error error;
    const int rows[] = {0, PICKED_ROWS / 2, PICKED_ROWS - 1};
    for (int i = 0; i < 3; i++) {
        struct two two = {0};
        fill_columns();
        picks[rows[i]][i] = TABLE_ROWS;
        assert_int_equal(gather_columns(&two, false, &error), GARNER_OUT_OF_RANGE);
        assert_int_equal(error.coordinates[0], rows[i]);
        assert_int_equal(error.coordinates[1], i);
    }
}

int main(void)
{
    setenv("GARNER_CPU", "neoverse-v1", 1); /* which plans so, whatever this machine is */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_index_is_mended),
        cmocka_unit_test(test_refused_index_is_mended_between_tasks),
        cmocka_unit_test(test_empty_data_inside_out),
        cmocka_unit_test(test_small_call_with_a_bad_executor),
        cmocka_unit_test(test_panels_in_out),
        cmocka_unit_test(test_panels_are_cancelled),
        cmocka_unit_test(test_panels_are_left_out),
        cmocka_unit_test(test_panels_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
