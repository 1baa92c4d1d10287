/* SPDX-License-Identifier: MIT */
/* What this CPU has, and which kernels that allows. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>

static uint64_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* An instruction set counts only if the system saves its registers too. */
enum level garner_cpu_detected(void)
{
    enum { OSXSAVE = 1 << 27, AVX_STATE = 0x06, AVX512_STATE = 0xe6 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE)) return SCALAR;
    uint64_t state = read_xcr0();
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return SCALAR;
    bool avx512 = (b & bit_AVX512F) && (b & bit_AVX512BW) && (b & bit_AVX512VL) && (b & bit_AVX512DQ);
    if ((b & bit_AVX2) == 0 || (state & AVX_STATE) != AVX_STATE) return SCALAR;
    return avx512 && (state & AVX512_STATE) == AVX512_STATE ? AVX512_GATHER : AVX2;
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

/* GARNER_CPU chooses a level that the machine has; any other name changes nothing. */
static enum level chosen_level(void)
{
    const enum level detected = garner_cpu_detected();
    const bool leaves_gathers = detected == AVX512_GATHER && (garner_cpu_quirks() & SLOW_GATHERS);
    const char *wish = getenv("GARNER_CPU");
    for (int i = SCALAR; wish && i <= (int)detected; i++)
        if (strcmp(wish, level_names[i]) == 0) return (enum level)i;
    return leaves_gathers ? AVX512 : detected;
}

enum level garner_cpu_level(void)
{
    static atomic_int known = -1; /* the answer never changes, so threads may find it at the same time */
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level < 0) {
        level = (int)chosen_level();
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return (enum level)level;
}

static const kernel_table *const tables[LEVELS] = {
    [SCALAR] = &garner_scalar_kernels,
#if defined(__x86_64__)
    [AVX2] = &garner_avx2_kernels,
    [AVX512] = &garner_avx512_kernels,
    [AVX512_GATHER] = &garner_avx512_gather_kernels,
#endif
};

const kernel_table *garner_level_kernels(enum level level)
{
    return tables[level];
}

/* The highest level up to the one in use that has that kernel. */
static const struct kernel *find_slot(enum source source, int index_slot, int run_slot)
{
    for (int level = (int)garner_cpu_level(); level >= SCALAR; level--) {
        const struct kernel *kernel = &(*tables[level])[source][index_slot][run_slot];
        if (kernel->function) return kernel;
    }
    return NULL;
}

/* RUN_SLOT of any run: powers of two have slots of their own, from 1 on. */
static inline int slot_of_run(int64_t run)
{
    const int64_t longest = INT64_C(1) << (RUN_SLOTS - 2);
    return run <= longest && is_power_of_two(run) ? __builtin_ctzll((unsigned long long)run) + 1 : 0;
}

/* Answers of garner_kernel_find. They never change, so threads may find them at the same time. */
static const struct kernel *_Atomic known_kernels[SOURCES][INDEX_SLOTS][RUN_SLOTS];

static GARNER_COLD const struct kernel *find_kernel(enum source source, int index_slot, int run_slot)
{
    const struct kernel *kernel = find_slot(source, index_slot, run_slot);
    if (kernel == NULL) kernel = find_slot(source, index_slot, 0);
    atomic_store_explicit(&known_kernels[source][index_slot][run_slot], kernel, memory_order_relaxed);
    return kernel;
}

const struct kernel *garner_kernel_find(enum source source, int index, int64_t run)
{
    int index_slot = INDEX_SLOT(index), run_slot = slot_of_run(run);
    const struct kernel *kernel =
        atomic_load_explicit(&known_kernels[source][index_slot][run_slot], memory_order_relaxed);
    return kernel ? kernel : find_kernel(source, index_slot, run_slot);
}
