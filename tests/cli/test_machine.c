/* SPDX-License-Identifier: MIT */
/* What the command reads of Linux about this machine and this process, where Linux says what a test wants. */
#define _GNU_SOURCE

#include "testing.h"

#include "random.h" /* TEST_SANITIZED */

#if defined(__GLIBC__) && !TEST_SANITIZED

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine_caches.h"
#include "mapped_file.h"

/* ---- Linux ---- */

static const char *const *cache_words; /* level, type and size of each cache; NULL: the system's own */
static int open_number;                /* with which files cannot be opened, if not 0 */
static const char *maps;               /* what /proc/self/maps says; NULL: the system's own */
static int interruptions;              /* reads that are interrupted before one is not */
static size_t maps_at;

static FILE *open_file(const char *path)
{
    static const char folder[] = "/sys/devices/system/cpu/cpu0/cache/index";
    static const char *const names[] = {"/level", "/type", "/size"};
    int index, used = 0, count = 0;
    char text[64];
    if (open_number) return errno = open_number, NULL;
    if (!cache_words || sscanf(path + sizeof folder - 1, "%d%n", &index, &used) != 1)
        return errno = ENOENT, NULL;
    while (cache_words[count])
        count++;
    for (int i = 0; i < 3; i++)
        if (strcmp(path + sizeof folder - 1 + used, names[i]) == 0 && 3 * index + i < count) {
            FILE *file = tmpfile();
            snprintf(text, sizeof text, "%s\n", cache_words[3 * index + i]);
            fputs(text, file);
            rewind(file);
            return file;
        }
    return errno = ENOENT, NULL;
}

FILE *fopen(const char *path, const char *mode)
{
    (void)mode;
    return open_file(path);
}

FILE *fopen64(const char *path, const char *mode)
{
    (void)mode;
    return open_file(path);
}

ssize_t read(int descriptor, void *into, size_t size)
{
    static ssize_t (*real)(int, void *, size_t);
    if (!real) {
        void *found = dlsym(RTLD_NEXT, "read");
        memcpy((void *)&real, (void *)&found, sizeof real);
    }
    if (interruptions-- > 0) return errno = EINTR, -1;
    if (!maps) return real(descriptor, into, size);
    const size_t left = strlen(maps) - maps_at, part = left < 7 ? left : 7; /* in small pieces */
    memcpy(into, maps + maps_at, part);
    maps_at += part;
    return (ssize_t)part;
}

/* ---- Caches ---- */

static void expect_caches(const char *const *words, const struct machine_cache *wanted, int count)
{
    struct machine_cache caches[MACHINE_CACHES];
    garner_error error;
    int found = -1;
    cache_words = words;
    assert_int_equal(machine_caches(caches, &found, &error), GARNER_OK);
    cache_words = NULL;
    assert_int_equal(found, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(caches[i].level, wanted[i].level);
        assert_int_equal(caches[i].type, wanted[i].type);
        assert_int_equal(caches[i].bytes, wanted[i].bytes);
    }
}

static void test_caches(void **state)
{
    (void)state;
    static const char *const usual[] = {"1",       "Data", "48K", "1",       "Instruction", "32K", "2",
                                        "Unified", "2M",   "3",   "Unified", "512",         NULL};
    static const struct machine_cache of_usual[] = {{1, 'd', 48 << 10}, {2, 'u', 2 << 20}, {3, 'u', 512}};
    static const char *const odd[] = {"0", "Data",    "48K",        "1", "Data",    "-1K",
                                      "1", "Data",    "x",          "1", "Data",    "99999999999999999999",
                                      "2", "Unified", "1073741825", "2", "Unified", "0",
                                      NULL};
    static const char *const cut[] = {"1", "Data", "48K", "2", "Unified", NULL};
    const char *many[3 * 40 + 1];
    struct machine_cache ones[MACHINE_CACHES];
    expect_caches(usual, of_usual, 3);
    expect_caches(odd, NULL, 0);
    expect_caches(cut, of_usual, 1);
    for (int i = 0; i < 40; i++)
        memcpy(&many[3 * i], usual, 3 * sizeof *usual);
    many[3 * 40] = NULL;
    for (int i = 0; i < MACHINE_CACHES; i++)
        ones[i] = of_usual[0];
    expect_caches(many, ones, MACHINE_CACHES);
    for (int i = 0; i < 40; i++)
        many[3 * i + 1] = "Instruction";
    expect_caches(many, NULL, 0);
}

static void test_caches_that_cannot_be_read(void **state)
{
    (void)state;
    static const int quiet[] = {ENOENT, ENOTDIR, EACCES};
    struct machine_cache caches[MACHINE_CACHES];
    garner_error error;
    int count;
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        open_number = quiet[i];
        assert_int_equal(machine_caches(caches, &count, &error), GARNER_OK);
        assert_int_equal(count, 0);
    }
    open_number = EIO;
    assert_int_equal(machine_caches(caches, &count, &error), GARNER_SYSTEM);
    assert_non_null(strstr(error.message, "cache/index0/level: cannot open: Input/output error"));
    open_number = 0;
}

/* ---- Mapped files ---- */

static void test_own_mapping(void **state)
{
    (void)state;
    char path[] = "/tmp/garner mapped \xc3\xa9-XXXXXX";
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct mapped_file file;
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(ftruncate(descriptor, (off_t)(4 * page)), 0);
    char *mapping = mmap(NULL, 3 * page, PROT_READ, MAP_SHARED, descriptor, (off_t)page);
    assert_true(mapping != MAP_FAILED);
    assert_true(mapped_file_find(&file, mapping + page + 5));
    assert_int_equal(file.offset, 2 * page + 5);
    assert_int_equal(file.size, strlen(path));
    for (size_t i = 0; i < file.size; i++)
        assert_int_equal(file.path[i], (unsigned char)path[i] < 0x7f ? path[i] : '?');
    interruptions = 2;
    assert_true(mapped_file_find(&file, mapping));
    void *memory = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_false(mapped_file_find(&file, memory));
    assert_false(mapped_file_find(&file, &file)); /* [stack] is no path */
    assert_false(mapped_file_find(&file, NULL));
    munmap(memory, page);
    munmap(mapping, 3 * page);
    close(descriptor);
    unlink(path);
}

static void test_maps(void **state)
{
    (void)state;
    static char long_line[2000];
    static const struct {
        const char *maps;
        uintptr_t address;
        uint64_t offset;
        const char *path; /* NULL: none */
    } cases[] = {
        {"1000-2000 r--p 00000000 08:01 12   /a\n2000-3f00 r--s 0000abc0 08:01 13   /b c\n", 0x2010, 0xabd0,
         "/b c"},
        {"1000-2000 r--p 00000000 08:01 12   /a\n", 0x1fff, 0xfff, "/a"},
        {"1000-2000 r--p 00000000 08:01 12   /a\n", 0x2000, 0, NULL},
        {"1000-2000 r--p 00000000 08:01 12   /a\n", 0xfff, 0, NULL},
        {"1000-2000 r--p 00000000 00:00 0\n2000-3000 r--p 00000000 08:01 12   /a\n", 0x1000, 0, NULL},
        {"1000-2000 r--p 00000000 00:00 0   [heap]\n", 0x1000, 0, NULL},
        {"1000-2000 r--p 0000000f 08:01 12   /cut", 0x1001, 0x10, "/cut"},
        {"1000-2000 r--p", 0x1000, 0, NULL},
        {"", 0x1000, 0, NULL},
        {"1000-2000 r--p 00000000 08:01 12   /a\x01\x7f\n", 0x1000, 0, "/a\?\?"},
    };
    struct mapped_file file;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        maps = cases[i].maps;
        maps_at = 0;
        int found = mapped_file_find(&file, (void *)cases[i].address);
        maps = NULL;
        if (found != (cases[i].path != NULL)) fail_msg("line %zu: %d", i, found);
        if (!found) continue;
        assert_int_equal(file.offset, cases[i].offset);
        assert_int_equal(file.size, strlen(cases[i].path));
        assert_memory_equal(file.path, cases[i].path, file.size);
    }
    strcpy(long_line, "1000-2000 r--p 00000000 08:01 12   /");
    memset(long_line + strlen(long_line), 'x', 1500);
    maps = long_line;
    maps_at = 0;
    assert_true(mapped_file_find(&file, (void *)0x1000));
    maps = NULL;
    assert_int_equal(file.size, sizeof file.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_caches),
                                       cmocka_unit_test(test_caches_that_cannot_be_read),
                                       cmocka_unit_test(test_own_mapping), cmocka_unit_test(test_maps)};
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
