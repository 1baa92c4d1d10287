/* SPDX-License-Identifier: MIT */
/* The module's functions, each with its documentation. */
#ifndef GARNER_PYTHON_FUNCTIONS_H
#define GARNER_PYTHON_FUNCTIONS_H

#include "state.h"

typedef PyObject *fast_function(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                                PyObject *keywords);

/* functions.c: the operators under their own names */
extern fast_function gather, gather_elements, gather_nd;
extern const char gather_doc[], gather_elements_doc[], gather_nd_doc[];

/* numpy_torch_functions.c: under the names that other libraries give them */
extern fast_function take, take_along_axis, index_select, take_along_dim;
extern const char take_doc[], take_along_axis_doc[], index_select_doc[], take_along_dim_doc[];

/* settings.c */
extern fast_function get_num_threads, set_num_threads, cpu_info;
extern const char get_num_threads_doc[], set_num_threads_doc[], cpu_info_doc[];

#endif
