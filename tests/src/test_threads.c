/* SPDX-License-Identifier: MIT */
/*
 * The executor hook: tasks in any order on 1 to 16 workers give the same bytes and the same lowest bad
 * position; every shape splits; a call can be stopped in each of three ways; a plan serves many
 * threads at once; threads that cannot be created are done without; and indices that change while
 * they are read never lead outside data.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "creations.h"
#include "guard.h"
#include "random.h"
#include "scripted_executor.h"

#include <stdlib.h>
#include <string.h>

/* ---- A call worth several tasks ---- */

struct work {
    garner_op op;
    garner_tensor data, indices, out;
    int64_t data_shape[3], indices_shape[3], out_shape[3];
    size_t out_bytes;
    unsigned char *expected;
};

enum { ROWS = 1000, ROW_FLOATS = 64, PICKS = 20000 };

static void allocate(garner_tensor *tensor, const int64_t *shape, int32_t rank, garner_dtype dtype)
{
    int64_t count = 1;
    for (int d = 0; d < rank; d++)
        count *= shape[d];
    *tensor = (garner_tensor){.shape = shape, .rank = rank, .dtype = dtype};
    tensor->bytes = (uint64_t)garner_dtype_bytes(dtype, count, 0);
    tensor->data = malloc(tensor->bytes);
    assert_non_null(tensor->data);
}

static void fill(struct work *work, int64_t bound)
{
    struct random random = random_from(3);
    random_fill(&random, work->data.data, work->data.bytes);
    int64_t *values = work->indices.data;
    for (uint64_t i = 0; i < work->indices.bytes / sizeof *values; i++)
        values[i] = random_between(&random, -bound, bound - 1);
    work->out_bytes = work->out.bytes;
    work->expected = malloc(work->out_bytes);
    assert_non_null(work->expected);
    assert_int_equal(garner_run(&work->op, &work->data, &work->indices, &work->out, NULL, NULL), GARNER_OK);
    memcpy(work->expected, work->out.data, work->out_bytes);
}

/* Gather of rows: about 5 MB in 20 tasks or so. */
static void make_gather(struct work *work)
{
    *work = (struct work){.op = {.kind = GARNER_GATHER},
                          .data_shape = {ROWS, ROW_FLOATS},
                          .indices_shape = {PICKS},
                          .out_shape = {PICKS, ROW_FLOATS}};
    allocate(&work->data, work->data_shape, 2, GARNER_F32);
    allocate(&work->indices, work->indices_shape, 1, GARNER_I64);
    allocate(&work->out, work->out_shape, 2, GARNER_F32);
    fill(work, ROWS);
}

/* The same in u3, whose tasks must not share a unit of 3 bytes: rows of 13 elements. */
static void make_packed(struct work *work)
{
    *work = (struct work){.op = {.kind = GARNER_GATHER},
                          .data_shape = {ROWS, 13},
                          .indices_shape = {PICKS},
                          .out_shape = {PICKS, 13}};
    allocate(&work->data, work->data_shape, 2, GARNER_U3);
    allocate(&work->indices, work->indices_shape, 1, GARNER_I64);
    allocate(&work->out, work->out_shape, 2, GARNER_U3);
    fill(work, ROWS);
}

/* Along an axis that is not the last, out of so many rows that panels lie in out, with room for four
 * threads.
 */
static void make_columns(struct work *work)
{
    *work = (struct work){.op = {.kind = GARNER_GATHER_ELEMENTS},
                          .data_shape = {1100, 701},
                          .indices_shape = {1100, 701},
                          .out_shape = {1100, 701}};
    allocate(&work->data, work->data_shape, 2, GARNER_F32);
    allocate(&work->indices, work->indices_shape, 2, GARNER_I64);
    allocate(&work->out, work->out_shape, 2, GARNER_F32);
    fill(work, 1100);
}

static void release(struct work *work)
{
    free(work->data.data);
    free(work->indices.data);
    free(work->out.data);
    free(work->expected);
}

static garner_status run(struct work *work, const garner_exec *exec, garner_error *error)
{
    memset(work->out.data, 0x5a, work->out_bytes);
    return garner_run(&work->op, &work->data, &work->indices, &work->out, exec, error);
}

/* ---- Orders and workers ---- */

static void same_bytes_with(struct work *work, int workers, enum executor_order order)
{
    struct executor executor = executor_make(workers, order, (uint64_t)workers);
    const garner_exec hook = executor_hook(&executor);
    garner_error error;
    assert_int_equal(run(work, &hook, &error), GARNER_OK);
    assert_true(executor.tasks > 1);
    assert_int_equal(atomic_load(&executor.runs), executor.tasks);
    assert_memory_equal(work->out.data, work->expected, work->out_bytes);
}

/* Every number of workers with every order; under a sanitizer each number with one of them. */
static void same_bytes(struct work *work)
{
    for (int workers = 1; workers <= 16; workers++)
        for (int order = ORDER_FORWARD; order <= ORDER_SHUFFLED; order++)
            if (!TEST_SANITIZED || workers % 3 == order)
                same_bytes_with(work, workers, (enum executor_order)order);
}

static void test_any_order(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    same_bytes(&work);
    release(&work);
    make_packed(&work);
    same_bytes(&work);
    release(&work);
}

static void same_bytes_on_pool(struct work *work)
{
    const int counts[] = {0, 1, 2, 3, 7, 16, 1000, -5};
    for (int i = 0; i < 8; i++) {
        const garner_exec exec = garner_threads(counts[i]);
        assert_int_equal(run(work, &exec, NULL), GARNER_OK);
        assert_memory_equal(work->out.data, work->expected, work->out_bytes);
    }
}

static void test_own_threads(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    same_bytes_on_pool(&work);
    release(&work);
    make_columns(&work);
    same_bytes_on_pool(&work);
    release(&work);
}

/* The split does not depend on who runs it: the number of tasks is always the same. */
static void test_same_split(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    size_t tasks = 0;
    for (int workers = 1; workers <= 16; workers += 5) {
        struct executor executor = executor_make(workers, ORDER_FORWARD, 0);
        const garner_exec hook = executor_hook(&executor);
        assert_int_equal(run(&work, &hook, NULL), GARNER_OK);
        if (tasks) assert_int_equal(executor.tasks, tasks);
        tasks = executor.tasks;
    }
    release(&work);
}

/* ---- Errors ---- */

static void lowest_of(struct work *work, int64_t lowest, const garner_exec *exec)
{
    garner_error error;
    assert_int_equal(run(work, exec, &error), GARNER_OUT_OF_RANGE);
    char text[80];
    snprintf(text, sizeof text, "Gather: indices[%d] = %d is outside [-1000, 999] of data axis 0",
             (int)lowest, (int)(ROWS + lowest));
    assert_string_equal(error.message, text);
    assert_int_equal(error.position, lowest);
    assert_int_equal(error.coordinates[0], lowest);
}

static void test_lowest_bad_position(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    int64_t *values = work.indices.data;
    const int64_t bad[] = {19999, 19998, 15000, 12345, 4097, 300, 1, 0};
    for (int i = 0; i < 8; i++) { /* each is lower than all before it, which stay */
        const int64_t kept = values[bad[i]];
        values[bad[i]] = ROWS + bad[i];
        lowest_of(&work, bad[i], NULL);
        for (int workers = 1; workers <= 16; workers += 3)
            for (int order = ORDER_FORWARD; order <= ORDER_SHUFFLED; order++) {
                struct executor executor =
                    executor_make(workers, (enum executor_order)order, (uint64_t)(workers + i));
                const garner_exec hook = executor_hook(&executor), own = garner_threads(workers);
                lowest_of(&work, bad[i], &hook);
                lowest_of(&work, bad[i], &own);
            }
        if (i % 2) values[bad[i]] = kept;
    }
    release(&work);
}

/* ---- Stopping early ---- */

static void cancelled_by(struct work *work, struct executor executor)
{
    const garner_exec hook = executor_hook(&executor);
    garner_error error;
    assert_int_equal(run(work, &hook, &error), GARNER_CANCELLED);
    assert_int_equal(error.status, GARNER_CANCELLED);
    assert_non_null(strstr(error.message, "Gather"));
    struct executor patient = executor_make(2, ORDER_FORWARD, 0); /* and the same call works */
    const garner_exec again = executor_hook(&patient);
    assert_int_equal(run(work, &again, &error), GARNER_OK);
    assert_memory_equal(work->out.data, work->expected, work->out_bytes);
}

static void test_cancelled_by_the_return_value(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    struct executor executor = executor_make(3, ORDER_FORWARD, 0);
    executor.answer = 1;
    cancelled_by(&work, executor);
    executor.answer = -1;
    cancelled_by(&work, executor);
    release(&work);
}

static void test_cancelled_by_leaving_out(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    const size_t left_out[] = {1, 2, 10, SIZE_MAX};
    for (int i = 0; i < 4; i++) {
        struct executor executor = executor_make(1 + i, ORDER_SHUFFLED, 5);
        executor.leave_out = left_out[i];
        cancelled_by(&work, executor);
    }
    release(&work);
}

static void test_cancelled_when_asked(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    for (int after = 0; after < 5; after++) {
        struct executor executor = executor_make(1 + after, ORDER_FORWARD, 0);
        executor.cancel_after = after;
        cancelled_by(&work, executor);
    }
    release(&work);
}

/* Without a parallel_for the question is asked too, before each task. */
static void test_cancelled_without_parallel_for(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    struct executor executor = executor_make(1, ORDER_FORWARD, 0);
    garner_exec hook = executor_hook(&executor);
    hook.parallel_for = NULL;
    assert_int_equal(run(&work, &hook, NULL), GARNER_OK);
    assert_true(atomic_load(&executor.asked) > 1);
    executor.cancel_after = atomic_load(&executor.asked) + 1;
    assert_int_equal(run(&work, &hook, NULL), GARNER_CANCELLED);
    release(&work);
}

/* It is asked on while the indices are looked through for the one to report, and where out is empty. */
static void test_cancelled_while_indices_are_looked_through(void **state)
{
    (void)state;
    struct work work;
    garner_error error;
    make_gather(&work);
    ((int64_t *)work.indices.data)[PICKS - 1] = ROWS;
    struct executor executor = executor_make(1, ORDER_FORWARD, 0);
    const garner_exec hook = executor_hook(&executor);
    assert_int_equal(run(&work, &hook, &error), GARNER_OUT_OF_RANGE);
    assert_int_equal(error.position, PICKS - 1);
    executor.cancel_after = atomic_load(&executor.asked) - 1; /* at the last of as many questions */
    atomic_store(&executor.asked, 0);
    assert_int_equal(run(&work, &hook, &error), GARNER_CANCELLED);
    assert_non_null(strstr(error.message, "looked through"));

    work.data_shape[1] = work.out_shape[1] = 0;
    work.data.bytes = work.out.bytes = 0;
    executor.cancel_after = -1;
    atomic_store(&executor.asked, 0);
    assert_int_equal(run(&work, &hook, &error), GARNER_OUT_OF_RANGE);
    assert_in_range(atomic_load(&executor.asked), 1, 100); /* not once for each index */
    executor.cancel_after = 0;
    assert_int_equal(run(&work, &hook, &error), GARNER_CANCELLED);
    release(&work);
}

static void test_exec_of_another_size(void **state)
{
    (void)state;
    struct work work;
    make_gather(&work);
    garner_exec exec = garner_threads(2);
    exec.size = 5;
    garner_error error;
    assert_int_equal(run(&work, &exec, &error), GARNER_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "size"));
    exec.size = 0;
    assert_int_equal(run(&work, &exec, &error), GARNER_OK);
    release(&work);
}

static int number_of_workers(void *context)
{
    return ((struct executor *)context)->workers;
}

static int never_asked(void *context)
{
    (void)context;
    fail_msg("an executor of the first version has no threads");
    return 0;
}

/* An executor that says how many threads it has gets as many calls, each with a panel in out; one that does
 * not say it, or is of the first version, gets a call for each task. */
static void test_threads_that_an_executor_has(void **state)
{
    (void)state;
    struct work work;
    make_columns(&work);
    for (int workers = 2; workers <= 4; workers++) {
        struct executor executor = executor_make(workers, ORDER_REVERSE, 0);
        garner_exec hook = executor_hook(&executor);
        hook.threads = number_of_workers;
        assert_int_equal(run(&work, &hook, NULL), GARNER_OK);
        assert_int_equal(executor.tasks, workers);
        assert_memory_equal(work.out.data, work.expected, work.out_bytes);

        hook.threads = never_asked;
        hook.size = offsetof(garner_exec, threads);
        assert_int_equal(run(&work, &hook, NULL), GARNER_OK);
        assert_true(executor.tasks > 4);
        assert_memory_equal(work.out.data, work.expected, work.out_bytes);
    }
    release(&work);
}

/* ---- What splits ---- */

static size_t tasks_of(garner_kind kind, const garner_tensor *data, const garner_tensor *indices,
                       int64_t axis)
{
    const garner_op op = {.kind = kind, .axis = axis};
    garner_plan *plan = NULL;
    garner_error error;
    if (garner_plan_create(&plan, &op, data, indices, NULL, &error) != GARNER_OK)
        fail_msg("%s", error.message);
    const garner_shape *shape = garner_plan_output(plan);
    unsigned char *from =
        calloc(1, (size_t)garner_dtype_bytes(data->dtype, data->shape[0] * data->shape[1], 0));
    unsigned char *at =
        calloc(1, (size_t)garner_dtype_bytes(
                      indices->dtype, indices->shape[0] * (indices->rank > 1 ? indices->shape[1] : 1), 0));
    unsigned char *to = malloc((size_t)shape->bytes);
    memset(to, 0x5a, (size_t)shape->bytes);
    struct executor executor = executor_make(2, ORDER_REVERSE, 0);
    const garner_exec hook = executor_hook(&executor);
    assert_int_equal(garner_execute(plan, from, at, to, &hook, &error), GARNER_OK);
    for (int64_t i = 0; i < shape->bytes; i++)
        if (to[i]) fail_msg("byte %d of out was not written", (int)i);
    free(from);
    free(at);
    free(to);
    garner_plan_destroy(plan);
    return executor.tasks;
}

/* One long row, a tall column, many small rows, elements, tuples, packed elements: all split. */
static void test_any_shape_splits(void **state)
{
    (void)state;
    static const struct {
        garner_kind kind;
        garner_dtype dtype;
        int64_t data[2], indices[2], axis;
        int indices_rank;
    } rows[] = {
        {GARNER_GATHER, GARNER_U8, {1, 16 << 20}, {1}, 0, 1},
        {GARNER_GATHER, GARNER_U8, {3, 5 << 20}, {3}, 0, 1},
        {GARNER_GATHER, GARNER_F32, {1 << 20, 1}, {3}, 1, 1},
        {GARNER_GATHER, GARNER_F32, {4, 1}, {1 << 20}, 0, 1},
        {GARNER_GATHER, GARNER_C128, {100, 10}, {10000}, 0, 1},
        {GARNER_GATHER, GARNER_U4, {100, 9}, {300000}, 0, 1},
        {GARNER_GATHER, GARNER_U1, {1, 8 << 20}, {1}, 0, 1},
        {GARNER_GATHER, GARNER_U3, {1, (4 << 20) + 1}, {1}, 0, 1},
        {GARNER_GATHER_ELEMENTS, GARNER_F32, {8, 100000}, {8, 100000}, 1, 2},
        {GARNER_GATHER_ELEMENTS, GARNER_F32, {100000, 8}, {100000, 8}, 0, 2},
        {GARNER_GATHER_ND, GARNER_F32, {100, 100}, {500000, 2}, 0, 2},
        {GARNER_GATHER_ND, GARNER_F64, {4, 1 << 20}, {3, 1}, 0, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const garner_tensor data = {.shape = rows[i].data, .rank = 2, .dtype = rows[i].dtype};
        const garner_tensor indices = {
            .shape = rows[i].indices, .rank = rows[i].indices_rank, .dtype = GARNER_I32};
        const int64_t axis = rows[i].axis == 1 && rows[i].data[1] == 1 ? 1 : rows[i].axis;
        const size_t tasks = tasks_of(rows[i].kind, &data, &indices, axis);
        if (tasks < 2) fail_msg("row %d runs as %d task", (int)i, (int)tasks);
    }
}

/* ---- Sharing ---- */

struct sharer {
    const garner_plan *plan;
    const struct work *work;
    unsigned char *out;
    garner_status status;
};

static void *share(void *context)
{
    struct sharer *sharer = context;
    const garner_exec exec = garner_threads(2);
    sharer->status = GARNER_OK;
    for (int i = 0; i < 5 && sharer->status == GARNER_OK; i++) {
        memset(sharer->out, 0x5a, sharer->work->out_bytes);
        sharer->status = garner_execute(sharer->plan, sharer->work->data.data, sharer->work->indices.data,
                                        sharer->out, i % 2 ? &exec : NULL, NULL);
    }
    return NULL;
}

static void test_plan_shared_by_threads(void **state)
{
    (void)state;
    enum { SHARERS = 8 };
    struct work work;
    make_gather(&work);
    garner_plan *plan = NULL;
    assert_int_equal(garner_plan_create(&plan, &work.op, &work.data, &work.indices, NULL, NULL), GARNER_OK);
    struct sharer sharers[SHARERS];
    pthread_t threads[SHARERS];
    for (int i = 0; i < SHARERS; i++) {
        sharers[i] = (struct sharer){plan, &work, malloc(work.out_bytes), GARNER_SYSTEM};
        assert_int_equal(pthread_create(&threads[i], NULL, share, &sharers[i]), 0);
    }
    for (int i = 0; i < SHARERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(sharers[i].status, GARNER_OK);
        assert_memory_equal(sharers[i].out, work.expected, work.out_bytes);
        free(sharers[i].out);
    }
    garner_plan_destroy(plan);
    release(&work);
}

static void test_threads_that_cannot_be_created(void **state)
{
    (void)state;
    if (!COUNTS_CREATIONS) SKIP_LOUDLY("the sanitizers have a pthread_create of their own");
    struct work work;
    make_gather(&work);
    for (int allowed = 0; allowed < 4; allowed++) {
        garner_pool *pool = NULL; /* a new one each time: the process-wide pool has its threads already */
        assert_int_equal(garner_pool_create(&pool, 8, NULL), GARNER_OK);
        const garner_exec exec = garner_pool_exec(pool);
        const int before = atomic_load(&creations_refused);
        atomic_store(&creations_allowed, allowed);
        const garner_status status = run(&work, &exec, NULL);
        atomic_store(&creations_allowed, INT32_MAX);
        assert_int_equal(status, GARNER_OK);
        assert_true(atomic_load(&creations_refused) > before);
        assert_memory_equal(work.out.data, work.expected, work.out_bytes);
        garner_pool_destroy(pool);
    }
    release(&work);
}

/* ---- Indices that change while they are read ---- */

struct flipper {
    volatile int64_t *values;
    int64_t count;
    atomic_bool stop;
};

static void *flip(void *context)
{
    struct flipper *flipper = context;
    struct random random = random_from(11);
    const int64_t far[] = {INT64_MIN, INT64_MAX, 1 << 20,          -(1 << 20),
                           64,        -65,       (int64_t)1 << 40, -((int64_t)1 << 40)};
    while (!atomic_load(&flipper->stop)) {
        const uint64_t bits = random_bits(&random);
        flipper->values[bits % (uint64_t)flipper->count] =
            bits >> 60 & 1 ? far[bits >> 61] : (int64_t)(bits >> 50 & 63);
    }
    return NULL;
}

/* Data lies against a guard page on either side: one stray read is a crash. */
static void race_against(garner_op op, const garner_tensor *data, const garner_tensor *indices,
                         const garner_tensor *out, struct flipper *flipper)
{
    pthread_t thread;
    atomic_store(&flipper->stop, false);
    assert_int_equal(pthread_create(&thread, NULL, flip, flipper), 0);
    const garner_exec own = garner_threads(2);
    for (int i = 0; i < 150; i++) {
        op.oob = (garner_oob)(i % 4);
        const garner_status status = garner_run(&op, data, indices, out, i % 3 ? NULL : &own, NULL);
        if (status != GARNER_OK && status != GARNER_OUT_OF_RANGE) fail_msg("%s", garner_status_name(status));
    }
    atomic_store(&flipper->stop, true);
    pthread_join(thread, NULL);
}

static void test_indices_that_change(void **state)
{
    (void)state;
    if (TEST_UNDER_TSAN) SKIP_LOUDLY("the race is the point of this test");
    enum { COUNT = 4000, EXTENT = 64 };
    static int64_t values[COUNT];
    static unsigned char out[COUNT * EXTENT];
    struct guard memory;
    struct flipper flipper = {.values = values, .count = COUNT};
    guard_create(&memory, EXTENT * EXTENT);
    for (int side = GUARD_AFTER; side <= GUARD_BEFORE; side++) {
        unsigned char *bytes = guard_place(&memory, EXTENT * EXTENT, (enum guard_side)side);
        memset(bytes, 1, EXTENT * EXTENT);
        const garner_tensor data = {
            .data = bytes, .shape = (int64_t[]){EXTENT, EXTENT}, .rank = 2, .dtype = GARNER_U8};
        const garner_tensor rows = {
            .data = values, .shape = (int64_t[]){COUNT}, .rank = 1, .dtype = GARNER_I64};
        const garner_tensor pairs = {
            .data = values, .shape = (int64_t[]){COUNT / 2, 2}, .rank = 2, .dtype = GARNER_I64};
        const garner_tensor row_out = {
            .data = out, .shape = (int64_t[]){COUNT, EXTENT}, .rank = 2, .dtype = GARNER_U8};
        const garner_tensor pair_out = {
            .data = out, .shape = (int64_t[]){COUNT / 2}, .rank = 1, .dtype = GARNER_U8};
        race_against((garner_op){.kind = GARNER_GATHER}, &data, &rows, &row_out, &flipper);
        race_against((garner_op){.kind = GARNER_GATHER_ND}, &data, &pairs, &pair_out, &flipper);
    }
    for (size_t i = 0; i < sizeof out; i++)
        assert_true(out[i] <= 1);
    guard_destroy(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_own_threads),
        cmocka_unit_test(test_same_split),
        cmocka_unit_test(test_lowest_bad_position),
        cmocka_unit_test(test_cancelled_by_the_return_value),
        cmocka_unit_test(test_cancelled_by_leaving_out),
        cmocka_unit_test(test_cancelled_when_asked),
        cmocka_unit_test(test_cancelled_without_parallel_for),
        cmocka_unit_test(test_cancelled_while_indices_are_looked_through),
        cmocka_unit_test(test_exec_of_another_size),
        cmocka_unit_test(test_threads_that_an_executor_has),
        cmocka_unit_test(test_any_shape_splits),
        cmocka_unit_test(test_plan_shared_by_threads),
        cmocka_unit_test(test_threads_that_cannot_be_created),
        cmocka_unit_test(test_indices_that_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
