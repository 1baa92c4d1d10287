/* SPDX-License-Identifier: MIT */
/*
 * pyarrow's arrays, which have neither a buffer nor strides of their own: garner/_arrow.py takes them apart
 * and puts results together.
 */
#ifndef GARNER_PYTHON_ARROW_H
#define GARNER_PYTHON_ARROW_H

#include "operand.h"

/* As the readers of operand.h. */
int read_arrow(struct state *state, struct operand *operand, PyObject *object, const char *operator,
               const char * name);

/* A result as pyarrow's array, like another one. Takes over the reference. */
PyObject *arrow_result(PyObject *like, PyObject *made);

#endif
