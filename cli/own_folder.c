/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE

#include "own_folder.h"

#include <string.h>
#include <unistd.h>

bool own_folder(char *path, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length < 0) return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}
