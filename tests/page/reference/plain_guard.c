/* SPDX-License-Identifier: MIT */
/* Memory without guards: WebAssembly has no pages that trap. Bytes around it are set, and looked at in the
 * end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"

enum { EDGE = 64, MARK = 0xA5 };

void guard_create(struct guard *guard, size_t capacity)
{
    guard->capacity = (capacity + EDGE - 1) / EDGE * EDGE;
    guard->mapping_size = guard->capacity + 2 * (size_t)EDGE;
    guard->mapping = malloc(guard->mapping_size);
    if (!guard->mapping) abort();
    memset(guard->mapping, MARK, guard->mapping_size);
    guard->first = guard->mapping + EDGE;
    memset(guard->first, 0, guard->capacity);
}

void guard_destroy(struct guard *guard)
{
    const unsigned char *last = guard->first + guard->capacity;
    for (size_t i = 0; i < EDGE; i++)
        if (guard->mapping[i] != MARK || last[i] != MARK) {
            fprintf(stderr, "something was written beside a buffer\n");
            abort();
        }
    free(guard->mapping);
    *guard = (struct guard){0};
}

unsigned char *guard_place(const struct guard *guard, size_t bytes, enum guard_side side)
{
    if (bytes > guard->capacity) abort();
    return side == GUARD_BEFORE ? guard->first : guard->first + guard->capacity - bytes;
}

void guard_read_only(const struct guard *guard, bool read_only)
{
    (void)guard, (void)read_only;
}
