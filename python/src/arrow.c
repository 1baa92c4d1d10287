/* SPDX-License-Identifier: MIT */
/* pyarrow is never imported on its own account: only where its objects are met. */
#include "arrow.h"

#include <string.h>

#include "errors.h"

static bool is_pyarrow_s(struct state *state, PyObject *object)
{
    if (PyDict_GetItemWithError(PyImport_GetModuleDict(), state->name[NAME_pyarrow]) == NULL) return false;
    PyObject *module = PyObject_GetAttr((PyObject *)Py_TYPE(object), state->name[NAME___module__]);
    const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
    bool is = text && strncmp(text, "pyarrow", 7) == 0 && (text[7] == '.' || text[7] == '\0');
    Py_XDECREF(module);
    if (text == NULL) error_forget();
    return is;
}

static PyObject *call_helper(const char *function, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    PyObject *arguments = Py_VaBuildValue(format, values), *result = NULL;
    va_end(values);
    PyObject *helper = arguments ? PyImport_ImportModule("garner._arrow") : NULL;
    PyObject *callable = helper ? PyObject_GetAttrString(helper, function) : NULL;
    if (callable) result = PyObject_CallObject(callable, arguments);
    Py_XDECREF(callable);
    Py_XDECREF(helper);
    Py_XDECREF(arguments);
    return result;
}

/* What the helper says of an array; all of it lies in a tuple that the operand holds. */
struct parts {
    PyObject *buffer, *shape;
    const char *dtype, *format;
    long long offset, item;
};

static bool take_shape(struct state *state, struct operand *operand, PyObject *shape, const char *operator,
                       const char * name)
{
    Py_ssize_t rank = PyTuple_Size(shape);
    if (rank > GARNER_MAX_RANK) {
        raise_error(state, GARNER_BAD_SHAPE, "%s: %s has rank %zd; it must be 0 to %d", operator, name, rank,
                    GARNER_MAX_RANK);
        return false;
    }
    operand->tensor.rank = (int32_t)rank;
    operand->tensor.shape = operand->shape;
    for (Py_ssize_t i = 0; i < rank; i++)
        operand->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    return !PyErr_Occurred();
}

/* Whether the elements lie within the buffer: its owner is another library. */
static bool fits_buffer(struct state *state, const struct operand *operand, const struct parts *parts,
                        const char *operator, const char * name)
{
    int64_t count = count_elements(operand->tensor.rank, operand->shape), bytes;
    if (count >= 0 && !__builtin_mul_overflow(count, (int64_t)parts->item, &bytes) && parts->offset >= 0 &&
        parts->offset <= operand->export.buffer.len && bytes <= operand->export.buffer.len - parts->offset)
        return true;
    raise_error(state, GARNER_BAD_SHAPE, "%s: %s has more elements than its buffer holds", operator, name);
    return false;
}

static int take_parts(struct state *state, struct operand *operand, const struct parts *parts,
                      const char *operator, const char * name)
{
    if (PyObject_GetBuffer(parts->buffer, &operand->export.buffer, PyBUF_SIMPLE) < 0) return -1;
    operand->origin = FROM_BUFFER;
    operand->tensor.data = (char *)operand->export.buffer.buf + parts->offset;
    operand->tensor.dtype = garner_dtype_from_name(parts->dtype);
    if (strcmp(parts->dtype, "opaque") == 0) {
        operand->tensor.dtype = GARNER_OPAQUE;
        operand->tensor.item_bytes = (uint64_t)parts->item;
        operand->format = parts->format;
    }
    if (!take_shape(state, operand, parts->shape, operator, name)) return -1;
    return fits_buffer(state, operand, parts, operator, name) ? 1 : -1;
}

int read_arrow(struct state *state, struct operand *operand, PyObject *object, const char *operator,
               const char * name)
{
    struct parts parts;
    if (!is_pyarrow_s(state, object)) return PyErr_Occurred() ? -1 : 0;
    PyObject *read = call_helper("read", "(Oss)", object, operator, name);
    if (read == NULL || read == Py_None) {
        Py_XDECREF(read);
        return read ? 0 : -1;
    }
    operand->owned = read;
    operand->like = object;
    if (!PyArg_ParseTuple(read, "OLsLsO!", &parts.buffer, &parts.offset, &parts.dtype, &parts.item,
                          &parts.format, &PyTuple_Type, &parts.shape))
        return -1;
    return take_parts(state, operand, &parts, operator, name);
}

PyObject *arrow_result(PyObject *like, PyObject *made)
{
    PyObject *result = call_helper("write", "(OO)", like, made);
    Py_DECREF(made);
    return result;
}
