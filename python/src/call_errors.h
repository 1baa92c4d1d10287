/* SPDX-License-Identifier: MIT */
/* What is wrong with a call, said of the operands as they were given. */
#ifndef GARNER_PYTHON_CALL_ERRORS_H
#define GARNER_PYTHON_CALL_ERRORS_H

#include "call.h"

/* Rewrites position and coordinates for indices as they were given. */
void given_restore(const struct given_indices *given, garner_error *error);

/* Raises what the library reported of a call, unless an exception is set. NULL. */
PyObject *call_refuse(struct call *call, garner_error *error);

/* Whether a given out can take the result; false with an exception. */
bool call_may_write(struct call *call, const struct operand *out);

#endif
