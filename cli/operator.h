/* SPDX-License-Identifier: MIT */
/*
 * The operator that a command line means: by the command's own name, or by its first operand.
 */
#ifndef GARNER_CLI_OPERATOR_H
#define GARNER_CLI_OPERATOR_H

#include "options.h"

/* The operator that a command is, or 0. */
garner_kind operator_kind(enum command_id command);

/* The operator that the first operand names, as commands or as the specifications write it. Options that it
 * does not take are refused too: explain and bench take those of all operators. */
garner_status operator_find(garner_kind *kind, const struct invocation *line, garner_error *error);

/* The operator with the meaning that the options give it. */
garner_status operator_make(garner_op *op, const struct invocation *line, garner_kind kind,
                            garner_error *error);

#endif
