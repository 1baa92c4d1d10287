/* SPDX-License-Identifier: MIT */
/*
 * Gathers from tables while a call of the system fails, is interrupted or gives less than was asked for: the
 * right answer or a sentence, and what was found out about the file system. The program's own functions stand
 * before libc's.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "testing.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "random.h" /* TEST_SANITIZED */

#if defined(__GLIBC__) && !TEST_SANITIZED

#include "table_scene.h"

/* ---- The calls ---- */

enum { SHORT = -1, ALWAYS = 0 };

/* The n-th call of that name (ALWAYS: each) fails with that number; SHORT: it reads half. */
static struct {
    const char *call;
    int n, number, met;
} plan;
static long file_system;   /* what fstatfs says, if not 0 */
static int refuses_nowait; /* reads that may not wait */

static int verdict(const char *call)
{
    if (!plan.call || strcmp(plan.call, call) != 0) return 0;
    plan.met++;
    if (plan.n != ALWAYS && plan.met != plan.n) return 0;
    if (plan.number > 0) errno = plan.number;
    return plan.number;
}

static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Compilers will not turn one kind of pointer into the other. */
#define NEXT(type, name, parameters)                        \
    static type(*real) parameters;                          \
    if (!real) {                                            \
        void *found = next_of(name);                        \
        memcpy((void *)&real, (void *)&found, sizeof real); \
    }

ssize_t pread64(int descriptor, void *into, size_t size, off64_t offset)
{
    NEXT(ssize_t, "pread64", (int, void *, size_t, off64_t))
    int number = verdict("pread");
    if (number > 0) return -1;
    return real(descriptor, into, number == SHORT ? (size + 1) / 2 : size, offset);
}

int fstat64(int descriptor, struct stat64 *about)
{
    NEXT(int, "fstat64", (int, struct stat64 *))
    return verdict("fstat") ? -1 : real(descriptor, about);
}

int fstatfs64(int descriptor, struct statfs64 *about)
{
    NEXT(int, "fstatfs64", (int, struct statfs64 *))
    if (verdict("fstatfs")) return -1;
    int done = real(descriptor, about);
    if (file_system) memcpy(&about->f_type, &file_system, sizeof about->f_type);
    return done;
}

void *mmap64(void *at, size_t size, int protection, int flags, int descriptor, off64_t offset)
{
    NEXT(void *, "mmap64", (void *, size_t, int, int, int, off64_t))
    return verdict("mmap") ? MAP_FAILED : real(at, size, protection, flags, descriptor, offset);
}

int mincore(void *at, size_t size, unsigned char *pages)
{
    NEXT(int, "mincore", (void *, size_t, unsigned char *))
    if (verdict("mincore")) return -1;
    int done = real(at, size, pages);
    if (plan.call && strcmp(plan.call, "not there") == 0) *pages = 0;
    return done;
}

uid_t geteuid(void)
{
    NEXT(uid_t, "geteuid", (void))
    return real() + (verdict("geteuid") != 0 || (plan.call && strcmp(plan.call, "faccessat") == 0));
}

int faccessat(int folder_descriptor, const char *name, int mode, int flags)
{
    NEXT(int, "faccessat", (int, const char *, int, int))
    return verdict("faccessat") ? -1 : real(folder_descriptor, name, mode, flags);
}

/* Of libc's only what garner calls by it. */
long syscall(long number, ...)
{
    NEXT(long, "syscall", (long, ...))
    long argument[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_preadv2 && refuses_nowait) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

/* liburing's, of which the header is not needed for this. */
int io_uring_submit_and_wait(void *ring, unsigned count);
int io_uring_submit_and_wait(void *ring, unsigned count)
{
    NEXT(int, "io_uring_submit_and_wait", (void *, unsigned))
    int number = verdict("io_uring");
    return number > 0 ? -number : real(ring, count);
}

int pthread_attr_init(pthread_attr_t *attributes)
{
    NEXT(int, "pthread_attr_init", (pthread_attr_t *))
    return verdict("pthread_attr_init") ? ENOMEM : real(attributes);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    NEXT(int, "posix_memalign", (void **, size_t, size_t))
    return verdict("posix_memalign") ? ENOMEM : real(memory, alignment, size);
}

/* Whether the calls that a large file is opened with come through here, as they do in glibc on 64 bits. */
static int calls_come_here(void)
{
    struct stat about;
    plan.call = "fstat";
    plan.n = ALWAYS;
    plan.number = EIO;
    int failed = fstat(0, &about);
    memset(&plan, 0, sizeof plan);
    return failed < 0;
}

#define NEEDS_CALLS() \
    if (!calls_come_here()) SKIP_LOUDLY("libc's functions cannot be replaced here")

/* ---- What fails ---- */

static void plan_failure(const char *call, int n, int number)
{
    memset(&plan, 0, sizeof plan);
    plan.call = call;
    plan.n = n;
    plan.number = number;
}

/* One gather or one file; what comes of it is the right answer, or a sentence that names the file. */
static garner_status try_once(struct scene *s, garner_table_how how, int saved)
{
    garner_error error = {.status = GARNER_OK};
    garner_table *table = NULL;
    garner_table_options options = {.how = how, .memory = 1 << 20};
    memset(s->out.data, 0xa5, (size_t)s->shape.bytes);
    garner_status status = garner_table_open(path, NULL, &options, &table, &error);
    if (!status)
        status = saved ? garner_table_save(table, &s->op, &s->indices, result_path, NULL, &error)
                       : garner_table_gather(table, &s->op, &s->indices, &s->out, &error);
    plan.call = NULL;
    if (!status && !saved) assert_memory_equal(s->out.data, s->expected.data, (size_t)s->shape.bytes);
    if (status && !strstr(error.message, saved ? "/garner-table" : path)) fail_msg("%s", error.message);
    assert_int_equal(access(result_path, F_OK), status || !saved ? -1 : 0);
    unlink(result_path);
    garner_table_close(table);
    return status;
}

static void prepare(struct scene *s)
{
    scattered(s);
    assert_int_equal(garner_run(&s->op, &s->data, &s->indices, &s->expected, NULL, NULL), GARNER_OK);
}

static void each_call_fails(void **state)
{
    static const char *const calls[] = {"fstat", "mmap", "pread", "posix_memalign"};
    struct scene s;
    (void)state;
    NEEDS_CALLS();
    prepare(&s);
    int before = open_descriptors(), failures = 0;
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (size_t h = 0; h < HOWS; h++)
            for (int saved = 0; saved < 2; saved++)
                for (int n = 1; n < 6; n++) {
                    plan_failure(calls[c], n, EIO);
                    garner_status status = try_once(&s, hows[h], saved);
                    if (status) assert_true(status == GARNER_SYSTEM || status == GARNER_NO_MEMORY);
                    failures += status != GARNER_OK;
                }
    assert_true(failures > 20);
    assert_int_equal(open_descriptors(), before);
    scene_free(&s);
}

/* Interruptions and short reads are nobody's business. */
static void interruptions(void **state)
{
    struct scene s;
    (void)state;
    NEEDS_CALLS();
    prepare(&s);
    for (size_t h = 0; h < HOWS; h++)
        for (int saved = 0; saved < 2; saved++)
            for (int n = 0; n < 4; n++) {
                plan_failure("pread", n, n ? EINTR : SHORT);
                assert_int_equal(try_once(&s, hows[h], saved), GARNER_OK);
            }
    garner_table *table = open_table(GARNER_TABLE_PREAD, 0);
    unsigned char part[5000];
    for (int n = 0; n < 3; n++) {
        plan_failure("pread", n, n ? EINTR : SHORT);
        assert_int_equal(garner_table_read(table, 1001, sizeof part, part, &s.error), GARNER_OK);
        assert_memory_equal(part, s.bytes + 1001, sizeof part);
    }
    plan_failure("pread", 1, EIO);
    assert_int_equal(garner_table_read(table, 1001, sizeof part, part, &s.error), GARNER_SYSTEM);
    assert_non_null(strstr(s.error.message, strerror(EIO)));
    plan.call = NULL;
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(garner_table_read(table, 1001, sizeof part, part, &s.error), GARNER_SYSTEM);
    assert_non_null(strstr(s.error.message, "the file ends there"));
    garner_table_close(table);
    scene_free(&s);
}

/* Threads that cannot be made leave the reading to the caller's. */
static void no_threads(void **state)
{
    struct scene s;
    (void)state;
    NEEDS_CALLS();
    prepare(&s);
    plan_failure("pthread_attr_init", ALWAYS, ENOMEM);
    assert_int_equal(try_once(&s, GARNER_TABLE_PREAD, 0), GARNER_OK);
    scene_free(&s);
}

/* A file that takes no direct reads is read in another way, and one whose reads past the cache fail. */
static void no_direct_reads(void **state)
{
    struct scene s;
    (void)state;
    NEEDS_CALLS();
    prepare(&s);
    garner_table *table = open_table(GARNER_TABLE_RING, 0);
    unsigned alignment;
    plan_failure("pread", ALWAYS, EINVAL);
    assert_int_equal(table_direct(table, &alignment), -1);
    plan.call = NULL;
    compare(&s, table);
    garner_table_close(table);
    plan_failure("posix_memalign", 1, ENOMEM);
    table = open_table(GARNER_TABLE_RING, 0);
    (void)table_direct(table, &alignment);
    plan.call = NULL;
    compare(&s, table);
    garner_table_close(table);
    scene_free(&s);
}

/* A ring that is interrupted or busy is asked again, for a while. */
static void busy_rings(void **state)
{
    static const struct {
        int n, number;
        garner_status status;
    } cases[] = {{1, EINTR, GARNER_OK},
                 {1, EAGAIN, GARNER_OK},
                 {2, EBUSY, GARNER_OK},
                 {2, EIO, GARNER_SYSTEM},
                 {ALWAYS, EAGAIN, GARNER_SYSTEM}};
    struct scene s;
    struct reader *reader;
    (void)state;
    NEEDS_CALLS();
    prepare(&s);
    garner_table *table = open_table(GARNER_TABLE_RING, 0);
    int refused = reader_ring_open(&reader, table->place.descriptor, 8);
    if (!refused) reader->close(reader);
    garner_table_close(table);
    if (refused) {
        scene_free(&s);
        SKIP_LOUDLY("io_uring is missing or not allowed here");
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan_failure("io_uring", cases[i].n, cases[i].number);
        assert_int_equal(try_once(&s, GARNER_TABLE_RING, 0), cases[i].status);
        assert_true(plan.met >= 1);
    }
    scene_free(&s);
}

/* Who is asked what is in the page cache: by the file system, by whose the file is, and by what then fails.
 */
static void residency(void **state)
{
    static const struct {
        const char *call;
        long file_system;
        enum table_residency found;
        int cached;                                      /* -1: whatever the system says */
    } cases[] = {{NULL, 0x01021994, TABLE_IN_MEMORY, 1}, /* tmpfs */
                 {NULL, 0x858458f6, TABLE_IN_MEMORY, 1}, /* ramfs */
                 {NULL, 0xef53, TABLE_BY_MAPPING, -1},     {"fstatfs", 0x01021994, TABLE_BY_MAPPING, -1},
                 {"fstat", 0xef53, TABLE_UNKNOWN, 0},      {"geteuid", 0xef53, TABLE_BY_MAPPING, -1},
                 {"faccessat", 0xef53, TABLE_UNKNOWN, 0},  {"mmap", 0xef53, TABLE_UNKNOWN, 0},
                 {"mincore", 0xef53, TABLE_BY_MAPPING, 0}, {"not there", 0xef53, TABLE_BY_MAPPING, 0}};
    struct scene s;
    (void)state;
    NEEDS_CALLS();
    prepare(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        garner_table *table = open_table(GARNER_TABLE_ANY, 0);
        refuses_nowait = 1;
        file_system = cases[i].file_system;
        plan_failure(cases[i].call, ALWAYS, EIO);
        int cached = table_is_cached(table, table->place.offset);
        plan.call = NULL;
        file_system = 0;
        if (cases[i].cached >= 0) assert_int_equal(cached, cases[i].cached);
        assert_int_equal(table->residency, cases[i].found);
        compare(&s, table);
        refuses_nowait = 0;
        if (table->mapping && cases[i].found == TABLE_BY_MAPPING)
            assert_false(table_is_cached(table, UINT64_MAX / 2)); /* behind the end */
        garner_table_close(table);
    }
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_call_fails), cmocka_unit_test(interruptions),
                                       cmocka_unit_test(no_threads),      cmocka_unit_test(no_direct_reads),
                                       cmocka_unit_test(busy_rings),      cmocka_unit_test(residency)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

#else

static void nothing(void **state)
{
    (void)state;
    SKIP_LOUDLY("glibc's functions alone are replaced here, and not where a sanitizer replaces them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
