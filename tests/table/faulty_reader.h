/* SPDX-License-Identifier: MIT */
/*
 * A reader that does to reads what systems do on bad days: short, interrupted, to be tried again, failing,
 * slow, in another order. What it does is set before a gather and counted by it.
 */
#ifndef GARNER_TESTS_FAULTY_READER_H
#define GARNER_TESTS_FAULTY_READER_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "table.h"

static struct faults {
    int shorten;   /* every other read gives a part: a multiple of so many bytes */
    int interrupt; /* so many reads are interrupted first, or are to be tried again */
    int reorder;   /* reads are finished last begun first */
    int slow;      /* microseconds for each read */
    int fail_at;   /* the read of this number fails, counted from 1, */
    int fail_with; /* with this errno value; 0: the file ends there */
    int lose_at;   /* waiting for the read of this number fails for ever */
    int refuse;    /* no read can be begun from the one of this number on */
    int no_memory; /* so many readers cannot be opened first */
    int reads, most, under_way, open;
} faults;

struct faulty {
    struct reader reader;
    int descriptor;
    int count;
    struct read *waiting[1024];
};

static int faulty_start(struct reader *reader, struct read *read)
{
    struct faulty *faulty = (struct faulty *)reader;
    if (faults.refuse && faults.reads + 1 >= faults.refuse) return EIO;
    faulty->waiting[faulty->count++] = read;
    if (++faults.under_way > faults.most) faults.most = faults.under_way;
    return 0;
}

static int64_t faulty_result(const struct faulty *faulty, const struct read *read)
{
    uint32_t size = read->size;
    faults.reads++;
    if (faults.fail_at == faults.reads) return -faults.fail_with;
    if (faults.interrupt > 0) return faults.interrupt-- % 2 ? -EINTR : -EAGAIN;
    if (faults.shorten && faults.reads % 2 && size > (uint32_t)faults.shorten)
        size = size / 2 / (uint32_t)faults.shorten * (uint32_t)faults.shorten;
    if (!size) size = (uint32_t)faults.shorten;
    ssize_t got = pread(faulty->descriptor, read->into, size, (off_t)read->offset);
    return got < 0 ? -errno : got;
}

static struct read *faulty_finish(struct reader *reader)
{
    struct faulty *faulty = (struct faulty *)reader;
    if (faults.lose_at && faults.reads + 1 >= faults.lose_at) {
        errno = EIO;
        return NULL;
    }
    if (!faulty->count) abort(); /* waited for what was never begun */
    int i = faults.reorder ? faulty->count - 1 : 0;
    struct read *read = faulty->waiting[i];
    for (faulty->count--; i < faulty->count; i++)
        faulty->waiting[i] = faulty->waiting[i + 1];
    if (faults.slow) nanosleep(&(struct timespec){.tv_nsec = faults.slow * 1000}, NULL);
    read->got = faulty_result(faulty, read);
    faults.under_way--;
    return read;
}

/* Reads that were under way when their reader was closed. */
static struct read *lost[1024];
static int lost_reads;

/* They are finished after all, long after the gather: all that they write to must still be there. */
static void faulty_land(void)
{
    for (int i = 0; i < lost_reads; i++)
        memset(lost[i]->into, 0x77, lost[i]->size);
}

static void faulty_close(struct reader *reader)
{
    const struct faulty *faulty = (struct faulty *)reader;
    for (int i = 0; i < faulty->count && lost_reads < 1024; i++)
        lost[lost_reads++] = faulty->waiting[i];
    faults.open--;
    free(reader);
}

static int faulty_open(struct reader **reader, int descriptor, unsigned depth)
{
    if (faults.no_memory > 0 && faults.no_memory--) return ENOMEM;
    struct faulty *faulty = calloc(1, sizeof *faulty);
    if (!faulty || depth > 1024) return ENOMEM;
    faulty->reader = (struct reader){faulty_start, faulty_finish, faulty_close};
    faulty->descriptor = descriptor;
    faults.open++;
    *reader = &faulty->reader;
    return 0;
}

#endif
