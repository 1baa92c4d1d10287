/* SPDX-License-Identifier: MIT */
/* macOS and the BSDs, and what is like them. Every file there has a name from the beginning. */
#define _DARWIN_C_SOURCE

#include "filesystem.h"

#if !defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

int filesystem_open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int filesystem_open_beneath(int folder, const char *name, int flags)
{
    (void)folder, (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}

int filesystem_open_nameless(int folder)
{
    (void)folder;
    return -1;
}

int filesystem_link(int descriptor, int folder, const char *name)
{
    (void)descriptor, (void)folder, (void)name;
    return ENOSYS;
}

int filesystem_random(void *bytes, size_t size)
{
    arc4random_buf(bytes, size);
    return 0;
}
#endif
