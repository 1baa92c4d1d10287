/* SPDX-License-Identifier: MIT */
/*
 * The caches of the machine, as Linux tells them.
 */
#ifndef GARNER_CLI_MACHINE_CACHES_H
#define GARNER_CLI_MACHINE_CACHES_H

#include "garner.h"

struct machine_cache {
    int level;
    char type; /* 'd' for data, 'u' for both data and instructions */
    int64_t bytes;
};

enum { MACHINE_CACHES = 8 };

/* The caches that data passes on its way to the first CPU, innermost first; none where the system does not
 * tell. */
garner_status machine_caches(struct machine_cache caches[MACHINE_CACHES], int *count, garner_error *error);

#endif
