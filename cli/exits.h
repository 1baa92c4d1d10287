/* SPDX-License-Identifier: MIT */
/*
 * Exit codes. They are a contract with scripts.
 */
#ifndef GARNER_CLI_EXITS_H
#define GARNER_CLI_EXITS_H

#include "garner.h"

enum {
    EXIT_DONE = 0,
    EXIT_DIFFERENT = 1, /* reserved: compared and different, for commands that compare; none does yet */
    EXIT_USAGE = 2,
    EXIT_REFUSED = 3,
    EXIT_FILE = 4,
    EXIT_SYSTEM = 5,
};

/* The exit code for a status. */
int exit_code(garner_status status);

#endif
