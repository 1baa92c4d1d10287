/* SPDX-License-Identifier: MIT */
/* garner_plan_locate: copying the runs that it names gives what garner_execute gives, and it refuses what
 * that refuses, in the same words. */
#include "fixture.h"

enum { MOST = 80 };

/* Moves the points of a plan by hand, a few at a time. */
static garner_status move_points(struct fixture *f, garner_plan *plan, float *out, garner_error *error)
{
    garner_point points[7];
    int64_t all = garner_plan_points(plan), run = garner_plan_run(plan);
    for (int64_t first = 0; first < all;) {
        int64_t count = all - first < 7 ? all - first : 7;
        garner_status status = garner_plan_locate(plan, f->values, first, count, points, error);
        if (status != GARNER_OK) return status;
        for (int64_t i = 0; i < count; i++) {
            char *to = (char *)out + points[i].to;
            if (points[i].from == GARNER_NOWHERE)
                memset(to, 0, (size_t)run);
            else
                memcpy(to, (const char *)f->elements + points[i].from, (size_t)run);
        }
        first += count;
    }
    return GARNER_OK;
}

static void compare(struct fixture *f)
{
    float moved[MOST] = {0};
    garner_plan *plan;
    garner_error error = {.status = GARNER_OK};
    memset(f->picked, 0, sizeof f->picked);
    assert_int_equal(garner_plan_create(&plan, &f->op, &f->data, &f->indices, &f->out, &f->error), GARNER_OK);
    garner_status wanted = garner_execute(plan, f->elements, f->values, f->picked, NULL, &f->error);
    assert_int_equal(move_points(f, plan, moved, &error), wanted);
    assert_string_equal(error.message, f->error.message);
    assert_int_equal(error.position, wanted ? f->error.position : error.position);
    if (wanted == GARNER_OK) assert_memory_equal(moved, f->picked, sizeof f->picked);
    garner_plan_destroy(plan);
}

static void moves_what_execute_moves(void **state)
{
    (void)state;
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++)
        for (int oob = GARNER_OOB_ERROR; oob <= GARNER_OOB_WRAP; oob++) {
            struct fixture f;
            fixture_make(&f, (garner_kind)kind);
            f.op.oob = (garner_oob)oob;
            compare(&f);
            f.values[3] = 9; /* which the policy decides about */
            compare(&f);
            f.values[2] = -70;
            compare(&f);
        }
}

/* Backwards, so that the first index lies behind the pointer. */
static void indices_in_reverse(void **state)
{
    struct fixture f;
    (void)state;
    fixture_make(&f, GARNER_GATHER);
    f.indices.strides = (int64_t[]){-1};
    f.indices.byte_offset = 3 * sizeof *f.values;
    compare(&f);
}

/* Any part of the points, of any strides. */
static void parts_of_a_plan(void **state)
{
    struct fixture f;
    garner_plan *plan;
    garner_point all[64], some[64];
    (void)state;
    fixture_make(&f, GARNER_GATHER);
    f.out.strides = (int64_t[]){40, 10, 2}; /* every other element */
    f.op.axis = 1;
    assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, &f.out, NULL), GARNER_OK);
    int64_t count = garner_plan_points(plan);
    assert_int_equal(garner_plan_run(plan), 4);
    assert_int_equal(count, 40);
    assert_int_equal(garner_plan_locate(plan, f.values, 0, count, all, NULL), GARNER_OK);
    assert_int_equal(all[39].to, 4 * (40 + 3 * 10 + 4 * 2));
    for (int64_t first = 0; first <= count; first++)
        for (int64_t size = 0; size <= count - first; size++) {
            assert_int_equal(garner_plan_locate(plan, f.values, first, size, some, NULL), GARNER_OK);
            assert_memory_equal(some, all + first, (size_t)size * sizeof *some);
        }
    garner_plan_destroy(plan);
}

static void what_is_refused(void **state)
{
    struct fixture f;
    garner_plan *plan;
    garner_point points[64];
    (void)state;
    fixture_make(&f, GARNER_GATHER);
    assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, &f.out, NULL), GARNER_OK);
    int64_t count = garner_plan_points(plan);
    const int64_t wrong[][2] = {{-1, 1}, {0, -1}, {count + 1, 0}, {0, count + 1}, {count, 1}, {INT64_MAX, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(garner_plan_locate(plan, f.values, wrong[i][0], wrong[i][1], points, &f.error),
                         GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_plan_locate(NULL, f.values, 0, 1, points, &f.error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_plan_locate(plan, f.values, 0, 1, NULL, &f.error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_plan_locate(plan, NULL, 0, 1, points, &f.error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_plan_locate(plan, f.values, 0, 0, NULL, &f.error), GARNER_OK);
    assert_int_equal(garner_plan_points(NULL), 0);
    assert_int_equal(garner_plan_run(NULL), 0);
    garner_plan_destroy(plan);
}

/* Without points all indices are checked; packed elements have no runs in bytes. */
static void without_points(void **state)
{
    struct fixture f;
    garner_plan *plan;
    (void)state;
    fixture_make(&f, GARNER_GATHER);
    f.data_shape[2] = f.out_shape[2] = 0;
    assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, &f.out, NULL), GARNER_OK);
    assert_int_equal(garner_plan_points(plan), 0);
    assert_int_equal(garner_plan_locate(plan, f.values, 0, 0, NULL, NULL), GARNER_OK);
    f.values[3] = 3;
    assert_int_equal(garner_plan_locate(plan, f.values, 0, 0, NULL, &f.error), GARNER_OUT_OF_RANGE);
    assert_int_equal(f.error.position, 3);
    garner_plan_destroy(plan);
    fixture_make(&f, GARNER_GATHER);
    f.indices_shape[0] = f.out_shape[1] = 0;
    assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, &f.out, NULL), GARNER_OK);
    assert_int_equal(garner_plan_locate(plan, NULL, 0, 0, NULL, NULL),
                     GARNER_OK); /* no indices, no pointer */
    garner_plan_destroy(plan);
    fixture_make(&f, GARNER_GATHER);
    f.data.dtype = f.out.dtype = GARNER_U4;
    assert_int_equal(garner_plan_create(&plan, &f.op, &f.data, &f.indices, &f.out, NULL), GARNER_OK);
    assert_int_equal(garner_plan_run(plan), 0);
    garner_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_what_execute_moves), cmocka_unit_test(indices_in_reverse),
        cmocka_unit_test(parts_of_a_plan),          cmocka_unit_test(what_is_refused),
        cmocka_unit_test(without_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
