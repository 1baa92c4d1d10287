/* SPDX-License-Identifier: MIT */
/* Calls whose data lie in the memory of a GPU. */
#ifndef GARNER_PYTHON_DEVICE_CALL_H
#define GARNER_PYTHON_DEVICE_CALL_H

#include "call.h"

/* Whether the operands lie where one call can use them; false with an exception. Indices on the host become
 * dense, to be copied. */
bool device_accept(struct call *call, const char *data_name, const char *indices_name);

/* Makes data on a device, or indices there, a view of rank 1, by its own library if a copy is needed. */
bool device_flatten(struct call *call, struct operand *operand, enum role role, const char *name);

/* As if data had one element off the axis, which was repeated: looks at indices on a device that no element
 * of the result comes from. False with an exception, or where one within deferred() is still to come. */
bool device_check_indices(struct call *call, int32_t axis);

/* Runs the call on the device of its data: the result, or NULL with an exception. */
PyObject *device_run(struct call *call);

/* For garner.cuda: how many devices there are. */
PyObject *device_count(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

#endif
