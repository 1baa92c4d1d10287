/* SPDX-License-Identifier: MIT */
/*
 * Bytes with several holders: a file that was mapped or read, the store that describes it, and the arrays
 * whose elements lie in it. The last one to let go frees them, on whatever thread that is.
 */
#ifndef GARNER_FORMATS_REGION_H
#define GARNER_FORMATS_REGION_H

#include <stddef.h>

struct region;

/* Maps a file that will be read alone; NULL, with errno set, if that cannot be done. */
void *region_map(int descriptor, size_t size);

/* Ends a mapping that no region has taken over. */
void region_unmap(void *mapping, size_t size);

/* Takes over memory from malloc, or a mapping; either may be NULL. Returns NULL, and has taken nothing, if
 * there is no memory. The caller is the first holder. */
struct region *region_create(void *memory, void *mapping, size_t mapping_size);

/* One more holder; returns region. NULL is fine. */
struct region *region_hold(struct region *region);

/* One holder less. NULL is fine. */
void region_drop(struct region *region);

#endif
