/* SPDX-License-Identifier: MIT */
/*
 * What the core asks of the system about its machine. One small file answers for each: system_linux.c,
 * system_macos.c, system_windows.c, and system_other.c for whatever else has POSIX's calls. What threads need
 * is in system_threads.h.
 */
#ifndef GARNER_SYSTEM_H
#define GARNER_SYSTEM_H

#include <stdint.h>

/* The CPUs that this process may use, at least 1. */
int garner_system_cpus(void);

/* The CPU that the calling thread runs on; -1 where the system does not say. */
int garner_system_cpu(void);

/* Moves the calling thread to another CPU if it runs on this one, then lets the system choose again. Nothing
 * happens where the system takes no wishes, or for a number below 0. */
void garner_system_step_aside(int cpu);

/* Bytes of a core's cache of level 2 or 3, as the system says; 0 if it does not. */
int64_t garner_system_cache(int level);

/* On aarch64, which CPU this is: the register MIDR_EL1, or 0 where programs cannot read it. */
uint64_t garner_system_arm_id(void);

/* On aarch64, what it has. */
enum arm_feature { ARM_NEON = 1, ARM_LSE = 2, ARM_SVE = 4, ARM_SVE2 = 8 };
unsigned garner_system_arm_features(void);

#endif
