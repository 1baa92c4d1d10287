/* SPDX-License-Identifier: MIT */
/* Plans of shapes whose products are at the edge of what can be counted, which nobody could run. */
#include "testing.h"

#include "garner.h"

#include <string.h>

static void expect_plan(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                        const char *words)
{
    garner_plan *plan;
    garner_error error;
    char line[400];
    if (garner_plan_create(&plan, op, data, indices, NULL, &error) != GARNER_OK)
        fail_msg("%s", error.message);
    garner_plan_describe(plan, line, sizeof line);
    if (!strstr(line, words)) fail_msg("'%s' is not in: %s", words, line);
    garner_plan_destroy(plan);
}

/* So many bytes, one by one, that what they cost cannot be counted. */
static void test_cost_of_many_points(void **state)
{
    (void)state;
    if (sizeof(void *) < 8) SKIP_LOUDLY("such tensors cannot be addressed here");
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor data = {.shape = (int64_t[]){4}, .rank = 1, .dtype = GARNER_U8};
    const garner_tensor indices = {
        .shape = (int64_t[]){INT64_C(1) << 62}, .strides = (int64_t[]){0}, .rank = 1, .dtype = GARNER_I64};
    expect_plan(&op, &data, &indices, " tasks");
}

/* A run to which the cost of a point cannot be added. */
static void test_cost_of_a_long_run(void **state)
{
    (void)state;
    if (sizeof(void *) < 8) SKIP_LOUDLY("such tensors cannot be addressed here");
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor data = {.shape = (int64_t[]){1, INT64_MAX}, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor indices = {.shape = (int64_t[]){1}, .rank = 1, .dtype = GARNER_I64};
    expect_plan(&op, &data, &indices, "run 9223372036854775807 B");
}

/* Rows that lie so far apart that one more would not be counted. */
static void test_rows_far_apart(void **state)
{
    (void)state;
    if (sizeof(void *) < 8) SKIP_LOUDLY("such tensors cannot be addressed here");
    const garner_op op = {.kind = GARNER_GATHER, .axis = 1};
    const garner_tensor data = {.shape = (int64_t[]){3, 4096},
                                .strides = (int64_t[]){(INT64_C(1) << 62) - 4096, 1},
                                .rank = 2,
                                .dtype = GARNER_U8};
    const garner_tensor indices = {.shape = (int64_t[]){4096}, .rank = 1, .dtype = GARNER_I64};
    expect_plan(&op, &data, &indices, "(3: 4611686018427383808,0,4096)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_of_many_points),
        cmocka_unit_test(test_cost_of_a_long_run),
        cmocka_unit_test(test_rows_far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
