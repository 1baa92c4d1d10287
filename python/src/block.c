/* SPDX-License-Identifier: MIT */
/* Counted memory. */
#define _GNU_SOURCE
#include "block.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, LARGE_PAGE = 2 << 20, WORTH_LARGE_PAGES = 4 << 20 };

struct block *block_around(void *memory, void (*release)(struct block *), void *context)
{
    struct block *block = malloc(sizeof *block);
    if (block == NULL) return NULL;
    atomic_init(&block->owners, 1);
    block->memory = memory;
    block->release = release;
    block->context = context;
    return block;
}

static void free_memory(struct block *block)
{
    free(block->memory);
    free(block->context);
}

struct block *block_allocate(size_t bytes)
{
    void *memory = NULL;
    int large = bytes >= WORTH_LARGE_PAGES;
    if (posix_memalign(&memory, large ? LARGE_PAGE : LINE, bytes > 0 ? bytes : 1) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    if (large) (void)madvise(memory, bytes, MADV_HUGEPAGE); /* advice: what comes of it does not matter */
#endif
    struct block *block = block_around(memory, free_memory, NULL);
    if (block == NULL) free(memory);
    return block;
}

void block_share(struct block *block)
{
    atomic_fetch_add_explicit(&block->owners, 1, memory_order_relaxed);
}

void block_drop(struct block *block)
{
    if (block == NULL || atomic_fetch_sub_explicit(&block->owners, 1, memory_order_acq_rel) != 1) return;
    block->release(block);
    free(block);
}
