/* SPDX-License-Identifier: MIT */
/* Reads small files under /sys; one that is missing or makes no sense ends the list. */
#include "machine_caches.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"

/* Sets found if there is such a word; a file that cannot be there is none, one that cannot be read an error.
 */
static garner_status read_word(const char *name, int index, char word[32], bool *found, garner_error *error)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    FILE *file = fopen(path, "r");
    *found = false;
    if (!file && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return GARNER_OK;
    if (!file) return fail_errno(error, path, "open", errno);
    *found = fscanf(file, "%31s", word) == 1;
    garner_status status = ferror(file) ? fail_errno(error, path, "read", errno) : GARNER_OK;
    fclose(file);
    return status;
}

static int64_t bytes_of(const char *text)
{
    char *end;
    long long number = strtoll(text, &end, 10);
    if (number <= 0 || number > 1 << 30) return 0;
    return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

garner_status machine_caches(struct machine_cache caches[MACHINE_CACHES], int *count, garner_error *error)
{
    static const char *const names[] = {"level", "type", "size"};
    char word[3][32];
    bool found = true;
    *count = 0;
    for (int i = 0; i < 32 && *count < MACHINE_CACHES; i++) {
        for (int k = 0; k < 3 && found; k++) {
            garner_status status = read_word(names[k], i, word[k], &found, error);
            if (status != GARNER_OK) return status;
        }
        if (!found) break;
        struct machine_cache cache = {(int)strtol(word[0], NULL, 10), word[1][0] == 'D' ? 'd' : 'u',
                                      bytes_of(word[2])};
        if (word[1][0] != 'I' && cache.level > 0 && cache.bytes > 0) caches[(*count)++] = cache;
    }
    return GARNER_OK;
}
