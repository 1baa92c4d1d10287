/* SPDX-License-Identifier: MIT */
/* Results on standard output, as the command line wants them. */
#ifndef GARNER_CLI_OUTPUT_H
#define GARNER_CLI_OUTPUT_H

#include "options.h"
#include "print.h"

/* How results are to look: as --format says; on a terminal with a header, long ones shortened. */
struct print_style output_style(const struct invocation *line);

/* Prints a dense tensor to standard output, and shows progress where that takes long and standard output is
 * no terminal. */
garner_status output_tensor(const garner_tensor *t, const struct print_style *style, garner_error *error);

#endif
