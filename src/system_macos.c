/* SPDX-License-Identifier: MIT */
/* macOS. It lets no thread wish for a CPU, nor ask on which it runs. */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include "system.h"
#include "system_threads.h"

#if defined(__APPLE__)
#include <sys/sysctl.h>
#include <time.h>

/* A number that the system has under a name; 0 if it has none. */
static int64_t ask(const char *name)
{
    int64_t number = 0;
    int32_t half = 0;
    size_t size = sizeof number;
    if (sysctlbyname(name, &number, &size, NULL, 0) == 0 && size == sizeof number) return number;
    size = sizeof half;
    return sysctlbyname(name, &half, &size, NULL, 0) == 0 && size == sizeof half ? half : 0;
}

int garner_system_cpus(void)
{
    const int64_t active = ask("hw.activecpu");
    return active > 0 ? (int)active : 1;
}

int garner_system_cpu(void)
{
    return -1;
}

void garner_system_step_aside(int cpu)
{
    (void)cpu;
}

/* Of the fast cores, where there are two kinds. */
int64_t garner_system_cache(int level)
{
    const int64_t bytes = ask(level == 2 ? "hw.perflevel0.l2cachesize" : "hw.perflevel0.l3cachesize");
    return bytes > 0 ? bytes : ask(level == 2 ? "hw.l2cachesize" : "hw.l3cachesize");
}

uint64_t garner_system_arm_id(void)
{
    return 0;
}

unsigned garner_system_arm_features(void)
{
    return ARM_NEON | (ask("hw.optional.arm.FEAT_LSE") ? ARM_LSE : 0u);
}

/* ---- Semaphores: a number that whoever waits looks at, every 50 microseconds ---- */

void garner_semaphore_init(garner_semaphore *semaphore)
{
    atomic_init(semaphore, 0);
}

void garner_semaphore_post(garner_semaphore *semaphore)
{
    atomic_fetch_add(semaphore, 1);
}

bool garner_semaphore_take(garner_semaphore *semaphore)
{
    int posted = atomic_load(semaphore);
    while (posted > 0)
        if (atomic_compare_exchange_weak(semaphore, &posted, posted - 1)) return true;
    return false;
}

void garner_semaphore_wait(garner_semaphore *semaphore)
{
    static const struct timespec moment = {.tv_nsec = 50000};
    while (!garner_semaphore_take(semaphore))
        nanosleep(&moment, NULL);
}
#endif
