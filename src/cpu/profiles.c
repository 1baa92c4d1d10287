/* SPDX-License-Identifier: MIT */
/* The table of CPUs, and the targets that are made of its lines. */
#include <string.h>

#include "profile.h"

#define KIB(n) ((n)*INT64_C(1024))
#define MIB(n) KIB((n)*1024)

static const struct profile profiles[] = {
#include "profiles.def"
};

#undef KIB
#undef MIB

const struct profile *garner_profile(int i)
{
    const int count = (int)(sizeof profiles / sizeof profiles[0]);
    return i >= 0 && i < count ? &profiles[i] : NULL;
}

const struct profile *garner_profile_named(const char *name)
{
    for (int i = 0; garner_profile(i); i++)
        if (strcmp(garner_profile(i)->name, name) == 0) return garner_profile(i);
    return NULL;
}

/* The kernel of the highest level up to `level` that has a slot's; else the one of any run. */
static const struct kernel *find_kernel(const kernel_table *const tables[LEVELS], enum level level,
                                        enum source source, int index_slot, int run_slot)
{
    for (int at = (int)level; at >= SCALAR; at--) {
        const struct kernel *kernel = &(*tables[at])[source][index_slot][run_slot];
        if (kernel->function) return kernel;
    }
    return run_slot ? find_kernel(tables, level, source, index_slot, 0) : NULL;
}

void garner_target_make(struct cpu_target *target, const struct profile *profile,
                        const kernel_table *const tables[LEVELS])
{
    target->profile = *profile;
    target->plain = tables[SCALAR];
    for (int source = 0; source < SOURCES; source++)
        for (int index_slot = 0; index_slot < INDEX_SLOTS; index_slot++)
            for (int run_slot = 0; run_slot < RUN_SLOTS; run_slot++)
                target->kernels[source][index_slot][run_slot] =
                    find_kernel(tables, profile->level, (enum source)source, index_slot, run_slot);
}
