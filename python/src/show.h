/* SPDX-License-Identifier: MIT */
/* A caller's object for a sentence about it. */
#ifndef GARNER_PYTHON_SHOW_H
#define GARNER_PYTHON_SHOW_H

#include "state.h"

/* In UTF-8, never long: a raise_error's "%s" is show(object).text. */
struct shown {
    char text[512];
};

/* Python's own numbers and strings as they are, cut short; of everything else its type's name, since it may
 * be of any size, and writing it out may run any code. The exception that is set, if any, stays. */
struct shown show(PyObject *object);

#endif
