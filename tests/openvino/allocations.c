/* SPDX-License-Identifier: MIT */
/* Preloaded by test_choice.py: counts what a program allocates, which tells work apart that a clock cannot.
 */
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern atomic_long allocations;
atomic_long allocations;

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
