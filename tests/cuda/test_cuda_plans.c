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

static void test_the_device_has_a_profile(void **state)
{
    (void)state;
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
