/* SPDX-License-Identifier: MIT */
/* What a terminal shows of long work, at times that a test sets: the clock and the terminal are this
 * program's own. */
#define _GNU_SOURCE

#include "testing.h"

#include "random.h" /* TEST_SANITIZED */

#if defined(__GLIBC__) && !TEST_SANITIZED

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

static int is_terminal;
static double now;

int isatty(int descriptor)
{
    (void)descriptor;
    return is_terminal;
}

int clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    time->tv_sec = (time_t)now;
    time->tv_nsec = (long)((now - (double)time->tv_sec) * 1e9);
    return 0;
}

/* ---- Standard error ---- */

static int kept = -1;
static FILE *shown;

static void watch(void)
{
    shown = tmpfile();
    assert_non_null(shown);
    fflush(stderr);
    kept = dup(STDERR_FILENO);
    assert_true(dup2(fileno(shown), STDERR_FILENO) >= 0);
}

/* What came since. */
static const char *seen(void)
{
    static char text[4096];
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(shown);
    text[fread(text, 1, sizeof text - 1, shown)] = 0;
    fclose(shown);
    return text;
}

static garner_exec begin(struct progress *progress, garner_exec inner)
{
    is_terminal = 1;
    now = 1000;
    watch();
    return progress_begin(progress, inner);
}

static void expect(const char *wanted)
{
    const char *text = seen();
    is_terminal = 0;
    assert_string_equal(text, wanted);
}

/* ---- Tests ---- */

static void test_nobody_watches(void **state)
{
    (void)state;
    struct progress progress;
    int mark;
    is_terminal = 0;
    garner_exec exec = progress_begin(&progress, (garner_exec){.context = &mark});
    assert_null(exec.parallel_for);
    assert_ptr_equal(exec.context, &mark);
    watch();
    progress_step(&progress, 1, 2);
    progress_rows(&progress, 1, 2);
    progress_end(&progress);
    expect("");
}

static void test_steps(void **state)
{
    (void)state;
    struct progress progress;
    begin(&progress, (garner_exec){0});
    now += 0.9;
    progress_step(&progress, 1, 8); /* within the first second */
    now += 0.2;
    progress_step(&progress, 2, 8);
    now += 0.1;
    progress_step(&progress, 3, 8); /* too soon again */
    now += 0.2;
    progress_step(&progress, 8, 8);
    progress_end(&progress);
    expect("\rgarner:  25%\rgarner: 100%\r\033[K");
}

static void test_rows(void **state)
{
    (void)state;
    static const struct {
        int64_t done, all;
        double passed;
        const char *line;
    } cases[] = {
        {0, 10, 2, "\rgarner:   0%  0 rows  0 rows/s  0:00 left\033[K"},
        {5, 10, 5, "\rgarner:  50%  5 rows  1 rows/s  0:05 left\033[K"},
        {999, 1998, 1.5, "\rgarner:  50%  999 rows  666 rows/s  0:01 left\033[K"},
        {12345678, 1234567800, 2, "\rgarner:   1%  12.3M rows  6.2M rows/s  3:18 left\033[K"},
        {400000, 400000000, 4, "\rgarner:   0%  400k rows  100k rows/s  66:36 left\033[K"},
        {INT64_C(7) << 50, INT64_C(7) << 50, 1024,
         "\rgarner: 100%  7881T rows  7.7T rows/s  0:00 left\033[K"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct progress progress;
        begin(&progress, (garner_exec){0});
        progress_rows(&progress, cases[i].done, cases[i].all);
        now += cases[i].passed;
        progress_rows(&progress, cases[i].done, cases[i].all);
        progress_rows(&progress, cases[i].done, cases[i].all);
        expect(cases[i].line);
    }
}

static void count(void *argument, size_t i)
{
    *(size_t *)argument += i + 1;
    now += 2;
}

static int backwards(void *context, garner_task *task, void *argument, size_t tasks)
{
    for (size_t i = tasks; i-- > 0;)
        task(argument, i);
    return *(int *)context;
}

/* Tasks run as they would without anybody watching, and are counted. */
static void test_tasks(void **state)
{
    (void)state;
    struct progress progress;
    size_t sum = 0;
    int answer = 7;
    garner_exec exec = begin(&progress, (garner_exec){0});
    assert_int_equal(exec.parallel_for(exec.context, count, &sum, 3), 0);
    expect("\rgarner:  33%\rgarner:  66%\rgarner: 100%");
    assert_int_equal(sum, 6);
    exec = begin(&progress, (garner_exec){.parallel_for = backwards, .context = &answer});
    assert_int_equal(exec.parallel_for(exec.context, count, &sum, 2), 7);
    expect("\rgarner:  50%\rgarner: 100%");
    assert_int_equal(sum, 9);
    exec = begin(&progress, (garner_exec){0});
    atomic_flag_test_and_set(&progress.busy); /* another thread prints */
    assert_int_equal(exec.parallel_for(exec.context, count, &sum, 2), 0);
    expect("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nobody_watches), cmocka_unit_test(test_steps),
                                       cmocka_unit_test(test_rows), cmocka_unit_test(test_tasks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_nothing(void **state)
{
    (void)state;
    SKIP_LOUDLY("glibc's functions alone are replaced here, and not where a sanitizer replaces them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
