/* SPDX-License-Identifier: MIT */
/*
 * Reading streams and writing files whole or not at all, from C. Each test has a folder of its own and
 * says in the end exactly what may lie in it. Failures of the system and SIGKILL are in tests/cli.
 */
#define _XOPEN_SOURCE 700

#include "fail.h" /* before cmocka, which has a macro of that name */

#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/garner-file-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *list = opendir(".");
    for (struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list))
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) remove(entry->d_name);
    if (list) closedir(list);
    return chdir("/") || rmdir(folder);
}

static int count_files(void)
{
    int count = 0;
    DIR *list = opendir(".");
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
        count++;
    closedir(list);
    return count - 2;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(found, 1, sizeof found - 1, file);
    found[size] = 0;
    fclose(file);
    assert_string_equal(found, text);
}

/* Writes a text in pieces; fails after it if the text ends in '!'. */
static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    const char *text = context;
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i += 3) {
        garner_status status = sink_write(sink, text + i, size - i < 3 ? size - i : 3, error);
        if (status) return status;
    }
    if (!size || text[size - 1] != '!') return GARNER_OK;
    snprintf(error->message, sizeof error->message, "as told");
    return GARNER_OUT_OF_RANGE;
}

static garner_status save(const char *path, const char *text, garner_error *error)
{
    return file_save(path, produce, (void *)(uintptr_t)text, error);
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

/* ---- Writing ---- */

static void test_new_and_replaced(void **state)
{
    garner_error error;
    (void)state;
    mode_t before = umask(027);
    assert_int_equal(save("new", "hello world", &error), GARNER_OK);
    umask(before);
    assert_string_equal(error.message, "");
    expect_text("new", "hello world");
    assert_int_equal(mode_of("new"), 0640);
    chmod("new", 0604);
    assert_int_equal(save("new", "again", &error), GARNER_OK);
    expect_text("new", "again");
    assert_int_equal(mode_of("new"), 0604);
    assert_int_equal(save("new", "", NULL), GARNER_OK);
    expect_text("new", "");
    assert_int_equal(count_files(), 1);
}

static void test_failed_producer_leaves_no_trace(void **state)
{
    garner_error error;
    (void)state;
    write_text("old", "old");
    assert_int_equal(save("old", "half of it!", &error), GARNER_OUT_OF_RANGE);
    assert_string_equal(error.message, "as told");
    assert_int_equal(save("none", "half of it!", &error), GARNER_OUT_OF_RANGE);
    expect_text("old", "old");
    assert_int_equal(count_files(), 1);
}

static void test_links_are_followed(void **state)
{
    garner_error error;
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_int_equal(symlink("sub/b", "a"), 0);
    assert_int_equal(symlink("c", "sub/b"), 0);
    assert_int_equal(save("a", "created", &error), GARNER_OK); /* through two links into nothing */
    expect_text("sub/c", "created");
    assert_int_equal(save("a", "replaced", &error), GARNER_OK);
    expect_text("sub/c", "replaced");
    char link[8] = "";
    assert_int_equal(readlink("a", link, sizeof link), 5);
    assert_int_equal(readlink("sub/b", link, sizeof link), 1);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(save("loop", "x", &error), GARNER_SYSTEM);
    assert_int_equal(count_files(), 3);
    unlink("sub/b");
    unlink("sub/c");
}

static void test_places_that_cannot_be(void **state)
{
    static const char *const places[] = {"", "missing/x", "sub", "sub/", "file/x", "new/", "/proc/x"};
    garner_error error;
    (void)state;
    mkdir("sub", 0777);
    write_text("file", "file");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (save(places[i], "x", &error) != GARNER_SYSTEM) fail_msg("'%s' was written", places[i]);
        assert_memory_equal(error.message, places[i], strlen(places[i]));
        assert_non_null(strstr(error.message, ": cannot write: "));
    }
    expect_text("file", "file");
    assert_int_equal(count_files(), 2);
}

static void *read_fifo(void *to)
{
    FILE *file = fopen("fifo", "r");
    if (file) {
        size_t size = fread(to, 1, 63, file);
        ((char *)to)[size] = 0;
        fclose(file);
    }
    return NULL;
}

static void test_fifos_and_devices_are_written_through(void **state)
{
    char text[64] = "";
    struct stat about;
    garner_error error;
    pthread_t reader;
    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_fifo, text), 0);
    assert_int_equal(save("fifo", "through", &error), GARNER_OK);
    pthread_join(reader, NULL);
    assert_string_equal(text, "through");
    assert_int_equal(lstat("fifo", &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    assert_int_equal(save("/dev/null", "away", &error), GARNER_OK);
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    assert_int_equal(save("/dev/full", "x", &error), GARNER_SYSTEM);
    assert_string_equal(error.message, "/dev/full: cannot write: No space left on device");
    assert_int_equal(count_files(), 1);
}

/* More than the sink's buffer, in pieces around its size. */
static garner_status produce_much(void *context, struct sink *sink, garner_error *error)
{
    static unsigned char bytes[200000];
    static const size_t pieces[] = {1, 65535, 65536, 65537, 7, 200000, 3, 0, 65530, 6, 1};
    size_t *total = context;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        for (size_t k = 0; k < pieces[i]; k++)
            bytes[k] = (unsigned char)((*total + k) * 31 >> 3);
        garner_status status = sink_write(sink, bytes, pieces[i], error);
        if (status) return status;
        *total += pieces[i];
    }
    return GARNER_OK;
}

static void test_buffer_boundaries(void **state)
{
    struct file file;
    size_t total = 0;
    (void)state;
    assert_int_equal(file_save("much", produce_much, &total, NULL), GARNER_OK);
    assert_int_equal(file_open(&file, "much", NULL), GARNER_OK);
    assert_int_equal(file.size, total);
    for (size_t i = 0; i < total; i++)
        if (file.bytes[i] != (unsigned char)(i * 31 >> 3)) fail_msg("byte %zu", i);
    file_close(&file);
}

/* Bytes that are written first and known later: still in the buffer, in the file, on the boundary of both. */
static garner_status produce_patched(void *context, struct sink *sink, garner_error *error)
{
    static unsigned char bytes[100000];
    static const struct {
        uint64_t at;
        size_t size;
    } patches[] = {{99990, 10}, {0, 3}, {50000, 7}, {99990, 5}, {110000, 8}, {109998, 4}};
    memset(bytes, 'a', sizeof bytes);
    garner_status status = sink_write(sink, bytes, sizeof bytes, error);
    if (!status) status = sink_write(sink, bytes, 10010, error);
    for (size_t i = 0; i < sizeof patches / sizeof *patches && !status; i++) {
        unsigned char *image = context;
        memset(image + patches[i].at, 'b' + (int)i, patches[i].size);
        status = sink_patch(sink, patches[i].at, image + patches[i].at, patches[i].size, error);
        if (i == 3 && !status)
            status = sink_write(sink, bytes, 100, error); /* something is in the buffer again */
    }
    return status;
}

static void test_patches(void **state)
{
    static unsigned char image[110110];
    struct file file;
    garner_error error;
    (void)state;
    memset(image, 'a', sizeof image);
    if (file_save("patched", produce_patched, image, &error)) fail_msg("%s", error.message);
    assert_int_equal(file_open(&file, "patched", NULL), GARNER_OK);
    assert_int_equal(file.size, sizeof image);
    assert_memory_equal(file.bytes, image, sizeof image);
    file_close(&file);
    assert_int_equal(file_save("/dev/null", produce_patched, image, &error), GARNER_OK);
    assert_int_equal(file_save("/dev/full", produce_patched, image, NULL), GARNER_SYSTEM);
}

/* The descriptor, for several to write at once: of a file alone. */
static garner_status produce_beside(void *context, struct sink *sink, garner_error *error)
{
    int descriptor = -1;
    garner_status status = sink_write(sink, "first ", 6, error);
    if (!status) status = sink_descriptor(sink, &descriptor, error);
    if (status) return status;
    assert_int_equal(pwrite(descriptor, context, strlen(context), 6), (ssize_t)strlen(context));
    return GARNER_OK;
}

static void test_descriptors(void **state)
{
    garner_error error;
    (void)state;
    assert_int_equal(file_save("beside", produce_beside, "and then", &error), GARNER_OK);
    expect_text("beside", "first and then");
    assert_int_equal(file_save("/dev/null", produce_beside, "x", &error), GARNER_UNSUPPORTED);
    assert_non_null(strstr(error.message, "only a file can be written by several at once"));
    assert_int_equal(count_files(), 1);
}

static void test_odd_places(void **state)
{
    char path[4200], link[300];
    garner_error error;
    (void)state;
    const int dev = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dev >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d/null", dev);
    if (save(path, "away", &error)) fail_msg("%s", error.message);
    assert_int_equal(save("/dev/fd/../root/dev/null", "away", &error), GARNER_OK);
    close(dev);
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    assert_int_equal(save(path, "x", &error), GARNER_SYSTEM);
    assert_non_null(strstr(error.message, strerror(ENAMETOOLONG)));
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(path + i, "./", 2);
    strcpy(path + 4000, "link"); /* whose target fits into no path, in this folder */
    memset(link, 0, sizeof link);
    memset(link, 'y', 200);
    assert_int_equal(symlink(link, "link"), 0);
    assert_int_equal(save(path, "x", &error), GARNER_SYSTEM);
    assert_non_null(strstr(error.message, strerror(ENAMETOOLONG)));
    assert_int_equal(save("/garner-test", "half of it!", &error) != GARNER_OK,
                     1); /* in the root, where nothing stays */
    assert_int_equal(access("/garner-test", F_OK), -1);
    file_abandon(); /* of which there is none */
    assert_int_equal(count_files(), 1);
}

/* The file of somebody else stays theirs if that is allowed, and keeps no rights for a group that is not
 * theirs. */
static void test_owners(void **state)
{
    enum { SOMEBODY = 65533, NOBODY = 65534 };
    struct stat about;
    garner_error error;
    (void)state;
    if (geteuid() != 0) SKIP_LOUDLY("only the administrator can give files away");
    write_text("theirs", "old");
    assert_int_equal(chmod("theirs", 0666), 0);
    assert_int_equal(chown("theirs", SOMEBODY, SOMEBODY), 0);
    assert_int_equal(save("theirs", "new", &error), GARNER_OK);
    assert_int_equal(stat("theirs", &about), 0);
    assert_true(about.st_uid == SOMEBODY && about.st_gid == SOMEBODY);
    assert_int_equal(chmod(".", 0777), 0);
    assert_int_equal(seteuid(NOBODY), 0);
    const garner_status status = save("theirs", "newest", &error);
    assert_int_equal(seteuid(0), 0);
    if (status) fail_msg("%s", error.message);
    expect_text("theirs", "newest");
    assert_int_equal(stat("theirs", &about), 0);
    assert_int_equal(about.st_uid, NOBODY);
    assert_int_equal(about.st_mode & 0777, about.st_gid == SOMEBODY ? 0666 : 0606);
}

/* ---- Reading ---- */

static void test_streams_are_read_as_asked(void **state)
{
    int ends[2];
    char path[32];
    struct file file;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "0123456789", 10), 10);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(file_open(&file, path, NULL), GARNER_OK);
    assert_int_equal(file.size, 0);
    assert_int_equal(file_fetch(&file, 4, NULL), GARNER_OK);
    assert_int_equal(file.size, 4);
    assert_memory_equal(file.bytes, "0123", 4);
    close(ends[1]);
    /* Asked for far more than there is: memory grows with what arrives. */
    assert_int_equal(file_fetch(&file, UINT64_MAX, NULL), GARNER_OK);
    assert_int_equal(file.size, 10);
    assert_true(file.capacity <= 1 << 16);
    assert_memory_equal(file.bytes, "0123456789", 10);
    file_close(&file);
    close(ends[0]);
}

static void test_endless_devices_do_not_matter(void **state)
{
    struct file file;
    garner_error error;
    (void)state;
    assert_int_equal(file_open(&file, "/dev/zero", &error), GARNER_OK);
    assert_int_equal(file_fetch(&file, 100000, &error), GARNER_OK);
    assert_int_equal(file.size, 100000);
    file_close(&file);
    assert_int_equal(file_open(&file, ".", &error), GARNER_SYSTEM);
    assert_string_equal(error.message, ".: cannot read: Is a directory");
    assert_int_equal(file_open(&file, "none", &error), GARNER_SYSTEM);
    assert_string_equal(error.message, "none: cannot open: No such file or directory");
    /* Regular, of size 0, and yet not empty. */
    assert_int_equal(file_open(&file, "/proc/self/status", &error), GARNER_OK);
    assert_int_equal(file_fetch(&file, 5, &error), GARNER_OK);
    assert_memory_equal(file.bytes, "Name:", 5);
    file_close(&file);
}

/* ---- Words ---- */

static void test_printable(void **state)
{
    static const char *const pairs[][2] = {
        {"plain.npy", "plain.npy"},
        {"a\x1b[31mb", "a\\x1b[31mb"},
        {"line\nend\r\x7f", "line\\x0aend\\x0d\\x7f"},
        {"\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80", "\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m",
         "\\xc2\\x9b31m"}, /* CSI as one character */
        {"\xe2\x80\xae"
         "x",
         "\\xe2\\x80\\xaex"},                                           /* right-to-left override */
        {"a\xc2\xad\xd8\x9c", "a\\xc2\\xad\\xd8\\x9c"},                 /* soft hyphen, Arabic letter mark */
        {"\xef\xbf\xb9\xef\xbf\xbb", "\\xef\\xbf\\xb9\\xef\\xbf\\xbb"}, /* interlinear annotation */
        {"\xef\xbf\xbe\xef\xbf\xbf", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf"}, /* none that XML has */
        {"\xff\xc3(\xe6\x97", "\\xff\\xc3(\\xe6\\x97"},                 /* not UTF-8 */
        {"\xc0\x80\xed\xa0\x80", "\\xc0\\x80\\xed\\xa0\\x80"},          /* overlong, surrogate */
        {"\xf4\x90\x80\x80\xf8", "\\xf4\\x90\\x80\\x80\\xf8"},          /* beyond Unicode */
        {"0123456789012345678901234567890123456789end", "...456789012345678901234567890123456789end"},
    };
    char buffer[43];
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(
            printable(buffer, i + 1 < sizeof pairs / sizeof *pairs ? sizeof buffer : 43, pairs[i][0]),
            pairs[i][1]);
}

/* Only the end of a long text is looked at: what is shown is as if all were. */
static void test_printable_of_long_texts(void **state)
{
    static const char *const ends[] = {"\xc3\xa9", "\xf0\x9f\x98\x80", "\x80\x80\x80\x80", "\xe6\x97", "\x1b",
                                       "a"};
    char text[400], part[400], buffer[43], wanted[43];
    (void)state;
    for (size_t kind = 0; kind < sizeof ends / sizeof *ends; kind++)
        for (size_t odd = 0; odd < 5; odd++) {
            size_t used = 0;
            while (used < odd)
                text[used++] = 'x';
            while (used + 8 < sizeof text) {
                strcpy(text + used, ends[kind]);
                used += strlen(ends[kind]);
            }
            printable(buffer, sizeof buffer, text);
            assert_true(strlen(buffer) < sizeof buffer && strlen(buffer) > sizeof buffer - 17);
            for (size_t from = used - 160; from < used - 120; from++) { /* wherever a reader of all began */
                if ((text[from] & 0xC0) == 0x80 && kind != 2) continue;
                strcpy(part, text + from);
                assert_string_equal(printable(wanted, sizeof wanted, part), buffer);
            }
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_new_and_replaced),
        TEST(test_failed_producer_leaves_no_trace),
        TEST(test_links_are_followed),
        TEST(test_places_that_cannot_be),
        TEST(test_fifos_and_devices_are_written_through),
        TEST(test_buffer_boundaries),
        TEST(test_patches),
        TEST(test_descriptors),
        TEST(test_odd_places),
        TEST(test_owners),
        TEST(test_streams_are_read_as_asked),
        TEST(test_endless_devices_do_not_matter),
        TEST(test_printable),
        TEST(test_printable_of_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
