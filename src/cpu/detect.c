/* SPDX-License-Identifier: MIT */
/* What this CPU has, and the target that this makes: its profile and its kernels. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../backend.h"
#include "profile.h"

#if defined(__x86_64__)
#include <cpuid.h>

static uint64_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* An instruction set counts only if the system saves its registers too. */
GARNER_COLD enum level garner_x86_level(unsigned features, uint64_t state)
{
    enum { AVX_STATE = 0x06, AVX512_STATE = 0xe6 };
    const unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ;
    if (!(features & bit_AVX2) || (state & AVX_STATE) != AVX_STATE) return SCALAR;
    return (features & avx512) == avx512 && (state & AVX512_STATE) == AVX512_STATE ? AVX512_GATHER : AVX2;
}

/* Every x86-64 CPU has leaf 1; where there is no leaf 7, it has no features. */
GARNER_COLD enum level garner_cpu_detected(void)
{
    enum { OSXSAVE = 1 << 27 };
    unsigned a, b = 0, c, d;
    __cpuid(1, a, b, c, d);
    if (!(c & OSXSAVE)) return SCALAR;
    b = 0;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    return garner_x86_level(b, read_xcr0());
}
#else
enum level garner_cpu_detected(void)
{
    return SCALAR;
}
#endif

static const char *const level_names[LEVELS] = {
    [SCALAR] = "scalar", [AVX2] = "avx2", [AVX512] = "avx512", [AVX512_GATHER] = "avx512-gather"};

const char *garner_level_name(enum level level)
{
    return level_names[level];
}

static const kernel_table *const level_tables[LEVELS] = {
    [SCALAR] = &garner_scalar_kernels,
#if defined(__x86_64__)
    [AVX2] = &garner_avx2_kernels,
    [AVX512] = &garner_avx512_kernels,
    [AVX512_GATHER] = &garner_avx512_gather_kernels,
#endif
};

const kernel_table *garner_level_kernels(enum level level)
{
    return level_tables[level];
}

/* A threshold that means a cache, by what the system says of its size; within bounds, since some systems say
 * strange things. */
static void scale(int64_t *threshold, int64_t typical, int64_t told, int64_t most_times)
{
    if (told > 0 && *threshold < NEVER) /* uncovered at times: most systems tell the sizes of their caches */
        *threshold = at_most(at_least(*threshold / 4, *threshold / 1024 * told / (typical / 1024)),
                             *threshold * most_times);
}

/* Fits a line that was never measured to the caches of this machine. An L3 is shared with other cores, so it
 * is never taken for larger than where it was measured. */
static void fit_caches(struct profile *profile)
{
    const int64_t l2 = garner_system_cache(2), l3 = garner_system_cache(3);
    int64_t *const in_l2[] = {&profile->l2_table, &profile->block_table, &profile->strip_tables,
                              &profile->panel_table};
    int64_t *const in_l3[] = {&profile->l3_table, &profile->element_table, &profile->non_temporal_out,
                              &profile->row_by_row_out};
    for (size_t i = 0; i < sizeof in_l2 / sizeof in_l2[0]; i++)
        scale(in_l2[i], profile->l2, l2, 4);
    for (size_t i = 0; i < sizeof in_l3 / sizeof in_l3[0]; i++)
        scale(in_l3[i], profile->l3, l3, 1);
}

static struct cpu_target chosen_target;
const struct cpu_target *_Atomic garner_known_target;

/* GARNER_CPU names a level that the machine has, or a profile, which has the levels that the machine has; any
 * other name changes nothing. */
static void choose_target(void)
{
    const char *wish = getenv("GARNER_CPU");
    const enum level detected = garner_cpu_detected();
    const struct profile *named = wish ? garner_profile_named(wish) : NULL;
    struct profile profile = *(named ? named : garner_profile_named(garner_identify_cpu()));
    if (!named && !profile.measured) fit_caches(&profile);
    if (profile.level > detected) profile.level = detected;
    for (int i = SCALAR; wish && i <= (int)detected; i++)
        if (strcmp(wish, level_names[i]) == 0) profile.level = (enum level)i;
    garner_target_make(&chosen_target, &profile, level_tables);
    atomic_store_explicit(&garner_known_target, &chosen_target, memory_order_release);
}

GARNER_COLD const struct cpu_target *garner_find_target(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_target);
    return &chosen_target;
}
