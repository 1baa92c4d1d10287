/* SPDX-License-Identifier: MIT */
#include "error_aside.h"

void error_put_aside(struct aside *aside)
{
    PyErr_Fetch(&aside->type, &aside->value, &aside->traceback);
}

void error_take_back(struct aside *aside)
{
    PyErr_Restore(aside->type, aside->value, aside->traceback);
}
