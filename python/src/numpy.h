/* SPDX-License-Identifier: MIT */
/*
 * NumPy's arrays, read and made through NumPy's own C interface, which is fetched at run time from
 * whatever NumPy the caller has. It is never imported on its own account.
 */
#ifndef GARNER_PYTHON_NUMPY_H
#define GARNER_PYTHON_NUMPY_H

#include "state.h"

/* Fetches the interface if NumPy has been imported by somebody; NULL if not, or (with an exception) if it
 * is not as expected. */
struct numpy *numpy_get(struct state *state);

/* Lets go of the interface. */
void numpy_free(struct state *state);

/* Whether the object is an ndarray and of no subclass. */
bool numpy_is_exact(const struct numpy *numpy, PyObject *object);

/* Whether the object is an ndarray or one of a subclass. */
bool numpy_is_array(const struct numpy *numpy, PyObject *object);

/* Whether the object is one of NumPy's scalars. */
bool numpy_is_scalar(const struct numpy *numpy, PyObject *object);

/* A new ndarray of that type, in C order, with *data at its first element. */
PyObject *numpy_new(const struct numpy *numpy, PyObject *type, const garner_shape *shape, void **data);

/* What NumPy's functions give: a scalar instead of an array of rank 0. Takes over the reference. */
PyObject *numpy_return(const struct numpy *numpy, PyObject *array);

/* The ndarray whose memory an ndarray has, and which could take it away by being resized: itself, or the one
 * that it is a view of; NULL if there is none. Borrowed. */
PyObject *numpy_owner(const struct numpy *numpy, PyObject *array);

/* Whether an ndarray has its memory there, and its elements are so many bytes. */
bool numpy_has(const struct numpy *numpy, PyObject *array, const void *data, int64_t bytes);

/* Whether two types are equivalent, byte order included. */
bool numpy_same_type(const struct numpy *numpy, PyObject *type, PyObject *other);

/* numpy.asarray(object), or NULL with an exception. */
PyObject *numpy_convert(const struct numpy *numpy, PyObject *object);

/* The garner type of a NumPy dtype object; 0 if garner cannot move its elements, with an exception. */
garner_dtype numpy_type(struct state *state, const struct numpy *numpy, PyObject *dtype, uint64_t *item_bytes,
                        bool *swapped, const char *operator, const char * name);

/* Whether the object is a NumPy dtype. */
bool numpy_is_type(const struct numpy *numpy, PyObject *object);

#endif
