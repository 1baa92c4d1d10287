/* SPDX-License-Identifier: MIT */
/* Tasks that a thread runs as one: whatever their grid is, they are all of the tasks of a rectangle of it. */
#include "testing.h"

#include "cpu/run_task.h"

/* How many tasks there are from one position of an axis to another. */
static int64_t between(int64_t first, int64_t last)
{
    return last < first ? 0 : last - first + 1;
}

static void check(const struct cpu_work *work, int64_t task, int64_t most)
{
    const int64_t count = garner_cpu_joinable(work, task, most), last = task + count - 1;
    assert_in_range(count, 1, most);
    const int64_t slices = between(task % work->slices, last % work->slices);
    const int64_t columns =
        between(task / work->slices % work->column_tasks, last / work->slices % work->column_tasks);
    const int64_t row = work->slices * work->column_tasks, rows = between(task / row, last / row);
    assert_int_equal(slices * columns * rows, count);
    if (task == 0 && most == work->tasks) assert_int_equal(count, most);
}

static void test_tasks_run_as_one_are_a_rectangle(void **state)
{
    (void)state;
    enum { MOST = 4 };
    for (int64_t slices = 1; slices <= MOST; slices++)
        for (int64_t columns = 1; columns <= MOST; columns++)
            for (int64_t rows = 1; rows <= MOST; rows++) {
                const struct cpu_work work = {
                    .slices = slices, .column_tasks = columns, .tasks = slices * columns * rows};
                for (int64_t task = 0; task < work.tasks; task++)
                    for (int64_t most = 1; most <= work.tasks - task; most++)
                        check(&work, task, most);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks_run_as_one_are_a_rectangle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
