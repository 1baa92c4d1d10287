/* SPDX-License-Identifier: MIT */
/*
 * How blocks of a file are read: several at a time, finished in any order. A reader does what the system does
 * and no more. A read that came back short, was interrupted or is to be tried again is begun again by whoever
 * began it (transfer.c), so every reader gets that right, and a test can put its own reader there.
 */
#ifndef GARNER_TABLE_READER_H
#define GARNER_TABLE_READER_H

#include <stddef.h>
#include <stdint.h>

/* One read: the caller's memory, untouched by the caller until it is finished. */
struct read {
    uint64_t offset;
    uint32_t size;
    unsigned char *into;
    int64_t got;       /* when it is finished: bytes, 0 at the end of the file, or an errno value, negative */
    struct read *next; /* the reader's own */
};

struct reader {
    /* Begins a read; no more than `depth` are ever under way. Returns 0 or an errno value. */
    int (*start)(struct reader *reader, struct read *read);
    /* Waits until a read that was begun is finished, and gives it; NULL: none ever will be, and errno is why.
     */
    struct read *(*finish)(struct reader *reader);
    /* Frees it. Nothing is under way. */
    void (*close)(struct reader *reader);
};

/* Opens a reader for a descriptor with up to `depth` reads under way. Returns 0 or an errno value. */
typedef int reader_opener(struct reader **reader, int descriptor, unsigned depth);
reader_opener reader_ring_open, reader_pread_open;

#endif
