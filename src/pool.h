/* SPDX-License-Identifier: MIT */
/* How many threads there are to use, or to be used. */
#ifndef GARNER_POOL_H
#define GARNER_POOL_H

#include <stdbool.h>

#include "garner.h"

/* The CPUs that this process may use. */
int garner_pool_cpus(void);

/* The threads of a pool that was not told how many. */
int garner_pool_threads(void);

/* Whether an executor is a pool of one thread, which is the caller. */
bool garner_pool_is_alone(const garner_exec *exec);

#endif
