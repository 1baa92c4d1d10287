/* SPDX-License-Identifier: MIT */
/* Mapped files, as POSIX systems have them. */
#define _GNU_SOURCE

#include <sys/mman.h>

#include "region.h"

#ifndef MAP_NORESERVE /* where the system never promises memory for such pages */
#define MAP_NORESERVE 0
#endif

/* Other libraries write to arrays that say they are read-only: that then ends in a page of this process's
 * own, not in a fault. Systems that promise no more memory than they have may not let us have such pages. */
void *region_map(int descriptor, size_t size)
{
    void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (mapping == MAP_FAILED) mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    return mapping == MAP_FAILED ? NULL : mapping;
}

void region_unmap(void *mapping, size_t size)
{
    munmap(mapping, size);
}
