/* SPDX-License-Identifier: MIT */
/* How many threads there are to use. */
#ifndef GARNER_POOL_H
#define GARNER_POOL_H

/* The CPUs that this process may use. */
int garner_pool_cpus(void);

/* The threads of a pool that was not told how many. */
int garner_pool_threads(void);

#endif
