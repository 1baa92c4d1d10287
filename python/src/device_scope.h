/* SPDX-License-Identifier: MIT */
/*
 * garner.cuda.deferred(): launches whose errors are looked at later. A scope has a ticket for each run of
 * launches on one stream, and holds the plans that these use. It belongs to the thread that entered it.
 */
#ifndef GARNER_PYTHON_DEVICE_SCOPE_H
#define GARNER_PYTHON_DEVICE_SCOPE_H

#include "cache.h"
#include "call.h"
#include "device_library.h"

struct device_scope;

/* What a launch needs. */
struct device_launch {
    struct cached_plan *plan;
    const void *data, *indices;
    void *out, *stream;
    const struct given_indices *given; /* or NULL: errors speak of the plan's own indices */
    bool is_captured;                  /* into a CUDA graph */
};

/* The scope that this thread is in, or NULL. */
struct device_scope *device_scope_current(struct state *state);

/* Launches. False, with an exception, if that was not possible. The scope holds the plan from then on. */
bool device_scope_launch(struct state *state, struct device_scope *scope, const struct device_launch *launch);

/* Waits for all that was launched, and keeps the first error for the end. */
void device_scope_wait(struct state *state, struct device_scope *scope);

/* Keeps the exception that is set for the end, unless there is one already. */
void device_scope_keep(struct device_scope *scope);

/* For garner.cuda: a new scope as a capsule; enter answers the one that was current, or None. */
PyObject *device_scope_new(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *keywords);
PyObject *device_scope_enter(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords);
PyObject *device_scope_leave(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords);
PyObject *device_scope_check(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords);

#endif
