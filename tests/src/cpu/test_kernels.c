/* SPDX-License-Identifier: MIT */
/*
 * Every kernel of every level that this machine has, each alone, against a model that moves point by
 * point, between guard pages: numbers of points, lengths of runs, alignments, negative indices, a bad
 * index at each position, ramps, gaps, patterns, tuples, blocks of many rows. The list of kernels is the
 * library's own; a level that the machine lacks is skipped and named.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "cpu/profile.h"
#include "kernel_case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct kernel_case the_case;
static int64_t cases, wished;
static uint32_t per_thousand; /* so many of the wishes are tried: all, but where the scale is below 1/100 */

/* Out of step with the loops. Long runs are few, and have ways of their own. */
static bool is_left_out(const struct kernel_wish *wish)
{
    return wish->run < 4096 && ((uint32_t)wished++ * 2654435761u >> 12) % 1000 >= per_thousand;
}

static void run_case(struct random *random, struct kernel_wish wish)
{
    if (is_left_out(&wish)) return;
    const uint64_t seed = random->state;
    kernel_case_make(&the_case, random, wish);
    cases++;
    if (!kernel_case_run(&the_case)) fail_msg("random state %" PRIu64, seed);
}

static void run_both_sides(struct random *random, struct kernel_wish wish)
{
    wish.side = GUARD_AFTER;
    run_case(random, wish);
    wish.side = GUARD_BEFORE;
    run_case(random, wish);
}

/* ---- What each kernel goes through ---- */

static void many_lengths(struct random *random, const struct kernel_line *kernel)
{
    static const int64_t more[] = {100, 127, 128, 129, 255, 256, 257, 1000, 1024, 1025};
    const int64_t repeats = test_scaled(4);
    for (int64_t repeat = 0; repeat < repeats; repeat++) {
        for (int64_t n = 0; n <= 70; n++)
            run_both_sides(random, (struct kernel_wish){kernel, n, random_between(random, 1, 200), -1, 0});
        for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
            run_both_sides(random,
                           (struct kernel_wish){kernel, more[i], random_between(random, 1, 100), -1, 0});
    }
}

static void many_runs(struct random *random, const struct kernel_line *kernel)
{
    static const int64_t more[] = {383,          384,      385,          4095, 4096,      4097, 5000,
                                   8 * 1024 - 1, 8 * 1024, 8 * 1024 + 1, 9999, 16 * 1024, 40000};
    const int64_t repeats = test_scaled(3);
    for (int64_t repeat = 0; repeat < repeats; repeat++) {
        for (int64_t run = 1; run <= 340; run++)
            run_both_sides(random, (struct kernel_wish){kernel, random_between(random, 1, 40), run, -1, 0});
        for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
            run_both_sides(random,
                           (struct kernel_wish){kernel, random_between(random, 1, 20), more[i], -1, 0});
    }
}

static void a_bad_index_anywhere(struct random *random, const struct kernel_line *kernel)
{
    static const int64_t lengths[] = {1, 2, 7, 8, 9, 15, 16, 17, 24, 33, 64, 70, 300};
    const int64_t repeats = test_scaled(2);
    for (int64_t repeat = 0; repeat < repeats; repeat++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            for (int64_t bad = 0; bad < lengths[i]; bad++)
                run_case(random, (struct kernel_wish){kernel, lengths[i], random_between(random, 1, 70), bad,
                                                      bad % 2 ? GUARD_AFTER : GUARD_BEFORE});
    for (int64_t bad = 0; kernel->run == 0 && bad < 7; bad++)
        run_case(random, (struct kernel_wish){kernel, 7, 5000, bad, bad % 2 ? GUARD_AFTER : GUARD_BEFORE});
}

static void run_kernel(const struct kernel_line *kernel, uint64_t number)
{
    struct random random = random_from(test_seed(4711) + number);
    many_lengths(&random, kernel);
    if (kernel->run == 0) many_runs(&random, kernel);
    if (!source_is_resolved(kernel->source)) a_bad_index_anywhere(&random, kernel);
}

/* ---- The levels ---- */

typedef void kernel_test(const struct kernel_line *kernel, uint64_t number);

static bool is_line(struct kernel_id id, const struct kernel_line *line)
{
    return id.level == line->level && id.source == line->source && id.index == line->index &&
           id.run == line->run;
}

/* Every line of kernels.def is in its level's table. */
static int each_kernel(enum level level, kernel_test *test)
{
    int count = 0;
    for (int i = 0; i < kernel_line_count; i++) {
        const struct kernel_line *line = &kernel_lines[i];
        if (line->level != level) continue;
        const struct kernel *kernel = kernel_of_line(line);
        if (!kernel || !kernel->function || !is_line(kernel->id, line))
            fail_msg("%s %s is not in its table", garner_level_name(level), line->name);
        test(line, (uint64_t)count++);
    }
    return count;
}

static void test_level(void **state)
{
    const enum level level = *(const enum level *)*state;
    char why[80];
    snprintf(why, sizeof why, "this machine has no kernels of level %s", garner_level_name(level));
    if (level > garner_cpu_detected()) SKIP_LOUDLY(why);
    cases = 0;
    kernel_data_alignments = kernel_out_alignments = 0;
    const int kernels = each_kernel(level, run_kernel);
    printf("kernels of level %s: %d, %" PRId64 " cases\n", garner_level_name(level), kernels, cases);
    assert_true(kernels > 0 && cases > 0);
    assert_true(kernel_data_alignments == UINT64_MAX);
    assert_true(kernel_out_alignments == UINT64_MAX);
}

static void find_kernel(enum source source, int index, int64_t run)
{
    const struct kernel *kernel = garner_kernel_find(source, index, run);
    assert_non_null(kernel);
    assert_non_null(kernel->function);
    assert_int_equal(kernel->id.source, source);
    assert_int_equal(kernel->id.index, index);
    assert_true(kernel->id.run == 0 || kernel->id.run == run);
    assert_true(kernel->id.level <= garner_cpu_target()->profile.level);
}

static bool has_kernel(enum source source, int64_t run)
{
    if (source == TINY) return false; /* of AVX-512 alone */
    const int64_t most = source == PANEL ? 8 : kernel_is_joined(source) ? 16 : INT64_MAX;
    return most == INT64_MAX || (run <= most && (run & (run - 1)) == 0);
}

/* Plain C has a kernel of any run for each source, so that there is always one to choose; panels and joined
 * rows have elements alone. */
static void test_find(void **state)
{
    (void)state;
    for (int source = 0; source < SOURCES; source++)
        for (int index = source_is_resolved((enum source)source) ? 8 : 4; index <= 8; index += 4)
            for (int64_t run = 1; run < 20000; run += run < 300 ? 1 : 997)
                if (has_kernel((enum source)source, run)) find_kernel((enum source)source, index, run);
}

/* ---- Far apart: products of index and stride of up to 2^63 ---- */

enum { FAR_POINTS = 37, FAR_ENTRIES = 3 };
static char *far_data;

static void fill_segment(struct segment *s, char *index, int width, const int64_t *values)
{
    static const int64_t pattern[FAR_POINTS];
    s->pattern = pattern;
    s->index = index;
    for (int i = 0; i < FAR_POINTS; i++) {
        const int32_t narrow = (int32_t)values[i];
        memcpy(index + i * width, width == 4 ? (const void *)&narrow : (const void *)&values[i],
               (size_t)width);
    }
}

static void run_far(const struct kernel_line *kernel, struct axis axis)
{
    char index[FAR_POINTS * 8], out[FAR_POINTS * 64];
    int64_t values[FAR_POINTS];
    const int64_t entries[FAR_ENTRIES] = {0, axis.bound / 2, axis.bound - 1};
    const int64_t run = kernel->run ? kernel->run : 24;
    struct segment s = {.data = far_data, .out = out, .n = FAR_POINTS, .out_stride = run, .run = run};
    s.row_points = FAR_POINTS;
    const bool columns = kernel->source == COLUMNS || kernel->source == SHORT_COLUMNS;
    if (columns) s.data_stride = run;
    s.axis = &axis;
    for (int i = 0; i < FAR_POINTS; i++)
        values[i] = entries[i % FAR_ENTRIES] - (i % 5 == 0 ? axis.bound : 0);
    for (int k = 0; k < FAR_ENTRIES; k++)
        memset(far_data + entries[k] * axis.stride, k + 1, (size_t)(run * (columns ? FAR_POINTS : 1)));
    fill_segment(&s, index, kernel->index, values);
    memset(out, 0x5a, sizeof out);
    assert_int_equal(kernel_of_line(kernel)->function(&s, s.data, s.index, s.out, s.n), FAR_POINTS);
    for (int64_t i = 0; i < FAR_POINTS * run; i++)
        if (out[i] != far_data[entries[i / run % FAR_ENTRIES] * axis.stride])
            fail_msg("byte %d of out, stride %" PRId64, (int)i, axis.stride);
}

static void far_kernel(const struct kernel_line *kernel, uint64_t number)
{
    (void)number;
    const int64_t stride = (int64_t)UINT32_MAX - 4095;
    const bool one_axis = source_axes(kernel->source) == 1;
    const bool unit = kernel->source == UNIT || kernel->source == SHORT_UNIT || kernel->source == PANEL ||
                      kernel->source == TINY;
    if (kernel->source == UNIT && (kernel->run == 2 || kernel->run == 4)) { /* tables of 2 GiB and more */
        const int64_t bound = (INT64_C(1) << 30) + 3;
        run_far(kernel, (struct axis){bound, kernel->run, bound});
    }
    if (source_is_resolved(kernel->source) || unit || !one_axis) return;
    run_far(kernel, (struct axis){3, stride, 3});
    run_far(kernel, (struct axis){INT32_MAX, 4, INT32_MAX});
}

static void test_far_apart(void **state)
{
    (void)state;
    if (sizeof(void *) < 8) SKIP_LOUDLY("addresses are too short");
    const size_t size = ((size_t)UINT32_MAX + 4096) * 2;
    far_data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (far_data == MAP_FAILED) SKIP_LOUDLY("there is no room for a sparse mapping of 8 GiB");
    for (int level = SCALAR; level <= (int)garner_cpu_detected(); level++)
        each_kernel((enum level)level, far_kernel);
    munmap(far_data, size);
}

int main(void)
{
    static enum level levels[LEVELS];
    static char names[LEVELS][40];
    struct CMUnitTest tests[LEVELS + 2] = {cmocka_unit_test(test_find), cmocka_unit_test(test_far_apart)};
    for (int level = 0; level < LEVELS; level++) {
        levels[level] = (enum level)level;
        snprintf(names[level], sizeof names[level], "test_level %s", garner_level_name((enum level)level));
        tests[2 + level] = (struct CMUnitTest){names[level], test_level, NULL, NULL, &levels[level]};
    }
    per_thousand = (uint32_t)at_most(test_scaled(100000), 1000);
    kernel_cases_begin();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kernel_cases_end();
    return failed;
}
