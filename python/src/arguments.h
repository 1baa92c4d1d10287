/* SPDX-License-Identifier: MIT */
/* Arguments of calls: taken from the interpreter's array without making tuples or dictionaries. */
#ifndef GARNER_PYTHON_ARGUMENTS_H
#define GARNER_PYTHON_ARGUMENTS_H

#include "state.h"

enum { MOST_PARAMETERS = 10 };

/* The parameters of one function, in order. */
struct signature {
    const char *function;
    int count;      /* parameters in all */
    int positional; /* of these, the first so many may be given by position */
    int required;   /* and the first so many must be given */
    enum name parameter[MOST_PARAMETERS];
};

/* What the capsule of that name holds that comes first of so many arguments; NULL, with TypeError or
 * ValueError set, if the call does not fit. */
void *arguments_capsule(PyObject *const *arguments, Py_ssize_t count, Py_ssize_t wanted, const char *name);

/* Puts each argument at its parameter's place in `values` (NULL: not given; the references are the
 * caller's). False, with TypeError set, if the call does not fit. */
bool arguments_take(struct state *state, const struct signature *signature, PyObject *const *arguments,
                    Py_ssize_t count, PyObject *keywords, PyObject **values);

/* The same for a call that comes as a tuple and a dictionary, which may be NULL. */
bool arguments_unpack(struct state *state, const struct signature *signature, PyObject *tuple,
                      PyObject *dictionary, PyObject **values);

/* The options that several functions share. Each leaves its result alone if the argument is NULL or None,
 * and answers false, with an exception set, if it makes no sense. */
bool option_integer(struct state *state, const char *operator, const char * name, PyObject *given,
                    int64_t *number); /* also a tensor of one integer */
bool option_threads(struct state *state, PyObject *given, int *threads);
bool option_operator(struct state *state, garner_op *op, garner_kind kind, PyObject *spec, PyObject *strict,
                     PyObject *oob);

#endif
