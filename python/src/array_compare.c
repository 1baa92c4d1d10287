/* SPDX-License-Identifier: MIT */
/*
 * garner.Arrays held against anything array-like, element by element, broadcast as NumPy does it; and the
 * truth of their elements. Numbers are compared exactly, whatever their types. Lists are compared object by
 * object, as Python compares their elements.
 */
#include <stdlib.h>

#include "array_object.h"
#include "buffer_format.h"
#include "element_block.h"
#include "element_value.h"
#include "errors.h"
#include "operand.h"

/* Now and then other threads have their turn, and somebody may have pressed Ctrl-C. */
static bool goes_on(int64_t *since, int64_t more)
{
    enum { LOOK_EVERY = 1 << 16 };
    *since += more;
    if (*since < LOOK_EVERY) return true;
    *since = 0;
    PyEval_RestoreThread(PyEval_SaveThread());
    return PyErr_CheckSignals() == 0;
}

/* One side of a comparison, repeated along the axes that it lacks. */
struct side {
    struct operand operand;
    PyObject *leaves;    /* of a list: the elements in C order, borrowed; else NULL */
    struct value single; /* of one number of Python's: what it is */
    const void *first;
    int64_t strides[GARNER_MAX_RANK]; /* in elements; 0: repeated */
};

struct comparison {
    struct state *state;
    const char *symbol;   /* for messages */
    bool equal;           /* == and not != */
    garner_shape shape;   /* of the result */
    struct side side[2];  /* the Array, and the other */
    enum block_kind kind; /* in which elements are compared; none: each by itself */
    unsigned char *out;
    int64_t done, since; /* elements; and those since other threads had their turn */
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
        error_forget();
        return PyErr_Occurred() ? NULL : Py_NewRef(object);
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

/* Takes axes together that both sides walk as one: the result is dense, whatever its rank. */
static void merge_axes(struct comparison *comparison)
{
    garner_shape *shape = &comparison->shape;
    int64_t *strides[2] = {comparison->side[0].strides, comparison->side[1].strides};
    int32_t rank = 0;
    for (int32_t i = 0; i < shape->rank; i++) {
        int64_t extent = shape->extents[i];
        bool joins = rank > 0;
        for (int k = 0; k < 2 && joins; k++)
            joins = strides[k][rank - 1] == strides[k][i] * extent;
        rank += !joins;
        shape->extents[rank - 1] = joins ? shape->extents[rank - 1] * extent : extent;
        for (int k = 0; k < 2; k++)
            strides[k][rank - 1] = strides[k][i];
    }
    shape->rank = rank;
}

/* ---- Row by row ------------------------------------------------------------------------------ */

static void load(struct value *value, const struct side *side, int64_t offset)
{
    value_load(value, side->operand.tensor.dtype, side->first, offset, side->operand.swapped);
}

/* What Python's own integers and floats are, without an object for the element. False: it takes one. */
static bool load_leaf(struct value *value, PyObject *leaf)
{
    int overflow = 0;
    if (Py_TYPE(leaf) == &PyFloat_Type) {
        value->kind = VALUE_REAL;
        value->is.part[0] = PyFloat_AsDouble(leaf);
        return true;
    }
    if (Py_TYPE(leaf) != &PyLong_Type) return false;
    value->kind = VALUE_SIGNED;
    value->is.i = PyLong_AsLongLongAndOverflow(leaf, &overflow);
    return overflow == 0;
}

/* 1: equal, 0: not, -1: an exception. */
static int compare_leaf(const struct comparison *comparison, const struct value *value, int64_t offset)
{
    PyObject *leaf = PyList_GetItem(comparison->side[1].leaves, (Py_ssize_t)offset);
    struct value other;
    if (leaf && load_leaf(&other, leaf)) return value_equals(value, &other);
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

static bool compare_singly(struct comparison *comparison, int64_t count, const int64_t offset[2],
                           const int64_t stride[2])
{
    for (int64_t i = 0; i < count; i++) {
        int equal = compare_one(comparison, offset[0] + i * stride[0], offset[1] + i * stride[1]);
        if (equal < 0) return false;
        comparison->out[comparison->done++] = (equal != 0) == comparison->equal;
        if (!goes_on(&comparison->since, 1)) return false;
    }
    return true;
}

static void compare_integers(unsigned char *out, const union block *a, const union block *b, int count,
                             int64_t limit, bool equal)
{
    for (int i = 0; i < count; i++)
        out[i] = (a->integers[i] == b->integers[i] && a->integers[i] >= limit) == equal;
}

static void compare_reals(unsigned char *out, const union block *a, const union block *b, int count,
                          bool equal)
{
    for (int i = 0; i < count; i++)
        out[i] = (a->reals[i] == b->reals[i]) == equal;
}

/* The same bits of u64 and a signed type are the same number if neither counts the highest one. */
static bool compare_blocks(struct comparison *comparison, int64_t count, const int64_t offset[2],
                           const int64_t stride[2])
{
    const struct side *side = comparison->side;
    garner_dtype dtype[2] = {side[0].operand.tensor.dtype, side[1].operand.tensor.dtype};
    int64_t limit = (dtype[0] == GARNER_U64) == (dtype[1] == GARNER_U64) ? INT64_MIN : 0;
    union block block[2];
    for (int64_t i = 0; i < count;) {
        int here = count - i < BLOCK_ELEMENTS ? (int)(count - i) : BLOCK_ELEMENTS;
        for (int k = 0; k < 2; k++)
            block_load(&block[k], comparison->kind, dtype[k], side[k].first, offset[k] + i * stride[k],
                       stride[k], here);
        unsigned char *out = comparison->out + comparison->done;
        if (comparison->kind == BLOCK_INTEGERS)
            compare_integers(out, &block[0], &block[1], here, limit, comparison->equal);
        else
            compare_reals(out, &block[0], &block[1], here, comparison->equal);
        i += here;
        comparison->done += here;
        if (!goes_on(&comparison->since, here)) return false;
    }
    return true;
}

static bool compare_row(struct comparison *comparison, int64_t count, const int64_t offset[2],
                        const int64_t stride[2])
{
    return (comparison->kind == BLOCK_NONE ? compare_singly : compare_blocks)(comparison, count, offset,
                                                                              stride);
}

/* Depth is at most the rank. */
static bool compare_from(struct comparison *comparison, int32_t axis, int64_t in_array, int64_t in_other)
{
    const garner_shape *shape = &comparison->shape;
    int64_t offset[2] = {in_array, in_other}, stride[2] = {0, 0};
    if (axis == shape->rank) return compare_row(comparison, 1, offset, stride);
    for (int k = 0; k < 2; k++)
        stride[k] = comparison->side[k].strides[axis];
    if (axis + 1 == shape->rank) return compare_row(comparison, shape->extents[axis], offset, stride);
    for (int64_t i = 0; i < shape->extents[axis]; i++)
        if (!compare_from(comparison, axis + 1, in_array + i * stride[0], in_other + i * stride[1]))
            return false;
    return true;
}

/* One integer or float of Python's lies in memory, too, and is repeated there. */
static void settle_single(struct side *side)
{
    garner_tensor *tensor = &side->operand.tensor;
    if (side->leaves == NULL || PyList_Size(side->leaves) != 1 ||
        !load_leaf(&side->single, PyList_GetItem(side->leaves, 0)))
        return;
    tensor->dtype = side->single.kind == VALUE_REAL ? GARNER_F64 : GARNER_I64;
    side->first = &side->single.is;
    side->leaves = NULL;
}

/* Looks at types once, where elements of both are numbers that lie as this machine has them. */
static enum block_kind find_kind(const struct side side[2])
{
    if (side[1].leaves || side[0].operand.swapped || side[1].operand.swapped) return BLOCK_NONE;
    return block_kind_of(side[0].operand.tensor.dtype, side[1].operand.tensor.dtype);
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
    settle_single(other);
    merge_axes(comparison);
    comparison->kind = find_kind(comparison->side);
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

struct search {
    const struct array_object *array;
    bool looked_for;
    enum block_kind kind; /* in which elements are looked at; none: each by itself */
    const void *first;
    int64_t since; /* elements since other threads had their turn */
};

static bool find_in_block(const struct search *search, int64_t offset, int64_t stride, int count)
{
    union block block;
    block_load(&block, search->kind, search->array->tensor.dtype, search->first, offset, stride, count);
    for (int i = 0; i < count; i++) {
        bool is_true = search->kind == BLOCK_INTEGERS ? block.integers[i] != 0 : block.reals[i] != 0.0;
        if (is_true == search->looked_for) return true;
    }
    return false;
}

static bool find_singly(const struct search *search, int64_t offset, int64_t stride, int count)
{
    const struct array_object *array = search->array;
    struct value value;
    for (int i = 0; i < count; i++) {
        value_load(&value, array->tensor.dtype, search->first, offset + i * stride,
                   format_is_swapped(array->format));
        if (value_is_true(&value) == search->looked_for) return true;
    }
    return false;
}

/* 1: there is an element as true as looked for, 0: there is none, -1: an exception. */
static int find_in_row(struct search *search, int64_t offset, int64_t stride, int64_t count)
{
    for (int64_t i = 0; i < count; i += BLOCK_ELEMENTS) {
        int here = count - i < BLOCK_ELEMENTS ? (int)(count - i) : BLOCK_ELEMENTS;
        bool found = (search->kind == BLOCK_NONE ? find_singly : find_in_block)(search, offset + i * stride,
                                                                                stride, here);
        if (found) return 1;
        if (!goes_on(&search->since, here)) return -1;
    }
    return 0;
}

/* The same from an axis on. Depth is at most the rank. */
static int find_truth(struct search *search, int32_t axis, int64_t offset)
{
    const garner_tensor *tensor = &search->array->tensor;
    int found = 0;
    if (axis == tensor->rank) return find_in_row(search, offset, 0, 1);
    if (axis + 1 == tensor->rank)
        return find_in_row(search, offset, tensor->strides[axis], tensor->shape[axis]);
    for (int64_t i = 0; i < tensor->shape[axis] && found == 0; i++)
        found = find_truth(search, axis + 1, offset + i * tensor->strides[axis]);
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
    garner_dtype dtype = array->tensor.dtype;
    struct search search = {.array = array, .looked_for = looked_for};
    search.kind = format_is_swapped(array->format) ? BLOCK_NONE : block_kind_of(dtype, dtype);
    search.first = (const char *)array->tensor.data + array->tensor.byte_offset;
    return array->count == 0 ? 0 : find_truth(&search, 0, 0);
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
