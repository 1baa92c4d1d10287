/* SPDX-License-Identifier: MIT */
/* Counts holders; the last one frees. */
#define _GNU_SOURCE

#include "region.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

struct region {
    atomic_size_t holders;
    void *memory, *mapping;
    size_t mapping_size;
};

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

struct region *region_create(void *memory, void *mapping, size_t mapping_size)
{
    struct region *region = malloc(sizeof *region);
    if (!region) return NULL;
    atomic_init(&region->holders, 1);
    region->memory = memory;
    region->mapping = mapping;
    region->mapping_size = mapping_size;
    return region;
}

struct region *region_hold(struct region *region)
{
    if (region) atomic_fetch_add_explicit(&region->holders, 1, memory_order_relaxed);
    return region;
}

void region_drop(struct region *region)
{
    if (!region || atomic_fetch_sub_explicit(&region->holders, 1, memory_order_acq_rel) != 1) return;
    free(region->memory);
    if (region->mapping) region_unmap(region->mapping, region->mapping_size);
    free(region);
}
