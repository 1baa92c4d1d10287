/* SPDX-License-Identifier: MIT */
/* How large the system says that the caches of a core are. */
#define _DEFAULT_SOURCE

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile.h"

/* What the C library knows, if it asks the CPU. */
static int64_t ask_library(int level)
{
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
    return at_least(0, sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE));
#else
    (void)level;
    return 0;
#endif
}

#if defined(__linux__)
/* A word of Linux's description of cache number `i` of the first CPU; false if there is none. */
static bool read_word(int i, const char *name, char word[32])
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    const bool found = fscanf(file, "%31s", word) == 1;
    fclose(file);
    return found;
}

static int64_t ask_linux(int level)
{
    enum { MOST_CACHES = 8 };
    char word[32], unit;
    int is_level, size;
    for (int i = 0; i < MOST_CACHES && read_word(i, "level", word); i++) {
        if (sscanf(word, "%d", &is_level) != 1 || is_level != level || !read_word(i, "size", word)) continue;
        if (sscanf(word, "%d%c", &size, &unit) == 2 && size > 0 && (unit == 'K' || unit == 'M'))
            return (int64_t)size * (unit == 'K' ? 1024 : 1024 * 1024);
    }
    return 0;
}
#else
static int64_t ask_linux(int level)
{
    (void)level;
    return 0;
}
#endif

int64_t garner_cache_bytes(int level)
{
    const int64_t bytes = ask_library(level);
    return bytes > 0 ? bytes : ask_linux(level);
}
