/* SPDX-License-Identifier: MIT */
/*
 * What torch's tensors mean beyond what DLPack says of them: a history of gradients, views that conjugate or
 * negate, quantized numbers, and integers of fewer than 8 bits.
 */
#ifndef GARNER_PYTHON_TORCH_H
#define GARNER_PYTHON_TORCH_H

#include "operand.h"

/* Whether an object's memory holds what it means; true for what is not torch's. One that requires grad where
 * nothing is recorded is replaced by one without its history. False with an exception. */
bool torch_means_what_it_holds(struct state *state, struct operand *operand, PyObject **object,
                               const char *operator, const char * name);

/* Notes the type that a result has to get back where DLPack knows a wider one alone: torch's int4 comes as
 * int8. As indices they are refused. */
bool torch_note_type(struct state *state, struct operand *operand, PyObject *object, enum role role,
                     const char *operator, const char * name);

/* The tensor as one of the type that was noted. Takes over the reference, which may be NULL. */
PyObject *torch_view(const struct operand *operand, PyObject *tensor);

/* Raises what to do about a tensor that cannot be read; the exception that is set is the cause. */
void torch_refuse(struct state *state, PyObject *object, const char *operator, const char * name);

#endif
