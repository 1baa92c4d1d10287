/* SPDX-License-Identifier: MIT */
/* garner.Plan: shapes once, arrays each time. */
#ifndef GARNER_PYTHON_PLAN_OBJECT_H
#define GARNER_PYTHON_PLAN_OBJECT_H

#include "state.h"

/* Makes the type and adds it to the module. */
int plan_object_make_type(struct state *state, PyObject *module);

/* The operator of that name ("gather", "gather-nd", ...), or 0 with an exception. */
garner_kind kind_of_name(struct state *state, PyObject *name);

#endif
