/* SPDX-License-Identifier: MIT */
/*
 * Guarded memory from mmap: usable pages in the middle, a PROT_NONE page on each side.
 */
#define _GNU_SOURCE
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Without its memory a test can say nothing, so it stops rather than pass. */
static void give_up(const char *what)
{
    perror(what);
    abort();
}

void guard_create(struct guard *guard, size_t capacity)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guard->capacity = (capacity + page - 1) / page * page;
    guard->mapping_size = guard->capacity + 2 * page;
    guard->mapping = mmap(NULL, guard->mapping_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard->mapping == MAP_FAILED) give_up("mmap");
    guard->first = guard->mapping + page;
    guard_read_only(guard, false);
}

void guard_destroy(struct guard *guard)
{
    munmap(guard->mapping, guard->mapping_size);
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
    const int protection = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    if (guard->capacity && mprotect(guard->first, guard->capacity, protection) != 0) give_up("mprotect");
}
