/* SPDX-License-Identifier: MIT */
/* For the tests of a reader: a guard that every file of a test is placed in, so that it ends where memory
 * does. */
#ifndef GARNER_TESTS_GUARDED_H
#define GARNER_TESTS_GUARDED_H

#include "testing.h"

#include "guard.h"

static struct guard guard;

static inline int make_guard(void **state)
{
    (void)state;
    guard_create(&guard, 8192);
    return 0;
}

static inline int drop_guard(void **state)
{
    (void)state;
    guard_destroy(&guard);
    return 0;
}

#endif
