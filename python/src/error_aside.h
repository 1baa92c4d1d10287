/* SPDX-License-Identifier: MIT */
/* An exception, or none, put aside while code of others runs: what that raises or clears does not count. */
#ifndef GARNER_PYTHON_ERROR_ASIDE_H
#define GARNER_PYTHON_ERROR_ASIDE_H

#include "state.h"

struct aside {
    PyObject *type, *value, *traceback;
};
void error_put_aside(struct aside *aside);
void error_take_back(struct aside *aside);

#endif
