/* SPDX-License-Identifier: MIT */
/*
 * garner.Array: what comes back where there is no other kind to give back, as for bytes, array.array and
 * files. It has a shape and a type, the buffer protocol and DLPack, and cannot be changed in size.
 */
#ifndef GARNER_PYTHON_ARRAY_OBJECT_H
#define GARNER_PYTHON_ARRAY_OBJECT_H

#include "counted_memory.h"
#include "dlpack_abi.h"
#include "state.h"

struct array_object {
    PyObject_HEAD PyObject *weak_references;
    struct counted_memory *block;
    garner_tensor tensor; /* shape and strides are the object's own; strides are always there */
    int64_t count, bytes; /* elements; bytes of a dense copy */
    Py_ssize_t *buffer_shape, *buffer_strides;
    const char *format;     /* the buffer protocol's name of the type; NULL if it has none */
    DLDataType dlpack_type; /* DLPack's name of an opaque type; lanes 0: it has none */
    char *descr;            /* NumPy's name of an opaque type in files; or NULL */
    bool writable;
    int64_t numbers[]; /* where all those lie */
};

/* An Array over a tensor in a block, one share of which it takes over, also on failure. `format` and
 * `descr` are copied, and may be NULL. */
struct array_object *array_object_new(struct state *state, struct counted_memory *block,
                                      const garner_tensor *tensor, const char *format, const char *descr,
                                      bool writable);

/* A dense Array with fresh memory. */
struct array_object *array_object_allocate(struct state *state, const garner_shape *shape, const char *format,
                                           const char *descr);

/* Gives a fresh Array of strings, whose elements are views of characters elsewhere, characters of its own.
 * False, with MemoryError set, if there is no memory for them. */
bool array_object_own_strings(struct array_object *array);

/* A dense copy, strings with their characters. */
struct array_object *array_object_copy(struct state *state, const struct array_object *array);

bool array_object_is_dense(const struct array_object *array);

/* ---- Elements (array_list.c) ------------------------------------------------------------------ */

/* The elements as nested lists of numbers. */
PyObject *array_object_list(struct state *state, const struct array_object *array);

/* The element that many elements from the first, as a number or a string. */
PyObject *array_object_element(const struct array_object *array, int64_t offset);

/* ---- The type (array_type.c) ----------------------------------------------------------------- */

/* Makes the type and adds it to the module. */
int array_object_make_type(struct state *state, PyObject *module);

/* ---- Parts and pickles (array_part.c) --------------------------------------------------------- */

PyObject *array_subscript(PyObject *self, PyObject *key);
PyObject *array_item(PyObject *self, Py_ssize_t index);
PyObject *array_walk(PyObject *self);
PyObject *array_of_bytes(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

/* ---- Comparing, and true or false (array_compare.c) -------------------------------------------- */

PyObject *array_compare(PyObject *self, PyObject *object, int how);
PyObject *array_all(PyObject *self, PyObject *unused);
PyObject *array_any(PyObject *self, PyObject *unused);
int array_truth(PyObject *self);
int array_contains(PyObject *self, PyObject *object);

/* ---- DLPack (write_dlpack.c) ----------------------------------------------------------------- */

/* The array for another owner; NULL, with BufferError set, if DLPack lacks its type. */
DLManagedTensorVersioned *dlpack_share(const struct array_object *array);

extern const char dlpack_method_doc[], dlpack_device_doc[];
PyObject *dlpack_method(PyObject *self, PyTypeObject *type, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords);
PyObject *dlpack_device(PyObject *self, PyObject *unused);

#endif
