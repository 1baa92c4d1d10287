/* SPDX-License-Identifier: MIT */
/* New arrays of the data's kind: NumPy gives NumPy, torch gives torch, what has no kind gives garner.Array.
 */
#ifndef GARNER_PYTHON_RESULT_H
#define GARNER_PYTHON_RESULT_H

#include "operand.h"

/* Makes memory for a result, with *to at its first element: an ndarray, else a garner.Array. */
PyObject *result_new(struct state *state, const struct operand *data, const garner_shape *shape, void **to);

/* Turns it into the data's kind. Takes over the reference. */
PyObject *result_finish(struct state *state, const struct operand *data, PyObject *made, bool scalar);

/* Turns a garner.Array that exists already into the kind of `like`, if it has one and takes the type. Takes
 * over the reference. */
PyObject *result_like(struct state *state, const struct operand *like, PyObject *made);

#endif
