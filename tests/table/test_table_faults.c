/* SPDX-License-Identifier: MIT */
/* What happens to gathers from files when reading goes wrong, when somebody else changes the file, and when
 * the page cache has lost it. */
#define _GNU_SOURCE

#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "faulty_reader.h"
#include "table_scene.h"

/* ---- Faults ---- */

static garner_table *open_faulty(garner_table_how how, struct faults wanted)
{
    garner_table *table = open_table(how, 0);
    faults = wanted;
    table->open_reader = faulty_open;
    return table;
}

static void survives(void **state)
{
    static const struct faults harmless[] = {
        {.shorten = 1},
        {.shorten = 512},
        {.shorten = 4096},
        {.interrupt = 9},
        {.reorder = 1},
        {.slow = 10},
        {.shorten = 512, .interrupt = 50, .reorder = 1},
    };
    struct scene s;
    (void)state;
    scattered(&s);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        int direct = harmless[i].shorten != 1;
        garner_table *table = open_faulty(direct ? GARNER_TABLE_RING : GARNER_TABLE_PREAD, harmless[i]);
        compare(&s, table);
        assert_int_equal(faults.under_way, 0);
        assert_int_equal(faults.open, 0);
        assert_true(faults.most > 16);
        garner_table_close(table);
    }
    scene_free(&s);
}

static void reports(void **state)
{
    const struct {
        struct faults faults;
        const char *words;
    } harmful[] = {
        {{.fail_at = 1, .fail_with = EIO}, "bytes at offset"},
        {{.fail_at = 100, .fail_with = EIO}, strerror(EIO)},
        {{.fail_at = 100, .fail_with = EIO, .reorder = 1}, "cannot read"},
        {{.fail_at = 100, .fail_with = 0}, "become shorter"},
        {{.interrupt = 1 << 30}, "cannot read"},
        {{.refuse = 50}, strerror(EIO)},
    };
    struct scene s;
    (void)state;
    scattered(&s);
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++) {
        garner_table *table = open_faulty(GARNER_TABLE_PREAD, harmful[i].faults);
        assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &s.out, &s.error), GARNER_SYSTEM);
        if (!strstr(s.error.message, harmful[i].words)) fail_msg("%s", s.error.message);
        assert_memory_equal(s.error.message, path, strlen(path));
        assert_int_equal(faults.under_way, 0);
        assert_int_equal(faults.open, 0);
        faults = (struct faults){0};
        compare(&s, table); /* the table is none the worse for it */
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, result_path, NULL, &s.error), GARNER_OK);
        faults = harmful[i].faults;
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, result_path, NULL, &s.error),
                         GARNER_SYSTEM);
        garner_table_close(table);
    }
    assert_int_equal(open_descriptors(), before);
    scene_free(&s);
}

/* A reader that is lost with reads under way: they may still write to the blocks, which therefore stay. */
static void loses_the_reader(void **state)
{
    static const struct faults losing[] = {{.lose_at = 1}, {.lose_at = 200}, {.lose_at = 200, .reorder = 1}};
    struct scene s;
    (void)state;
    scattered(&s);
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof losing / sizeof *losing; i++) {
        garner_table *table = open_faulty(GARNER_TABLE_PREAD, losing[i]);
        assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &s.out, &s.error), GARNER_SYSTEM);
        assert_memory_equal(s.error.message, path, strlen(path));
        assert_non_null(strstr(s.error.message, "cannot wait for reads: "));
        assert_non_null(strstr(s.error.message, strerror(EIO)));
        assert_int_equal(faults.open, 0);
        assert_true(faults.under_way > 16);
        faulty_land();
        faults = (struct faults){0};
        compare(&s, table);
        garner_table_close(table);
    }
    assert_int_equal(open_descriptors(), before);
    scene_free(&s);
}

/* After a read that failed the others are waited for; a reader that is lost then is lost, too. */
static void loses_the_reader_while_it_drains(void **state)
{
    struct scene s;
    (void)state;
    scattered(&s);
    garner_table *table =
        open_faulty(GARNER_TABLE_PREAD, (struct faults){.fail_at = 100, .fail_with = ENXIO, .lose_at = 110});
    assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &s.out, &s.error), GARNER_SYSTEM);
    assert_non_null(strstr(s.error.message, "bytes at offset"));
    assert_int_equal(faults.open, 0);
    faulty_land();
    garner_table_close(table);
    scene_free(&s);
}

/* A ring that finds no memory now may find some later; until then preads do the same. */
static void short_of_memory(void **state)
{
    static const garner_table_how taken[] = {GARNER_TABLE_PREAD, GARNER_TABLE_RING};
    struct scene s;
    (void)state;
    scattered(&s);
    garner_table *table = open_faulty(GARNER_TABLE_RING, (struct faults){.no_memory = 1});
    for (int i = 0; i < 2; i++) {
        garner_table_stats stats = {.size = sizeof stats};
        compare(&s, table);
        garner_table_report(table, &stats);
        assert_int_equal(stats.how, taken[i]);
    }
    faults.no_memory = 2;
    assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &s.out, &s.error), GARNER_NO_MEMORY);
    garner_table_close(table);
    scene_free(&s);
}

/* ---- Hot and cold ---- */

/* Lets the page cache drop the file, of which a table maps pages. False: it keeps it, as a file system in
 * memory does. */
static int forget(const garner_table *table)
{
    char byte;
    struct iovec one = {&byte, 1};
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(fsync(file), 0);
    if (table->mapping) assert_int_equal(madvise(table->mapping, table->mapping_size, MADV_DONTNEED), 0);
    assert_int_equal(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
    const long got = syscall(SYS_preadv2, (long)file, &one, 1L, 4096L * 100, 0L, (long)RWF_NOWAIT);
    int forgotten = got < 0 && errno == EAGAIN;
    close(file);
    return forgotten;
}

/* What is in the page cache is mapped, again and again; and once it has left, no glance is fooled. */
static void notices_by(enum table_residency residency)
{
    struct scene s;
    garner_table_stats stats = {.size = sizeof stats};
    scattered(&s);
    garner_table *table = open_table(GARNER_TABLE_ANY, 0);
    if (residency == TABLE_BY_MAPPING) assert_non_null(table_map(table));
    table->residency = residency;
    for (int turn = 0; turn < 20; turn++) {
        const int dropped = turn % 5 == 4, cold = dropped && forget(table);
        if (turn == 4 && !cold) printf("SKIP %s: the page cache does not forget %s\n", __func__, path);
        compare(&s, table);
        garner_table_report(table, &stats);
        if (!dropped) assert_int_equal(stats.how, GARNER_TABLE_MAPPED);
        if (!dropped) continue;
        if (cold) assert_int_not_equal(stats.how, GARNER_TABLE_MAPPED); /* or a part may have stayed */
        assert_int_equal(garner_table_read(table, 0, 1001 * 5000, s.bytes, &s.error), GARNER_OK);
    }
    garner_table_close(table);
    scene_free(&s);
}

static void notices_what_is_cached(void **state)
{
    (void)state;
    notices_by(TABLE_BY_READ);
    notices_by(TABLE_BY_MAPPING);
}

/* Whether this system has rings and lets this process have one. */
static int has_rings(int descriptor)
{
    struct reader *reader;
    if (reader_ring_open(&reader, descriptor, 8)) return 0;
    reader->close(reader);
    return 1;
}

static int takes_direct(void)
{
    void *memory = NULL;
    int file = open(path, O_RDONLY | O_DIRECT);
    if (file < 0) return 0;
    assert_int_equal(posix_memalign(&memory, 4096, 4096), 0);
    const ssize_t got = pread(file, memory, 4096, 4096);
    free(memory);
    close(file);
    return got == 4096;
}

/* The ring really is one, and leaves the page cache as it was. */
static void rings_are_rings(void **state)
{
    struct scene s;
    garner_table_stats stats = {.size = sizeof stats};
    (void)state;
    scattered(&s);
    garner_table *table = open_table(GARNER_TABLE_RING, 0);
    const int rings = has_rings(table->place.descriptor), direct = takes_direct(), cold = forget(table);
    compare(&s, table);
    garner_table_report(table, &stats);
    assert_int_equal(stats.how, rings ? GARNER_TABLE_RING : GARNER_TABLE_PREAD);
    assert_int_equal(stats.direct, rings && direct);
    assert_true(stats.reads > 0);
    if (rings && direct && cold)
        for (int64_t i = 0; i < 900; i += 90)
            assert_false(table_is_cached(table, table->place.offset + (uint64_t)s.values[i] * 1001));
    garner_table_close(table);
    scene_free(&s);
    if (!rings) SKIP_LOUDLY("io_uring is missing or not allowed here: rings were not tested");
    if (!direct) SKIP_LOUDLY("the file system takes no O_DIRECT: reading past the page cache was not tested");
}

/* Where nobody says what is in the page cache, blocks are read; a file system in memory has all of it. */
static void takes_what_it_is_told(void **state)
{
    static const struct {
        enum table_residency residency;
        int mapped;
    } told[] = {{TABLE_IN_MEMORY, 1}, {TABLE_UNKNOWN, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct scene s;
        garner_table_stats stats = {.size = sizeof stats};
        scattered(&s);
        garner_table *table = open_table(GARNER_TABLE_ANY, 0);
        table->residency = told[i].residency;
        compare(&s, table);
        garner_table_report(table, &stats);
        assert_int_equal(stats.how == GARNER_TABLE_MAPPED, told[i].mapped);
        garner_table_close(table);
        scene_free(&s);
    }
}

/* ---- Files that change ---- */

static void becomes_shorter(void **state)
{
    struct scene s;
    (void)state;
    scattered(&s);
    for (size_t h = 0; h < HOWS; h++) {
        struct stat about;
        garner_table *table = open_table(hows[h], 0);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(truncate(path, about.st_size - 1), 0);
        assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &s.out, &s.error), GARNER_SYSTEM);
        assert_non_null(strstr(s.error.message, "has become shorter"));
        assert_int_equal(truncate(path, about.st_size), 0);
        garner_table_close(table);
    }
    scene_free(&s);
}

static void is_replaced(void **state)
{
    struct scene s, other;
    (void)state;
    scattered(&s);
    for (size_t h = 0; h < HOWS; h++) {
        garner_table *table = open_table(hows[h], 0);
        scattered(&other); /* under the same name */
        compare(&s, table);
        garner_table_close(table);
        scene_free(&other);
        save_data(&s);
    }
    scene_free(&s);
}

static int touch(void *context, int64_t done, int64_t all)
{
    (void)done, (void)all;
    FILE *file = fopen(context, "r+");
    fseek(file, -1, SEEK_END);
    fputc(7, file);
    fclose(file);
    return 0;
}

/* Microseconds until a file that is written to shows another time; qemu 7.2 shows s390x whole seconds. */
static useconds_t grain_of_times(void)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mtim.tv_nsec ? 20000 : 1100000;
}

static void is_written_to(void **state)
{
    static const struct {
        garner_table_how how;
        int saved; /* into a file, not into memory */
    } ways[] = {{GARNER_TABLE_MAPPED, 0}, {GARNER_TABLE_RING, 0}, {GARNER_TABLE_PREAD, 0},
                {GARNER_TABLE_MAPPED, 1}, {GARNER_TABLE_RING, 1}, {GARNER_TABLE_PREAD, 1}};
    struct scene s;
    (void)state;
    scattered(&s);
    unlink(result_path);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        garner_table *table;
        garner_table_options options = {.how = ways[i].how, .watch = touch, .context = path};
        usleep(grain_of_times());
        assert_int_equal(garner_table_open(path, NULL, &options, &table, NULL), GARNER_OK);
        garner_status status = ways[i].saved
                                   ? garner_table_save(table, &s.op, &s.indices, result_path, NULL, &s.error)
                                   : garner_table_gather(table, &s.op, &s.indices, &s.out, &s.error);
        assert_int_equal(status, GARNER_SYSTEM);
        assert_non_null(strstr(s.error.message, "written to while it was read"));
        assert_int_not_equal(access(result_path, F_OK), 0);
        garner_table_close(table);
    }
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives),
        cmocka_unit_test(reports),
        cmocka_unit_test(loses_the_reader),
        cmocka_unit_test(loses_the_reader_while_it_drains),
        cmocka_unit_test(short_of_memory),
        cmocka_unit_test(rings_are_rings),
        cmocka_unit_test(notices_what_is_cached),
        cmocka_unit_test(takes_what_it_is_told),
        cmocka_unit_test(becomes_shorter),
        cmocka_unit_test(is_replaced),
        cmocka_unit_test(is_written_to),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
