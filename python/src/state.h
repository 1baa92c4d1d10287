/* SPDX-License-Identifier: MIT */
/*
 * What every file of the extension module shares: Python's limited API, and the state that one
 * interpreter's copy of the module keeps. Nothing here is global, so that each interpreter has its own;
 * what threads share is either fixed once the module is made, or published atomically.
 */
#ifndef GARNER_PYTHON_STATE_H
#define GARNER_PYTHON_STATE_H

/* One binary serves CPython 3.11 and all later ones. A free-threaded Python has no such interface yet, and
 * gets a module of its own from the same sources. */
#if !defined(Py_LIMITED_API) && !defined(GARNER_PYTHON_WHOLE_API)
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "garner.h"

/* What interned_names.def lists. */
enum name {
#define NAME(word) NAME_##word,
#include "interned_names.def"
#undef NAME
    NAMES
};

/* A function as types and modules list it, among pointers to anything. */
#define SLOT(function) ((void *)(uintptr_t)(function))

/* A function of the fast kind as methods list it. */
#define FAST(function) ((PyCFunction)(void (*)(void))(function))

/* A block in which no other thread changes an object, as the interpreter's lock grants it where there is one.
 */
#ifdef Py_GIL_DISABLED
#define BEGIN_EXCLUSIVE(object) Py_BEGIN_CRITICAL_SECTION(object)
#define END_EXCLUSIVE() Py_END_CRITICAL_SECTION()
#else
#define BEGIN_EXCLUSIVE(object) {
#define END_EXCLUSIVE() }
#endif

struct numpy; /* NumPy's C interface (numpy.h) */

struct state {
    PyObject *name[NAMES];
    PyObject *error, *out_of_range, *bad_shape, *bad_type, *bad_argument, *bad_spec, *bad_file;
    PyTypeObject *array_type, *plan_type;
    _Atomic(struct numpy *) numpy; /* NULL until one of NumPy's objects has been met */
};

/* The state of the module that defines `object`'s type; NULL, and an exception, if there is none. */
struct state *state_of_type(PyTypeObject *type);

#endif
