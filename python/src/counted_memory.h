/* SPDX-License-Identifier: MIT */
/*
 * Memory that several owners share: garner.Arrays, and whoever imported one through DLPack. Counting and
 * freeing need no interpreter, since the last owner may let go in any thread and after Python has ended.
 */
#ifndef GARNER_PYTHON_COUNTED_MEMORY_H
#define GARNER_PYTHON_COUNTED_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>

struct counted_memory {
    atomic_size_t owners;
    void *memory;
    void (*release)(struct counted_memory *block); /* frees what memory needs; not the block */
    void *context; /* for release; of fresh memory, more of it from malloc, or NULL */
};

/* Fresh memory, on a cache line, with one owner; NULL if there is none. Large pages are asked for where they
 * pay. */
struct counted_memory *counted_memory_allocate(size_t bytes);

/* A block around memory that `release` gives back. On failure nothing is released. */
struct counted_memory *counted_memory_around(void *memory, void (*release)(struct counted_memory *),
                                             void *context);

void counted_memory_share(struct counted_memory *block);
void counted_memory_drop(struct counted_memory *block);

#endif
