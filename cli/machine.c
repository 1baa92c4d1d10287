/* SPDX-License-Identifier: MIT */
/* Reads small files under /sys; one that is missing or makes no sense ends the list. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>

static int read_word(const char *folder, int index, const char *name, char word[32])
{
    char path[128];
    snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    int found = fscanf(file, "%31s", word) == 1;
    fclose(file);
    return found;
}

static int64_t bytes_of(const char *text)
{
    char *end;
    long long number = strtoll(text, &end, 10);
    if (number <= 0 || number > 1 << 30) return 0;
    return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

int machine_caches(struct machine_cache caches[MACHINE_CACHES])
{
    static const char folder[] = "/sys/devices/system/cpu/cpu0/cache";
    char level[32], type[32], size[32];
    int count = 0;
    for (int i = 0; i < 32 && count < MACHINE_CACHES; i++) {
        if (!read_word(folder, i, "level", level) || !read_word(folder, i, "type", type) ||
            !read_word(folder, i, "size", size))
            break;
        struct machine_cache cache = {atoi(level), type[0] == 'D' ? 'd' : 'u', bytes_of(size)};
        if (type[0] != 'I' && cache.level > 0 && cache.bytes > 0) caches[count++] = cache;
    }
    return count;
}
