/* SPDX-License-Identifier: MIT */
/* Systems that have POSIX's calls and no file of their own. */
#define _GNU_SOURCE
#include "system.h"

#if !defined(__linux__) && !defined(__APPLE__) && !defined(_WIN32)
#include <unistd.h>

int garner_system_cpus(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int garner_system_cpu(void)
{
    return -1;
}

void garner_system_step_aside(int cpu)
{
    (void)cpu;
}

int64_t garner_system_cache(int level)
{
    (void)level;
    return 0;
}

uint64_t garner_system_arm_id(void)
{
    return 0;
}

unsigned garner_system_arm_features(void)
{
    return ARM_NEON;
}
#endif
