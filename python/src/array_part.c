/* SPDX-License-Identifier: MIT */
/*
 * Parts of a garner.Array: an element as a number, or a view that shares the memory. Integers and slices
 * choose them, so that Arrays can be looked at and walked through; everything beyond that is NumPy's
 * business, or gather's.
 */
#include <string.h>

#include "array_object.h"
#include "buffer_format.h"
#include "errors.h"
#include "npy.h"
#include "operand.h"
#include "show.h"

/* What is chosen so far. Strides and offset count elements. */
struct part {
    int32_t rank;
    int64_t shape[GARNER_MAX_RANK], strides[GARNER_MAX_RANK], offset;
};

static bool choose_one(struct state *state, struct part *part, int32_t axis, int64_t extent, int64_t stride,
                       PyObject *key)
{
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) return false;
    if (index < -extent || index >= extent) {
        raise_error(state, GARNER_OUT_OF_RANGE, "Array: index %zd is outside axis %d of extent %lld", index,
                    (int)axis, (long long)extent);
        return false;
    }
    part->offset += (index < 0 ? index + extent : index) * stride;
    return true;
}

static bool choose_some(struct part *part, int64_t extent, int64_t stride, PyObject *key)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(key, &start, &stop, &step) < 0) return false;
    Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)extent, &start, &stop, step);
    if (count > 0) part->offset += start * stride;
    part->shape[part->rank] = count;
    part->strides[part->rank++] = count > 1 ? step * stride : stride;
    return true;
}

static bool choose(struct state *state, struct part *part, const struct array_object *array, int32_t axis,
                   PyObject *key)
{
    int64_t extent = array->tensor.shape[axis], stride = array->tensor.strides[axis];
    if (PySlice_Check(key)) return choose_some(part, extent, stride, key);
    if (PyIndex_Check(key)) return choose_one(state, part, axis, extent, stride, key);
    raise_error(state, GARNER_BAD_TYPE,
                "Array: %s is neither an integer nor a slice; gather() picks by arrays of indices, and "
                "numpy.asarray() has every other way",
                show(key).text);
    return false;
}

static bool choose_all(struct state *state, struct part *part, const struct array_object *array,
                       PyObject *keys)
{
    Py_ssize_t given = PyTuple_Size(keys);
    if (given > array->tensor.rank) {
        raise_error(state, GARNER_OUT_OF_RANGE, "Array: %zd indices for an Array of rank %d", given,
                    (int)array->tensor.rank);
        return false;
    }
    for (int32_t axis = 0; axis < array->tensor.rank; axis++) {
        if (axis < given) {
            if (!choose(state, part, array, axis, PyTuple_GetItem(keys, axis))) return false;
        } else {
            part->shape[part->rank] = array->tensor.shape[axis];
            part->strides[part->rank++] = array->tensor.strides[axis];
        }
    }
    return true;
}

static PyObject *view_of(struct state *state, const struct array_object *array, const struct part *part)
{
    garner_tensor tensor = array->tensor;
    int bits = garner_dtype_bits(tensor.dtype);
    if (bits > 0 && bits < 8)
        return raise_error(state, GARNER_BAD_TYPE,
                           "Array: elements of %s share bytes, so that there is no view of some; gather() "
                           "copies them",
                           garner_dtype_name(tensor.dtype));
    int64_t item = bits > 0 ? bits / 8 : (int64_t)tensor.item_bytes;
    tensor.rank = part->rank;
    tensor.shape = part->shape;
    tensor.strides = part->strides;
    tensor.byte_offset += (uint64_t)(part->offset * item);
    counted_memory_share(array->block);
    struct array_object *view =
        array_object_new(state, array->block, &tensor, array->format, array->descr, array->writable);
    if (view) view->dlpack_type = array->dlpack_type;
    return (PyObject *)view;
}

PyObject *array_subscript(PyObject *self, PyObject *key)
{
    const struct array_object *array = (const struct array_object *)self;
    struct state *state = state_of_type(Py_TYPE(self));
    struct part part = {.rank = 0};
    PyObject *keys = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    bool chosen = state && keys && choose_all(state, &part, array, keys);
    Py_XDECREF(keys);
    if (!chosen) return NULL;
    bool number = part.rank == 0 && array->tensor.dtype != GARNER_OPAQUE;
    return number ? array_object_element(array, part.offset) : view_of(state, array, &part);
}

PyObject *array_item(PyObject *self, Py_ssize_t index)
{
    PyObject *key = PyLong_FromSsize_t(index), *item = key ? array_subscript(self, key) : NULL;
    Py_XDECREF(key);
    return item;
}

PyObject *array_walk(PyObject *self)
{
    if (((const struct array_object *)self)->tensor.rank > 0) return PySeqIter_New(self);
    PyErr_SetString(PyExc_TypeError, "an Array of rank 0 has nothing to walk through");
    return NULL;
}

/* ---- Pickles --------------------------------------------------------------------------------- */

static bool take_extents(struct state *state, PyObject *given, garner_shape *shape)
{
    Py_ssize_t rank = PyTuple_Check(given) ? PyTuple_Size(given) : -1;
    bool fits = rank >= 0 && rank <= GARNER_MAX_RANK;
    shape->rank = fits ? (int32_t)rank : 0;
    for (int32_t i = 0; fits && i < shape->rank; i++) {
        shape->extents[i] = PyLong_AsLongLong(PyTuple_GetItem(given, i));
        fits = shape->extents[i] >= 0;
    }
    PyErr_Clear();
    shape->count = fits ? count_elements(shape->rank, shape->extents) : -1;
    shape->bytes = shape->count < 0 ? -1 : garner_dtype_bytes(shape->dtype, shape->count, shape->item_bytes);
    if (shape->bytes < 0) raise_error(state, GARNER_BAD_SHAPE, "Array: %s is no shape", show(given).text);
    return shape->bytes >= 0;
}

static const char *text_or_null(PyObject *given)
{
    return PyUnicode_Check(given) ? PyUnicode_AsUTF8AndSize(given, NULL) : NULL;
}

/* Whether the buffer protocol's and NumPy's names, or NULL, are such as elements of this type have: whoever
 * reads the Array believes them. */
static bool check_names(struct state *state, const garner_shape *shape, const char *format, const char *descr)
{
    const int64_t item = garner_dtype_bytes(shape->dtype, 1, shape->item_bytes);
    const char *wrong = NULL;
    if (format && !format_fits(format, shape->dtype, item)) wrong = format;
    if (descr && (shape->dtype != GARNER_OPAQUE || !npy_descr_fits(descr, shape->item_bytes))) wrong = descr;
    if (wrong == NULL) return true;
    raise_error(state, GARNER_BAD_TYPE, "Array: '%.80s' is no name of elements of type %s and %lld bytes",
                wrong, garner_dtype_name(shape->dtype), (long long)item);
    return false;
}

/* (bytes, type, bytes of an element, shape, format, descr): what _pickles.py takes apart. */
PyObject *array_of_bytes(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct state *state = PyModule_GetState(module);
    if (count != 6 || keywords || !PyBytes_Check(arguments[0]))
        return raise_error(state, GARNER_BAD_ARGUMENT, "Array: not what an Array was pickled as");
    const char *name = text_or_null(arguments[1]), *format = text_or_null(arguments[4]),
               *descr = text_or_null(arguments[5]);
    garner_shape shape = {.dtype = name ? garner_dtype_from_name(name) : 0};
    if (name && strcmp(name, "opaque") == 0) {
        shape.dtype = GARNER_OPAQUE;
        shape.item_bytes = PyLong_AsUnsignedLongLong(arguments[2]);
    }
    if (PyErr_Occurred()) return NULL;
    if (shape.dtype == 0 || shape.dtype == GARNER_STR)
        return raise_error(state, GARNER_BAD_TYPE, "Array: %s is no type of numbers",
                           show(arguments[1]).text);
    if (!take_extents(state, arguments[3], &shape)) return NULL;
    if (shape.bytes != PyBytes_Size(arguments[0]))
        return raise_error(state, GARNER_BAD_SHAPE, "Array: %zd bytes for a shape of %lld",
                           PyBytes_Size(arguments[0]), (long long)shape.bytes);
    if (!check_names(state, &shape, format, descr)) return NULL;
    struct array_object *made = array_object_allocate(state, &shape, format, descr);
    if (made) memcpy(made->tensor.data, PyBytes_AsString(arguments[0]), (size_t)shape.bytes);
    return (PyObject *)made;
}
