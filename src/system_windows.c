/* SPDX-License-Identifier: MIT */
/* Windows, by MinGW-w64. A thread is counted within its group of at most 64 CPUs. */
#define _GNU_SOURCE
#include "system.h"
#include "system_threads.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <stdlib.h>
#include <windows.h>
#undef near /* words of 1985 */
#undef far

int garner_system_cpus(void)
{
    DWORD_PTR allowed = 0, all = 0;
    int cpus = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &all)) return 1;
    for (; allowed != 0; allowed &= allowed - 1)
        cpus++;
    return cpus > 0 ? cpus : (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); /* 0: in several groups */
}

int garner_system_cpu(void)
{
    return (int)GetCurrentProcessorNumber();
}

void garner_system_step_aside(int cpu)
{
    DWORD_PTR allowed = 0, all = 0;
    if (cpu < 0 || garner_system_cpu() != cpu) return;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &all)) return;
    const DWORD_PTR before = SetThreadAffinityMask(GetCurrentThread(), allowed & ~((DWORD_PTR)1 << cpu));
    if (before != 0) SetThreadAffinityMask(GetCurrentThread(), before);
}

static int64_t find_cache(const SYSTEM_LOGICAL_PROCESSOR_INFORMATION *parts, size_t count, int level)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].Relationship == RelationCache && parts[i].Cache.Level == level)
            return parts[i].Cache.Size;
    return 0;
}

int64_t garner_system_cache(int level)
{
    DWORD size = 0;
    GetLogicalProcessorInformation(NULL, &size);
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION *parts = size > 0 ? malloc(size) : NULL;
    int64_t bytes = 0;
    if (parts != NULL && GetLogicalProcessorInformation(parts, &size))
        bytes = find_cache(parts, size / sizeof *parts, level);
    free(parts);
    return bytes;
}

uint64_t garner_system_arm_id(void)
{
    return 0;
}

unsigned garner_system_arm_features(void)
{
    return ARM_NEON;
}

void garner_stay_loaded(void)
{
    const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
    HMODULE here;
    GetModuleHandleExA(flags, (LPCSTR)(uintptr_t)garner_stay_loaded, &here);
}
#endif
