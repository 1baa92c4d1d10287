/* SPDX-License-Identifier: MIT */
/* Which line of profiles.def a CPU has, by its maker and model. What is not listed has a line of its maker or
 * its architecture. */
#include <stddef.h>
#include <string.h>

#include "../backend.h"
#include "profile.h"

static const struct {
    enum maker maker;
    int family, first, last; /* models, both included */
    const char *profile;
} x86_models[] = {
    {INTEL, 6, 0x55, 0x55, "skylake"}, /* the servers, Cascade Lake and Cooper Lake too */
    {INTEL, 6, 0x66, 0x66, "icelake"}, /* Cannon Lake */
    {INTEL, 6, 0x6a, 0x6c, "icelake"}, /* Ice Lake, of servers */
    {INTEL, 6, 0x7d, 0x7e, "icelake"}, /* and of others */
    {INTEL, 6, 0x8c, 0x8d, "icelake"}, /* Tiger Lake */
    {INTEL, 6, 0xa7, 0xa7, "icelake"}, /* Rocket Lake */

    /* Older ones, and small cores, none of which has AVX-512 with all that the kernels need. */
    {INTEL, 6, 0x00, 0x54, "generic-x86-64"}, /* Skylake of desktops and before */
    {INTEL, 6, 0x56, 0x5f, "generic-x86-64"}, /* Broadwell, Skylake, Goldmont, Knights Landing */
    {INTEL, 6, 0x7a, 0x7a, "generic-x86-64"}, /* Goldmont Plus */
    {INTEL, 6, 0x85, 0x86, "generic-x86-64"}, /* Knights Mill, Tremont */
    {INTEL, 6, 0x8a, 0x8a, "generic-x86-64"}, /* Lakefield */
    {INTEL, 6, 0x8e, 0x8e, "generic-x86-64"}, /* Kaby Lake and after, of laptops */
    {INTEL, 6, 0x96, 0x96, "generic-x86-64"}, /* Tremont */
    {INTEL, 6, 0x9c, 0x9c, "generic-x86-64"},
    {INTEL, 6, 0x9e, 0x9e, "generic-x86-64"}, /* Kaby Lake and after, of desktops */
    {INTEL, 6, 0xa5, 0xa6, "generic-x86-64"}, /* Comet Lake */
    {INTEL, 6, 0xaf, 0xaf, "generic-x86-64"}, /* Sierra Forest */
    {INTEL, 6, 0xb6, 0xb6, "generic-x86-64"}, /* Grand Ridge */
    {INTEL, 6, 0xbe, 0xbe, "generic-x86-64"}, /* Gracemont alone */
    {INTEL, 6, 0xdd, 0xdd, "generic-x86-64"}, /* Clearwater Forest */
    {INTEL, 15, 0, 255, "generic-x86-64"},    /* Pentium 4 */

    {AMD, 0x17, 0x00, 0xff, "zen2"}, /* and the first Zen */
    {AMD, 0x18, 0x00, 0xff, "zen2"}, /* Hygon's */
    {AMD, 0x19, 0x10, 0x1f, "zen4"},
    {AMD, 0x19, 0x60, 0xaf, "zen4"},
    {AMD, 0x19, 0x00, 0xff, "zen3"},
    {AMD, 0x0f, 0x00, 0xff, "generic-x86-64"}, /* before Zen */
    {AMD, 0x10, 0x00, 0xff, "generic-x86-64"},
    {AMD, 0x12, 0x00, 0xff, "generic-x86-64"},
    {AMD, 0x14, 0x00, 0xff, "generic-x86-64"},
    {AMD, 0x15, 0x00, 0xff, "generic-x86-64"},
    {AMD, 0x16, 0x00, 0xff, "generic-x86-64"},
};

GARNER_COLD enum maker garner_x86_maker(const char *vendor)
{
    enum { LETTERS = 12 };
    if (memcmp(vendor, "GenuineIntel", LETTERS) == 0) return INTEL;
    if (memcmp(vendor, "AuthenticAMD", LETTERS) == 0) return AMD;
    return memcmp(vendor, "HygonGenuine", LETTERS) == 0 ? AMD : OTHER_MAKER; /* Hygon builds AMD's cores */
}

/* Later ones of a maker are taken for its last. */
const char *garner_x86_profile(enum maker maker, int family, int model)
{
    for (size_t i = 0; i < sizeof x86_models / sizeof x86_models[0]; i++)
        if (x86_models[i].maker == maker && x86_models[i].family == family && x86_models[i].first <= model &&
            model <= x86_models[i].last)
            return x86_models[i].profile;
    return maker == INTEL ? "sapphire-rapids" : maker == AMD ? "zen5" : "generic-x86-64";
}

static const struct {
    int implementer, first, last; /* parts, both included */
    const char *profile;
} arm_parts[] = {
    /* Arm numbers its parts by their age, from Neoverse V1 on anew: those before have a small window. */
    {'A', 0x000, 0xd3f, "neoverse-n1"}, {'A', 0xd40, 0xd40, "neoverse-v1"},
    {'A', 0xd44, 0xd44, "neoverse-v1"},                                     /* Cortex-X1, */
    {'A', 0xd48, 0xd48, "neoverse-v1"},                                     /* and X2 */
    {'A', 0xd4c, 0xd4c, "neoverse-v1"},                                     /* Cortex-X1C */
    {'A', 0xd4e, 0xd4e, "neoverse-v2"},                                     /* Cortex-X3 */
    {'A', 0xd4f, 0xd4f, "neoverse-v2"}, {'A', 0xd82, 0xd82, "neoverse-v2"}, /* Cortex-X4 */
    {'A', 0xd83, 0xd84, "neoverse-v2"},                                     /* Neoverse V3AE and V3 */
    {'A', 0xd85, 0xd85, "neoverse-v2"},                                     /* Cortex-X925 */
};

const char *garner_arm_profile(int implementer, int part)
{
    for (size_t i = 0; i < sizeof arm_parts / sizeof arm_parts[0]; i++)
        if (arm_parts[i].implementer == implementer && arm_parts[i].first <= part &&
            part <= arm_parts[i].last)
            return arm_parts[i].profile;
    return "generic-aarch64";
}

#if defined(__x86_64__)
#include <cpuid.h>

const char *garner_identify_cpu(void)
{
    enum { EXTENDED = 15 }; /* a base family to which another number is added */
    unsigned a, b, c, d, vendor[3];
    __cpuid(0, a, vendor[0], vendor[2], vendor[1]);
    __cpuid(1, a, b, c, d); /* which every x86-64 CPU has */
    const int family = (int)(a >> 8 & 15), extension = (int)(a >> 20 & 255);
    return garner_x86_profile(garner_x86_maker((const char *)vendor),
                              family == EXTENDED ? family + extension : family,
                              (int)((a >> 4 & 15) | (a >> 12 & 0xf0)));
}
#elif defined(__aarch64__)
const char *garner_identify_cpu(void)
{
    const uint64_t id = garner_system_arm_id();
    return garner_arm_profile((int)(id >> 24 & 0xff), (int)(id >> 4 & 0xfff));
}
#else
const char *garner_identify_cpu(void)
{
    return "generic";
}
#endif
