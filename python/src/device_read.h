/* SPDX-License-Identifier: MIT */
/* Operands in the memory of a GPU: what of it can be read, and on which stream it is ready. */
#ifndef GARNER_PYTHON_DEVICE_READ_H
#define GARNER_PYTHON_DEVICE_READ_H

#include "operand.h"

/* Notes where DLPack's device type and number say that memory is. False, with an exception, if garner, or
 * this operand's role, has nothing to do there. */
bool device_take_place(struct state *state, struct operand *operand, long long type, long long number,
                       const char *operator, const char * name);

/* Notes the current stream of the object's library; `functions` are that library's. */
void device_take_stream(struct operand *operand, const DLPackExchangeAPI *functions);

/* The `stream` for the __dlpack__ of an object on a device, a new reference. What comes then is ready on
 * place.stream, which is noted. */
PyObject *device_ask_stream(struct operand *operand, PyObject *object);

/* Calls a function of garner._cuda, which knows the libraries that this module does not. */
PyObject *device_help(const char *function, const char *format, ...);

#endif
