/* SPDX-License-Identifier: MIT */
/*
 * All small shapes: rank up to 3, extents 0 to 3, every axis and batch_dims (those just outside too),
 * every operator version, strict or not. Where the reference refuses, the library must refuse; where
 * it does not, every byte must agree. Some cases carry one bad index.
 */
#include "testing.h"

#include "cases.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_RANK = 3, MOST_EXTENT = 3, SHAPES = 1 + 4 + 16 + 64 };

static struct case_view shapes[SHAPES];
static int64_t legal, refused, tried;
static uint32_t per_thousand; /* so many of the combinations are tried */

static int list_shapes(void **state)
{
    (void)state;
    int count = 0;
    for (int rank = 0; rank <= MOST_RANK; rank++) {
        int64_t most[MOST_RANK] = {MOST_EXTENT + 1, MOST_EXTENT + 1, MOST_EXTENT + 1}, at[MOST_RANK] = {0};
        do {
            shapes[count] = (struct case_view){.rank = rank};
            memcpy(shapes[count++].shape, at, sizeof at);
        } while (ref_next(rank, most, at));
    }
    const int64_t scaled = test_scaled(1000);
    per_thousand = scaled < 10 ? 10 : (uint32_t)scaled; /* of each version something is legal then */
    return count == SHAPES ? 0 : -1;
}

static void try_one(struct test_case *c)
{
    /* A scale below 1 thins the combinations out, out of step with the loops. */
    if (((uint32_t)tried++ * 2654435761u >> 12) % 1000 >= per_thousand) return;
    c->seed = (uint64_t)tried;
    c->only_positive = c->strict && c->version->strict_from_zero && tried % 5 != 0;
    c->bad_position = tried % 7 == 0 ? tried % 4 : -1;
    c->dtype = tried % 2 ? GARNER_U8 : GARNER_F32;
    c->index_dtype = tried % 3 && c->version->index_types != REF_INDEX_I64 ? GARNER_I32 : GARNER_I64;
    const garner_status status = case_complete(c);
    if (status == GARNER_OK ? !case_run(c) : !case_infer_agrees(c)) fail();
    *(status == GARNER_OK ? &legal : &refused) += 1;
}

/* Every axis and batch_dims of a pair of shapes, and one beyond each end. */
static void try_attributes(struct test_case *c)
{
    const bool has_axis = c->version->kind != GARNER_GATHER_ND;
    const int64_t axes = has_axis ? c->data.rank + 1 : 0;
    const int64_t batches = c->version->batch == REF_BATCH_NONE ? 1 : MOST_RANK + 1;
    for (c->axis = -axes; c->axis <= axes - has_axis; c->axis++)
        for (c->batch_dims = -batches; c->batch_dims <= batches; c->batch_dims++)
            try_one(c);
}

static void try_version(const struct ref_version *version)
{
    struct test_case c = {.version = version, .oob = REF_OOB_OF_VERSION};
    legal = refused = 0;
    for (int d = 0; d < SHAPES; d++)
        for (int i = 0; i < SHAPES; i++) {
            c.data = shapes[d];
            c.indices = shapes[i];
            c.strict = (d + i) % 2;
            try_attributes(&c);
        }
    printf("%-14s %-10s %7" PRId64 " legal, %8" PRId64 " refused\n", garner_kind_name(version->kind),
           version->spec ? version->spec : "lenient", legal, refused);
    assert_true(legal > 0);
    assert_true(refused > 0);
}

static void try_kind(garner_kind kind)
{
    for (int v = 0; v < REF_VERSIONS; v++)
        if (ref_versions[v].kind == kind) try_version(&ref_versions[v]);
}

static void test_gather(void **state)
{
    (void)state;
    try_kind(GARNER_GATHER);
}

static void test_gather_elements(void **state)
{
    (void)state;
    try_kind(GARNER_GATHER_ELEMENTS);
}

static void test_gather_nd(void **state)
{
    (void)state;
    try_kind(GARNER_GATHER_ND);
}

/* ---- Which strides of out share memory: any that no two elements do must be taken ---- */

enum { GRID_RANK = 3, ROOM = 256 };

static bool shares_memory(const int64_t *shape, const int64_t *strides)
{
    char taken[ROOM] = {0};
    int64_t at[GRID_RANK] = {0};
    do {
        int64_t place = ROOM / 2;
        for (int d = 0; d < GRID_RANK; d++)
            place += at[d] * strides[d];
        if (taken[place]++) return true;
    } while (ref_next(GRID_RANK, shape, at));
    return false;
}

static garner_status run_into(const int64_t *shape, const int64_t *strides)
{
    unsigned char bytes[ROOM], one = 1;
    int64_t zero = 0;
    const int64_t still[GRID_RANK] = {0};
    const garner_tensor data = {
        .data = &one, .shape = shape, .strides = still, .rank = GRID_RANK, .dtype = GARNER_U8};
    const garner_tensor indices = {
        .data = &zero, .shape = shape, .strides = still, .rank = GRID_RANK, .dtype = GARNER_I64};
    const garner_tensor out = {
        .data = bytes + ROOM / 2, .shape = shape, .strides = strides, .rank = GRID_RANK, .dtype = GARNER_U8};
    return garner_gather_elements(&data, &indices, 0, &out, NULL);
}

static void test_out_that_overlaps_itself(void **state)
{
    (void)state;
    struct random random = random_from(7);
    int64_t shared = 0, count = test_scaled(200000);
    for (int64_t i = 0; i < count; i++) {
        int64_t shape[GRID_RANK], strides[GRID_RANK];
        for (int d = 0; d < GRID_RANK; d++) {
            shape[d] = random_between(&random, 1, 4);
            strides[d] = random_between(&random, -14, 14);
        }
        const bool shares = shares_memory(shape, strides);
        const garner_status status = run_into(shape, strides);
        if (status != (shares ? GARNER_BAD_SHAPE : GARNER_OK))
            fail_msg("out [%d,%d,%d] strides %d,%d,%d: %s", (int)shape[0], (int)shape[1], (int)shape[2],
                     (int)strides[0], (int)strides[1], (int)strides[2], garner_status_name(status));
        shared += shares;
    }
    assert_true(shared > 0 && shared < count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_gather_elements),
        cmocka_unit_test(test_gather_nd),
        cmocka_unit_test(test_out_that_overlaps_itself),
    };
    cases_begin((size_t)1 << 16);
    const int failed = cmocka_run_group_tests(tests, list_shapes, NULL);
    cases_end();
    return failed;
}
