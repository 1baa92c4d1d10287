/* SPDX-License-Identifier: MIT */
/* Counted memory. */
#define _GNU_SOURCE
#include "counted_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, LARGE_PAGE = 2 << 20, WORTH_LARGE_PAGES = 4 << 20 };

struct counted_memory *counted_memory_around(void *memory, void (*release)(struct counted_memory *),
                                             void *context)
{
    struct counted_memory *block = malloc(sizeof *block);
    if (block == NULL) return NULL;
    atomic_init(&block->owners, 1);
    block->memory = memory;
    block->release = release;
    block->context = context;
    return block;
}

static void free_memory(struct counted_memory *block)
{
    free(block->memory);
    free(block->context);
}

struct counted_memory *counted_memory_allocate(size_t bytes)
{
    void *memory = NULL;
    int large = bytes >= WORTH_LARGE_PAGES;
    if (posix_memalign(&memory, large ? LARGE_PAGE : LINE, bytes > 0 ? bytes : 1) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    if (large) (void)madvise(memory, bytes, MADV_HUGEPAGE); /* advice: what comes of it does not matter */
#endif
    struct counted_memory *block = counted_memory_around(memory, free_memory, NULL);
    if (block == NULL) free(memory);
    return block;
}

void counted_memory_share(struct counted_memory *block)
{
    atomic_fetch_add_explicit(&block->owners, 1, memory_order_relaxed);
}

void counted_memory_drop(struct counted_memory *block)
{
    if (block == NULL || atomic_fetch_sub_explicit(&block->owners, 1, memory_order_acq_rel) != 1) return;
    block->release(block);
    free(block);
}
