/* SPDX-License-Identifier: MIT */
/* Tells what was found about the machine, for people who want to know what runs. */
#include <stddef.h>
#include <string.h>

#include "backend.h"
#include "line.h"
#include "pool.h"
#include "system.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static const char *architecture(void)
{
#if defined(__x86_64__)
    return "x86-64";
#elif defined(__i386__)
    return "x86";
#elif defined(__aarch64__)
    return "aarch64";
#elif defined(__arm__)
    return "arm";
#elif defined(__riscv)
    return sizeof(void *) == 8 ? "riscv64" : "riscv32";
#elif defined(__powerpc64__)
    return "powerpc64";
#elif defined(__s390x__)
    return "s390x";
#elif defined(__wasm__)
    return "wasm";
#else
    return "unknown";
#endif
}

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
static void add_feature(struct line *line, const char *word)
{
    garner_line_add(line, "%s%s", line->length ? " " : "", word);
}
#endif

#if defined(__x86_64__) || defined(__i386__)
static void find_features(struct line *line)
{
    static const struct {
        unsigned leaf, word, bit; /* word: of eax to edx, which one */
        const char *name;
    } known[] = {
        {1, 3, 26, "sse2"},     {1, 2, 20, "sse4.2"},    {1, 2, 28, "avx"},      {7, 1, 5, "avx2"},
        {7, 1, 8, "bmi2"},      {7, 1, 16, "avx512f"},   {7, 1, 17, "avx512dq"}, {7, 1, 30, "avx512bw"},
        {7, 1, 31, "avx512vl"}, {7, 2, 1, "avx512vbmi"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        unsigned word[4] = {0}; /* they stay 0 where there is no such leaf */
        __get_cpuid_count(known[i].leaf, 0, &word[0], &word[1], &word[2], &word[3]);
        if (word[known[i].word] >> known[i].bit & 1) add_feature(line, known[i].name);
    }
}
#elif defined(__aarch64__)
static void find_features(struct line *line)
{
    const unsigned features = garner_system_arm_features();
    if (features & ARM_NEON) add_feature(line, "neon");
    if (features & ARM_LSE) add_feature(line, "lse");
    if (features & ARM_SVE) add_feature(line, "sve");
    if (features & ARM_SVE2) add_feature(line, "sve2");
}
#else
static void find_features(struct line *line)
{
    (void)line;
}
#endif

void garner_cpu_info(garner_cpu *cpu)
{
    garner_cpu found = {
        .cpus = garner_system_cpus(),
        .threads = garner_pool_threads(),
        .architecture = architecture(),
    };
    if (cpu == NULL) return;
    garner_cpu_tell(&found);
    uint32_t size = cpu->size;
    find_features(&(struct line){found.features, sizeof found.features, 0});
    found.size = size;
    const size_t first_version = offsetof(garner_cpu, profile);
    memcpy(cpu, &found, size == 0 ? first_version : size > sizeof found ? sizeof found : size);
}
