/* SPDX-License-Identifier: MIT */
/* Reads the arguments of a call, and the options that most functions have. */
#include "arguments.h"

#include <string.h>

#include "errors.h"
#include "integer.h"
#include "operand.h"
#include "show.h"

/* Where a keyword belongs; -1 if nowhere. Names in calls are interned, so one look usually does. */
static int find_parameter(const struct state *state, const struct signature *signature, PyObject *keyword)
{
    for (int i = 0; i < signature->count; i++)
        if (state->name[signature->parameter[i]] == keyword) return i;
    for (int i = 0; i < signature->count; i++)
        if (PyUnicode_Compare(state->name[signature->parameter[i]], keyword) == 0) return i;
    return -1;
}

static bool put_keyword(struct state *state, const struct signature *signature, PyObject *keyword,
                        PyObject *value, PyObject **values)
{
    int at = find_parameter(state, signature, keyword);
    if (at < 0)
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", signature->function,
                     keyword);
    else if (values[at])
        PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", signature->function,
                     keyword);
    else
        values[at] = value;
    return !PyErr_Occurred();
}

static bool check_count(const struct signature *signature, Py_ssize_t count)
{
    if (count <= signature->positional) return true;
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)",
                 signature->function, signature->positional, count);
    return false;
}

static bool check_required(const struct state *state, const struct signature *signature, PyObject **values)
{
    for (int i = 0; i < signature->required; i++)
        if (values[i] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%U' (pos %d)", signature->function,
                         state->name[signature->parameter[i]], i + 1);
            return false;
        }
    return true;
}

void *arguments_capsule(PyObject *const *arguments, Py_ssize_t count, Py_ssize_t wanted, const char *name)
{
    if (count == wanted) return PyCapsule_GetPointer(arguments[0], name);
    PyErr_Format(PyExc_TypeError, "%zd arguments are needed, a %s and what is asked of it", wanted, name);
    return NULL;
}

bool arguments_take(struct state *state, const struct signature *signature, PyObject *const *arguments,
                    Py_ssize_t count, PyObject *keywords, PyObject **values)
{
    if (!check_count(signature, count)) return false;
    for (int i = 0; i < signature->count; i++)
        values[i] = i < count ? arguments[i] : NULL;
    Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t k = 0; k < named; k++)
        if (!put_keyword(state, signature, PyTuple_GetItem(keywords, k), arguments[count + k], values))
            return false;
    return check_required(state, signature, values);
}

bool arguments_unpack(struct state *state, const struct signature *signature, PyObject *tuple,
                      PyObject *dictionary, PyObject **values)
{
    Py_ssize_t count = PyTuple_Size(tuple), at = 0;
    PyObject *keyword, *value;
    if (!check_count(signature, count)) return false;
    for (int i = 0; i < signature->count; i++)
        values[i] = i < count ? PyTuple_GetItem(tuple, i) : NULL;
    while (dictionary && PyDict_Next(dictionary, &at, &keyword, &value))
        if (!put_keyword(state, signature, keyword, value, values)) return false;
    return check_required(state, signature, values);
}

/* ---- Options --------------------------------------------------------------------------------- */

static bool integer_of_long(struct state *state, const char *operator, const char * name, PyObject *given,
                            int64_t *number)
{
    int beyond;
    long long read = PyLong_AsLongLongAndOverflow(given, &beyond);
    if (beyond == 0 && read == -1 && PyErr_Occurred()) return false;
    if (beyond)
        raise_error(state, GARNER_BAD_SHAPE, "%s: %s %s does not fit in 64 bits", operator, name,
                    show(given).text);
    *number = read;
    return beyond == 0;
}

/* Sequences are refused unread: a long one would be shown at length. */
static bool is_sequence(PyObject *given)
{
    return PyList_Check(given) || PyTuple_Check(given) || PyObject_TypeCheck(given, &PyRange_Type);
}

static bool refuse_sequence(struct state *state, const char *operator, const char * name, PyObject *given)
{
    PyObject *type = PyType_GetQualName(Py_TYPE(given));
    if (type == NULL) return false;
    raise_error(state, GARNER_BAD_TYPE,
                "%s: %s is a '%U'; it must be an integer, or an array of one integer", operator, name, type);
    Py_DECREF(type);
    return false;
}

/* OpenVINO gives the axis as a tensor: of rank 0, or of one element. */
static bool integer_of_tensor(struct state *state, const char *operator, const char * name, PyObject *given,
                              int64_t *number)
{
    struct operand operand;
    if (error_passes()) return false;
    PyErr_Clear();
    if (!operand_read(state, &operand, given, ROLE_INDICES, operator, name)) {
        if (PyErr_ExceptionMatches(state->error))
            raise_from(state, GARNER_BAD_TYPE,
                       "%s: %s is %s; it must be an integer, or an array of one integer", operator, name,
                       show(given).text);
        return false;
    }
    int64_t count = count_elements(operand.tensor.rank, operand.shape);
    if (count != 1)
        raise_error(state, GARNER_BAD_TYPE,
                    "%s: %s is an array of %lld elements; it must be one integer", operator, name,
                    (long long)count);
    else if (!integer_is_type(operand.tensor.dtype))
        raise_error(state, GARNER_BAD_TYPE, "%s: %s is of type %s; it must be an integer", operator, name,
                    garner_dtype_name(operand.tensor.dtype));
    else if (operand_check_there(state, &operand, operator, name))
        operand_integer(&operand, number);
    operand_release(&operand);
    return !PyErr_Occurred();
}

bool option_integer(struct state *state, const char *operator, const char * name, PyObject *given,
                    int64_t *number)
{
    if (given == NULL) return true;
    if (PyLong_Check(given)) return integer_of_long(state, operator, name, given, number);
    if (is_sequence(given)) return refuse_sequence(state, operator, name, given);
    /* torch's tensor of one bool would pass for an index */
    bool is_tensor = PyObject_HasAttr(given, state->name[NAME___dlpack__]);
    PyObject *index = is_tensor ? NULL : PyNumber_Index(given);
    if (index == NULL) return integer_of_tensor(state, operator, name, given, number);
    bool done = integer_of_long(state, operator, name, index, number);
    Py_DECREF(index);
    return done;
}

bool option_threads(struct state *state, PyObject *given, int *threads)
{
    if (given == NULL || given == Py_None) return true;
    PyObject *index = PyNumber_Index(given);
    if (index == NULL) return false;
    int beyond;
    long long read = PyLong_AsLongLongAndOverflow(index, &beyond);
    Py_DECREF(index);
    if (beyond > 0) read = INT32_MAX;
    if (beyond < 0 || read < 1) {
        raise_error(state, GARNER_BAD_ARGUMENT, "threads is %s; it must be at least 1", show(given).text);
        return false;
    }
    *threads = read > INT32_MAX ? INT32_MAX : (int)read;
    return true;
}

static bool option_oob(struct state *state, PyObject *given, garner_oob *oob)
{
    static const char *const words[] = {[GARNER_OOB_ERROR] = "error",
                                        [GARNER_OOB_ZERO] = "zero",
                                        [GARNER_OOB_CLAMP] = "clamp",
                                        [GARNER_OOB_WRAP] = "wrap"};
    for (int i = 0; PyUnicode_Check(given) && i < 4; i++)
        if (PyUnicode_CompareWithASCIIString(given, words[i]) == 0) {
            *oob = (garner_oob)i;
            return true;
        }
    raise_error(state, GARNER_BAD_ARGUMENT, "oob is %s; it must be 'error', 'zero', 'clamp' or 'wrap'",
                show(given).text);
    return false;
}

static bool option_spec(struct state *state, PyObject *given, garner_kind kind, garner_op *op)
{
    garner_error error;
    Py_ssize_t size = 0;
    const char *text = PyUnicode_Check(given) ? PyUnicode_AsUTF8AndSize(given, &size) : NULL;
    if (text == NULL || strlen(text) != (size_t)size) {
        error_forget();
        raise_error(state, GARNER_BAD_ARGUMENT, "spec is %s; it must be a name such as 'onnx-13'",
                    show(given).text);
        return false;
    }
    if (garner_op_from_spec(op, text, kind, &error) == GARNER_OK) return true;
    raise_bad_spec(state, &error);
    return false;
}

bool option_operator(struct state *state, garner_op *op, garner_kind kind, PyObject *spec, PyObject *strict,
                     PyObject *oob)
{
    *op = (garner_op){.kind = kind};
    if (spec && spec != Py_None && !option_spec(state, spec, kind, op)) return false;
    if (oob && oob != Py_None && !option_oob(state, oob, &op->oob)) return false;
    if (strict == NULL || strict == Py_False) return true;
    op->strict = PyObject_IsTrue(strict);
    return op->strict >= 0;
}
