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

/* How many levels of kernels this machine has: those that garner_cpu_level_name gives for 0 up to this. */
int environment_levels(void);

/* The same as words: "scalar, avx2 or avx512". Returns text. */
enum { ENVIRONMENT_LEVELS = 128 };
const char *environment_level_list(char text[ENVIRONMENT_LEVELS]);

#endif
