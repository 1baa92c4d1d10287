/* SPDX-License-Identifier: MIT */
/* Counts holders; the last one frees. */
#include "region.h"

#include <stdatomic.h>
#include <stdlib.h>

struct region {
    atomic_size_t holders;
    void *memory, *mapping;
    size_t mapping_size;
};

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
