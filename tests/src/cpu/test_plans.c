/* SPDX-License-Identifier: MIT */
/*
 * Every decision of the planner, on any machine: plans/PROFILE.txt holds for each CPU what it does with each
 * cell of the benchmark, and a digest of what it does with 200,000 random nests.
 *
 *     test_plans                 compares, and prints what differs as lines with - and +
 *     test_plans --accept        writes the files anew
 *     test_plans --nests NAME    prints the plans of the random nests for one CPU; tools/plans compares two
 * trees
 */
#define _POSIX_C_SOURCE 200809L
#include "testing.h"

#include <stdlib.h>

#include "plan_dump.h"

#ifndef GARNER_ROOT
#define GARNER_ROOT "."
#endif

static struct cpu_target target;

static FILE *open_cells(void)
{
    return fopen(GARNER_ROOT "/bench/workloads.tsv", "r");
}

static FILE *open_plans(const struct profile *profile, const char *mode)
{
    char path[1000];
    snprintf(path, sizeof path, GARNER_ROOT "/tests/src/cpu/plans/%s.txt", profile->name);
    return fopen(path, mode);
}

/* Prints the lines in which two files differ; how many. */
static int print_differences(const char *name, FILE *kept, FILE *made)
{
    char old[1200], new[1200];
    int different = 0;
    for (;;) {
        const bool more_old = fgets(old, sizeof old, kept) != NULL,
                   more_new = fgets(new, sizeof new, made) != NULL;
        if (!more_old && !more_new) return different;
        if (more_old && more_new && strcmp(old, new) == 0) continue;
        different++;
        if (more_old) printf("-%s: %s", name, old);
        if (more_new) printf("+%s: %s", name, new);
    }
}

static int check_profile(const struct profile *profile, FILE *cells)
{
    FILE *kept = open_plans(profile, "r"), *made = tmpfile();
    assert_non_null(made);
    garner_target_make(&target, profile, kernel_names);
    assert_true(write_plans(made, cells, &target));
    rewind(made);
    if (kept == NULL) printf("plans/%s.txt is missing\n", profile->name);
    const int different = kept ? print_differences(profile->name, kept, made) : 1;
    if (kept) fclose(kept);
    fclose(made);
    return different;
}

static void test_plans_are_those_kept(void **state)
{
    (void)state;
    int different = 0;
    FILE *cells = open_cells();
    if (cells == NULL) SKIP_LOUDLY("there is no bench/workloads.tsv in " GARNER_ROOT);
    for (int i = 0; garner_profile(i); i++)
        different += check_profile(garner_profile(i), cells);
    fclose(cells);
    fflush(stdout); /* before the sentence below, which goes elsewhere */
    if (different)
        fail_msg("%d lines differ. tools/plans shows what changed, also of the random nests; "
                 "tools/plans --accept keeps the new ones",
                 different);
}

static int accept_plans(void)
{
    FILE *cells = open_cells();
    for (int i = 0; cells && garner_profile(i); i++) {
        FILE *kept = open_plans(garner_profile(i), "w");
        garner_target_make(&target, garner_profile(i), kernel_names);
        if (kept == NULL || !write_plans(kept, cells, &target) || fclose(kept) != 0) return EXIT_FAILURE;
    }
    return cells ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans_are_those_kept)};
    if (count == 2 && strcmp(words[1], "--accept") == 0) return accept_plans();
    if (count == 3 && strcmp(words[1], "--nests") == 0 && garner_profile_named(words[2])) {
        garner_target_make(&target, garner_profile_named(words[2]), kernel_names);
        print_random(&target);
        return EXIT_SUCCESS;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
