/* SPDX-License-Identifier: MIT */
/* Plans of shapes whose products are at the edge of what can be counted, which nobody could run. */
#include "testing.h"

#include "cpu/cpu_work.h"
#include "garner.h"
#include "line.h"

#include <string.h>

#include "plan_dump.h"

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

/* What is said of a plan that prefetches so. */
static void expect_prefetch(int64_t distance, int32_t per_point, int64_t share, const char *words)
{
    char text[400];
    struct line line = {text, sizeof text, 0};
    const struct nest nest = {.run = 4};
    const struct cpu_target *target = garner_cpu_target();
    struct cpu_work work = {.strategy = ROWS, .tasks = 1, .table_share = share, .table_share_to_l1 = true};
    work.kernel = target_kernel(target, UNIT, 8, 4);
    work.segment.prefetch_distance = distance;
    work.segment.table_bytes_per_point = per_point;
    garner_cpu_describe_for(&work, &nest, target, &line);
    if (!strstr(text, words)) fail_msg("'%s' is not in: %s", words, text);
}

/* What is said of rows of so many points that share their indices, by these columns of a profile. */
static void expect_shared(int64_t points, int64_t run, bool x86, bool by_strips, const char *words)
{
    char text[400];
    struct line line = {text, sizeof text, 0};
    const struct nest nest = {.run = run};
    struct cpu_target target = *garner_cpu_target();
    struct cpu_work work = {.strategy = REUSED_INDICES, .tasks = 1, .column_share = points};
    target.profile.x86 = x86;
    work.segment.prefetch_distance = work.segment.prefetch_rows = 16;
    work.segment.out_stride = run;
    work.segment.by_strips = by_strips;
    garner_cpu_describe_for(&work, &nest, &target, &line);
    if (!strstr(text, words)) fail_msg("'%s' is not in: %s", words, text);
}

/* The same of rows of few points that go as longer ones do, and of those that prefetch nothing. */
static void test_words_about_few_points(void **state)
{
    (void)state;
    char text[400];
    const struct nest nest = {.run = 256};
    struct cpu_target target = *garner_cpu_target();
    struct cpu_work work = {.strategy = REUSED_INDICES, .tasks = 1, .column_share = 8};
    target.profile.x86 = false;
    for (int way = 0; way < 3; way++) {
        struct line line = {text, sizeof text, 0};
        work.segment.row_by_row = way == 1;
        work.segment.prefetch_distance = way == 2 ? 0 : 16;
        garner_cpu_describe_for(&work, &nest, &target, &line);
        const char *words[] = {", prefetch 4 rows to L2", ", prefetch 16 points to L2", ", prefetch none"};
        if (!strstr(text, words[way])) fail_msg("'%s' is not in: %s", words[way], text);
    }
}

/* Strips prefetch rows on x86-64 alone, rows of few points on aarch64 alone; longer rows prefetch points. */
static void test_words_about_shared_indices(void **state)
{
    (void)state;
    expect_shared(8, 4, true, false, ", prefetch 16 rows to L1, stores");
    expect_shared(17, 4, true, true, ", prefetch 16 rows to L1, stores");
    expect_shared(17, 4, false, true, ", prefetch none, stores");
    expect_shared(17, 4, true, false, ", prefetch 16 points to L2, stores");
    expect_shared(17, 4, false, false, ", prefetch 16 points to L2, stores");
    expect_shared(16, 256, true, true, ", prefetch none, stores");
    expect_shared(16, 256, false, true, ", prefetch 4 rows to L2, stores");
    expect_shared(16, 512, false, true, ", prefetch none, stores");
}

/* Points, the next row's table, that of the next rows; each alone and together. */
static void test_words_about_prefetching(void **state)
{
    (void)state;
    expect_prefetch(0, 0, 0, ", prefetch none, stores");
    expect_prefetch(8, 0, 0, ", prefetch 8 points to L2, stores");
    expect_prefetch(1, 0, 0, ", prefetch 1 point to L2, stores");
    expect_prefetch(0, 64, 0, ", prefetch table+1 64 B/point to L2, stores");
    expect_prefetch(8, 64, 0, ", prefetch 8 points to L2 and table+1 64 B/point to L2, stores");
    expect_prefetch(0, 0, 5, ", prefetch next table 5 B/row to L1, stores");
    expect_prefetch(8, 0, 5, ", prefetch 8 points to L2 and next table 5 B/row to L1, stores");
    expect_prefetch(0, 64, 5, ", prefetch table+1 64 B/point to L2 and next table 5 B/row to L1, stores");
}

/* The kernel that a CPU has for `n` elements in a row, out of a table of so many entries. */
static void expect_kernel(const char *cpu, int64_t entries, int64_t run, int64_t n, const char *kernel)
{
    char text[400], words[40];
    struct line line = {text, sizeof text, 0};
    struct cpu_target target;
    struct cpu_work work = {.strategy = ROWS};
    const struct nest nest = {.rank = 1,
                              .axes = 1,
                              .rows = 1,
                              .points = n,
                              .run = run,
                              .step = 1,
                              .index_type = {8, false},
                              .axis = {{.bound = entries, .stride = run, .wrap = entries}},
                              .dim = {{.n = n, .index = 1, .out = run}}};
    garner_target_make(&target, garner_profile_named(cpu), kernel_names);
    garner_cpu_plan_for(&work, &nest, &target);
    garner_cpu_describe_for(&work, &nest, &target, &line);
    snprintf(words, sizeof words, "kernel %s,", kernel);
    if (!strstr(text, words)) fail_msg("%s, %s: %s", cpu, words, text);
}

/* Sixteen entries of up to 8 bytes stay in the registers of AVX-512, where a row is long enough. */
static void test_tables_in_registers(void **state)
{
    (void)state;
    expect_kernel("skylake", 16, 4, 32, "avx512 tiny-i64-4");
    expect_kernel("zen5", 2, 1, 1000000, "avx512 tiny-i64-1");
    expect_kernel("sapphire-rapids", 16, 8, 5000, "avx512 tiny-i64-8");
    expect_kernel("skylake", 17, 4, 32, "scalar unit-i64-4");
    expect_kernel("skylake", 16, 4, 31, "scalar unit-i64-4");
    expect_kernel("skylake", 16, 16, 32, "scalar unit-i64-16");
    expect_kernel("zen2", 16, 4, 32, "scalar unit-i64-4");
    expect_kernel("neoverse-v1", 16, 4, 32, "scalar unit-i64-4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_of_many_points),
        cmocka_unit_test(test_cost_of_a_long_run),
        cmocka_unit_test(test_rows_far_apart),
        cmocka_unit_test(test_words_about_prefetching),
        cmocka_unit_test(test_words_about_shared_indices),
        cmocka_unit_test(test_words_about_few_points),
        cmocka_unit_test(test_tables_in_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
