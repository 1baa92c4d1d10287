/* SPDX-License-Identifier: MIT */
/*
 * What systems do to files in ways of their own, and POSIX does not say how: filesystem_linux.c has it for
 * Linux, filesystem_posix.c for macOS and others. Where a system lacks something, the call says so and its
 * caller has another way.
 */
#ifndef GARNER_FORMATS_FILESYSTEM_H
#define GARNER_FORMATS_FILESYSTEM_H

#include <stddef.h>

/* Opens a folder in which names are looked up, one that may not be listed too, where the system can. Returns
 * a descriptor, or -1 with errno. */
int filesystem_open_folder(const char *path);

/* Opens a file beneath a folder, passing no link of any kind, in one call. Returns a descriptor, or -1 with
 * errno; ENOSYS: the system has no such call. */
int filesystem_open_beneath(int folder, const char *name, int flags);

/* Opens a new file without a name in a folder, which filesystem_link can give it later. Returns a descriptor
 * to write to, or -1 where that cannot be had. */
int filesystem_open_nameless(int folder);

/* Gives a nameless file its name. Returns 0 or an errno value. */
int filesystem_link(int descriptor, int folder, const char *name);

/* Fills memory with random bytes, at most 256. Returns 0 or an errno value. */
int filesystem_random(void *bytes, size_t size);

#endif
