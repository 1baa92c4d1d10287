/* SPDX-License-Identifier: MIT */
/*
 * garner.Arrays held against anything array-like, element by element, broadcast as NumPy does it; and the
 * truth of their elements. Numbers are compared exactly, whatever their types. Lists are compared object by
 * object, as Python compares their elements.
 */
#include <stdlib.h>

#include "array_object.h"
#include "buffer_format.h"
#include "element_value.h"
#include "errors.h"
#include "operand.h"

/* Now and then other threads have their turn, and somebody may have pressed Ctrl-C. */
static bool goes_on(int64_t done)
{
    enum { LOOK_EVERY = 1 << 16 };
    if (done == 0 || done % LOOK_EVERY != 0) return true;
    PyEval_RestoreThread(PyEval_SaveThread());
    return PyErr_CheckSignals() == 0;
}

/* One side of a comparison, repeated along the axes that it lacks. */
struct side {
    struct operand operand;
    PyObject *leaves; /* of a list: the elements in C order, borrowed; else NULL */
    const void *first;
    int64_t strides[GARNER_MAX_RANK]; /* in elements; 0: repeated */
};

struct comparison {
    struct state *state;
    const char *symbol;  /* for messages */
    bool equal;          /* == and not != */
    garner_shape shape;  /* of the result */
    struct side side[2]; /* the Array, and the other */
    unsigned char *out;
    int64_t done;
};

/* ---- What can be compared -------------------------------------------------------------------- */

static bool is_list(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object) || PyObject_TypeCheck(object, &PyRange_Type);
}

/* Whether the object has elements in memory of its own, as operand_read finds them. */
static bool is_array(struct state *state, PyObject *object)
{
    return Py_TYPE(object) == state->array_type || PyObject_CheckBuffer(object) ||
           PyObject_HasAttr(object, state->name[NAME___dlpack__]) ||
           PyObject_HasAttr(object, state->name[NAME___array__]) ||
           PyObject_HasAttr(object, state->name[NAME___array_interface__]);
}

/* Strings of other libraries lie in many ways; their lists are all the same. */
static PyObject *as_list(struct state *state, PyObject *object)
{
    PyObject *method = PyObject_GetAttr(object, state->name[NAME_tolist]);
    if (method == NULL) {
        PyErr_Clear();
        return Py_NewRef(object);
    }
    PyObject *list = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return list;
}

static bool read_strings(struct comparison *comparison, struct side *side, PyObject *object)
{
    PyObject *list = as_list(comparison->state, object);
    if (list == NULL) return false;
    bool is_plain = is_list(list) || PyUnicode_Check(list);
    bool read = is_plain ? operand_read_leaves(comparison->state, &side->operand, list, comparison->symbol)
                         : operand_read(comparison->state, &side->operand, object, ROLE_DATA,
                                        comparison->symbol, "the other");
    if (read && is_plain) side->leaves = side->operand.owned;
    Py_DECREF(list);
    return read;
}

/* Reads what an Array of that type is compared with. 1: read, 0: nothing that could be, -1: an exception. */
static int read_other(struct comparison *comparison, struct side *side, PyObject *object, garner_dtype dtype)
{
    struct state *state = comparison->state;
    const char *symbol = comparison->symbol;
    side->leaves = NULL;
    if (PyType_Check(object)) return 0;
    bool is_leaf =
        PyUnicode_Check(object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object);
    if (!is_leaf && !is_list(object)) {
        bool has_memory = is_array(state, object);
        if (has_memory && dtype == GARNER_STR && Py_TYPE(object) != state->array_type)
            return read_strings(comparison, side, object) ? 1 : -1;
        if (has_memory)
            return operand_read(state, &side->operand, object, ROLE_DATA, symbol, "the other") ? 1 : -1;
        if (!PyNumber_Check(object)) return 0; /* a Fraction is compared as Python does it */
    }
    if (!operand_read_leaves(state, &side->operand, object, symbol)) return -1;
    side->leaves = side->operand.owned;
    return 1;
}

static bool is_of_values(const struct comparison *comparison, const struct side *side)
{
    if (side->leaves || side->operand.tensor.dtype != GARNER_OPAQUE) return true;
    raise_error(comparison->state, GARNER_BAD_TYPE,
                "%s: elements of %llu opaque bytes are no numbers; numpy.asarray() of the Array can be "
                "compared",
                comparison->symbol, (unsigned long long)side->operand.tensor.item_bytes);
    return false;
}

/* ---- Broadcasting ---------------------------------------------------------------------------- */

static bool find_shape(struct comparison *comparison)
{
    const struct operand *a = &comparison->side[0].operand, *b = &comparison->side[1].operand;
    garner_shape *shape = &comparison->shape;
    int32_t rank = a->tensor.rank > b->tensor.rank ? a->tensor.rank : b->tensor.rank;
    *shape = (garner_shape){.rank = rank, .dtype = GARNER_BOOL};
    for (int32_t i = 0; i < rank; i++) {
        int32_t in_a = i - (rank - a->tensor.rank), in_b = i - (rank - b->tensor.rank);
        int64_t from_a = in_a >= 0 ? a->shape[in_a] : 1, from_b = in_b >= 0 ? b->shape[in_b] : 1;
        shape->extents[i] = from_a == 1 ? from_b : from_a;
        if (from_a == from_b || from_a == 1 || from_b == 1) continue;
        raise_error(comparison->state, GARNER_BAD_SHAPE,
                    "%s: axis %d has extent %lld in the Array and %lld in the other; they must be equal, or "
                    "one of them 1",
                    comparison->symbol, (int)i, (long long)from_a, (long long)from_b);
        return false;
    }
    shape->count = shape->bytes = count_elements(rank, shape->extents);
    if (shape->count < 0)
        raise_error(comparison->state, GARNER_TOO_LARGE, "%s: the result has too many elements",
                    comparison->symbol);
    return shape->count >= 0;
}

static void stretch(const struct comparison *comparison, struct side *side)
{
    const garner_tensor *tensor = &side->operand.tensor;
    int64_t own[GARNER_MAX_RANK];
    int32_t more = comparison->shape.rank - tensor->rank;
    dense_strides(tensor->rank, side->operand.shape, 1, own);
    side->first = (const char *)tensor->data + tensor->byte_offset;
    for (int32_t i = 0; i < comparison->shape.rank; i++) {
        side->strides[i] = 0;
        if (i >= more && side->operand.shape[i - more] != 1)
            side->strides[i] = tensor->strides ? side->operand.strides[i - more] : own[i - more];
    }
}

/* ---- Element by element ---------------------------------------------------------------------- */

static void load(struct value *value, const struct side *side, int64_t offset)
{
    value_load(value, side->operand.tensor.dtype, side->first, offset, side->operand.swapped);
}

/* 1: equal, 0: not, -1: an exception. */
static int compare_leaf(const struct comparison *comparison, const struct value *value, int64_t offset)
{
    PyObject *leaf = PyList_GetItem(comparison->side[1].leaves, (Py_ssize_t)offset);
    PyObject *element = value_object(value);
    int equal = element && leaf ? PyObject_RichCompareBool(element, leaf, Py_EQ) : -1;
    Py_XDECREF(element);
    if (equal < 0 && PyErr_ExceptionMatches(PyExc_Exception))
        raise_from(comparison->state, GARNER_BAD_TYPE,
                   "%s: element %lld of the list cannot be compared with one element", comparison->symbol,
                   (long long)offset);
    return equal;
}

static int compare_one(const struct comparison *comparison, int64_t in_array, int64_t in_other)
{
    struct value value, other;
    load(&value, &comparison->side[0], in_array);
    if (comparison->side[1].leaves) return compare_leaf(comparison, &value, in_other);
    load(&other, &comparison->side[1], in_other);
    return value_equals(&value, &other);
}

/* Depth is at most the rank. */
static bool compare_from(struct comparison *comparison, int32_t axis, int64_t in_array, int64_t in_other)
{
    if (axis == comparison->shape.rank) {
        int equal = compare_one(comparison, in_array, in_other);
        if (equal < 0) return false;
        comparison->out[comparison->done++] = (equal != 0) == comparison->equal;
        return goes_on(comparison->done);
    }
    for (int64_t i = 0; i < comparison->shape.extents[axis]; i++) {
        if (!compare_from(comparison, axis + 1, in_array, in_other)) return false;
        in_array += comparison->side[0].strides[axis];
        in_other += comparison->side[1].strides[axis];
    }
    return true;
}

static PyObject *compare_read(struct comparison *comparison)
{
    struct side *array = &comparison->side[0], *other = &comparison->side[1];
    if (!is_of_values(comparison, array) || !is_of_values(comparison, other) || !find_shape(comparison) ||
        !operand_settle(comparison->state, &other->operand, ROLE_DATA, comparison->symbol))
        return NULL;
    struct array_object *made = array_object_allocate(comparison->state, &comparison->shape, NULL, NULL);
    if (made == NULL) return NULL;
    comparison->out = made->tensor.data;
    stretch(comparison, array);
    stretch(comparison, other);
    operand_hold(&other->operand);
    if (operand_check_there(comparison->state, &other->operand, comparison->symbol, "the other") &&
        (made->count == 0 || compare_from(comparison, 0, 0, 0)))
        return (PyObject *)made;
    Py_DECREF((PyObject *)made);
    return NULL;
}

PyObject *array_compare(PyObject *self, PyObject *object, int how)
{
    struct state *state = state_of_type(Py_TYPE(self));
    if (how != Py_EQ && how != Py_NE) return Py_NewRef(Py_NotImplemented);
    struct comparison *comparison = state ? calloc(1, sizeof *comparison) : NULL;
    if (comparison == NULL) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    comparison->state = state;
    comparison->equal = how == Py_EQ;
    comparison->symbol = comparison->equal ? "==" : "!=";
    garner_dtype dtype = ((struct array_object *)self)->tensor.dtype;
    PyObject *result = NULL;
    int read = read_other(comparison, &comparison->side[1], object, dtype);
    if (read == 0) result = Py_NewRef(Py_NotImplemented);
    if (read > 0 &&
        operand_read(state, &comparison->side[0].operand, self, ROLE_DATA, comparison->symbol, "the Array")) {
        result = compare_read(comparison);
        operand_release(&comparison->side[0].operand);
    }
    if (read > 0) operand_release(&comparison->side[1].operand);
    free(comparison);
    return result;
}

/* ---- Truth ----------------------------------------------------------------------------------- */

/* Whether an element is as true as `looked_for`; -1 with an exception. Depth is at most the rank. */
static int find_truth(const struct array_object *array, bool looked_for, int32_t axis, int64_t offset)
{
    const garner_tensor *tensor = &array->tensor;
    struct value value;
    int found = 0;
    if (axis == tensor->rank) {
        value_load(&value, tensor->dtype, (const char *)tensor->data + tensor->byte_offset, offset,
                   format_is_swapped(array->format));
        return value_is_true(&value) == looked_for;
    }
    for (int64_t i = 0; i < tensor->shape[axis] && found == 0; i++) {
        found = find_truth(array, looked_for, axis + 1, offset + i * tensor->strides[axis]);
        if (!goes_on(i)) found = -1;
    }
    return found;
}

static int has_truth(const struct array_object *array, bool looked_for)
{
    struct state *state = state_of_type(Py_TYPE((PyObject *)(uintptr_t)array));
    if (state == NULL) return -1;
    if (array->tensor.dtype == GARNER_OPAQUE) {
        raise_error(state, GARNER_BAD_TYPE,
                    "Array: elements of %llu opaque bytes are neither true nor false; numpy.asarray() may "
                    "know them",
                    (unsigned long long)array->tensor.item_bytes);
        return -1;
    }
    return array->count == 0 ? 0 : find_truth(array, looked_for, 0, 0);
}

PyObject *array_all(PyObject *self, PyObject *unused)
{
    int found = has_truth((struct array_object *)self, false);
    (void)unused;
    return found < 0 ? NULL : PyBool_FromLong(!found);
}

PyObject *array_any(PyObject *self, PyObject *unused)
{
    int found = has_truth((struct array_object *)self, true);
    (void)unused;
    return found < 0 ? NULL : PyBool_FromLong(found);
}

int array_truth(PyObject *self)
{
    const struct array_object *array = (const struct array_object *)self;
    if (array->count == 1) return has_truth(array, true);
    struct state *state = state_of_type(Py_TYPE(self));
    if (state)
        raise_error(state, GARNER_BAD_SHAPE,
                    "Array: %lld elements are neither true nor false together; say which is meant by "
                    ".all(), .any() or .size",
                    (long long)array->count);
    return -1;
}

int array_contains(PyObject *self, PyObject *object)
{
    PyObject *equal = array_compare(self, object, Py_EQ);
    int found = -1;
    if (equal) found = equal == Py_NotImplemented ? 0 : has_truth((struct array_object *)equal, true);
    Py_XDECREF(equal);
    return found;
}
