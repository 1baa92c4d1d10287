/* SPDX-License-Identifier: MIT */
/* Writes out what is known to be short. */
#include "show.h"

#include <string.h>

#include "error_aside.h"

enum { MOST_CHARACTERS = 80, MOST_OF_STRING = 40 };

static PyObject *show_string(PyObject *string)
{
    Py_ssize_t length = PyUnicode_GetLength(string);
    if (length <= MOST_OF_STRING) return PyObject_Repr(string);
    PyObject *part = PyUnicode_Substring(string, 0, MOST_OF_STRING);
    PyObject *text = part ? PyUnicode_FromFormat("%R...", part) : NULL;
    Py_XDECREF(part);
    return text;
}

/* Without the code of a subclass. Long ones by their size: Python would not write them out either. */
static PyObject *show_integer(PyObject *number)
{
    PyObject *text = PyObject_CallMethod((PyObject *)&PyLong_Type, "__repr__", "O", number);
    if (text && PyUnicode_GetLength(text) <= MOST_CHARACTERS) return text;
    Py_XDECREF(text);
    PyErr_Clear();
    PyObject *bits = PyObject_CallMethod((PyObject *)&PyLong_Type, "bit_length", "O", number);
    text = bits ? PyUnicode_FromFormat("an integer of %S bits", bits) : NULL;
    Py_XDECREF(bits);
    return text;
}

static PyObject *show_type(PyObject *object)
{
    PyObject *name = PyType_GetQualName(Py_TYPE(object));
    PyObject *part = name ? PyUnicode_Substring(name, 0, MOST_OF_STRING) : NULL;
    PyObject *text = part ? PyUnicode_FromFormat("a '%U'", part) : NULL;
    Py_XDECREF(part);
    Py_XDECREF(name);
    return text;
}

static PyObject *text_of(PyObject *object)
{
    const PyTypeObject *type = Py_TYPE(object);
    if (type == &PyUnicode_Type) return show_string(object);
    if (object == Py_None || type == &PyBool_Type || type == &PyFloat_Type || type == &PyComplex_Type)
        return PyObject_Repr(object);
    if (PyLong_Check(object)) return show_integer(object);
    return show_type(object);
}

struct shown show(PyObject *object)
{
    struct shown shown;
    struct aside aside;
    error_put_aside(&aside);
    PyObject *text = text_of(object), *bytes = NULL;
    if (text) bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    const char *written = bytes ? PyBytes_AsString(bytes) : NULL;
    PyOS_snprintf(shown.text, sizeof shown.text, "%s", written ? written : "something");
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    error_take_back(&aside);
    return shown;
}
