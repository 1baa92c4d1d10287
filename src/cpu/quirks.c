/* SPDX-License-Identifier: MIT */
/* What the flags of a CPU do not tell: instructions that it has and that are better left alone, by its model.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "kernels/kernel.h"

/* The models of Intel's family 6 that have AVX-512 and are open to gather data sampling: since their
 * microcode closes that hole a gather takes three times as long. Of Skylake's a core alone writes past the
 * caches at less than the speed at which it writes through them, and has half as many instructions under way
 * as later ones. */
static const struct {
    int model, quirks;
} known_models[] = {
    {0x55, SLOW_GATHERS | SLOW_STREAMS | SHORT_SIGHT}, /* Skylake, Cascade Lake, Cooper Lake */
    {0x66, SLOW_GATHERS},                              /* Cannon Lake */
    {0x6a, SLOW_GATHERS},                              /* Ice Lake, of servers */
    {0x6c, SLOW_GATHERS},
    {0x7d, SLOW_GATHERS}, /* and of others */
    {0x7e, SLOW_GATHERS},
    {0x8c, SLOW_GATHERS}, /* Tiger Lake */
    {0x8d, SLOW_GATHERS},
    {0xa7, SLOW_GATHERS}, /* Rocket Lake */
};

/* To others a gather is as many loads, each of them an instruction of its own inside. */
int garner_model_quirks(bool intel, int family, int model)
{
    if (!intel) return SLOW_GATHERS;
    for (size_t i = 0; family == 6 && i < sizeof known_models / sizeof known_models[0]; i++)
        if (known_models[i].model == model) return known_models[i].quirks;
    return 0;
}

/* Arm numbers its parts by their age, from 0xd40 (Neoverse V1) on anew: those before have half as many
 * instructions under way. */
int garner_part_quirks(int implementer, int part)
{
    enum { ARM = 'A', NEOVERSE_V1 = 0xd40 };
    return implementer == ARM && part < NEOVERSE_V1 ? SHORT_SIGHT : 0;
}

#if defined(__x86_64__)
#include <cpuid.h>

static int find_quirks(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d)) return SLOW_GATHERS;
    const bool intel = b == signature_INTEL_ebx && c == signature_INTEL_ecx && d == signature_INTEL_edx;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return SLOW_GATHERS;
    return garner_model_quirks(intel, (int)(a >> 8 & 15), (int)((a >> 4 & 15) | (a >> 12 & 0xf0)));
}
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

static int find_quirks(void)
{
    enum { CPUID = 11 }; /* bit of the auxiliary vector's first word: programs may read what the CPU is */
    uint64_t id;
    if (!(getauxval(AT_HWCAP) >> CPUID & 1)) return SHORT_SIGHT; /* a system as old as such CPUs */
    __asm__("mrs %0, midr_el1" : "=r"(id));
    return garner_part_quirks((int)(id >> 24 & 0xff), (int)(id >> 4 & 0xfff));
}
#else
static int find_quirks(void)
{
    return SHORT_SIGHT;
}
#endif

int garner_cpu_quirks(void)
{
    static atomic_int known = -1; /* the answer never changes, so threads may find it at the same time */
    int quirks = atomic_load_explicit(&known, memory_order_relaxed);
    if (quirks < 0) {
        quirks = find_quirks();
        atomic_store_explicit(&known, quirks, memory_order_relaxed);
    }
    return quirks;
}
