/* SPDX-License-Identifier: MIT */
/*
 * Indices in lists that no 64 bits hold. Python's integers have no end, and no axis is as long: the operand
 * gets the outermost 64-bit integer of the same sign, which is outside every axis too, and the number itself
 * is kept for what depends on it, which are errors and `wrap`.
 */
#ifndef GARNER_PYTHON_HUGE_INDEX_H
#define GARNER_PYTHON_HUGE_INDEX_H

#include "operand.h"

/* Keeps the number of a list at a position, counted in C order. False with an exception. */
bool huge_index_keep(struct operand *indices, int64_t position, PyObject *number);

/* Puts such numbers into the list's memory modulo the axes that they point along, if the operator wraps. */
bool huge_index_wrap(const garner_op *op, const struct operand *data, struct operand *indices);

/* Raises what a library call reported, with the number that was given if it speaks of such a one. NULL. */
PyObject *huge_index_raise(struct state *state, const struct operand *indices, const garner_error *error);

#endif
