/* SPDX-License-Identifier: MIT */
/*
 * Files and models, as far as they need C: the Python side (garner/_files.py, garner/_model.py) makes
 * mappings and names of it. What is loaded lies in the mapped file, and the Array keeps it mapped.
 */
#ifndef GARNER_PYTHON_FILES_H
#define GARNER_PYTHON_FILES_H

#include "array.h"
#include "array_object.h"
#include "functions.h"
#include "operand.h"

/* Lets the handlers of signals run, and raise, while a FIFO is waited for: what file_gives_up is to be. */
int file_run_handlers(void);

/* The path as the system wants it, held by *bytes: that of a file named "-", too. NULL with an exception. */
const char *file_path(PyObject *given, PyObject **bytes);

/* An Array that takes over a loaded one, also on failure. */
PyObject *array_object_of_file(struct state *state, struct array *loaded);

/* An object in any layout as a tensor in this machine's byte order; false with an exception. When all
 * arguments are read, each is to be held and checked (operand.h). */
bool read_native(struct state *state, struct operand *operand, PyObject *object, enum role role,
                 const char *operator, const char * name);

/* file_open(path, flags) -> a store's handle; file_names(handle); file_load(handle, i); file_kind(handle) */
extern fast_function file_open_store, file_names, file_load, file_is_single, file_save_all;

/* model_open_file(path), model_ports(handle), model_run_file(handle, inputs) */
extern fast_function model_open_file, model_ports, model_run_file;

/* explain_gather(op, data, indices, axis, batch_dims, spec, strict, oob, width, colour) -> text, picture */
extern fast_function explain_gather;

#endif
