/* SPDX-License-Identifier: MIT */
/*
 * What the planner decides for every device of devices.def, on any machine: plans/PROFILE.txt has a line for
 * each cell of the benchmark.
 *
 *     test_cuda_plans             compares, and prints what differs as lines with - and +
 *     test_cuda_plans --accept    writes the files anew
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "cuda_work.h"
#include "plan_dump.h"

static const struct cuda_alignment aligned = {16, 16, 16};

static void describe(char *text, size_t size, const struct nest *nest, const struct cuda_profile *profile)
{
    struct cuda_work work;
    struct line line = {text, size, 0};
    text[0] = '\0';
    garner_cuda_plan_for(&work, nest, profile, aligned);
    garner_cuda_describe(&work, &line);
}

static FILE *open_kept(const struct cuda_profile *profile, const char *mode)
{
    char path[1000];
    snprintf(path, sizeof path, GARNER_ROOT "/tests/cuda/plans/%s.txt", profile->name);
    return fopen(path, mode);
}

/* Writes the plans of a device, or compares them with what is kept: how many lines differ. */
static int go_through(const struct cuda_profile *profile, FILE *kept, bool accept)
{
    char cell[512], old[1200], new[1200], text[1000], name[64];
    int different = 0;
    FILE *cells = fopen(GARNER_ROOT "/bench/workloads.tsv", "r");
    assert_non_null(cells);
    while (fgets(cell, sizeof cell, cells)) {
        if (cell[0] == '#' || cell[0] == '\n') continue;
        garner_plan *plan = read_cell(cell, name);
        assert_non_null(plan);
        describe(text, sizeof text, &plan->nest, profile);
        garner_plan_destroy(plan);
        snprintf(new, sizeof new, "%s%s\n", name, text);
        if (accept) {
            fputs(new, kept);
        } else if (!fgets(old, sizeof old, kept) || strcmp(old, new) != 0) {
            printf("-%s: %s+%s: %s", profile->name, old, profile->name, new);
            different++;
        }
    }
    fclose(cells);
    return different;
}

static void test_plans_are_those_kept(void **state)
{
    (void)state;
    int different = 0;
    for (int i = 0; garner_cuda_profile(i); i++) {
        FILE *kept = open_kept(garner_cuda_profile(i), "r");
        if (kept == NULL)
            fail_msg("plans/%s.txt is missing: test_cuda_plans --accept", garner_cuda_profile(i)->name);
        different += go_through(garner_cuda_profile(i), kept, false);
        fclose(kept);
    }
    fflush(stdout);
    if (different) fail_msg("%d lines differ; test_cuda_plans --accept keeps the new ones", different);
}

/* Whatever the nest: a kernel that is on the list, no more threads than it takes, no more shared memory than
 * there is. */
static void test_any_nest_has_a_launch(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 20000; number++) {
        struct nest nest;
        struct cuda_work work;
        bool listed = false;
        draw_nest(&nest, number);
        const struct cuda_alignment any = {1 << number % 5, 1 << number / 5 % 5, 1 << number / 25 % 5};
        const struct cuda_profile *profile = garner_cuda_profile((int)(number % 6));
        garner_cuda_plan_for(&work, &nest, profile, any);
        if (work.blocks == 0) {
            assert_int_equal(nest.points, 0);
            continue;
        }
#define CUDA_KERNEL(its_source, its_index, its_vector) \
    listed = listed ||                                 \
             (work.source == CUDA_##its_source && work.index == its_index && work.vector == its_vector);
#include "kernels/cuda_kernels.def"
#undef CUDA_KERNEL
        const bool staged = work.source == CUDA_TABLE || work.source == CUDA_PANEL;
        if (!listed || work.threads % 32 != 0 || work.threads > (staged ? 1024 : 256) ||
            work.blocks > INT32_MAX || work.shared > profile->shared || (work.shared > 0) != staged)
            fail_msg("nest %d: source %d, %d threads", (int)number, (int)work.source, work.threads);
    }
}

/* Nests of two dims at the border of what a kernel takes, f32 by i64: rows of a GatherElements along the last
 * axis, or along the first. */
struct corner {
    const char *why, *plan;
    int64_t bound, stride, n[2], data[2], out, index_bytes;
    int axes;
    bool packs;
};

#define HUGE (INT64_C(1) << 62)
#define NARROW ((int64_t)NARROW_LIMIT)

static const struct corner corners[] = {
    {"a table", ", kernel table-i64-v4, stages ", 1024, 4, {1024, 1024}, {4096, 0}, 4, 8, 1, true},
    {"whose points lie apart",
     ", kernel table-i64-v4, stages ",
     1024,
     4,
     {1024, 1024},
     {4096, 0},
     8,
     8,
     1,
     false},
    {"along two axes", ", kernel grid-once-i64-v4, ", 1024, 4, {1024, 1024}, {4096, 0}, 4, 8, 2, false},
    {"by indices that no kernel is for",
     ", kernel grid-iany-v4, ",
     1024,
     4,
     {1024, 1024},
     {4096, 0},
     4,
     2,
     1,
     false},
    {"of a table that is empty", ", kernel grid-once-i64-v4, ", 0, 4, {1024, 1024}, {4096, 0}, 4, 8, 1, true},
    {"a table of no size", ", kernel grid-once-i64-v4, ", 4, HUGE, {1024, 1024}, {4096, 0}, 4, 8, 1, true},
    {"a panel", ", kernel panel-i64-v4, stages ", NARROW - 1, 64, {NARROW - 1, 16}, {0, 4}, 4, 8, 1, true},
    {"of too many rows", ", kernel grid-once-i64-v4, ", NARROW, 64, {NARROW - 1, 16}, {0, 4}, 4, 8, 1, true},
    {"for too many rows", ", kernel grid-once-i64-v4, ", NARROW - 1, 64, {NARROW, 16}, {0, 4}, 4, 8, 1, true},
};

static struct nest make_corner(const struct corner *corner)
{
    struct nest nest = {.rank = 2, .axes = corner->axes, .run = 4, .step = 1, .rows = corner->n[0]};
    nest.index_type.bytes = (int)corner->index_bytes;
    nest.points = corner->n[0] * corner->n[1];
    for (int k = 0; k < corner->axes; k++)
        nest.axis[k] = (struct axis){corner->bound, corner->stride, corner->bound};
    nest.dim[0] = (struct dim){corner->n[0], corner->data[0], corner->n[1], corner->n[1] * corner->out};
    nest.dim[1] = (struct dim){corner->n[1], corner->data[1], 1, corner->out};
    return nest;
}

static void test_corners(void **state)
{
    (void)state;
    /* All of the table stages, however large it is. */
    struct cuda_profile profile = *garner_cuda_profile_for(90);
    profile.panel_percent = 0;
    for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++) {
        char text[200];
        struct cuda_work work;
        const struct nest nest = make_corner(&corners[i]);
        garner_cuda_plan_for(&work, &nest, &profile, aligned);
        describe(text, sizeof text, &nest, &profile);
        if (strncmp(text, corners[i].plan, strlen(corners[i].plan)) != 0 ||
            work.task.packs_points != corners[i].packs)
            fail_msg("%s:%s", corners[i].why, text);
    }
}

/* Rows of 16 bytes, whose tables are staged only if they do not stay in L2; these reach further than 64 bits
 * count. */
static void test_a_reach_beyond_64_bits(void **state)
{
    (void)state;
    char text[200];
    struct nest nest = make_corner(&corners[0]);
    nest.run = 16;
    nest.axis[0].stride = 16;
    nest.dim[1].out = 16;
    nest.dim[0].out = nest.dim[1].n * 16;
    describe(text, sizeof text, &nest, garner_cuda_profile_for(90));
    assert_memory_equal(text, ", kernel grid-once-i64-v16, ", 28);
    nest.dim[0].data = -HUGE;
    describe(text, sizeof text, &nest, garner_cuda_profile_for(90));
    assert_memory_equal(text, ", kernel table-i64-v16, ", 24);
}

/* Rows of one dim, by i64. */
struct row {
    const char *why, *plan;
    int64_t run, points, gap; /* bytes between two rows of out */
    int out;                  /* what its address is a multiple of */
};

static const struct row rows[] = {
    {"three floats", ", kernel runs-i64-v4, ", 12, 1000, 0, 16},
    {"five bytes", ", kernel runs-i64-v1, ", 5, 1000, 0, 16},
    {"three doubles", ", kernel runs-i64-v8, ", 24, 1000, 0, 16},
    {"so many that the last pack is not full", ", kernel rows-i64-v4, 94 x ", 12, 1001, 0, 16},
    {"apart from each other", ", kernel line-once-i64-v4, ", 12, 1000, 4, 16},
    {"at an odd address", ", kernel rows-i64-v4, ", 12, 1000, 0, 4},
    {"of which a pack holds more than two", ", kernel rows-i64-v1, ", 2, 1000, 0, 1},
    {"of whole vectors", ", kernel rows-i64-v16, ", 48, 1000, 0, 16},
    {"of more vectors than threads that run at a time", ", kernel rows-i64-v16, 5860 x 256 ", 48, 1000000, 0,
     16},
    {"long", ", kernel rows-i64-v16, 250 x 64 ", 256, 1000, 0, 16},
    {"long, apart from each other", ", kernel line-long-i64-v16, ", 256, 10000, 16, 16},
    {"long, apart and few", ", kernel line-once-i64-v16, 32 x 32 ", 256, 64, 16, 16},
    {"for blocks", ", kernel long-rows-i64-v16, 1000 x 64 threads", 3072, 1000, 0, 16},
    {"nearly for blocks", ", kernel rows-i64-v16, ", 3056, 1000, 0, 16},
    {"for two blocks each", ", kernel long-rows-i64-v16, 200000 x 160 threads", 20480, 100000, 0, 16},
    {"many, from a table that does not stay in L2", ", kernel rows-i64-v16, ", 64, 10000000, 0, 16},
    {"so many that they are not counted in 32 bits", ", kernel line-i64-v16, ", 64, 300000000, 0, 16},
    {"single elements", ", kernel elements-i64-v4, 16 x 32 ", 4, 512, 0, 16},
    {"single elements from L2", ", kernel elements-i64-v4, 977 x 256 ", 4, 1000000, 0, 16},
    {"single elements from memory", ", kernel elements-i64-v4, 19532 x 256 ", 4, 10000000, 0, 16},
    {"wide elements from L2", ", kernel elements-i64-v16, 1954 x 256 ", 16, 1000000, 0, 16},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        char text[200];
        struct line line = {text, sizeof text, 0};
        struct cuda_work work;
        struct nest nest = {
            .rank = 1, .axes = 1, .run = row->run, .step = 1, .rows = 1, .points = row->points};
        nest.index_type.bytes = 8;
        nest.axis[0] = (struct axis){row->points, row->run, row->points};
        nest.dim[0] = (struct dim){row->points, 0, 1, row->run + row->gap};
        garner_cuda_plan_for(&work, &nest, garner_cuda_profile_for(90),
                             (struct cuda_alignment){row->out, 16, row->out});
        garner_cuda_describe(&work, &line);
        if (strncmp(text, row->plan, strlen(row->plan)) != 0) fail_msg("%s:%s", row->why, text);
    }
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    char text[200];
    struct nest nest = make_corner(&corners[0]);
    nest.points = nest.rows = nest.dim[0].n = 0;
    describe(text, sizeof text, &nest, garner_cuda_profile_for(90));
    assert_string_equal(text, "");
}

static void test_the_device_has_a_profile(void **state)
{
    (void)state;
    assert_null(garner_cuda_profile(-1));
    assert_string_equal(garner_cuda_profile_for(75)->name, "generic");
    assert_string_equal(garner_cuda_profile_for(80)->name, "a100");
    assert_string_equal(garner_cuda_profile_for(87)->name, "ampere");
    assert_string_equal(garner_cuda_profile_for(89)->name, "ada");
    assert_string_equal(garner_cuda_profile_for(90)->name, "hopper");
    assert_string_equal(garner_cuda_profile_for(120)->name, "blackwell");
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_are_those_kept),
        cmocka_unit_test(test_any_nest_has_a_launch),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_a_reach_beyond_64_bits),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_the_device_has_a_profile),
    };
    if (count < 2 || strcmp(words[1], "--accept") != 0) return cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; garner_cuda_profile(i); i++) {
        FILE *kept = open_kept(garner_cuda_profile(i), "w");
        if (kept == NULL) return EXIT_FAILURE;
        go_through(garner_cuda_profile(i), kept, true);
        if (fclose(kept) != 0) return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
