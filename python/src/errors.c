/* SPDX-License-Identifier: MIT */
/* The exception classes, and how a garner_error becomes one of them. */
#include "errors.h"

#include <stdarg.h>
#include <string.h>

#include "show.h"

static const enum name fields[] = {NAME_status,      NAME_axis,  NAME_position,
                                   NAME_coordinates, NAME_value, NAME_bound};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* Makes garner.NAME, a kind of `base` and of the built-in `also`, which may be NULL. */
static PyObject *make_class(PyObject *module, const char *name, const char *doc, PyObject *base,
                            PyObject *also, PyObject *attributes)
{
    char full[64];
    PyOS_snprintf(full, sizeof full, "garner.%s", name);
    PyObject *bases = also ? PyTuple_Pack(2, base, also) : PyTuple_Pack(1, base);
    PyObject *made = bases ? PyErr_NewExceptionWithDoc(full, doc, bases, attributes) : NULL;
    Py_XDECREF(bases);
    if (made && PyModule_AddObjectRef(module, name, made) < 0) Py_CLEAR(made);
    return made;
}

/* Fields that do not apply are None: the class says so, and instances say the rest. */
static PyObject *no_fields(struct state *state)
{
    PyObject *attributes = PyDict_New();
    for (int i = 0; attributes && i < FIELDS; i++)
        if (PyDict_SetItem(attributes, state->name[fields[i]], Py_None) < 0) Py_CLEAR(attributes);
    return attributes;
}

int errors_make(struct state *state, PyObject *module)
{
    PyObject *none = no_fields(state);
    if (none == NULL) return -1;
    state->error =
        make_class(module, "Error",
                   "Something that garner refuses.\n\n"
                   "Attributes: status (a word such as 'out_of_range'), axis, position, coordinates, "
                   "value, bound; each None where it does not apply.",
                   PyExc_Exception, NULL, none);
    Py_DECREF(none);
    if (state->error == NULL) return -1;
    const struct {
        PyObject **made;
        garner_status status;
        const char *name, *doc;
        PyObject *also;
    } kinds[] = {
        {&state->out_of_range, GARNER_OUT_OF_RANGE, "OutOfRange", "An index lies outside its axis.",
         PyExc_IndexError},
        {&state->bad_shape, GARNER_BAD_SHAPE, "BadShape", "Rank, axis, shape, strides or overlap.",
         PyExc_ValueError},
        {&state->bad_type, GARNER_BAD_TYPE, "BadType",
         "An element type that is unknown, or not allowed here.", PyExc_TypeError},
        {&state->bad_argument, GARNER_BAD_ARGUMENT, "BadArgument",
         "An option with a value that it does not have.", PyExc_ValueError},
        {&state->bad_file, GARNER_BAD_FILE, "BadFile",
         "A file that is malformed, or holds something unsupported.", PyExc_ValueError},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) { /* a status also where Python raises it */
        PyObject *status = Py_BuildValue("{s:s}", "status", garner_status_name(kinds[i].status));
        *kinds[i].made =
            status ? make_class(module, kinds[i].name, kinds[i].doc, state->error, kinds[i].also, status)
                   : NULL;
        Py_XDECREF(status);
        if (*kinds[i].made == NULL) return -1;
    }
    state->bad_spec =
        make_class(module, "BadSpec", "An unknown spec, or one that the operator does not have.",
                   state->bad_argument, NULL, NULL);
    return state->bad_spec ? 0 : -1;
}

static PyObject *class_of(const struct state *state, garner_status status)
{
    switch (status) {
    case GARNER_OUT_OF_RANGE:
        return state->out_of_range;
    case GARNER_BAD_SHAPE:
    case GARNER_TOO_LARGE:
        return state->bad_shape;
    case GARNER_BAD_TYPE:
        return state->bad_type;
    case GARNER_BAD_ARGUMENT:
        return state->bad_argument;
    case GARNER_BAD_FILE:
    case GARNER_UNSUPPORTED:
        return state->bad_file;
    case GARNER_NO_MEMORY:
        return PyExc_MemoryError;
    case GARNER_SYSTEM:
        return PyExc_OSError;
    default:
        return state->error;
    }
}

/* Sets an attribute to a new reference, which is consumed. */
static int set_field(struct state *state, PyObject *object, enum name field, PyObject *value)
{
    int result = value ? PyObject_SetAttr(object, state->name[field], value) : -1;
    Py_XDECREF(value);
    return result;
}

static PyObject *coordinates_of(const garner_error *error)
{
    PyObject *tuple = PyTuple_New(error->rank);
    for (int32_t i = 0; tuple && i < error->rank; i++) {
        PyObject *number = PyLong_FromLongLong(error->coordinates[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static int set_fields(struct state *state, PyObject *object, const garner_error *error)
{
    uint32_t has = error->has;
    if (set_field(state, object, NAME_status, PyUnicode_FromString(garner_status_name(error->status))) < 0)
        return -1;
    if ((has & GARNER_HAS_AXIS) && set_field(state, object, NAME_axis, PyLong_FromLongLong(error->axis)) < 0)
        return -1;
    if ((has & GARNER_HAS_POSITION) &&
        (set_field(state, object, NAME_position, PyLong_FromLongLong(error->position)) < 0 ||
         set_field(state, object, NAME_coordinates, coordinates_of(error)) < 0))
        return -1;
    if ((has & GARNER_HAS_VALUE) &&
        set_field(state, object, NAME_value,
                  has & GARNER_HAS_UNSIGNED ? PyLong_FromUnsignedLongLong(error->value.u)
                                            : PyLong_FromLongLong(error->value.i)) < 0)
        return -1;
    if ((has & GARNER_HAS_BOUND) &&
        set_field(state, object, NAME_bound, PyLong_FromLongLong(error->bound)) < 0)
        return -1;
    return 0;
}

/* Raises `class`(text) with the fields of the record, or another value than that; takes over `text`. */
static PyObject *raise_class(struct state *state, PyObject *class, PyObject *text, const garner_error *error,
                             PyObject *value)
{
    PyObject *object = text ? PyObject_CallFunctionObjArgs(class, text, NULL) : NULL;
    Py_XDECREF(text);
    if (object == NULL) return NULL;
    int is_ours = PyObject_IsInstance(object, state->error);
    bool set = is_ours > 0 && set_fields(state, object, error) == 0;
    if (set && value) set = set_field(state, object, NAME_value, Py_NewRef(value)) == 0;
    if (set || is_ours == 0) PyErr_SetObject(class, object);
    Py_DECREF(object);
    return NULL;
}

static PyObject *text_of(const garner_error *error)
{
    return PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "backslashreplace");
}

PyObject *raise_record(struct state *state, const garner_error *error)
{
    if (PyErr_Occurred()) return NULL; /* of a signal's handler, which ended the call */
    return raise_class(state, class_of(state, error->status), text_of(error), error, NULL);
}

PyObject *raise_index(struct state *state, const garner_error *error, PyObject *number)
{
    PyObject *before = text_of(error);
    PyObject *shown = PyUnicode_FromFormat(" = %lld ", (long long)error->value.i);
    PyObject *right = PyUnicode_FromFormat(" = %s ", show(number).text);
    PyObject *text = before && shown && right ? PyUnicode_Replace(before, shown, right, 1) : NULL;
    Py_XDECREF(before);
    Py_XDECREF(shown);
    Py_XDECREF(right);
    return raise_class(state, class_of(state, error->status), text, error, number);
}

PyObject *raise_bad_spec(struct state *state, const garner_error *error)
{
    return raise_class(state, state->bad_spec, text_of(error), error, NULL);
}

bool error_passes(void)
{
    return PyErr_Occurred() &&
           (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError));
}

void error_forget(void)
{
    if (!error_passes()) PyErr_Clear();
}

PyObject *raise_error(struct state *state, garner_status status, const char *format, ...)
{
    va_list arguments;
    garner_error error;
    if (error_passes()) return NULL;
    error.status = status;
    error.has = 0;
    va_start(arguments, format);
    PyObject *text = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    return raise_class(state, class_of(state, status), text, &error, NULL);
}

PyObject *raise_from(struct state *state, garner_status status, const char *format, ...)
{
    PyObject *type, *cause, *traceback, *new_type, *raised, *new_traceback;
    va_list arguments;
    garner_error error;
    error.status = status;
    error.has = 0;
    if (error_passes()) return NULL;
    PyErr_Fetch(&type, &cause, &traceback);
    PyErr_NormalizeException(&type, &cause, &traceback);
    va_start(arguments, format);
    PyObject *text = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    raise_class(state, class_of(state, status), text, &error, NULL);
    PyErr_Fetch(&new_type, &raised, &new_traceback);
    PyErr_NormalizeException(&new_type, &raised, &new_traceback);
    if (raised && cause) PyException_SetCause(raised, Py_NewRef(cause));
    PyErr_Restore(new_type, raised, new_traceback);
    Py_XDECREF(type);
    Py_XDECREF(cause);
    Py_XDECREF(traceback);
    return NULL;
}
