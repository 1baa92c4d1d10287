/* SPDX-License-Identifier: MIT */
/*
 * Plans as a caller sees them: what they say of themselves, the shape they promise, and that one plan
 * serves any buffers, any number of times.
 */
#include "fixture.h"

static garner_plan *plan_of(struct fixture *f)
{
    garner_plan *plan = NULL;
    if (garner_plan_create(&plan, &f->op, &f->data, &f->indices, NULL, &f->error) != GARNER_OK)
        fail_msg("%s", f->error.message);
    assert_non_null(plan);
    return plan;
}

static void expect_words(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                         const char *const *words, int count)
{
    garner_plan *plan = NULL;
    char line[400];
    assert_int_equal(garner_plan_create(&plan, op, data, indices, NULL, NULL), GARNER_OK);
    const size_t length = garner_plan_describe(plan, line, sizeof line);
    assert_int_equal(length, strlen(line));
    assert_null(strchr(line, '\n'));
    for (int i = 0; i < count; i++)
        if (!strstr(line, words[i])) fail_msg("'%s' is not in: %s", words[i], line);
    garner_plan_destroy(plan);
}

static void test_describe(void **state)
{
    (void)state;
    const garner_op op = {.kind = GARNER_GATHER, .axis = 1};
    const garner_tensor data = {.shape = (int64_t[]){8, 1000, 64}, .rank = 3, .dtype = GARNER_F32};
    const garner_tensor indices = {.shape = (int64_t[]){4, 128}, .rank = 2, .dtype = GARNER_I64};
    const char *const words[] = {"Gather",     "(8: 256000,0,131072) (512: 0,1,256)",
                                 "(1000,256)", "256 B, strategy rows, kernel ",
                                 "prefetch ",  "stores cached",
                                 "task"};
    expect_words(&op, &data, &indices, words, 7);
}

/* Columns of a table that is cut into panels. */
static void test_describe_panels(void **state)
{
    (void)state;
    const garner_op op = {.kind = GARNER_GATHER_ELEMENTS};
    const garner_tensor data = {.shape = (int64_t[]){200, 1024}, .rank = 2, .dtype = GARNER_F32};
    const garner_tensor indices = {.shape = (int64_t[]){300, 1000}, .rank = 2, .dtype = GARNER_I64};
    const char *const words[] = {"(300: 0,1000,4000) (1000: 4,1,4)", "(200,4096)", "strategy panels, kernel",
                                 "panel-i64-4", "panels 200x64 B"};
    expect_words(&op, &data, &indices, words, 5);
}

/* Short rows along the last axis, of elements that no wide registers gather. */
static void test_describe_short_rows(void **state)
{
    (void)state;
    const garner_op op = {.kind = GARNER_GATHER_ELEMENTS, .axis = 1};
    const garner_tensor data = {.shape = (int64_t[]){5000, 100}, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor indices = {.shape = (int64_t[]){5000, 40}, .rank = 2, .dtype = GARNER_I32};
    const char *const words[] = {"(5000: 100,40,40) (40: 0,1,1)", "(100,1)", "scalar short_unit-i32-1"};
    expect_words(&op, &data, &indices, words, 3);
}

/* As snprintf: whatever the room, the whole length is returned and the line is terminated. */
static void test_describe_in_little_room(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER_ND);
    garner_plan *plan = plan_of(&f);
    char whole[400], part[400];
    const size_t length = garner_plan_describe(plan, whole, sizeof whole);
    assert_true(length > 20 && length < sizeof whole);
    assert_int_equal(garner_plan_describe(plan, NULL, 0), length);
    for (size_t size = 0; size <= length + 1; size++) {
        memset(part, '#', sizeof part);
        assert_int_equal(garner_plan_describe(plan, part, size), length);
        if (size > 0) {
            assert_int_equal(strlen(part), size - 1);
            assert_memory_equal(part, whole, size - 1);
        }
        assert_int_equal(part[size], '#');
    }
    garner_plan_destroy(plan);
}

static void test_output(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    f.data.dtype = GARNER_OPAQUE;
    f.data.item_bytes = 7;
    garner_plan *plan = plan_of(&f);
    const garner_shape *shape = garner_plan_output(plan);
    assert_int_equal(shape->rank, 3);
    assert_memory_equal(shape->extents, f.out_shape, 3 * sizeof(int64_t));
    assert_int_equal(shape->dtype, GARNER_OPAQUE);
    assert_int_equal(shape->item_bytes, 7);
    assert_int_equal(shape->count, 40);
    assert_int_equal(shape->bytes, 280);
    garner_plan_destroy(plan);
    assert_null(garner_plan_output(NULL));
}

/* Other buffers, other indices, a bad index between two good runs: the plan does not change. */
static void test_run_again(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, GARNER_GATHER);
    garner_plan *plan = plan_of(&f);
    for (int64_t i = 0; i < 20; i++) {
        float elements[30], out[40];
        int64_t values[] = {i % 3, -1 - i % 3, 0, i % 5 == 4 ? 3 : 2};
        for (int e = 0; e < 30; e++)
            elements[e] = (float)(i * 1000 + e);
        const garner_status status = garner_execute(plan, elements, values, out, NULL, &f.error);
        assert_int_equal(status, i % 5 == 4 ? GARNER_OUT_OF_RANGE : GARNER_OK);
        if (status != GARNER_OK) continue;
        assert_true(out[0] == elements[i % 3 * 5]);
        assert_true(out[5] == elements[(2 - i % 3) * 5]);
        assert_true(out[39] == elements[29]);
    }
    garner_plan_destroy(plan);
}

/* Policies and negative meaning belong to the plan. */
static void test_policies(void **state)
{
    (void)state;
    const int64_t values[] = {0, 3, -4, 100};
    const float want[4][4] = {{0}, {100, 0, 0, 0}, {100, 110, 100, 110}, {100, 100, 110, 105}};
    for (int oob = GARNER_OOB_ZERO; oob <= GARNER_OOB_WRAP; oob++) {
        struct fixture f;
        fixture_make(&f, GARNER_GATHER);
        memcpy(f.values, values, sizeof values);
        f.op.oob = (garner_oob)oob;
        garner_plan *plan = plan_of(&f);
        assert_int_equal(garner_execute(plan, f.elements, f.values, f.picked, NULL, &f.error), GARNER_OK);
        for (int i = 0; i < 4; i++)
            assert_true(f.picked[i * 5] == want[oob][i]);
        garner_plan_destroy(plan);
    }
}

static void test_version(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", GARNER_VERSION_MAJOR, GARNER_VERSION_MINOR, GARNER_VERSION_PATCH);
    assert_string_equal(garner_version(), text);
    assert_string_equal(garner_version(), GARNER_VERSION_STRING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_describe_panels),
        cmocka_unit_test(test_describe_short_rows),
        cmocka_unit_test(test_describe_in_little_room),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_run_again),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
