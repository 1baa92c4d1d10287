/* SPDX-License-Identifier: MIT */
/*
 * TENSOR arguments: a literal, a .npy file, file:PATH for a file of any name, or - for .npy on standard
 * input.
 */
#ifndef GARNER_CLI_TENSOR_H
#define GARNER_CLI_TENSOR_H

#include <stdbool.h>

#include "array.h"

/* Loads an argument. `role` is what the command calls it, for messages; `verbose` mentions on standard
 * error what else the file holds. Release with array_free. */
garner_status tensor_load(struct array *array, const char *role, const char *argument, bool verbose,
                          garner_error *error);

/* Whether a result can be written to `path`, judged by its name. */
garner_status tensor_check_output(const char *path, garner_error *error);

#endif
