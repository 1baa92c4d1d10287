/* SPDX-License-Identifier: MIT */
/* A gather, from operands that have been read to the object that comes back. */
#ifndef GARNER_PYTHON_CALL_H
#define GARNER_PYTHON_CALL_H

#include "operand.h"

/* The indices as the caller gave them, where a namesake views them otherwise: errors speak of these. */
struct given_indices {
    int32_t rank;
    int64_t shape[GARNER_MAX_RANK];
};

struct call {
    struct state *state;
    garner_op op;
    const char *operator; /* for messages */
    PyObject *out;        /* given, or NULL or None */
    int threads;          /* 0: the default */
    bool scalar;          /* NumPy's scalars instead of its arrays of rank 0 */
    struct operand data, indices;
    const struct given_indices *given; /* or NULL */
    const garner_plan *plan;           /* for dense operands and out; or NULL: take one from the cache */
};

/* Reads data and indices. False: an exception is set, nothing is held. */
bool call_read(struct call *call, PyObject *data, const char *data_name, PyObject *indices,
               const char *indices_name);

/* Runs the call and releases both operands, whatever happens. */
PyObject *call_run(struct call *call);

/* Releases both operands without running anything; returns NULL. */
PyObject *call_abandon(struct call *call);

#endif
