/* SPDX-License-Identifier: MIT */
/* Finds the reader for an object, releases what it held, and answers small questions about it. */
#include "operand.h"

#include <stdlib.h>
#include <string.h>

#include "arrow.h"
#include "byteorder.h"
#include "error_aside.h"
#include "errors.h"
#include "integer.h"
#include "numpy.h"
#include "work.h"

/* ---- Reading --------------------------------------------------------------------------------- */

/* 1 or 0; -1 with an exception. */
static int is_masked(PyObject *object)
{
    PyObject *mask = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "mask");
    PyObject *filled = mask ? PyObject_GetAttrString((PyObject *)Py_TYPE(object), "filled") : NULL;
    const bool is = filled != NULL;
    if (!is) error_forget();
    Py_XDECREF(mask);
    Py_XDECREF(filled);
    return PyErr_Occurred() ? -1 : is;
}

/* Whether it has an attribute: 1 or 0; -1 with an exception. */
static int has(PyObject *object, PyObject *name)
{
    PyObject *found = PyObject_GetAttr(object, name);
    if (found == NULL) error_forget();
    Py_XDECREF(found);
    return PyErr_Occurred() ? -1 : found != NULL;
}

/* A subclass of ndarray, or something that NumPy can look at. */
static int read_for_numpy(struct state *state, struct operand *operand, PyObject *object,
                          const char *operator, const char * name)
{
    struct numpy *numpy = numpy_get(state);
    if (numpy == NULL) return PyErr_Occurred() ? -1 : 0;
    if (numpy_is_array(numpy, object)) {
        const int masked = is_masked(object);
        if (masked == 0) return read_numpy(state, operand, object, operator, name);
        if (masked > 0)
            raise_error(
                state, GARNER_BAD_TYPE,
                "%s: %s is a masked array, whose mask would be lost; give its .data or .filled(value)",
                operator, name);
        return -1;
    }
    int convertible = has(object, state->name[NAME___array__]);
    if (convertible == 0) convertible = has(object, state->name[NAME___array_interface__]);
    if (convertible <= 0 || PyType_Check(object)) return convertible < 0 ? -1 : 0;
    PyObject *array = numpy_convert(numpy, object);
    if (array == NULL) return -1;
    operand->owned = array;
    return read_numpy(state, operand, array, operator, name);
}

static void refuse_object(struct state *state, PyObject *object, enum role role, const char *operator,
                          const char * name)
{
    PyObject *type = PyType_GetQualName(Py_TYPE(object));
    if (type == NULL) return;
    raise_error(
        state, GARNER_BAD_TYPE,
        "%s: %s is a '%U'; it must be an array that has the buffer protocol or __dlpack__%s", operator, name,
        type, role == ROLE_OUT ? " and can be written to" : ", or a list of numbers");
    Py_DECREF(type);
}

static int read_other(struct state *state, struct operand *operand, PyObject *object, enum role role,
                      const char *operator, const char * name)
{
    bool plain = PyBytes_CheckExact(object) || PyByteArray_CheckExact(object) || PyMemoryView_Check(object);
    if (plain) return read_buffer(state, operand, object, operator, name);
    int done = role == ROLE_OUT ? 0 : read_list(state, operand, object, role, operator, name);
    struct numpy *numpy = done == 0 ? numpy_get(state) : NULL;
    bool scalar = role == ROLE_DATA && numpy && numpy_is_scalar(numpy, object);
    if (done == 0 && numpy && (scalar || numpy_is_array(numpy, object)))
        done = read_for_numpy(state, operand, object, operator, name);
    if (done == 0 && PyErr_Occurred()) return -1;
    if (done == 0) done = read_arrow(state, operand, object, operator, name);
    if (done == 0) done = read_dlpack(state, operand, object, role, operator, name);
    if (done == 0) done = read_buffer(state, operand, object, operator, name);
    if (done == 0) done = read_interface(state, operand, object, operator, name);
    if (done == 0 && role != ROLE_OUT) done = read_for_numpy(state, operand, object, operator, name);
    if (done == 0) refuse_object(state, object, role, operator, name);
    return done;
}

/* What holds nothing yet. */
static void clear(struct operand *operand, PyObject *object)
{
    operand->tensor = (garner_tensor){0};
    operand->writable = operand->swapped = operand->odd = false;
    operand->format = NULL;
    operand->object = object;
    operand->owned = operand->detached = NULL;
    operand->like = NULL;
    operand->memory = NULL;
    operand->seen.type = operand->seen.guard = NULL;
    operand->beyond = operand->torch_type = NULL;
    operand->dlpack_type = (DLDataType){0, 0, 0};
    operand->origin = FROM_LIST;
    operand->place = (struct place){.device = -1};
    operand->anywhere = false;
    operand->beside = NULL;
}

static bool read_cleared(struct state *state, struct operand *operand, PyObject *object, enum role role,
                         const char *operator, const char * name)
{
    int done = 0;
    struct numpy *numpy = atomic_load_explicit(&state->numpy, memory_order_acquire);
    if (numpy && numpy_is_exact(numpy, object))
        done = read_numpy(state, operand, object, operator, name);
    else
        done = read_array(state, operand, object);
    const bool plain = done > 0; /* if dense, in memory that NumPy or we have made */
    if (done == 0) done = read_other(state, operand, object, role, operator, name);
    if (done > 0) operand_drop_strides(operand);
    const bool known = plain && operand->tensor.strides == NULL;
    if (done > 0 && (known || operand_check_view(state, operand, operator, name))) return true;
    operand_release(operand);
    return false;
}

bool operand_read(struct state *state, struct operand *operand, PyObject *object, enum role role,
                  const char *operator, const char * name)
{
    clear(operand, object);
    return read_cleared(state, operand, object, role, operator, name);
}

bool operand_read_anywhere(struct state *state, struct operand *operand, PyObject *object, enum role role,
                           const char *operator, const char * name, const struct operand *beside)
{
    clear(operand, object);
    operand->anywhere = true;
    operand->beside = beside;
    return read_cleared(state, operand, object, role, operator, name);
}

bool operand_read_leaves(struct state *state, struct operand *operand, PyObject *object, const char *operator)
{
    clear(operand, object);
    if (read_leaves(state, operand, object, operator, "the other") > 0) return true;
    operand_release(operand);
    return false;
}

static void release_export(struct operand *operand)
{
    switch (operand->origin) {
    case FROM_BUFFER:
        PyBuffer_Release(&operand->export.buffer);
        break;
    case FROM_DLPACK:
        if (operand->export.managed->deleter) operand->export.managed->deleter(operand->export.managed);
        break;
    case FROM_VERSIONED:
        if (operand->export.versioned->deleter) operand->export.versioned->deleter(operand->export.versioned);
        break;
    default:
        break;
    }
    operand->origin = FROM_LIST;
}

/* Whether it holds nothing but memory that NumPy or we have made: small calls should cost no more. */
static bool is_plain(const struct operand *operand)
{
    const bool ours = operand->origin == FROM_NUMPY || operand->origin == FROM_ARRAY;
    return ours && !operand->seen.guard && !operand->owned && !operand->detached && !operand->beyond &&
           !operand->torch_type && !operand->memory && !PyErr_Occurred();
}

/* Exports and objects of others may run anybody's code when they end, which must not see our exception. */
void operand_release(struct operand *operand)
{
    struct aside aside;
    if (is_plain(operand)) {
        operand->origin = FROM_LIST;
        Py_CLEAR(operand->seen.type);
        return;
    }
    error_put_aside(&aside);
    release_export(operand);
    Py_CLEAR(operand->seen.guard);
    Py_CLEAR(operand->seen.type);
    Py_CLEAR(operand->owned);
    Py_CLEAR(operand->detached);
    Py_CLEAR(operand->beyond);
    Py_CLEAR(operand->torch_type);
    error_take_back(&aside);
    free(operand->memory);
    operand->memory = NULL;
}

/* ---- Small questions ------------------------------------------------------------------------- */

void operand_integer(const struct operand *operand, int64_t *number)
{
    unsigned char bytes[8];
    size_t size = (size_t)operand_item(operand);
    memcpy(bytes, (const char *)operand->tensor.data + operand->tensor.byte_offset, size);
    if (operand->swapped) byteorder_reverse(bytes, size, (unsigned)size);
    *number = integer_value(bytes, operand->tensor.dtype);
}

bool operand_same_type(struct state *state, const struct operand *data, const struct operand *out)
{
    if (data->tensor.dtype != out->tensor.dtype) return true; /* the library says it better */
    if (data->origin == FROM_NUMPY && out->origin == FROM_NUMPY)
        return numpy_same_type(numpy_get(state), data->seen.type, out->seen.type);
    const DLDataType *type = &data->dlpack_type, *other = &out->dlpack_type;
    bool same = type->code == other->code && type->bits == other->bits && type->lanes == other->lanes;
    return same && data->torch_type == out->torch_type && data->swapped == out->swapped;
}
