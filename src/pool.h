/* SPDX-License-Identifier: MIT */
/* How many threads there are to use. */
#ifndef GARNER_POOL_H
#define GARNER_POOL_H

#include <stdbool.h>

#include "garner.h"

/* The threads of a pool that was not told how many, the default one among them; found out once. */
int garner_pool_threads(void);

#endif
