/* SPDX-License-Identifier: MIT */
/* DLPack's table of C functions, for those who read tensors and those who make them. */
#ifndef GARNER_PYTHON_READ_DLPACK_H
#define GARNER_PYTHON_READ_DLPACK_H

#include "dlpack_abi.h"
#include "state.h"

/* The table that a type offers as __dlpack_c_exchange_api__, of a version known here; NULL if none. */
const DLPackExchangeAPI *dlpack_functions(struct state *state, PyTypeObject *type);

#endif
