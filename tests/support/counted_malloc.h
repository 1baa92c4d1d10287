/* SPDX-License-Identifier: MIT */
/*
 * A malloc of the program's own before libc's, that counts, or fails on demand. For one file of a program:
 * including this replaces malloc and its kin.
 */
#ifndef COUNTED_MALLOC_H
#define COUNTED_MALLOC_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* Volatile, because compilers know that malloc and free change no variable of a program. */
static volatile int counting; /* only calls made while this is set count */
static volatile int allocations, live, which_fails;

#if !TEST_SANITIZED && defined(__GLIBC__)
#define INTERPOSED 1

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

/* Whether this allocation is the one that fails. */
static int fails(void)
{
    return counting && ++allocations == which_fails;
}

static void *counted(void *memory)
{
    if (counting && memory) live++;
    return memory;
}

void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    if (fails()) return NULL;
    void *moved = __libc_realloc(memory, size);
    return memory ? moved : counted(moved);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = aligned_alloc(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
    if (counting && memory) live--;
    __libc_free(memory);
}
#else
#define INTERPOSED 0
#endif

/* Valgrind puts a malloc of its own before every other. */
static bool is_interposed(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return INTERPOSED && !(preloaded && strstr(preloaded, "vgpreload"));
}

#define NEEDS_MALLOC() \
    if (!is_interposed()) SKIP_LOUDLY("malloc cannot be counted here")

/* From here on allocations count, and the n-th fails (0: none does). */
static void counting_begin(int n)
{
    allocations = live = 0;
    which_fails = n;
    counting = 1;
}

static void counting_end(void)
{
    counting = 0;
}

#endif
