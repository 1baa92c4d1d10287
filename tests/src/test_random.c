/* SPDX-License-Identifier: MIT */
/*
 * A seeded random run over everything at once: each operator version with each element type and index
 * type that it allows, ranks to 64, strided, flipped, repeated and misaligned views, policies, strict
 * ranges, bad indices. Types outside a version's list must be refused. Prints a table of how many
 * cases each combination had, and fails if one had none.
 */
#include "testing.h"

#include "arrange.h"
#include "coverage.h"

#include <inttypes.h>
#include <string.h>

enum { CAPACITY = 8 << 20 };

static uint64_t seed;

/* ---- Shapes ---- */

/* An extent whose product with what there is stays within `budget`; now and then 0. */
static int64_t extent(struct random *random, int64_t *budget)
{
    int64_t most = random_chance(random, 20) ? 40 : 4;
    if (random_chance(random, 3)) return 0;
    if (most > *budget) most = *budget;
    const int64_t n = random_chance(random, 25) ? 1 : random_between(random, 1, most);
    *budget /= n;
    return n;
}

static int rank_between(struct random *random, int least, int most)
{
    if (most <= least) return least;
    if (random_chance(random, 90) && most > least + 4) most = least + 4;
    return (int)random_between(random, least, most);
}

static void make_shape(struct random *random, struct case_view *view, int first, int rank, int64_t budget)
{
    view->rank = rank;
    for (int d = first; d < rank; d++)
        view->shape[d] = extent(random, &budget);
}

/* So many elements in all; now and then enough to be split into tasks. */
static int64_t budget_for(struct random *random)
{
    const int64_t sizes[] = {30, 300, 3000, 40000};
    const int which = random_chance(random, 50)   ? 0
                      : random_chance(random, 60) ? 1
                      : random_chance(random, 85) ? 2
                                                  : 3;
    return sizes[which];
}

/* A long axis, past what the narrow index types can hold, wants few others. */
static bool make_data(struct random *random, struct test_case *c, int r, int64_t budget)
{
    const bool long_axis = random_chance(random, 10);
    make_shape(random, &c->data, 0, r, long_axis ? 30 : budget);
    return long_axis;
}

static int pick_batch(struct random *random, const struct test_case *c, int most)
{
    const bool none = c->version->batch == REF_BATCH_NONE;
    const bool refused = c->strict && !c->version->spec && c->version->kind == GARNER_GATHER;
    if (none || refused || random_chance(random, 60)) return 0;
    return (int)random_between(random, 0, most < 6 ? most : 6);
}

static void shape_gather(struct random *random, struct test_case *c, int64_t budget)
{
    const int r = rank_between(random, 1, GARNER_MAX_RANK);
    const bool long_axis = make_data(random, c, r, budget);
    const int axis = (int)random_between(random, 0, r - 1);
    const int batch = pick_batch(random, c, axis);
    if (long_axis) c->data.shape[axis] = random_between(random, 100, 400);
    int64_t rest = 1;
    for (int d = 0; d < r; d++)
        if (d != axis && c->data.shape[d]) rest *= c->data.shape[d];
    int most = GARNER_MAX_RANK + 1 - r + batch; /* the output has r - 1 + q - batch axes */
    if (most > GARNER_MAX_RANK) most = GARNER_MAX_RANK;
    const int q = rank_between(random, batch, most);
    make_shape(random, &c->indices, batch, q, budget / rest > 0 ? budget / rest : 1);
    for (int d = 0; d < batch; d++)
        c->indices.shape[d] = c->data.shape[d];
    c->axis = random_chance(random, 30) ? axis - r : axis;
    c->batch_dims = batch > 0 && batch < q && q <= r && random_chance(random, 40) ? batch - q : batch;
}

static void shape_gather_elements(struct random *random, struct test_case *c, int64_t budget)
{
    const int r = rank_between(random, 1, GARNER_MAX_RANK);
    const bool long_axis = make_data(random, c, r, budget);
    c->indices.rank = r;
    const int axis = (int)random_between(random, 0, r - 1);
    int64_t off_axis = 1;
    for (int d = 0; d < r; d++) {
        const int64_t most = c->data.shape[d];
        const bool smaller = !c->version->off_axis_equal && most > 0 && random_chance(random, 30);
        c->indices.shape[d] = smaller ? random_between(random, 1, most) : most;
        if (d != axis && most) off_axis *= c->indices.shape[d];
    }
    int64_t left = budget / off_axis > 0 ? budget / off_axis : 1;
    c->indices.shape[axis] = extent(random, &left);
    if (long_axis) c->data.shape[axis] = random_between(random, 100, 400);
    c->axis = random_chance(random, 30) ? axis - r : axis;
}

static void shape_gather_nd(struct random *random, struct test_case *c, int64_t budget)
{
    const int r = rank_between(random, 1, GARNER_MAX_RANK);
    make_shape(random, &c->data, 0, r, budget);
    const int batch = pick_batch(random, c, r - 1);
    const int k = rank_between(random, 1, r - batch);
    int64_t rest = 1;
    for (int d = 0; d < r; d++)
        if ((d < batch || d >= batch + k) && c->data.shape[d]) rest *= c->data.shape[d];
    int most = GARNER_MAX_RANK + 1 - (r - batch - k); /* the output has q - 1 + r - batch - k axes */
    if (most > GARNER_MAX_RANK) most = GARNER_MAX_RANK;
    const int q = rank_between(random, batch + 1, most);
    make_shape(random, &c->indices, batch, q, budget / rest > k ? budget / rest / k : 1);
    for (int d = 0; d < batch; d++)
        c->indices.shape[d] = c->data.shape[d];
    c->indices.shape[q - 1] = k;
    c->batch_dims = batch;
}

/* ---- Cases ---- */

static void make_case(struct random *random, struct test_case *c)
{
    c->seed = random_bits(random);
    c->item_bytes = (size_t)random_between(random, 1, 40);
    c->oob = random_chance(random, 40) ? (int)random_between(random, 0, 3) : REF_OOB_OF_VERSION;
    c->negative_is_outside = random_chance(random, 10);
    c->only_positive = c->negative_is_outside || random_chance(random, 30) || c->strict;
    c->bad_per_thousand = random_chance(random, 30) ? (int)random_between(random, 1, 300) : 0;
    c->bad_position = random_chance(random, 10) ? random_between(random, 0, 300) : -1;
    const int64_t budget = budget_for(random);
    switch (c->version->kind) {
    case GARNER_GATHER:
        shape_gather(random, c, budget);
        break;
    case GARNER_GATHER_ELEMENTS:
        shape_gather_elements(random, c, budget);
        break;
    default:
        shape_gather_nd(random, c, budget);
        break;
    }
    arrange(random, &c->data, ref_is_packed(c->dtype), true);
    arrange(random, &c->indices, false, true);
}

/* A random case of these types; what the version's strict lists refuse is tried as a refusal. */
static void run_one(const struct ref_version *version, garner_dtype dtype, garner_dtype index_dtype,
                    uint64_t number)
{
    struct random random = random_from(seed + number * 0x10001);
    struct test_case c = {.version = version, .dtype = dtype, .index_dtype = index_dtype};
    c.strict = random_chance(&random, 15);
    make_case(&random, &c);
    garner_status status = case_complete(&c);
    if (status == GARNER_BAD_TYPE && c.strict) {
        if (!case_infer_agrees(&c)) fail_msg("GARNER_TEST_SEED=%" PRIu64 ", case %" PRIu64, seed, number);
        c.strict = false;
        status = case_complete(&c);
    }
    if (status != GARNER_OK) {
        case_describe(&c, "the generator made an illegal case");
        fail_msg("GARNER_TEST_SEED=%" PRIu64 ", case %" PRIu64, seed, number);
    }
    arrange(&random, &c.out, ref_is_packed(dtype), false);
    if (!case_run(&c)) fail_msg("GARNER_TEST_SEED=%" PRIu64 ", case %" PRIu64, seed, number);
}

static void refuse_one(const struct ref_version *version, garner_dtype dtype, garner_dtype index_dtype)
{
    struct test_case c = {.version = version, .dtype = dtype, .index_dtype = index_dtype, .item_bytes = 3};
    c.data = c.indices = (struct case_view){.rank = 2, .shape = {2, 2}};
    assert_int_equal(case_complete(&c), GARNER_BAD_TYPE);
    if (!case_infer_agrees(&c)) fail();
}

static void test_every_combination(void **state)
{
    (void)state;
    const int64_t repeats = test_scaled(24);
    uint64_t number = 0;
    int64_t refusals = 0;
    for (int64_t repeat = 0; repeat < repeats; repeat++)
        for (int v = 0; v < REF_VERSIONS; v++)
            for (int t = 0; t < REF_TYPES; t++)
                for (int i = 0; i < REF_INDEX_TYPES; i++) {
                    if (coverage_allowed(&ref_versions[v], ref_types[t], ref_index_types[i])) {
                        run_one(&ref_versions[v], ref_types[t], ref_index_types[i], number++);
                    } else if (repeat == 0) {
                        refuse_one(&ref_versions[v], ref_types[t], ref_index_types[i]);
                        refusals++;
                    }
                }
    printf("seed %" PRIu64 ": %" PRIu64 " cases, %" PRId64 " combinations of types refused\n", seed, number,
           refusals);
    assert_int_equal(coverage_print(), 0);
}

/* Types that may not index, whatever the version. */
static void test_types_that_do_not_index(void **state)
{
    (void)state;
    for (int v = 0; v < REF_VERSIONS; v++)
        for (int t = 0; t < REF_TYPES; t++)
            if (!coverage_allowed(&ref_versions[v], GARNER_F32, ref_types[t]))
                refuse_one(&ref_versions[v], GARNER_F32, ref_types[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_combination),
        cmocka_unit_test(test_types_that_do_not_index),
    };
    seed = test_seed(20240613);
    cases_begin(CAPACITY);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cases_end();
    return failed;
}
