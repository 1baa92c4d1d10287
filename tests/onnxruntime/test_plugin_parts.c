/* SPDX-License-Identifier: MIT */
/* What the plug-ins share, by itself: the rules about rewrites, the plans that are kept, from several
 * threads, too. */
#define _POSIX_C_SOURCE 200809L

#include "testing.h"

#include <pthread.h>
#include <string.h>

#include "fusion_rules.h"
#include "long_rows.h"
#include "plans.h"

/* ---- Rules ----------------------------------------------------------------------------------------- */

static void test_spans_of_gathers(void **state)
{
    (void)state;
    static const struct split_axis of = {.number = 1, .extent = 4, .rank = 3};
    static const struct {
        int64_t axis, index, start; /* -1: none */
    } cases[] = {{1, 0, 0},  {1, 3, 3},   {1, -1, 3}, {-2, -4, 0},
                 {1, 4, -1}, {1, -5, -1}, {0, 0, -1}, {-1, 0, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct split_span span;
        const bool there = split_span_of_gather(&span, &of, cases[i].axis, cases[i].index);
        assert_int_equal(there, cases[i].start >= 0);
        if (there) assert_true(span.start == cases[i].start && span.end == cases[i].start + 1);
    }
}

static void test_spans_of_slices(void **state)
{
    (void)state;
    static const struct split_axis of = {.number = 1, .extent = 4, .rank = 3};
    static const struct {
        int64_t axis, from, to, step, start, end; /* start -1: none */
    } cases[] = {
        {1, 0, 4, 1, 0, 4},   {1, -3, -1, 1, 1, 3}, {-2, -9, INT64_MAX, 1, 0, 4},
        {1, 2, 3, 1, 2, 3},   {1, 2, 2, 1, -1, 0},  {1, 3, 1, 1, -1, 0},
        {1, 9, 11, 1, -1, 0}, {1, 0, 4, 2, -1, 0},  {0, 0, 4, 1, -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct split_span span;
        const bool there =
            split_span_of_slice(&span, &of, cases[i].axis, cases[i].from, cases[i].to, cases[i].step);
        assert_int_equal(there, cases[i].start >= 0);
        if (there) assert_true(span.start == cases[i].start && span.end == cases[i].end);
    }
}

static void test_spans_cover(void **state)
{
    (void)state;
    struct split_span whole[] = {{2, 4}, {0, 1}, {1, 2}}, gap[] = {{2, 4}, {0, 1}},
                      twice[] = {{0, 2}, {1, 4}}, one[] = {{0, 4}};
    assert_true(split_spans_cover(whole, 3, 4));
    assert_false(split_spans_cover(whole, 3, 5));
    assert_false(split_spans_cover(gap, 2, 4));
    assert_false(split_spans_cover(twice, 2, 4));
    assert_false(split_spans_cover(one, 1, 4));
    assert_true(fusion_moves_data("Where") && fusion_moves_data("Cast"));
    assert_false(fusion_moves_data("Add"));
}

static void test_long_rows(void **state)
{
    (void)state;
    enum { K = 1024 };
    assert_false(long_rows_are_left(K - 1, K, K));
    assert_true(long_rows_are_left(K, 1 << 30, 128 * K - 1));
    assert_false(long_rows_are_left(K, 1 << 30, 128 * K));
    assert_true(long_rows_are_left(K, 2048 * K, 2048 * K));
    assert_false(long_rows_are_left(K, 2048 * K, 2048 * K + 1));
    assert_true(long_rows_are_left(2 * K, 2048 * K, LONG_ROWS_OPEN));
    assert_true(long_rows_are_left(2 * K - 1, 1 << 30, LONG_ROWS_OPEN));
    assert_false(long_rows_are_left(K - 1, 1 << 30, LONG_ROWS_OPEN));
    assert_false(long_rows_are_left(2 * K, 2048 * K + 1, LONG_ROWS_OPEN));
}

/* ---- Plans ----------------------------------------------------------------------------------------- */

static const int64_t shape[] = {3, 5}, other_shape[] = {3, 4};

/* A gather, and what differs from it in one field. */
enum { KEYS = 9 };
static struct plan_key keys[KEYS];
static garner_tensor data[KEYS], indices[KEYS];

static void make_keys(void)
{
    for (int i = 0; i < KEYS; i++) {
        data[i] = (garner_tensor){.shape = shape, .rank = 2, .dtype = GARNER_F32};
        indices[i] = (garner_tensor){.shape = shape, .rank = 1, .dtype = GARNER_I64};
        keys[i] = (struct plan_key){.axis = -1, .batch_dims = 0, .data = &data[i], .indices = &indices[i]};
    }
    keys[1].axis = 0;
    keys[2].batch_dims = 1;
    data[3].dtype = GARNER_I32;
    indices[4].dtype = GARNER_I32;
    data[5].rank = 1;
    indices[6].rank = 2;
    data[7].shape = other_shape;
    indices[8].shape = &shape[1];
}

static garner_plan *plan_of(const struct plan_key *key)
{
    garner_plan *plan;
    garner_error error;
    const garner_op op = {.kind = GARNER_GATHER, .axis = key->axis, .batch_dims = key->batch_dims};
    if (garner_plan_create(&plan, &op, key->data, key->indices, NULL, &error) != GARNER_OK)
        fail_msg("%s", error.message);
    return plan;
}

static void test_each_key_has_its_plan(void **state)
{
    (void)state;
    struct plans plans;
    const garner_plan *kept[KEYS];
    make_keys();
    plans_open(&plans);
    for (int i = 0; i < KEYS; i++) {
        assert_null(plans_find(&plans, &keys[i]));
        garner_plan *plan = plan_of(&keys[i]);
        assert_true(plans_keep(&plans, &keys[i], plan));
        kept[i] = plan;
    }
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(plans_find(&plans, &keys[i]), kept[i]);
    plans_close(&plans);
}

static void test_there_is_room_for_some(void **state)
{
    (void)state;
    struct plans plans;
    make_keys();
    plans_open(&plans);
    for (int i = 0; i < MOST_PLANS; i++)
        assert_true(plans_keep(&plans, &keys[0], plan_of(&keys[0])));
    garner_plan *plan = plan_of(&keys[0]);
    assert_false(plans_keep(&plans, &keys[0], plan));
    garner_plan_destroy(plan);
    plans_close(&plans);
}

/* Two threads that keep their plans at once: none is lost. */
enum { ROUNDS = 2000, EACH = 4 };

struct keeper {
    struct plans *plans;
    garner_plan *plan[EACH];
    pthread_barrier_t *barrier;
};

static void *keep_all(void *argument)
{
    struct keeper *keeper = argument;
    pthread_barrier_wait(keeper->barrier);
    for (int i = 0; i < EACH; i++)
        if (!plans_keep(keeper->plans, &keys[i], keeper->plan[i])) return keeper;
    return NULL;
}

static void test_kept_by_two_threads(void **state)
{
    (void)state;
    pthread_barrier_t barrier;
    make_keys();
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct plans plans;
        pthread_t thread;
        void *failed;
        struct keeper keepers[2] = {{.plans = &plans, .barrier = &barrier},
                                    {.plans = &plans, .barrier = &barrier}};
        plans_open(&plans);
        for (int i = 0; i < 2 * EACH; i++)
            keepers[i % 2].plan[i / 2] = plan_of(&keys[i / 2]);
        assert_int_equal(pthread_create(&thread, NULL, keep_all, &keepers[1]), 0);
        assert_null(keep_all(&keepers[0]));
        assert_int_equal(pthread_join(thread, &failed), 0);
        assert_null(failed);
        assert_int_equal(atomic_load(&plans.count), 2 * EACH);
        for (int i = 0; i < EACH; i++) {
            const garner_plan *found = plans_find(&plans, &keys[i]);
            assert_true(found == keepers[0].plan[i] || found == keepers[1].plan[i]);
        }
        plans_close(&plans); /* and a sanitizer sees those that nobody frees */
    }
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_of_gathers),      cmocka_unit_test(test_spans_of_slices),
        cmocka_unit_test(test_spans_cover),           cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_each_key_has_its_plan), cmocka_unit_test(test_there_is_room_for_some),
        cmocka_unit_test(test_kept_by_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
