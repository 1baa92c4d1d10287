/* SPDX-License-Identifier: MIT */
/*
 * Guarded memory: usable pages in the middle, a page on each side that may not be touched.
 */
#define _GNU_SOURCE
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>

/* Without its memory a test can say nothing, so it stops rather than pass. */
static void give_up(const char *what)
{
    perror(what);
    abort();
}

/* ---- The system: pages that may not be touched, and what is done with them ---- */

#if defined(_WIN32)
#include <windows.h>

static size_t page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

static void *reserve(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);
}

static bool allow(void *pages, size_t size, bool read_only)
{
    DWORD before;
    return VirtualProtect(pages, size, read_only ? PAGE_READONLY : PAGE_READWRITE, &before);
}

static void release(void *pages, size_t size)
{
    (void)size;
    VirtualFree(pages, 0, MEM_RELEASE);
}
#else
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *reserve(size_t size)
{
    void *pages = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static bool allow(void *pages, size_t size, bool read_only)
{
    return mprotect(pages, size, read_only ? PROT_READ : PROT_READ | PROT_WRITE) == 0;
}

static void release(void *pages, size_t size)
{
    munmap(pages, size);
}
#endif

/* ---- Guards ---- */

void guard_create(struct guard *guard, size_t capacity)
{
    const size_t page = page_size();
    guard->capacity = (capacity + page - 1) / page * page;
    guard->mapping_size = guard->capacity + 2 * page;
    guard->mapping = reserve(guard->mapping_size);
    if (guard->mapping == NULL) give_up("no memory between guards");
    guard->first = guard->mapping + page;
    guard_read_only(guard, false);
}

void guard_destroy(struct guard *guard)
{
    release(guard->mapping, guard->mapping_size);
    *guard = (struct guard){0};
}

unsigned char *guard_place(const struct guard *guard, size_t bytes, enum guard_side side)
{
    if (bytes > guard->capacity) {
        fprintf(stderr, "a buffer of %zu bytes does not fit between the guards\n", bytes);
        abort();
    }
    return side == GUARD_BEFORE ? guard->first : guard->first + guard->capacity - bytes;
}

void guard_read_only(const struct guard *guard, bool read_only)
{
    if (guard->capacity && !allow(guard->first, guard->capacity, read_only))
        give_up("pages keep their rights");
}
