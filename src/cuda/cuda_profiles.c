/* SPDX-License-Identifier: MIT */
/* The table of devices. */
#include "cuda_profile.h"

#define KIB(n) ((int64_t)(n) << 10)
#define MIB(n) ((int64_t)(n) << 20)

static const struct cuda_profile profiles[] = {
#include "devices.def"
};

enum { PROFILES = sizeof profiles / sizeof profiles[0] };

const struct cuda_profile *garner_cuda_profile(int i)
{
    return i >= 0 && i < PROFILES ? &profiles[i] : NULL;
}

const struct cuda_profile *garner_cuda_profile_for(int capability)
{
    int i = 0;
    while (profiles[i].capability > capability)
        i++;
    return &profiles[i];
}
