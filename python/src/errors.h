/* SPDX-License-Identifier: MIT */
/*
 * Errors as exceptions. garner.Error carries what the library's record says; each of its kinds is also
 * the built-in exception that people already catch.
 */
#ifndef GARNER_PYTHON_ERRORS_H
#define GARNER_PYTHON_ERRORS_H

#include "state.h"

/* Makes the exception classes and adds them to the module. */
int errors_make(struct state *state, PyObject *module);

/* Raises what a library call reported. Always returns NULL, so that callers return it. */
PyObject *raise_record(struct state *state, const garner_error *error);

/* The same for an index that the record shows as the nearest 64-bit integer, and that is `number`. */
PyObject *raise_index(struct state *state, const garner_error *error, PyObject *number);

/* The same for an unknown spec. */
PyObject *raise_bad_spec(struct state *state, const garner_error *error);

/* Whether an exception is set that is not ours to explain: an interrupt, or memory that ran out. Any other is
 * forgotten by error_forget. */
bool error_passes(void);
void error_forget(void);

/* Raises an error found here, unless an exception is set that passes; `format` is PyUnicode_FromFormat's.
 * Returns NULL. */
PyObject *raise_error(struct state *state, garner_status status, const char *format, ...);

/* As raise_error, and the exception that is set becomes the cause; one that passes stays. */
PyObject *raise_from(struct state *state, garner_status status, const char *format, ...);

#endif
