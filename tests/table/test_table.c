/* SPDX-License-Identifier: MIT */
/*
 * Tables in files against the same gathers in memory, by every way of reading. How much is read is counted:
 * each block once.
 */
#define _GNU_SOURCE

#include "npy.h"
#include "table_scene.h"

/* ---- The same as in memory ---- */

static int64_t index_count(const struct scene *s)
{
    int64_t count = 1;
    for (int i = 0; i < s->indices.rank; i++)
        count *= s->indices_shape[i];
    return count;
}

static void compare_all(struct scene *s)
{
    int before = open_descriptors();
    for (size_t h = 0; h < HOWS; h++)
        for (int small = 0; small < 2; small++) {
            garner_table *table = open_table(hows[h], small ? 1 << 20 : 0);
            compare(s, table);
            garner_table_close(table);
        }
    assert_int_equal(open_descriptors(), before);
}

static void random_gathers(void **state)
{
    static const garner_dtype types[] = {GARNER_U8, GARNER_F32, GARNER_F64, GARNER_C128};
    (void)state;
    for (int round = 0; round < 24; round++) {
        struct scene s;
        int rank = 1 + (int)below(3), axis = (int)below(rank);
        int64_t shape[3], index_shape[2] = {1 + below(40), 1 + below(40)};
        for (int i = 0; i < rank; i++)
            shape[i] = 1 + below(i == axis ? 300 : 30);
        garner_op op = {.kind = GARNER_GATHER, .axis = axis, .oob = (garner_oob)below(4)};
        scene_make(&s, op, types[below(4)], rank, shape, (int)below(3), index_shape);
        for (int64_t i = 0; i < index_count(&s); i++)
            s.values[i] = below(2 * shape[axis]) - shape[axis];
        if (round % 5 == 0) s.values[below(index_count(&s))] = shape[axis] + below(3);
        compare_all(&s);
        scene_free(&s);
    }
}

static void batches_and_tuples(void **state)
{
    struct scene s;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER, .axis = 1, .batch_dims = 1}, GARNER_F32, 3,
               (int64_t[]){5, 70, 9}, 2, (int64_t[]){5, 33});
    for (int64_t i = 0; i < index_count(&s); i++)
        s.values[i] = below(70);
    compare_all(&s);
    scene_free(&s);
    scene_make(&s, (garner_op){.kind = GARNER_GATHER_ND}, GARNER_F32, 3, (int64_t[]){20, 30, 11}, 2,
               (int64_t[]){500, 2});
    for (int64_t i = 0; i < index_count(&s); i++)
        s.values[i] = below(20);
    compare_all(&s);
    s.values[7] = 30;
    compare_all(&s);
    scene_free(&s);
    scene_make(&s, (garner_op){.kind = GARNER_GATHER_ELEMENTS, .axis = 0}, GARNER_F64, 2, (int64_t[]){200, 6},
               2, (int64_t[]){90, 6});
    for (int64_t i = 0; i < index_count(&s); i++)
        s.values[i] = below(200);
    compare_all(&s);
    scene_free(&s);
}

/* Rows longer than any block, and rows that begin and end anywhere in one. */
static void long_rows(void **state)
{
    static const int64_t widths[] = {1, 511, 513, 4096, 70000, 600001};
    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        struct scene s;
        scene_make(&s, (garner_op){.kind = GARNER_GATHER}, GARNER_U8, 2, (int64_t[]){40, widths[w]}, 1,
                   (int64_t[]){57});
        for (int64_t i = 0; i < 57; i++)
            s.values[i] = below(80) - 40;
        compare_all(&s);
        scene_free(&s);
    }
}

static void nothing_to_gather(void **state)
{
    struct scene s;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER}, GARNER_F32, 2, (int64_t[]){40, 0}, 1, (int64_t[]){3});
    s.values[1] = 40; /* is refused all the same */
    compare_all(&s);
    scene_free(&s);
    scene_make(&s, (garner_op){.kind = GARNER_GATHER}, GARNER_F32, 2, (int64_t[]){40, 3}, 1, (int64_t[]){0});
    compare_all(&s);
    scene_free(&s);
}

/* ---- How it is done ---- */

/* Every row is asked for several times in another order: the table is read once, block by block. */
static void reads_each_block_once(void **state)
{
    enum { ROWS = 3000, WIDTH = 512, TIMES = 70 };
    struct scene s;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER}, GARNER_U8, 2, (int64_t[]){ROWS, WIDTH}, 1,
               (int64_t[]){ROWS * TIMES});
    for (int64_t i = 0; i < ROWS * TIMES; i++)
        s.values[i] = i % ROWS;
    for (int64_t i = ROWS * TIMES; i-- > 1;) {
        int64_t other = below(i + 1), value = s.values[i];
        s.values[i] = s.values[other];
        s.values[other] = value;
    }
    for (int small = 0; small < 2; small++) {
        garner_table_stats stats = {0};
        garner_table *table = open_table(GARNER_TABLE_PREAD, small ? 1 << 20 : 0);
        compare(&s, table);
        garner_table_report(table, &stats);
        /* With little memory there are many passes, of which each begins and ends in the middle of a block.
         */
        assert_true(stats.bytes >= ROWS * WIDTH && stats.bytes <= ROWS * WIDTH / 100 * (small ? 110 : 101));
        assert_true(stats.reads <= ROWS / 4);
        assert_int_equal(stats.how, GARNER_TABLE_PREAD);
        assert_int_equal(stats.points, ROWS * TIMES);
        garner_table_close(table);
    }
    scene_free(&s);
}

/* Who watches a gather: how often it was told, and what; at the call of this number it wants no more. */
struct watcher {
    int calls, stop_at;
    int64_t done, all, between;
};

static int watch(void *context, int64_t done, int64_t all)
{
    struct watcher *w = context;
    assert_true(done >= w->done && done <= all);
    w->between += done > 0 && done < all;
    w->done = done;
    w->all = all;
    return ++w->calls == w->stop_at;
}

/* Gathers 80 MB by one way, watched. */
static garner_status gather_watched(struct scene *s, garner_table_how how, int threads, struct watcher *w)
{
    garner_table *table;
    garner_table_options options = {.how = how, .threads = threads, .watch = watch, .context = w};
    assert_int_equal(garner_table_open(path, NULL, &options, &table, NULL), GARNER_OK);
    garner_status status = garner_table_gather(table, &s->op, &s->indices, &s->out, &s->error);
    garner_table_close(table);
    return status;
}

static void can_be_watched_and_stopped(void **state)
{
    struct scene s;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER}, GARNER_U8, 2, (int64_t[]){4000, 40000}, 1,
               (int64_t[]){2000});
    for (int64_t i = 0; i < 2000; i++)
        s.values[i] = 2 * i;
    for (size_t h = 0; h < HOWS; h++)
        for (int threads = 1; threads < 3; threads++) {
            struct watcher all = {0}, some = {.stop_at = 2};
            assert_int_equal(gather_watched(&s, hows[h], threads, &all), GARNER_OK);
            assert_int_equal(all.done, 2000);
            assert_int_equal(all.all, 2000);
            if (threads == 1) assert_true(all.between > 3);
            assert_int_equal(gather_watched(&s, hows[h], threads, &some), GARNER_CANCELLED);
            assert_non_null(strstr(s.error.message, "the gather was stopped after"));
            assert_int_equal(some.calls, 2);
            assert_true(some.done < 2000);
        }
    scene_free(&s);
}

/* ---- Into a file ---- */

static void saves(void **state)
{
    static const int64_t widths[] = {7, 1001, 3000000};
    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t h = 0; h < HOWS; h++) {
            struct scene s;
            struct array array;
            int64_t count = widths[w] > 1 << 20 ? 4 : 3000;
            scene_make(&s, (garner_op){.kind = GARNER_GATHER, .oob = GARNER_OOB_ZERO}, GARNER_U8, 2,
                       (int64_t[]){widths[w] > 1 << 20 ? 3 : 500, widths[w]}, 1, (int64_t[]){count});
            for (int64_t i = 0; i < count; i++)
                s.values[i] = below(s.data_shape[0] + 1);
            garner_table *table = open_table(hows[h], 1 << 20);
            assert_int_equal(garner_run(&s.op, &s.data, &s.indices, &s.expected, NULL, NULL), GARNER_OK);
            if (garner_table_save(table, &s.op, &s.indices, result_path, NULL, &s.error))
                fail_msg("%s", s.error.message);
            assert_int_equal(npy_load(&array, result_path, &s.error), GARNER_OK);
            assert_int_equal(array.tensor.bytes, s.shape.bytes);
            assert_memory_equal(array.tensor.data, s.expected.data, (size_t)s.shape.bytes);
            array_free(&array);
            garner_table_close(table);
            scene_free(&s);
        }
}

/* ---- What is refused ---- */

static void bad_arguments(void **state)
{
    struct scene s;
    garner_error error;
    garner_table *table;
    (void)state;
    scattered(&s);
    garner_table_options small = {.memory = 4096}, size = {.size = 3}, how = {.how = (garner_table_how)9};
    const garner_table_options *options[] = {&small, &size, &how};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(garner_table_open(path, NULL, options[i], &table, &error), GARNER_BAD_ARGUMENT);
        assert_null(table);
    }
    assert_int_equal(garner_table_open(NULL, NULL, NULL, &table, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_table_open(path, "member", NULL, &table, &error), GARNER_BAD_FILE);
    assert_int_equal(garner_table_open(folder, NULL, NULL, &table, &error), GARNER_SYSTEM);
    assert_int_equal(garner_table_open("/dev/null", NULL, NULL, &table, &error), GARNER_BAD_FILE);
    table = open_table(GARNER_TABLE_PREAD, 0);
    garner_tensor overlapping = s.out;
    overlapping.data = s.values;
    overlapping.bytes = 0;
    assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &overlapping, &error), GARNER_BAD_SHAPE);
    assert_non_null(strstr(error.message, "out overlaps indices"));
    overlapping.data = NULL;
    assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &overlapping, &error),
                     GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_table_gather(table, &s.op, &s.indices, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_table_save(table, &s.op, &s.indices, "result.unknown", NULL, &error),
                     GARNER_BAD_ARGUMENT);
    unsigned char part[100];
    assert_int_equal(garner_table_read(table, 1001 * 7, 100, part, &error), GARNER_OK);
    assert_memory_equal(part, s.bytes + 1001 * 7, 100);
    assert_int_equal(garner_table_read(table, 1001 * 5000 - 99, 100, part, &error), GARNER_BAD_ARGUMENT);
    garner_table_close(table);
    garner_table_close(NULL);
    scene_free(&s);
}

/* More points than there is room for at a time: in several passes, with zeroes, and one row more often than
 * there is room. */
static void several_passes(void **state)
{
    enum { POINTS = 60000 };
    struct scene s;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER, .oob = GARNER_OOB_ZERO}, GARNER_U8, 2,
               (int64_t[]){3000, 3}, 1, (int64_t[]){POINTS});
    for (int same = 0; same < 2; same++) {
        for (int64_t i = 0; i < POINTS; i++)
            s.values[i] = same && i % 3 ? 77 : below(3100);
        for (size_t h = 0; h < HOWS; h++) {
            garner_table *table = open_table(hows[h], 1 << 20);
            compare(&s, table);
            garner_table_close(table);
        }
    }
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_passes),
        cmocka_unit_test(random_gathers),
        cmocka_unit_test(batches_and_tuples),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(nothing_to_gather),
        cmocka_unit_test(reads_each_block_once),
        cmocka_unit_test(can_be_watched_and_stopped),
        cmocka_unit_test(saves),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
