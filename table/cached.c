/* SPDX-License-Identifier: MIT */
/*
 * Whether a byte of a table is in the page cache, without reading it where it is not. Most file systems of
 * disks answer a read that may not wait (RWF_NOWAIT). Others, as NFS, FUSE and some that lie over others, do
 * not take such a read: then pages of the mapping are looked up. What nobody answers is taken to be on the
 * disk.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "table.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8 /* the kernel's; not every C library has it */
#endif

static int is_in_memory(int descriptor)
{
    static const uint32_t tmpfs = 0x01021994, ramfs = 0x858458f6; /* as <linux/magic.h> has them */
    struct statfs about;
    if (fstatfs(descriptor, &about)) return 0;
    return (uint32_t)about.f_type == tmpfs || (uint32_t)about.f_type == ramfs;
}

/* Linux tells those alone who own a file or may write to it; to others it says that every page is there. */
static int is_told(int descriptor)
{
    char name[40];
    struct stat about;
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    if (fstat(descriptor, &about)) return 0;
    return about.st_uid == geteuid() || faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) == 0;
}

/* Who answers where a read that may not wait is refused: found out once. */
static enum table_residency find_residency(struct garner_table *table)
{
    if (is_in_memory(table->place.descriptor)) return TABLE_IN_MEMORY;
    return is_told(table->place.descriptor) && table_map(table) ? TABLE_BY_MAPPING : TABLE_UNKNOWN;
}

/* 1 or 0; -1: the file system, or the system, takes no such read. */
static int read_at_once(int descriptor, uint64_t offset)
{
    char byte;
    struct iovec one = {&byte, 1};
    /* Not every C library has preadv2. The kernel takes the offset in two words. */
    const unsigned long low = (unsigned long)offset, high = (unsigned long)(offset >> 16 >> 16);
    const long got = syscall(SYS_preadv2, (long)descriptor, &one, 1L, low, high, (long)RWF_NOWAIT);
    if (got >= 0) return got > 0;
    return errno == EAGAIN ? 0 : -1;
}

static int is_resident(const struct garner_table *table, uint64_t offset)
{
    unsigned char page;
    const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), at = offset - offset % size;
    return at < table->mapping_size && mincore(table->mapping + (size_t)at, 1, &page) == 0 && (page & 1);
}

int table_is_cached(struct garner_table *table, uint64_t offset)
{
    pthread_mutex_lock(&table->lock);
    enum table_residency residency = table->residency;
    pthread_mutex_unlock(&table->lock);
    if (residency == TABLE_BY_READ) {
        const int cached = read_at_once(table->place.descriptor, offset);
        if (cached >= 0) return cached;
        residency = find_residency(table);
        pthread_mutex_lock(&table->lock);
        table->residency = residency;
        pthread_mutex_unlock(&table->lock);
    }
    return residency == TABLE_IN_MEMORY || (residency == TABLE_BY_MAPPING && is_resident(table, offset));
}

#else

int table_is_cached(struct garner_table *table, uint64_t offset)
{
    (void)table, (void)offset;
    return 0;
}

#endif
