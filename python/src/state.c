/* SPDX-License-Identifier: MIT */
#include "state.h"

struct state *state_of_type(PyTypeObject *type)
{
    return PyType_GetModuleState(type);
}
