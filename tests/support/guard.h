/* SPDX-License-Identifier: MIT */
/*
 * Memory between two pages that may not be touched. A buffer is placed against the page after it or
 * against the page before it; the first byte read or written beyond that end is a crash.
 */
#ifndef GARNER_TESTS_GUARD_H
#define GARNER_TESTS_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct guard {
    unsigned char *mapping;
    size_t mapping_size;
    unsigned char *first; /* of the usable pages */
    size_t capacity;
};

enum guard_side { GUARD_AFTER, GUARD_BEFORE };

/* At least `capacity` usable bytes. Fails the running test if there is no memory. */
void guard_create(struct guard *guard, size_t capacity);
void guard_destroy(struct guard *guard);

/* Where a buffer of `bytes` begins so that it touches the page on that side. */
unsigned char *guard_place(const struct guard *guard, size_t bytes, enum guard_side side);

/* Forbids (or allows again) writing to the usable pages. */
void guard_read_only(const struct guard *guard, bool read_only);

#endif
