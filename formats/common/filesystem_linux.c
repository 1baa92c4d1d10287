/* SPDX-License-Identifier: MIT */
/* Linux, with glibc or musl. */
#define _GNU_SOURCE /* O_TMPFILE, O_PATH, getrandom */
#define _FILE_OFFSET_BITS 64

#include "filesystem.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A folder that may be searched but not listed cannot be synced, only used. */
int filesystem_open_folder(const char *path)
{
    int folder;
    do
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder < 0 && errno == EINTR);
    return folder < 0 && errno == EACCES ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : folder;
}

int filesystem_open_beneath(int folder, const char *name, int flags)
{
#if defined(SYS_openat2)
    /* As in linux/openat2.h, which older headers lack: beneath the folder, no link of any kind. */
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = (uint64_t)flags, .resolve = 0x02 | 0x04 | 0x08};
    return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
#else
    (void)folder, (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}

/* The path by which the kernel lets a nameless file be linked. */
static void descriptor_path(char path[32], int descriptor)
{
    snprintf(path, 32, "/proc/self/fd/%d", descriptor);
}

/* Nobody can open it, so it has its mode at once. */
int filesystem_open_nameless(int folder)
{
    char path[32];
    int descriptor = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor < 0) return -1;
    descriptor_path(path, descriptor);
    if (access(path, F_OK) == 0) return descriptor;
    close(descriptor);
    return -1;
}

int filesystem_link(int descriptor, int folder, const char *name)
{
    char path[32];
    descriptor_path(path, descriptor);
    return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) ? errno : 0;
}

int filesystem_random(void *bytes, size_t size)
{
    ssize_t got;
    do
        got = getrandom(bytes, size, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno;
    return (size_t)got < size ? EIO : 0;
}
#endif
