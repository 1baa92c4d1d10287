/* SPDX-License-Identifier: MIT */
/* Maps the file of a table, when that is first wanted. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include <sys/mman.h>

#include "table.h"

const unsigned char *table_map(struct garner_table *table)
{
    pthread_mutex_lock(&table->lock);
    /* uncovered: only on 32-bit machines, which tests/cross has */
    if (!table->mapping && table->place.file_size <= SIZE_MAX) {
        size_t size = (size_t)table->place.file_size;
        void *mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, table->place.descriptor, 0);
        if (mapping != MAP_FAILED) {
            table->mapping = mapping;
            table->mapping_size = size;
            (void)madvise(mapping, size, MADV_RANDOM);
        }
    }
    pthread_mutex_unlock(&table->lock);
    return table->mapping;
}
