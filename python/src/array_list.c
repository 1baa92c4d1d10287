/* SPDX-License-Identifier: MIT */
/* The elements of a garner.Array as Python's own objects, for every element type. */
#include "array_object.h"
#include "buffer_format.h"
#include "element_value.h"
#include "errors.h"
#include "operand.h"

PyObject *array_object_element(const struct array_object *array, int64_t offset)
{
    const garner_tensor *tensor = &array->tensor;
    struct value value;
    value_load(&value, tensor->dtype, (const char *)tensor->data + tensor->byte_offset, offset,
               format_is_swapped(array->format));
    return value_object(&value);
}

/* Depth is at most the rank. */
static PyObject *list_from(const struct array_object *array, int32_t axis, int64_t offset)
{
    if (axis == array->tensor.rank) return array_object_element(array, offset);
    Py_ssize_t extent = (Py_ssize_t)array->tensor.shape[axis];
    if (PyErr_CheckSignals() < 0) return NULL; /* there may be any number of lists, also of nothing */
    PyObject *list = PyList_New(extent);
    for (Py_ssize_t i = 0; list && i < extent; i++) {
        PyObject *item = list_from(array, axis + 1, offset + i * array->tensor.strides[axis]);
        bool looks = i % (1 << 16) == 0 && i > 0; /* whether somebody pressed Ctrl-C */
        if (item == NULL || PyList_SetItem(list, i, item) < 0 || (looks && PyErr_CheckSignals() < 0))
            Py_CLEAR(list);
    }
    return list;
}

PyObject *array_object_list(struct state *state, const struct array_object *array)
{
    if (has_too_many_lists(array->tensor.rank, array->tensor.shape))
        return raise_error(state, GARNER_TOO_LARGE,
                           "tolist: the array has more than 2^24 lists and no number in them");
    if (array->tensor.dtype != GARNER_OPAQUE) return list_from(array, 0, 0);
    return raise_error(state, GARNER_BAD_TYPE,
                       "tolist: elements of %llu opaque bytes are no numbers; numpy.asarray() can show them",
                       (unsigned long long)array->tensor.item_bytes);
}
