/* SPDX-License-Identifier: MIT */
/* What garner_cpu_info says of the CPU backend: levels of kernels and profiles, by name. */
#include "../backend.h"
#include "profile.h"

void garner_cpu_tell(garner_cpu *cpu)
{
    const struct profile *profile = &garner_cpu_target()->profile;
    cpu->detected = garner_level_name(garner_cpu_detected());
    cpu->level = garner_level_name(profile->level);
    cpu->profile = profile->name;
    cpu->profile_cpus = profile->cpus;
    cpu->measured = profile->measured;
}

const char *garner_cpu_level_name(int i)
{
    return i >= 0 && i < LEVELS ? garner_level_name((enum level)i) : NULL;
}

const char *garner_cpu_profile_name(int i)
{
    const struct profile *profile = garner_profile(i);
    return profile ? profile->name : NULL;
}
