/* SPDX-License-Identifier: MIT */
/*
 * What the environment says: thread count, CPU level, colour, width of the terminal.
 */
#ifndef GARNER_CLI_ENVIRONMENT_H
#define GARNER_CLI_ENVIRONMENT_H

#include <stdbool.h>

#include "garner.h"

/* Refuses a bad GARNER_NUM_THREADS or GARNER_CPU, which the library would ignore: asked once, before any
 * command but help. */
garner_status environment_check(garner_error *error);

bool environment_wants_colour(void);

/* Columns of the terminal that standard output is, or of COLUMNS; 80 if neither is known. */
int environment_width(void);

#endif
