/* SPDX-License-Identifier: MIT */
/* Keeps numbers as pairs of position and integer, in one list for each operand that has any. */
#include "huge_index.h"

#include "errors.h"

bool huge_index_keep(struct operand *indices, int64_t position, PyObject *number)
{
    if (indices->beyond == NULL && !(indices->beyond = PyList_New(0))) return false;
    /* A plain integer, also of a subclass: no code of others runs when it is shown or divided. */
    PyObject *plain = PyObject_CallMethod((PyObject *)&PyLong_Type, "__index__", "O", number);
    PyObject *pair = plain ? Py_BuildValue("(LO)", (long long)position, plain) : NULL;
    int kept = pair ? PyList_Append(indices->beyond, pair) : -1;
    Py_XDECREF(plain);
    Py_XDECREF(pair);
    return kept == 0;
}

/* The pair that many pairs from the first; the number is borrowed. */
static PyObject *pair_at(const struct operand *indices, Py_ssize_t i, int64_t *position)
{
    PyObject *pair = PyList_GetItem(indices->beyond, i);
    *position = PyLong_AsLongLong(PyTuple_GetItem(pair, 0));
    return PyTuple_GetItem(pair, 1);
}

/* The extent of the axis that an index points along; 0 if there is no such axis, which is an error anyway. */
static int64_t extent_at(const garner_op *op, const struct operand *data, const struct operand *indices,
                         int64_t position)
{
    int64_t rank = data->tensor.rank, axis = op->axis < 0 ? op->axis + rank : op->axis;
    int32_t last = indices->tensor.rank - 1;
    if (op->kind == GARNER_GATHER_ND)
        axis =
            last < 0 || indices->shape[last] > rank ? -1 : op->batch_dims + position % indices->shape[last];
    return axis >= 0 && axis < rank ? data->shape[axis] : 0;
}

bool huge_index_wrap(const garner_op *op, const struct operand *data, struct operand *indices)
{
    Py_ssize_t count = op->oob == GARNER_OOB_WRAP ? PyList_Size(indices->beyond) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t position;
        PyObject *number = pair_at(indices, i, &position);
        int64_t extent = extent_at(op, data, indices, position);
        if (extent == 0) continue;
        PyObject *divisor = PyLong_FromLongLong(extent);
        PyObject *rest = divisor ? PyNumber_Remainder(number, divisor) : NULL;
        if (rest) ((int64_t *)indices->memory)[position] = PyLong_AsLongLong(rest);
        Py_XDECREF(divisor);
        Py_XDECREF(rest);
        if (PyErr_Occurred()) return false;
    }
    return true;
}

PyObject *huge_index_raise(struct state *state, const struct operand *indices, const garner_error *error)
{
    Py_ssize_t count = indices->beyond && (error->has & GARNER_HAS_VALUE) ? PyList_Size(indices->beyond) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t position;
        PyObject *number = pair_at(indices, i, &position);
        if (position == error->position) return raise_index(state, error, number);
    }
    return raise_record(state, error);
}
