/* SPDX-License-Identifier: MIT */
/*
 * Help for people at a terminal, and the manual page. Both expand from options.def and from the prose in
 * manual.def.
 */
#ifndef GARNER_CLI_HELP_H
#define GARNER_CLI_HELP_H

#include <stdio.h>

#include "options.h"

/* Help for one command, or for COMMAND_NONE the list of all. */
void help_print(FILE *out, enum command_id command);

#endif
