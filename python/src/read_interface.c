/* SPDX-License-Identifier: MIT */
/*
 * Reads objects on a GPU that have no DLPack through __cuda_array_interface__, versions 2 and 3: a dictionary
 * with a shape, strides in bytes, NumPy's name of the type, an address, and the stream that it is ready on.
 */
#include <stdlib.h>
#include <string.h>

#include "device_library.h"
#include "device_read.h"
#include "errors.h"
#include "operand.h"

enum { LEGACY_STREAM = 1 };

static int refuse(struct state *state, const char *operator, const char * name, const char *why)
{
    if (PyErr_Occurred())
        raise_from(state, GARNER_BAD_TYPE, "%s: %s has a __cuda_array_interface__ that %s", operator, name,
                   why);
    else
        raise_error(state, GARNER_BAD_TYPE, "%s: %s has a __cuda_array_interface__ that %s", operator, name,
                    why);
    return -1;
}

/* "<f4": the order of bytes, the kind, the number of bytes. */
static garner_dtype type_of(const char *text, uint64_t *item)
{
    static const struct {
        char kind;
        int bytes;
        garner_dtype dtype;
    } known[] = {{'b', 1, GARNER_BOOL}, {'i', 1, GARNER_I8},   {'i', 2, GARNER_I16}, {'i', 4, GARNER_I32},
                 {'i', 8, GARNER_I64},  {'u', 1, GARNER_U8},   {'u', 2, GARNER_U16}, {'u', 4, GARNER_U32},
                 {'u', 8, GARNER_U64},  {'f', 2, GARNER_F16},  {'f', 4, GARNER_F32}, {'f', 8, GARNER_F64},
                 {'c', 8, GARNER_C64},  {'c', 16, GARNER_C128}};
    const long bytes = text[0] && text[1] ? strtol(text + 2, NULL, 10) : 0;
    *item = 0;
    if (bytes <= 0 || bytes > INT32_MAX || text[0] == '>') return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].kind == text[1] && known[i].bytes == bytes) return known[i].dtype;
    if (strchr("VSMm", text[1]) == NULL && text[1] != 'U') return 0;
    *item = (uint64_t)bytes * (text[1] == 'U' ? 4 : 1);
    return GARNER_OPAQUE;
}

/* A borrowed reference; NULL with an exception if memory ran out. */
static PyObject *entry(PyObject *dictionary, const char *key)
{
    PyObject *name = PyUnicode_FromString(key);
    PyObject *found = name ? PyDict_GetItemWithError(dictionary, name) : NULL;
    Py_XDECREF(name);
    return found;
}

static bool take_type(struct operand *operand, PyObject *dictionary)
{
    PyObject *name = entry(dictionary, "typestr");
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    operand->tensor.dtype = text ? type_of(text, &operand->tensor.item_bytes) : 0;
    return operand->tensor.dtype != 0;
}

static bool take_numbers(PyObject *tuple, int64_t *numbers, int32_t *rank)
{
    const Py_ssize_t count = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (count < 0 || count > GARNER_MAX_RANK) return false;
    for (Py_ssize_t i = 0; i < count; i++)
        numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    *rank = (int32_t)count;
    return !PyErr_Occurred();
}

static bool take_shape(struct operand *operand, PyObject *dictionary)
{
    Py_ssize_t strides[GARNER_MAX_RANK];
    int64_t given[GARNER_MAX_RANK];
    int32_t rank;
    if (!take_numbers(entry(dictionary, "shape"), operand->shape, &operand->tensor.rank)) return false;
    PyObject *bytes = entry(dictionary, "strides");
    operand->tensor.shape = operand->shape;
    if (bytes == NULL || bytes == Py_None) return !PyErr_Occurred();
    if (!take_numbers(bytes, given, &rank) || rank != operand->tensor.rank) return false;
    for (int32_t i = 0; i < rank; i++)
        strides[i] = (Py_ssize_t)given[i];
    operand_take_strides(operand, strides, operand_item(operand));
    return !operand->odd;
}

static bool take_memory(struct operand *operand, PyObject *dictionary)
{
    PyObject *pair = entry(dictionary, "data");
    if (pair == NULL || !PyTuple_Check(pair) || PyTuple_Size(pair) != 2) return false;
    operand->tensor.data = (void *)(uintptr_t)PyLong_AsUnsignedLongLong(PyTuple_GetItem(pair, 0));
    operand->writable = PyObject_IsTrue(PyTuple_GetItem(pair, 1)) == 0;
    return !PyErr_Occurred();
}

/* Without a number there is nothing to wait for. */
static bool take_stream(struct operand *operand, PyObject *dictionary)
{
    PyObject *number = entry(dictionary, "stream");
    if (number == NULL || number == Py_None) {
        operand->place.stream = operand->beside ? operand->beside->place.stream : NULL;
        return !PyErr_Occurred();
    }
    const unsigned long long handle = PyLong_AsUnsignedLongLong(number);
    operand->place.stream = handle == LEGACY_STREAM ? NULL : (void *)(uintptr_t)handle;
    return !PyErr_Occurred() && handle != 0;
}

static bool take_device(struct state *state, struct operand *operand, const char *operator, const char * name)
{
    const struct device_library *library = device_library_get(NULL);
    int device = operand->beside ? operand->beside->place.device : 0;
    if (library && operand->tensor.data) device = device_of(library, operand->tensor.data);
    if (device == UNKNOWN_DEVICE) {
        raise_error(state, GARNER_SYSTEM, "%s: the driver does not say where %s lies", operator, name);
        return false;
    }
    return device_take_place(state, operand, device < 0 ? kDLCPU : kDLCUDA, device, operator, name);
}

static int take_dictionary(struct state *state, struct operand *operand, PyObject *dictionary,
                           const char *operator, const char * name)
{
    if (!PyDict_Check(dictionary)) return refuse(state, operator, name, "is no dictionary");
    PyObject *mask = entry(dictionary, "mask");
    if (PyErr_Occurred()) return -1;
    if (mask && mask != Py_None) return refuse(state, operator, name, "has a mask, which would be lost");
    if (!take_type(operand, dictionary))
        return refuse(state, operator, name, "has a type that garner does not know");
    if (!take_shape(operand, dictionary))
        return refuse(state, operator, name, "has no shape and strides of whole elements");
    if (!take_memory(operand, dictionary)) return refuse(state, operator, name, "has no data");
    if (!take_device(state, operand, operator, name)) return -1;
    if (!take_stream(operand, dictionary)) return refuse(state, operator, name, "has a stream that is none");
    return 1;
}

int read_interface(struct state *state, struct operand *operand, PyObject *object, const char *operator,
                   const char * name)
{
    if (PyType_Check(object)) return 0;
    PyObject *dictionary = PyObject_GetAttr(object, state->name[NAME___cuda_array_interface__]);
    if (dictionary == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    const int done = take_dictionary(state, operand, dictionary, operator, name);
    Py_DECREF(dictionary);
    return done;
}
