/* SPDX-License-Identifier: MIT */
/*
 * Exit codes. They are a contract with scripts.
 */
#ifndef GARNER_CLI_EXITS_H
#define GARNER_CLI_EXITS_H

#include "garner.h"

enum {
    EXIT_DONE = 0,
    EXIT_DIFFERENT = 1, /* compared and different */
    EXIT_USAGE = 2,
    EXIT_REFUSED = 3,
    EXIT_FILE = 4,
    EXIT_SYSTEM = 5,
};

/* What a command that compares answers beside the library's statuses: there are differences, and all that
 * is to be said about them has been printed. */
#define STATUS_DIFFERENT ((garner_status)100)

/* The exit code for a status. */
int exit_code(garner_status status);

#endif
