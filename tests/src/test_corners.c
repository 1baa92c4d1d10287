/* SPDX-License-Identifier: MIT */
/*
 * Corners that random cases are unlikely to meet: rows so long that they are cut, with indices of their
 * own for each batch; more threads than there is work for; many tables; tuples whose products come near 2^63,
 * and tuples into a table seen backwards; an index tensor far larger than its memory; tensors without
 * elements at NULL; a program that ends while a thread still gathers.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "end_child.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "garner.h"
#include "guard.h"
#include "random.h"

static void test_long_rows_of_batches(void **state)
{
    (void)state;
    enum { BATCHES = 2, ROWS = 4, PICKED = 2, ROW = 1 << 18 };
    int32_t *table = malloc(sizeof *table * BATCHES * ROWS * ROW);
    int32_t *picked = malloc(sizeof *picked * BATCHES * PICKED * ROW);
    assert_non_null(table);
    assert_non_null(picked);
    for (int32_t i = 0; i < BATCHES * ROWS * ROW; i++)
        table[i] = i;
    int64_t rows[BATCHES][PICKED] = {{3, 1}, {-4, 2}};
    garner_tensor data = {
        .data = table, .shape = (int64_t[]){BATCHES, ROWS, ROW}, .rank = 3, .dtype = GARNER_I32};
    garner_tensor indices = {
        .data = rows, .shape = (int64_t[]){BATCHES, PICKED}, .rank = 2, .dtype = GARNER_I64};
    garner_tensor out = {
        .data = picked, .shape = (int64_t[]){BATCHES, PICKED, ROW}, .rank = 3, .dtype = GARNER_I32};
    garner_op op = {.kind = GARNER_GATHER, .axis = 1, .batch_dims = 1};
    const garner_exec exec = garner_threads(2);
    assert_int_equal(garner_run(&op, &data, &indices, &out, &exec, NULL), GARNER_OK);
    for (int32_t i = 0; i < BATCHES * PICKED * ROW; i++) {
        const int batch = i / (PICKED * ROW), slot = i / ROW % PICKED;
        const int64_t row = rows[batch][slot] < 0 ? rows[batch][slot] + ROWS : rows[batch][slot];
        assert_int_equal(picked[i], (batch * ROWS + row) * ROW + i % ROW);
    }
    free(table);
    free(picked);
}

/* More threads than lines of columns, so some have none: panels are kept in out, and each row repeats one
 * index, whose neighbours in memory may not be touched. */
static void test_more_threads_than_columns(void **state)
{
    (void)state;
    enum { ROWS = 10000, COLUMNS = 64, BOUND = 1024, WIDTH = 4096 };
    uint8_t *table = malloc(BOUND * WIDTH), *picked = malloc(ROWS * COLUMNS);
    struct guard guard;
    assert_non_null(table);
    assert_non_null(picked);
    guard_create(&guard, sizeof(int64_t) * ROWS * COLUMNS);
    int64_t *rows = (int64_t *)(void *)guard_place(&guard, sizeof(int64_t) * ROWS * COLUMNS, GUARD_BEFORE);
    for (int i = 0; i < BOUND * WIDTH; i++)
        table[i] = (uint8_t)(i / WIDTH * 7 + i);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = i / COLUMNS % BOUND;
    const garner_tensor data = {
        .data = table, .shape = (int64_t[]){BOUND, WIDTH}, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor indices = {
        .data = rows, .shape = (int64_t[]){ROWS, COLUMNS}, .rank = 2, .dtype = GARNER_I64};
    const garner_tensor out = {
        .data = picked, .shape = (int64_t[]){ROWS, COLUMNS}, .rank = 2, .dtype = GARNER_U8};
    const garner_op op = {.kind = GARNER_GATHER_ELEMENTS, .axis = 0};
    for (int threads = 1; threads <= 4; threads++) {
        const garner_exec exec = garner_threads(threads);
        memset(picked, 0, ROWS * COLUMNS);
        assert_int_equal(garner_run(&op, &data, &indices, &out, &exec, NULL), GARNER_OK);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            if (picked[i] != table[rows[i] * WIDTH + i % COLUMNS]) fail_msg("element %d is wrong", i);
    }
    guard_destroy(&guard);
    free(table);
    free(picked);
}

/* Tables of half a MiB, beyond L3 together, from each of which several rows choose: each row prefetches a
 * part of the next table. */
static void test_rows_of_many_tables(void **state)
{
    (void)state;
    enum { TABLES = 70, BOUND = 256, WIDTH = 2048, ROWS = 16, POINTS = TABLES * ROWS * WIDTH };
    uint8_t *table = malloc(TABLES * BOUND * WIDTH), *picked = malloc(POINTS);
    int32_t *rows = malloc(sizeof *rows * POINTS);
    assert_non_null(table);
    assert_non_null(picked);
    assert_non_null(rows);
    for (int i = 0; i < TABLES * BOUND * WIDTH; i++)
        table[i] = (uint8_t)(i * 7 + i / WIDTH);
    for (int i = 0; i < POINTS; i++)
        rows[i] = i * 37 % (2 * BOUND) - BOUND;
    const garner_tensor data = {
        .data = table, .shape = (int64_t[]){TABLES, BOUND, WIDTH}, .rank = 3, .dtype = GARNER_U8};
    const garner_tensor indices = {
        .data = rows, .shape = (int64_t[]){TABLES, ROWS, WIDTH}, .rank = 3, .dtype = GARNER_I32};
    const garner_tensor out = {
        .data = picked, .shape = (int64_t[]){TABLES, ROWS, WIDTH}, .rank = 3, .dtype = GARNER_U8};
    assert_int_equal(garner_gather_elements(&data, &indices, 1, &out, NULL), GARNER_OK);
    for (int i = 0; i < POINTS; i++) {
        const int row = rows[i] < 0 ? rows[i] + BOUND : rows[i];
        if (picked[i] != table[(i / (ROWS * WIDTH) * BOUND + row) * WIDTH + i % WIDTH])
            fail_msg("element %d is wrong", i);
    }
    free(table);
    free(picked);
    free(rows);
}

static void test_tuples_far_apart(void **state)
{
    (void)state;
    const int64_t far = INT64_C(1) << 31;
    unsigned char *table = mmap(NULL, (size_t)far * 2, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) SKIP_LOUDLY("4 GiB of addresses are not to be had");
    table[far + far - 2] = 42;
    int64_t last[9][2];
    unsigned char picked[9] = {0};
    for (int i = 0; i < 9; i++)
        last[i][0] = last[i][1] = -1;
    garner_tensor data = {.data = table,
                          .shape = (int64_t[]){2, far - 1},
                          .strides = (int64_t[]){far, 1},
                          .rank = 2,
                          .dtype = GARNER_U8};
    garner_tensor indices = {.data = last, .shape = (int64_t[]){9, 2}, .rank = 2, .dtype = GARNER_I64};
    garner_tensor out = {.data = picked, .shape = (int64_t[]){9}, .rank = 1, .dtype = GARNER_U8};
    assert_int_equal(garner_gather_nd(&data, &indices, 0, &out, NULL), GARNER_OK);
    for (int i = 0; i < 9; i++)
        assert_int_equal(picked[i], 42);
    munmap(table, (size_t)far * 2);
}

/* Many tuples of each length into a table all of whose axes run backwards. */
static void test_tuples_backwards(void **state)
{
    (void)state;
    enum { MOST = 4, POINTS = 100, ELEMENTS = 3 * 4 * 5 * 6 };
    const int64_t shape[MOST] = {3, 4, 5, 6}, strides[MOST] = {-120, -30, -6, -1};
    int32_t table[ELEMENTS], picked[POINTS];
    int64_t tuples[POINTS * MOST];
    for (int32_t i = 0; i < ELEMENTS; i++)
        table[i] = ELEMENTS - 1 - i; /* counts up, seen backwards */
    struct random random = random_from(7);
    for (int length = 1; length <= MOST; length++) {
        const int first = MOST - length; /* the table's last axes */
        for (int i = 0; i < POINTS * length; i++)
            tuples[i] = random_between(&random, 0, shape[first + i % length] - 1);
        garner_tensor data = {.data = table + ELEMENTS - 1,
                              .shape = shape + first,
                              .strides = strides + first,
                              .rank = length,
                              .dtype = GARNER_I32};
        garner_tensor indices = {
            .data = tuples, .shape = (int64_t[]){POINTS, length}, .rank = 2, .dtype = GARNER_I64};
        garner_tensor out = {.data = picked, .shape = (int64_t[]){POINTS}, .rank = 1, .dtype = GARNER_I32};
        assert_int_equal(garner_gather_nd(&data, &indices, 0, &out, NULL), GARNER_OK);
        for (int i = 0; i < POINTS; i++) {
            int64_t expected = 0;
            for (int k = 0; k < length; k++)
                expected -= tuples[i * length + k] * strides[first + k];
            assert_int_equal(picked[i], expected);
        }
    }
}

/* Short rows whose tables lie apart, in groups that lie further apart. */
static void test_short_rows_in_groups(void **state)
{
    (void)state;
    enum { GROUPS = 3, ROWS = 5, ROW = 4, APART = 40, POINTS = GROUPS * ROWS * ROW };
    int32_t table[GROUPS * APART], picked[POINTS];
    int64_t chosen[POINTS];
    for (int32_t i = 0; i < GROUPS * APART; i++)
        table[i] = i;
    for (int i = 0; i < POINTS; i++)
        chosen[i] = (i * 7 + i / ROW) % ROW;
    const int64_t shape[] = {GROUPS, ROWS, ROW}, strides[] = {APART, ROW + 1, 1};
    const garner_tensor data = {
        .data = table, .shape = shape, .strides = strides, .rank = 3, .dtype = GARNER_I32};
    const garner_tensor indices = {.data = chosen, .shape = shape, .rank = 3, .dtype = GARNER_I64};
    const garner_tensor out = {.data = picked, .shape = shape, .rank = 3, .dtype = GARNER_I32};
    const garner_op op = {.kind = GARNER_GATHER_ELEMENTS, .axis = 2};
    assert_int_equal(garner_run(&op, &data, &indices, &out, NULL, NULL), GARNER_OK);
    for (int i = 0; i < POINTS; i++)
        assert_int_equal(picked[i],
                         i / (ROWS * ROW) * APART + i / ROW % ROWS * (ROW + 1) + (int32_t)chosen[i]);
}

/* Three million indices seen 2^60 times, for an output without elements: refused, not walked. */
static void test_indices_on_top_of_each_other(void **state)
{
    (void)state;
    const int64_t n = 1 << 20;
    int8_t *memory = calloc((size_t)n * 3, 1);
    assert_non_null(memory);
    garner_tensor data = {.data = memory, .shape = (int64_t[]){5, 0}, .rank = 2, .dtype = GARNER_F32};
    garner_tensor indices = {.data = memory,
                             .shape = (int64_t[]){n, n, n},
                             .strides = (int64_t[]){1, 1, 1},
                             .rank = 3,
                             .dtype = GARNER_I8};
    garner_tensor out = {.shape = (int64_t[]){n, n, n, 0}, .rank = 4, .dtype = GARNER_F32};
    garner_error error;
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_BAD_SHAPE);
    assert_non_null(strstr(error.message, "overlap themselves"));
    indices.strides = (int64_t[]){0, 0, 1};
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_OK);
    indices.strides = (int64_t[]){1, 1, 1}; /* a window of 100 that slides: few enough to be looked at */
    indices.shape = (int64_t[]){1, 301, 100};
    out.shape = (int64_t[]){1, 301, 100, 0};
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_OK);
    memory[399] = 5;
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_OUT_OF_RANGE);
    assert_int_equal(error.position, 300 * 100 + 99);
    free(memory);
}

/* What is allowed stands in the sentence, and the axis that disagrees in the record. */
static void test_what_is_allowed_is_said(void **state)
{
    (void)state;
    float table[4] = {1, 2, 3, 4}, picked[4];
    int32_t rows[1] = {0};
    garner_tensor data = {.data = table, .shape = (int64_t[]){1, 4}, .rank = 2, .dtype = GARNER_F32};
    garner_tensor indices = {.data = rows, .shape = (int64_t[]){1, 1}, .rank = 2, .dtype = GARNER_I32};
    garner_tensor out = {.data = picked, .shape = (int64_t[]){1, 1, 3}, .rank = 3, .dtype = GARNER_F32};
    garner_error error;
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_BAD_SHAPE);
    assert_true(error.has & GARNER_HAS_AXIS && error.axis == 2);
    out.rank = 2;
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_BAD_SHAPE);
    assert_false(error.has & GARNER_HAS_AXIS);

    garner_op op;
    garner_shape shape;
    assert_int_equal(garner_op_from_spec(&op, "onnx-13", GARNER_GATHER_ND, &error), GARNER_OK);
    assert_int_equal(garner_infer(&op, &data, &indices, &shape, &error), GARNER_BAD_TYPE);
    assert_string_equal(error.message,
                        "GatherND: indices of type i32 are not among the index types of onnx-13: i64");
    data.dtype = GARNER_U4;
    indices.dtype = GARNER_I64;
    assert_int_equal(garner_infer(&op, &data, &indices, &shape, &error), GARNER_BAD_TYPE);
    assert_non_null(
        strstr(error.message, "data of type u4 is not among the types of onnx-13: f32, u8, i8, "));
    assert_non_null(strstr(error.message, ", bf16"));
}

static void *gather_for_ever(void *context)
{
    enum { N = 1 << 20 };
    (void)context;
    static float table[N], picked[N];
    static int32_t order[N];
    garner_tensor data = {.data = table, .shape = (int64_t[]){N}, .rank = 1, .dtype = GARNER_F32};
    garner_tensor indices = {.data = order, .shape = (int64_t[]){N}, .rank = 1, .dtype = GARNER_I32};
    garner_tensor out = {.data = picked, .shape = (int64_t[]){N}, .rank = 1, .dtype = GARNER_F32};
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_exec exec = garner_threads(3);
    while (garner_run(&op, &data, &indices, &out, &exec, NULL) == GARNER_OK) {
    }
    return NULL;
}

static void test_exit_during_a_job(void **state)
{
    (void)state;
    const int rounds = TEST_SANITIZED ? 2 : 10; /* leak checks at each exit take seconds */
    for (int round = 0; round < rounds; round++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            pthread_t thread;
            alarm(100); /* it takes milliseconds, and under a sanitizer on a busy machine much longer */
            if (pthread_create(&thread, NULL, gather_for_ever, NULL) != 0) end_child(1);
            usleep((useconds_t)(1000 * round));
            exit(0);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* ---- Tensors without elements, at NULL ---- */

/* Runs a gather of f32 by every door; data, indices and out are at NULL where they have no elements. */
static void gather_at_null(const garner_op *op, garner_tensor data, garner_tensor indices, float *zeros)
{
    garner_shape shape;
    garner_plan *plan = NULL;
    const garner_exec exec = garner_threads(2);
    assert_int_equal(garner_infer(op, &data, &indices, &shape, NULL), GARNER_OK);
    float *result = shape.bytes > 0 ? zeros : NULL;
    if (result) memset(result, 0x7f, (size_t)shape.bytes);
    const garner_tensor out = {
        .data = result, .shape = shape.extents, .rank = shape.rank, .dtype = GARNER_F32};
    assert_int_equal(garner_run(op, &data, &indices, &out, NULL, NULL), GARNER_OK);
    assert_int_equal(garner_run(op, &data, &indices, &out, &exec, NULL), GARNER_OK);
    assert_int_equal(garner_plan_create(&plan, op, &data, &indices, NULL, NULL), GARNER_OK);
    assert_int_equal(garner_execute(plan, NULL, indices.data, result, &exec, NULL), GARNER_OK);
    garner_plan_destroy(plan);
    for (int64_t i = 0; i < shape.bytes / 4; i++)
        assert_true(zeros[i] == 0);
}

/* Zeros for indices into nothing, along each axis and by each operator; and nothing for no indices. With
 * strides, too, which move the first element. What is undefined in it, UBSan finds. */
static void test_nothing_at_null(void **state)
{
    (void)state;
    static float zeros[6 * 300 * 6];
    static int64_t some[300 * 6];
    const int64_t strides[] = {-24, 4, 8};
    for (int64_t axis = 0; axis < 3; axis++)
        for (int stepped = 0; stepped < 2; stepped++)
            for (int64_t count = 0; count <= 300; count += 100) {
                int64_t extents[] = {3, 2, 2};
                extents[axis] = 0;
                const garner_tensor data = {
                    .shape = extents, .rank = 3, .dtype = GARNER_F32, .strides = stepped ? strides : NULL};
                garner_tensor indices = {
                    .data = count ? some : NULL, .shape = &count, .rank = 1, .dtype = GARNER_I64};
                const garner_op gather = {.kind = GARNER_GATHER, .axis = axis, .oob = GARNER_OOB_ZERO};
                gather_at_null(&gather, data, indices, zeros);
                int64_t elements[] = {3, 2, 2};
                elements[axis] = count;
                indices.shape = elements;
                indices.rank = 3;
                const garner_op each = {.kind = GARNER_GATHER_ELEMENTS, .axis = axis, .oob = GARNER_OOB_ZERO};
                gather_at_null(&each, data, indices, zeros);
                int64_t tuples[] = {count, 2};
                indices.shape = tuples;
                indices.rank = 2;
                const garner_op nd = {.kind = GARNER_GATHER_ND, .oob = GARNER_OOB_ZERO};
                gather_at_null(&nd, data, indices, zeros);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_at_null),
        cmocka_unit_test(test_exit_during_a_job), /* first: it forks, and wants no threads before */
        cmocka_unit_test(test_long_rows_of_batches),
        cmocka_unit_test(test_more_threads_than_columns),
        cmocka_unit_test(test_rows_of_many_tables),
        cmocka_unit_test(test_tuples_far_apart),
        cmocka_unit_test(test_tuples_backwards),
        cmocka_unit_test(test_short_rows_in_groups),
        cmocka_unit_test(test_indices_on_top_of_each_other),
        cmocka_unit_test(test_what_is_allowed_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
