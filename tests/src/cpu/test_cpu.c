/* SPDX-License-Identifier: MIT */
/*
 * What garner_cpu_info tells: levels that exist, in an order that makes sense, and no byte beyond the struct
 * that the caller has. test_pool_process.c asks it how many threads there are.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "end_child.h"
#include "garner.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int level_number(const char *name)
{
    for (int i = 0; garner_cpu_level_name(i); i++)
        if (strcmp(garner_cpu_level_name(i), name) == 0) return i;
    return -1;
}

/* The level that a child is told which has this in GARNER_CPU, or nothing there. */
static int level_with(const char *wish)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        garner_cpu cpu = {.size = sizeof cpu};
        if ((wish ? setenv("GARNER_CPU", wish, 1) : unsetenv("GARNER_CPU")) != 0) end_child(100);
        garner_cpu_info(&cpu);
        end_child(level_number(cpu.level));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* This one comes first: what a process has once been told stays, and its children are told the same. */
static void test_level_follows_the_environment(void **state)
{
    (void)state;
    enum { MOST = 8 };
    int told[MOST] = {0}, levels = 0;
    const int usual = level_with(NULL);
    assert_int_equal(level_with(""), usual);
    assert_int_equal(level_with("no such level"), usual);
    for (; garner_cpu_level_name(levels); levels++) {
        assert_true(levels < MOST);
        told[levels] = level_with(garner_cpu_level_name(levels));
    }
    garner_cpu cpu = {.size = sizeof cpu};
    garner_cpu_info(&cpu);
    for (int i = 0; i < levels; i++)
        assert_int_equal(told[i], i <= level_number(cpu.detected) ? i : usual);
}

static void test_levels(void **state)
{
    (void)state;
    assert_string_equal(garner_cpu_level_name(0), "scalar");
    assert_null(garner_cpu_level_name(-1));
    assert_null(garner_cpu_level_name(1000));
    assert_int_equal(level_number("scalar"), 0);
    assert_int_equal(level_number("no such level"), -1);
}

static void test_what_is_told(void **state)
{
    (void)state;
    garner_cpu cpu = {.size = sizeof cpu};
    garner_cpu_info(&cpu);
    assert_int_equal(cpu.size, sizeof cpu);
    assert_true(cpu.cpus >= 1 && cpu.threads >= 1);
    assert_true(strlen(cpu.architecture) > 0);
    assert_in_range(level_number(cpu.detected), 0, 100);
    assert_in_range(level_number(cpu.level), 0, level_number(cpu.detected));
    int profile = 0;
    while (garner_cpu_profile_name(profile) && strcmp(garner_cpu_profile_name(profile), cpu.profile) != 0)
        profile++;
    assert_non_null(garner_cpu_profile_name(profile));
    assert_null(garner_cpu_profile_name(-1));
    assert_true(strlen(cpu.profile_cpus) > 0);
    assert_non_null(memchr(cpu.features, '\0', sizeof cpu.features));
#if defined(__x86_64__)
    assert_string_equal(cpu.architecture, "x86-64");
    assert_non_null(strstr(cpu.features, "sse2"));
    assert_true(level_number(cpu.detected) == 0 || strstr(cpu.features, "avx2"));
#elif defined(__aarch64__)
    assert_string_equal(cpu.architecture, "aarch64");
#endif
}

/* A caller that was compiled against a shorter struct, or a longer one. */
static void test_sizes(void **state)
{
    (void)state;
    union {
        garner_cpu cpu;
        unsigned char bytes[sizeof(garner_cpu) + 32];
    } room;
    memset(&room, 0xA5, sizeof room);
    room.cpu.size = offsetof(garner_cpu, threads);
    garner_cpu_info(&room.cpu);
    assert_true(room.cpu.cpus >= 1);
    for (size_t i = offsetof(garner_cpu, threads); i < sizeof room.bytes; i++)
        assert_int_equal(room.bytes[i], 0xA5);
    room.cpu.size = sizeof room.bytes;
    garner_cpu_info(&room.cpu);
    assert_int_equal(room.cpu.size, sizeof room.bytes);
    for (size_t i = sizeof(garner_cpu); i < sizeof room.bytes; i++)
        assert_int_equal(room.bytes[i], 0xA5);
    memset(&room, 0xA5, sizeof room);
    room.cpu.size = 0; /* the first version, which had no profile */
    garner_cpu_info(&room.cpu);
    assert_int_equal(room.cpu.size, 0);
    for (size_t i = offsetof(garner_cpu, profile); i < sizeof room.bytes; i++)
        assert_int_equal(room.bytes[i], 0xA5);
    garner_cpu_info(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_follows_the_environment),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_what_is_told),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
