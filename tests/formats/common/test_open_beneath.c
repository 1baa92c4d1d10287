/* SPDX-License-Identifier: MIT */
/* Opening beneath a folder, by the one call and by the walk that stands in for it: both must agree. */
#define _GNU_SOURCE

#include "open_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "testing.h"

static char root[] = "/tmp/garner-beneath-XXXXXX";

static void in_root(const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", root, name);
}

static void put_file(const char *name)
{
    char path[256];
    in_root(name, path);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0 && write(file, "data", 4) == 4 && close(file) == 0);
}

static void put_link(const char *name, const char *target)
{
    char path[256];
    in_root(name, path);
    assert_int_equal(symlink(target, path), 0);
}

static int make_folder(void **state)
{
    char path[256];
    (void)state;
    if (!mkdtemp(root)) return -1;
    in_root("sub", path);
    if (mkdir(path, 0700)) return -1;
    put_file("plain");
    put_file("sub/inner");
    put_link("link", "plain");
    put_link("linked", "sub");
    put_link("outside", "/etc");
    put_link("loop", "loop");
    in_root("fifo", path);
    return mkfifo(path, 0600);
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"sub/inner", "plain", "link", "linked", "outside", "loop", "fifo"};
    char path[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        in_root(names[i], path);
        unlink(path);
    }
    in_root("sub", path);
    rmdir(path);
    return rmdir(root);
}

static const struct {
    const char *name;
    int opens;
} names[] = {
    {"plain", 1},      {"sub/inner", 1},    {"./plain", 1},        {"sub//inner", 1},  {"sub/./inner", 1},
    {"link", 0},       {"linked/inner", 0}, {"outside/passwd", 0}, {"loop", 0},        {"none", 0},
    {"none/inner", 0}, {"plain/inner", 0},  {"../plain", 0},       {"sub/../../x", 0}, {"fifo", 1},
};

static void try_all(int (*open_beneath)(int, const char *))
{
    int folder = open(root, O_DIRECTORY | O_RDONLY);
    assert_true(folder >= 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int file = open_beneath(folder, names[i].name);
        if ((file >= 0) != names[i].opens) fail_msg("%s: %d, errno %d", names[i].name, file, errno);
        if (file >= 0) close(file);
    }
    close(folder);
}

static void test_walk(void **state)
{
    (void)state;
    try_all(open_beneath_walking);
}

static void test_at_once(void **state)
{
    (void)state;
    int folder = open(root, O_DIRECTORY | O_RDONLY);
    int file = open_beneath_at_once(folder, "plain");
    int missing = file < 0 && (errno == ENOSYS || errno == EPERM);
    if (file >= 0) close(file);
    close(folder);
    if (missing) SKIP_LOUDLY("this kernel or sandbox has no openat2");
    try_all(open_beneath_at_once);
}

static void map_is(const char *name, int follow, garner_status expected)
{
    char owner[256];
    void *mapping;
    size_t size;
    garner_error error;
    in_root("model.onnx", owner);
    garner_status status = open_beneath_map(owner, name, strlen(name), follow, &mapping, &size, &error);
    if (status != expected) fail_msg("%s: %s", name, error.message);
    if (status) {
        assert_null(mapping);
        return;
    }
    assert_true(size == 4 && memcmp(mapping, "data", 4) == 0);
    munmap(mapping, size);
}

static void test_map(void **state)
{
    (void)state;
    map_is("plain", 0, GARNER_OK);
    map_is("sub/inner", 0, GARNER_OK);
    map_is("link", 0, GARNER_BAD_FILE);
    map_is("link", 1, GARNER_OK);
    map_is("linked/inner", 0, GARNER_BAD_FILE);
    map_is("linked/inner", 1, GARNER_OK);
    map_is("loop", 1, GARNER_BAD_FILE);
    map_is("fifo", 0, GARNER_BAD_FILE);
    map_is("sub", 0, GARNER_BAD_FILE);
    map_is("", 1, GARNER_BAD_FILE);
    map_is("/etc/passwd", 1, GARNER_BAD_FILE);
    map_is("sub/../plain", 1, GARNER_BAD_FILE);
    map_is("none", 0, GARNER_SYSTEM);
}

/* Names that the walk takes apart by itself. */
static void test_walked_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int number; /* 0: it opens */
    } odd[] = {{"", 0},
               {"/", 0},
               {"sub/", 0},
               {"sub", 0},
               {"..", EINVAL},
               {"sub/..", EINVAL},
               {".a/x", ENOENT},
               {"ab/x", ENOENT},
               {"linked/inner", ELOOP},
               {"plain/inner", ENOTDIR},
               {"link", ELOOP}};
    char name[2000];
    int folder = open(root, O_DIRECTORY | O_RDONLY);
    assert_true(folder >= 0);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        int file = open_beneath_walking(folder, odd[i].name);
        if ((file >= 0) != !odd[i].number || (file < 0 && errno != odd[i].number))
            fail_msg("'%s': %d, errno %d", odd[i].name, file, errno);
        if (file >= 0) close(file);
    }
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(open_beneath_walking(folder, name), -1);
    memcpy(name, "sub/", 4);
    assert_int_equal(open_beneath_walking(folder, name), -1);
    close(folder);
}

/* A model in the root folder, or named without any. */
static void test_owners(void **state)
{
    (void)state;
    char here[256];
    void *mapping;
    size_t size;
    garner_error error;
    assert_int_equal(open_beneath_map("/model.onnx", "garner-none", 11, 0, &mapping, &size, &error),
                     GARNER_SYSTEM);
    assert_int_equal(open_beneath_map("/nowhere/at/all/model.onnx", "x", 1, 0, &mapping, &size, &error),
                     GARNER_SYSTEM);
    assert_non_null(strstr(error.message, "open the folder"));
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(root), 0);
    assert_int_equal(open_beneath_map("model.onnx", "plain", 5, 0, &mapping, &size, &error), GARNER_OK);
    assert_int_equal(munmap(mapping, size), 0);
    assert_int_equal(chdir(here), 0);
}

/* Somebody who has a lease of the file, and does not answer. */
static void test_lease(void **state)
{
    (void)state;
    char path[256];
    struct timespec begin, end;
    void *mapping;
    size_t size;
    garner_error error;
    in_root("plain", path);
    int holder = open(path, O_RDWR);
    assert_true(holder >= 0);
    signal(SIGIO, SIG_IGN);
    if (fcntl(holder, F_SETLEASE, F_WRLCK)) {
        close(holder);
        SKIP_LOUDLY("this file system has no leases");
    }
    in_root("model.onnx", path);
    for (int follow = 0; follow < 2; follow++) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        assert_int_equal(open_beneath_map(path, "plain", 5, follow, &mapping, &size, &error), GARNER_SYSTEM);
        clock_gettime(CLOCK_MONOTONIC, &end);
        assert_in_range(end.tv_sec - begin.tv_sec, 0, 10);
        assert_non_null(strstr(error.message, "plain"));
    }
    close(holder);
    signal(SIGIO, SIG_DFL);
    assert_int_equal(open_beneath_map(path, "plain", 5, 0, &mapping, &size, &error), GARNER_OK);
    assert_int_equal(munmap(mapping, size), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk),         cmocka_unit_test(test_at_once), cmocka_unit_test(test_map),
        cmocka_unit_test(test_walked_names), cmocka_unit_test(test_owners),  cmocka_unit_test(test_lease),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
