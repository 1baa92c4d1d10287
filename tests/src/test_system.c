/* SPDX-License-Identifier: MIT */
/*
 * What the core makes of a Linux that answers in unusual ways: the C library's calls that system_linux.c uses
 * are this program's own, and say what a test wants.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "garner.h"
#include "random.h" /* TEST_SANITIZED */
#include "system.h"
#include "system_threads.h"

#if defined(__linux__) && defined(__GLIBC__) && !TEST_SANITIZED
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static struct {
    bool scripted; /* else the system answers */
    int affinity;  /* what both calls about it return */
    int cpus, cpu; /* allowed; the current one */
    long online;
    long cache; /* of the C library, for both levels */
    const char *(*file)(const char *path);
    unsigned long features, more_features; /* of the auxiliary vector */
    int set_to[2], sets;                   /* how many CPUs each call allowed */
    int refused_set;                       /* of those, which one the system refuses, from 1 on */
} script;

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    memset(set, 0, size);
    for (int i = 0; i < script.cpus; i++)
        CPU_SET((unsigned)i, set);
    return script.affinity;
}

int sched_setaffinity(pid_t process, size_t size, const cpu_set_t *set)
{
    (void)process, (void)size;
    if (script.sets < 2) script.set_to[script.sets] = CPU_COUNT(set);
    return ++script.sets == script.refused_set ? -1 : 0;
}

int sched_getcpu(void)
{
    return script.cpu;
}

long sysconf(int name)
{
    static long (*system_says)(int);
    if (script.scripted) return name == _SC_NPROCESSORS_ONLN ? script.online : script.cache;
    if (!system_says) *(void **)&system_says = dlsym(RTLD_NEXT, "sysconf");
    return system_says(name);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*open_file)(const char *, const char *);
    if (!script.scripted) {
        if (!open_file) *(void **)&open_file = dlsym(RTLD_NEXT, "fopen");
        return open_file(path, mode);
    }
    const char *text = script.file(path);
    return text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
}

#if defined(__aarch64__)
unsigned long getauxval(unsigned long type)
{
    static unsigned long (*system_says)(unsigned long);
    if (script.scripted)
        return type == AT_HWCAP ? script.features : type == AT_HWCAP2 ? script.more_features : 0;
    if (!system_says) *(void **)&system_says = dlsym(RTLD_NEXT, "getauxval");
    return system_says(type);
}

static void test_arm_features(void **state)
{
    (void)state;
    garner_cpu cpu = {.size = sizeof cpu};
    garner_cpu_info(&cpu); /* what else it asks for is asked for once, of the system as it is */
    script.scripted = true;
    script.cpus = 1;
    assert_true(garner_system_arm_id() == (uint64_t)'A' << 24);
    garner_cpu_info(&cpu);
    assert_string_equal(cpu.features, "");
    script.features = 1ul << 1 | 1ul << 8 | 1ul << 22;
    script.more_features = 1ul << 1;
    garner_cpu_info(&cpu);
    assert_string_equal(cpu.features, "neon lse sve sve2");
    script.more_features = ~script.more_features;
    script.features = ~script.features;
    garner_cpu_info(&cpu);
    assert_string_equal(cpu.features, "");
}
#endif

static void test_cpus(void **state)
{
    (void)state;
    script.scripted = true;
    script.cpus = 3;
    assert_int_equal(garner_system_cpus(), 3);
    script.affinity = -1;
    script.online = 5;
    assert_int_equal(garner_system_cpus(), 5);
    script.online = -1;
    assert_int_equal(garner_system_cpus(), 1);
}

static void step(int cpu, int current, int affinity, int refused)
{
    script.scripted = true;
    script.cpus = 4;
    script.cpu = current;
    script.affinity = affinity;
    script.refused_set = refused;
    script.sets = 0;
    garner_system_step_aside(cpu);
}

static void test_stepping_aside(void **state)
{
    (void)state;
    step(-1, -1, 0, 0);
    assert_int_equal(script.sets, 0);
    step(2, 1, 0, 0);
    assert_int_equal(script.sets, 0);
    step(2, 2, -1, 0);
    assert_int_equal(script.sets, 0);
    step(2, 2, 0, 1); /* as where it is the only CPU */
    assert_int_equal(script.sets, 1);
    step(CPU_SETSIZE, CPU_SETSIZE, 0, 0); /* more than sets hold */
    assert_int_equal(script.set_to[0], 4);
    step(0, 0, 0, 0);
    assert_int_equal(script.sets, 2);
    assert_int_equal(script.set_to[0], 3);
    assert_int_equal(script.set_to[1], 4);
}

/* What the files of the kernel say: for each cache a level and a size. */
static const char *const (*caches)[2];
static int cache_count;

static const char *cache_file(const char *path)
{
    const char *number = strstr(path, "/index");
    if (!number) return NULL;
    const int i = number[6] - '0';
    if (i >= cache_count) return NULL;
    return caches[i][strstr(path, "/size") != NULL];
}

static int64_t cache_of(int level, const char *const (*files)[2], int count)
{
    script.scripted = true;
    script.file = cache_file;
    caches = files;
    cache_count = count;
    const int64_t bytes = garner_system_cache(level);
    script.scripted = false;
    return bytes;
}

static void test_caches(void **state)
{
    (void)state;
    const char *const usual[][2] = {{"1", "64K"}, {"1", "64K"}, {"2", "1024K"}, {"3", "32M"}};
    const char *const odd[][2] = {{"x", "64K"}, {"2", NULL}, {"2", "K"},  {"2", "2147483648K"},
                                  {"2", "7"},   {"2", "8G"}, {"2", "0K"}, {"2", "512K"}};
    const char *const many[][2] = {{"1", "1K"}, {"1", "1K"}, {"1", "1K"}, {"1", "1K"}, {"1", "1K"},
                                   {"1", "1K"}, {"1", "1K"}, {"1", "1K"}, {"2", "1K"}};
    script.cache = 0;
    assert_int_equal(cache_of(2, usual, 4), 1024 * 1024);
    assert_int_equal(cache_of(3, usual, 4), 32 * 1024 * 1024);
    assert_int_equal(cache_of(3, usual, 3), 0);
    assert_int_equal(cache_of(2, odd, 8), 512 * 1024);
    assert_int_equal(cache_of(2, odd, 7), 0);
    assert_int_equal(cache_of(2, many, 9), 0); /* it looks at eight */
    script.cache = 4096;
    assert_int_equal(cache_of(2, usual, 4), 4096);
    assert_int_equal(cache_of(3, usual, 4), 4096);
    script.cache = -1;
    assert_int_equal(cache_of(2, usual, 0), 0);
}

/* A worker leaves signals to the program's threads, but for those that its own access to memory may raise. */
static void test_signals_of_workers(void **state)
{
    (void)state;
    garner_signals before;
    sigset_t blocked;
    const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS},
              others[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1};
    garner_signals_block(&before);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    garner_signals_restore(&before);
    for (int i = 0; i < 6; i++) {
        assert_false(sigismember(&blocked, own[i]));
        assert_true(sigismember(&blocked, others[i]));
    }
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int signal = 1; signal < 32; signal++)
        assert_int_equal(sigismember(&blocked, signal), sigismember(&before, signal));
}

static int as_the_system_is(void **state)
{
    (void)state;
    memset(&script, 0, sizeof script);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__aarch64__)
        cmocka_unit_test_teardown(test_arm_features, as_the_system_is),
#endif
        cmocka_unit_test_teardown(test_cpus, as_the_system_is),
        cmocka_unit_test_teardown(test_stepping_aside, as_the_system_is),
        cmocka_unit_test_teardown(test_caches, as_the_system_is),
        cmocka_unit_test(test_signals_of_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void test_another_system(void **state)
{
    (void)state;
    SKIP_LOUDLY("the C library's calls cannot be replaced here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_another_system)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
