/* SPDX-License-Identifier: MIT */
/* Gathers from DATA in a file that is too large to be loaded. */
#ifndef GARNER_CLI_OPERATE_TABLE_H
#define GARNER_CLI_OPERATE_TABLE_H

#include "options.h"

/* Whether DATA is such a file, or --how or --memory say that it is to be taken for one. */
garner_status operate_wants_table(bool *wanted, const struct invocation *line, garner_error *error);

/* Gathers, and writes or prints the result. */
garner_status operate_table(const struct invocation *line, const garner_op *op, garner_error *error);

/* An initializer of a model is read as a table alone: whether DATA is none. */
garner_status operate_refuse_model(const struct invocation *line, garner_error *error);

#endif
