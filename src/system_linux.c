/* SPDX-License-Identifier: MIT */
/* Linux, with glibc or musl. */
#define _GNU_SOURCE
#include "system.h"

#if defined(__linux__)
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int garner_system_cpus(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int garner_system_cpu(void)
{
    return sched_getcpu();
}

void garner_system_step_aside(int cpu)
{
    cpu_set_t allowed, others;
    if (cpu < 0 || sched_getcpu() != cpu || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    others = allowed;
    CPU_CLR((unsigned)cpu, &others);
    if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

/* ---- Caches ---- */

/* What the C library knows, if it asks the CPU. */
static int64_t ask_library(int level)
{
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
    const long bytes = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? bytes : 0;
#else
    (void)level;
    return 0;
#endif
}

/* A word of the kernel's description of cache number `i` of the first CPU; false if there is none. */
static bool read_word(int i, const char *name, char word[32])
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    const bool found = fscanf(file, "%31s", word) == 1;
    fclose(file);
    return found;
}

static int64_t ask_kernel(int level)
{
    enum { MOST_CACHES = 8 };
    char word[32], *unit;
    for (int i = 0; i < MOST_CACHES && read_word(i, "level", word); i++) {
        if (strtol(word, NULL, 10) != level || !read_word(i, "size", word)) continue;
        const long size = strtol(word, &unit, 10);
        if (size > 0 && size <= INT32_MAX && (*unit == 'K' || *unit == 'M'))
            return (int64_t)size * (*unit == 'K' ? 1024 : 1024 * 1024);
    }
    return 0;
}

int64_t garner_system_cache(int level)
{
    const int64_t bytes = ask_library(level);
    return bytes > 0 ? bytes : ask_kernel(level);
}

/* ---- The CPU, by the auxiliary vector ---- */

#if defined(__aarch64__)
#include <sys/auxv.h>

/* Valgrind says that programs may read the register, and then knows no such instruction. It answers request
 * 0x1001 behind four rotations that come to nothing, which a CPU just runs. */
static bool runs_under_valgrind(void)
{
    const uint64_t request[6] = {0x1001};
    register uint64_t answer __asm__("x3") = 0;
    register const uint64_t *given __asm__("x4") = request;
    __asm__ volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\t"
                     "ror x12, x12, #51\n\tror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(given), "m"(request)
                     : "x10", "x12", "cc", "memory");
    return answer != 0;
}

uint64_t garner_system_arm_id(void)
{
    enum { CPUID = 11 }; /* bit of the first word: programs may read the register */
    uint64_t id;
    if (!(getauxval(AT_HWCAP) >> CPUID & 1)) return (uint64_t)'A' << 24; /* a system as old as Arm's first */
    if (runs_under_valgrind()) return 0;                                 /* uncovered: under valgrind alone */
    __asm__("mrs %0, midr_el1" : "=r"(id));
    return id;
}

unsigned garner_system_arm_features(void)
{
    const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
    return (first >> 1 & 1 ? ARM_NEON : 0u) | (first >> 8 & 1 ? ARM_LSE : 0u) |
           (first >> 22 & 1 ? ARM_SVE : 0u) | (second >> 1 & 1 ? ARM_SVE2 : 0u);
}
#endif
#endif
