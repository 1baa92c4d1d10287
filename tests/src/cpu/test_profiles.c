/* SPDX-License-Identifier: MIT */
/* The table of CPUs: that its numbers make sense together, which CPU has which line, and what GARNER_CPU
 * does. */
#define _GNU_SOURCE
#include "testing.h"

#include "cpu/profile.h"
#include "end_child.h"
#include "garner.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the planner takes for granted of every line. */
static void check_line(const struct profile *line)
{
    int tier = 0;
    while (line->table[tier].spanned != NEVER) {
        assert_true(tier + 1 < TABLE_TIERS);
        assert_true(line->table[tier].spanned < line->table[tier + 1].spanned);
        tier++;
    }
    assert_in_range(line->joined_row, 0, UINT8_MAX); /* a segment counts the points of a row in a byte */
    assert_in_range(line->joined_row_far, 0, UINT8_MAX);
    assert_in_range(line->overlap_vectors, 0, 4);
    assert_in_range(line->level, SCALAR, LEVELS - 1);
    assert_true(line->l2 >= 1024 && line->l3 >= 1024 && line->l2_table > 0 &&
                line->l2_table < line->l3_table);
    assert_true(line->run_repeats > 0 && line->reused_row > 0 && line->block_table > 0);
    assert_true(line->run_near.bytes > 0 && line->run_far.bytes > 0);
    assert_true(line->panel_entries_small > 0 && line->panel_entries_long > 0);
    assert_true(line->panel_far_table == NEVER || line->panel_entries_far > 0);
    assert_true(line->non_temporal_out > 0 && line->memcpy_run > 0 && line->scratch_column > 0);
    assert_true(strlen(line->cpus) > 0);
}

static void test_lines(void **state)
{
    (void)state;
    int lines = 0;
    for (; garner_profile(lines); lines++) {
        const struct profile *line = garner_profile(lines);
        check_line(line);
        assert_ptr_equal(garner_profile_named(line->name), line);
        for (int level = 0; level < LEVELS; level++) /* GARNER_CPU names either */
            assert_string_not_equal(line->name, garner_level_name((enum level)level));
    }
    assert_true(lines >= 13);
    assert_null(garner_profile(-1));
    assert_null(garner_profile_named("no such CPU"));
}

static void test_x86_models(void **state)
{
    (void)state;
    static const struct {
        enum maker maker;
        int family, model;
        const char *line;
    } known[] = {
        {INTEL, 6, 0x55, "skylake"},
        {INTEL, 6, 0x6a, "icelake"},
        {INTEL, 6, 0x6c, "icelake"},
        {INTEL, 6, 0x66, "icelake"},
        {INTEL, 6, 0x7d, "icelake"},
        {INTEL, 6, 0x7e, "icelake"},
        {INTEL, 6, 0x8c, "icelake"},
        {INTEL, 6, 0x8d, "icelake"},
        {INTEL, 6, 0xa7, "icelake"},
        {INTEL, 6, 0x8f, "sapphire-rapids"},
        {INTEL, 6, 0xcf, "sapphire-rapids"},
        {INTEL, 6, 0xad, "sapphire-rapids"},
        {INTEL, 6, 0xae, "sapphire-rapids"},
        {INTEL, 6, 0x97, "sapphire-rapids"},
        {INTEL, 6, 0x9a, "sapphire-rapids"},
        {INTEL, 6, 0xb7, "sapphire-rapids"},
        {INTEL, 6, 0xaa, "sapphire-rapids"},
        {INTEL, 19, 1, "sapphire-rapids"},
        {INTEL, 6, 0x3f, "generic-x86-64"},
        {INTEL, 6, 0x4f, "generic-x86-64"},
        {INTEL, 6, 0x4e, "generic-x86-64"},
        {INTEL, 6, 0x5e, "generic-x86-64"},
        {INTEL, 6, 0x9e, "generic-x86-64"},
        {INTEL, 6, 0xaf, "generic-x86-64"},
        {INTEL, 15, 6, "generic-x86-64"},
        {AMD, 0x17, 0x01, "zen2"},
        {AMD, 0x17, 0x31, "zen2"},
        {AMD, 0x17, 0x71, "zen2"},
        {AMD, 0x18, 0x00, "zen2"},
        {AMD, 0x19, 0x01, "zen3"},
        {AMD, 0x19, 0x21, "zen3"},
        {AMD, 0x19, 0x44, "zen3"},
        {AMD, 0x19, 0x50, "zen3"},
        {AMD, 0x19, 0x11, "zen4"},
        {AMD, 0x19, 0x61, "zen4"},
        {AMD, 0x19, 0x74, "zen4"},
        {AMD, 0x19, 0xa0, "zen4"},
        {AMD, 0x1a, 0x02, "zen5"},
        {AMD, 0x1a, 0x44, "zen5"},
        {AMD, 0x1b, 0x00, "zen5"},
        {AMD, 0x15, 0x02, "generic-x86-64"},
        {OTHER_MAKER, 6, 0x55, "generic-x86-64"},
        {OTHER_MAKER, 7, 0x5b, "generic-x86-64"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_string_equal(garner_x86_profile(known[i].maker, known[i].family, known[i].model),
                            known[i].line);
}

static void test_x86_makers(void **state)
{
    (void)state;
    assert_int_equal(garner_x86_maker("GenuineIntel"), INTEL);
    assert_int_equal(garner_x86_maker("AuthenticAMD"), AMD);
    assert_int_equal(garner_x86_maker("HygonGenuine"), AMD);
    assert_int_equal(garner_x86_maker("VIA VIA VIA "), OTHER_MAKER);
}

/* What a system does not save the registers of does not count. */
static void test_x86_levels(void **state)
{
    (void)state;
#if defined(__x86_64__)
    enum { X87 = 1, SSE = 2, AVX = 4, AVX512_REGISTERS = 0xe0, ALL = X87 | SSE | AVX | AVX512_REGISTERS };
    const unsigned avx2 = 1u << 5, f = 1u << 16, dq = 1u << 17, bw = 1u << 30, vl = 1u << 31;
    const unsigned avx512[] = {f, dq, bw, vl}, all = avx2 | f | dq | bw | vl;
    assert_int_equal(garner_x86_level(all, ALL), AVX512_GATHER);
    assert_int_equal(garner_x86_level(all, X87 | SSE | AVX), AVX2);
    assert_int_equal(garner_x86_level(all, ALL & ~0x20), AVX2);
    assert_int_equal(garner_x86_level(all, X87 | SSE), SCALAR);
    assert_int_equal(garner_x86_level(all, X87 | AVX), SCALAR);
    assert_int_equal(garner_x86_level(all & ~avx2, ALL), SCALAR);
    assert_int_equal(garner_x86_level(avx2, ALL), AVX2);
    assert_int_equal(garner_x86_level(0, ALL), SCALAR);
    for (size_t i = 0; i < sizeof avx512 / sizeof *avx512; i++)
        assert_int_equal(garner_x86_level(all & ~avx512[i], ALL), AVX2);
#endif
}

static void test_arm_parts(void **state)
{
    (void)state;
    enum { ARM = 'A', APPLE = 'a', AMPERE = 0xc0, FUJITSU = 'F' };
    static const struct {
        int implementer, part;
        const char *line;
    } known[] = {
        {ARM, 0xd0c, "neoverse-n1"},        {ARM, 0xd0b, "neoverse-n1"},
        {ARM, 0xd08, "neoverse-n1"},        {ARM, 0xd40, "neoverse-v1"},
        {ARM, 0xd44, "neoverse-v1"},        {ARM, 0xd4f, "neoverse-v2"},
        {ARM, 0xd84, "neoverse-v2"},        {ARM, 0xd49, "generic-aarch64"},
        {ARM, 0xd8e, "generic-aarch64"},    {APPLE, 0x022, "generic-aarch64"},
        {AMPERE, 0xac3, "generic-aarch64"}, {FUJITSU, 0x001, "generic-aarch64"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_string_equal(garner_arm_profile(known[i].implementer, known[i].part), known[i].line);
}

static bool is_line(const char *name, bool x86)
{
    const struct profile *line = garner_profile_named(name);
    return line && line->x86 == x86;
}

/* Whatever the numbers, there is such a line, and it is of that architecture. */
static void test_every_cpu_has_a_line(void **state)
{
    (void)state;
    for (int maker = INTEL; maker <= OTHER_MAKER; maker++)
        for (int family = 0; family < 40; family++)
            for (int model = 0; model < 256; model++)
                assert_true(is_line(garner_x86_profile((enum maker)maker, family, model), true));
    for (int implementer = 0; implementer < 256; implementer++)
        for (int part = 0; part < 4096; part += implementer == 'A' ? 1 : 61)
            assert_true(is_line(garner_arm_profile(implementer, part), false));
    assert_non_null(garner_profile_named(garner_identify_cpu()));
}

/* In a child that has this in GARNER_CPU: whether the target has that profile and level. */
static bool has_target(const char *wish, const char *name, enum level level)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setenv("GARNER_CPU", wish, 1) != 0) end_child(2);
        const struct profile *profile = &garner_cpu_target()->profile;
        end_child(strcmp(profile->name, name) != 0 || profile->level != level);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static enum level lower(enum level a, enum level b)
{
    return a < b ? a : b;
}

/* A profile is used with the levels that this machine has, a level with the profile of this machine. Comes
 * first: what a process has once chosen stays, and its children have it too. */
static void test_environment(void **state)
{
    (void)state;
    const enum level detected = garner_cpu_detected();
    const char *own = garner_identify_cpu();
    const enum level usual = lower(garner_profile_named(own)->level, detected);
    for (int i = 0; garner_profile(i); i++)
        assert_true(has_target(garner_profile(i)->name, garner_profile(i)->name,
                               lower(garner_profile(i)->level, detected)));
    for (int level = 0; level < LEVELS; level++)
        assert_true(has_target(garner_level_name((enum level)level), own,
                               level <= (int)detected ? (enum level)level : usual));
    assert_true(has_target("", own, usual));
    assert_true(has_target("no such CPU", own, usual));
}

/* A profile that is named is used as it is written: the caches of this machine do not matter. */
static void test_named_profiles_are_not_scaled(void **state)
{
    (void)state;
    for (int i = 0; garner_profile(i); i++) {
        int status;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            if (setenv("GARNER_CPU", garner_profile(i)->name, 1) != 0) end_child(2);
            const struct profile *used = &garner_cpu_target()->profile, *line = garner_profile(i);
            end_child(used->l2_table != line->l2_table || used->block_table != line->block_table ||
                      used->panel_table != line->panel_table || used->l3_table != line->l3_table ||
                      used->element_table != line->element_table ||
                      used->non_temporal_out != line->non_temporal_out);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void test_cache_sizes(void **state)
{
    (void)state;
    for (int level = 2; level <= 3; level++) {
        const int64_t bytes = garner_system_cache(level);
        assert_true(bytes == 0 || (bytes >= 16 * 1024 && bytes <= (int64_t)4 << 30));
    }
    assert_true(garner_system_cache(2) == 0 || garner_system_cache(3) == 0 ||
                garner_system_cache(2) <= garner_system_cache(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment), cmocka_unit_test(test_named_profiles_are_not_scaled),
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_x86_makers),
        cmocka_unit_test(test_x86_levels),  cmocka_unit_test(test_x86_models),
        cmocka_unit_test(test_arm_parts),   cmocka_unit_test(test_every_cpu_has_a_line),
        cmocka_unit_test(test_cache_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
