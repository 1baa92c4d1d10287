/* SPDX-License-Identifier: MIT */
/*
 * Reads lists, tuples, ranges and single numbers into memory made for the call. Lists may be nested as deep
 * as a tensor's rank; the walk keeps its own stack, so that lists that contain themselves end in an error.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"
#include "huge_index.h"
#include "operand.h"

enum leaf { LEAF_NONE, LEAF_BOOL, LEAF_INTEGER, LEAF_FLOAT, LEAF_COMPLEX };

/* A walk over nested sequences: the open ones, and where in each it stands. */
struct walk {
    struct state *state;
    struct operand *operand;
    const char *operator, * name;
    bool as_indices;
    int depth;                           /* open sequences */
    PyObject *sequence[GARNER_MAX_RANK]; /* held */
    Py_ssize_t at[GARNER_MAX_RANK];
};

static bool is_sequence(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object) || PyObject_TypeCheck(object, &PyRange_Type);
}

static bool is_number(PyObject *object)
{
    return PyLong_Check(object) || PyFloat_CheckExact(object) || PyComplex_CheckExact(object);
}

/* Where the walk stands, as "[0,2]"; empty for a single number. */
static const char *place(const struct walk *walk, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < walk->depth && used + 24 < size; i++)
        used += (size_t)PyOS_snprintf(text + used, size - used, "%s%zd", i ? "," : "[", walk->at[i]);
    if (walk->depth) PyOS_snprintf(text + used, size - used, "]");
    return text;
}

static bool refuse(const struct walk *walk, garner_status status, const char *what)
{
    char text[256];
    raise_error(walk->state, status, "%s: %s%s %s", walk->operator, walk->name,
                place(walk, text, sizeof text), what);
    return false;
}

/* The shape, as the first element of each list says it. */
static bool take_shape(struct walk *walk, PyObject *object)
{
    struct operand *operand = walk->operand;
    PyObject *node = Py_NewRef(object);
    bool fits = true;
    while (is_sequence(node)) {
        fits = operand->tensor.rank < GARNER_MAX_RANK;
        Py_ssize_t size = fits ? PySequence_Size(node) : -1;
        if (size < 0) break;
        operand->shape[operand->tensor.rank++] = size;
        if (size == 0) break;
        PyObject *first = PySequence_GetItem(node, 0);
        Py_DECREF(node);
        node = first;
        if (node == NULL) return false;
    }
    Py_DECREF(node);
    if (!fits) return refuse(walk, GARNER_BAD_SHAPE, "is nested deeper than 64 lists");
    if (PyErr_Occurred() &&
        PyErr_ExceptionMatches(PyExc_OverflowError)) { /* a range, or any code's __len__ */
        PyErr_Clear();
        return refuse(walk, GARNER_TOO_LARGE, "is longer than 2^63 - 1");
    }
    return !PyErr_Occurred();
}

/* In bytes. Systems may promise more. */
static int64_t memory_there_is(void)
{
    int64_t bytes, pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && !__builtin_mul_overflow(pages, page, &bytes) ? bytes : INT64_MAX;
}

/* Whether there may be so many lists and numbers as the shape says. That is asked before any of them is
 * looked at: a few short lists, each in the next many times, are more than can ever be visited. */
static bool check_size(const struct walk *walk)
{
    const struct operand *operand = walk->operand;
    const int64_t count = count_elements(operand->tensor.rank, operand->shape);
    int64_t bytes;
    if (has_too_many_lists(operand->tensor.rank, operand->shape))
        return refuse(walk, GARNER_TOO_LARGE, "has more than 2^24 lists and no number in them");
    if (count >= 0 && !__builtin_mul_overflow(count, (int64_t)sizeof(int64_t), &bytes) &&
        bytes <= memory_there_is())
        return true;
    return refuse(walk, GARNER_NO_MEMORY, "has more numbers than there is memory for");
}

/* Memory for elements of the type. */
static bool take_memory(struct walk *walk, garner_dtype dtype)
{
    struct operand *operand = walk->operand;
    const int64_t count = count_elements(operand->tensor.rank, operand->shape);
    const int64_t bytes = garner_dtype_bytes(dtype, count, 0);
    void *memory = bytes >= 0 ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (memory == NULL) return refuse(walk, GARNER_NO_MEMORY, "has more numbers than there is memory for");
    operand->memory = operand->tensor.data = memory;
    operand->tensor.dtype = dtype;
    return true;
}

/* Opens the sequence that the walk has come to. There may be many, so that somebody presses Ctrl-C. */
static bool open_sequence(struct walk *walk, PyObject *sequence)
{
    Py_ssize_t size = PyErr_CheckSignals() < 0 ? -1 : PySequence_Size(sequence);
    if (size < 0) return false;
    if (size != walk->operand->shape[walk->depth])
        return refuse(walk, GARNER_BAD_SHAPE,
                      "has another length than the first list there: the lists must "
                      "make a rectangular array");
    walk->sequence[walk->depth] = Py_NewRef(sequence);
    walk->at[walk->depth++] = 0;
    return true;
}

static void close_sequence(struct walk *walk)
{
    Py_DECREF(walk->sequence[--walk->depth]);
    if (walk->depth > 0) walk->at[walk->depth - 1]++;
}

typedef bool visit(struct walk *walk, PyObject *leaf, int64_t flat, void *context);

/* Long lists take seconds: now and then somebody may have pressed Ctrl-C. */
static bool goes_on(int64_t visited)
{
    enum { LOOK_EVERY = 1 << 16 };
    return visited % LOOK_EVERY != 0 || PyErr_CheckSignals() == 0;
}

/* What the walk does with one item of the innermost open sequence. */
static bool step(struct walk *walk, int64_t *flat, visit *visitor, void *context)
{
    PyObject *item = PySequence_GetItem(walk->sequence[walk->depth - 1], walk->at[walk->depth - 1]);
    if (item == NULL) return false;
    bool nested = is_sequence(item), inner = walk->depth == walk->operand->tensor.rank, done;
    if (nested != !inner)
        done = refuse(walk, GARNER_BAD_SHAPE,
                      "is nested differently from the first element: the lists must make "
                      "a rectangular array");
    else if (nested)
        done = open_sequence(walk, item);
    else if ((done = visitor(walk, item, (*flat)++, context) && goes_on(*flat)))
        walk->at[walk->depth - 1]++;
    Py_DECREF(item);
    return done;
}

/* Visits every number, in C order. */
static bool visit_all(struct walk *walk, PyObject *object, visit *visitor, void *context)
{
    int64_t flat = 0;
    if (walk->operand->tensor.rank == 0) return visitor(walk, object, 0, context);
    bool going = open_sequence(walk, object);
    while (going && walk->depth > 0) {
        int64_t size = walk->operand->shape[walk->depth - 1];
        if (walk->at[walk->depth - 1] >= size)
            close_sequence(walk);
        else
            going = step(walk, &flat, visitor, context);
    }
    while (walk->depth > 0)
        close_sequence(walk);
    return going;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static bool note_kind(struct walk *walk, PyObject *leaf, int64_t flat, void *context)
{
    enum leaf *kind = context, own = LEAF_NONE;
    (void)flat;
    if (PyBool_Check(leaf))
        own = LEAF_BOOL;
    else if (PyIndex_Check(leaf))
        own = LEAF_INTEGER;
    else if (PyFloat_Check(leaf))
        own = LEAF_FLOAT;
    else if (PyComplex_Check(leaf))
        own = LEAF_COMPLEX;
    if (own == LEAF_NONE) return refuse(walk, GARNER_BAD_TYPE, "is not a number");
    if (walk->as_indices && own == LEAF_BOOL)
        return refuse(walk, GARNER_BAD_TYPE,
                      "is a bool; indices are integers, and nonzero() makes some of a mask");
    if (walk->as_indices && own != LEAF_INTEGER)
        return refuse(walk, GARNER_BAD_TYPE, "is not an integer; indices are integers");
    if (own > *kind) *kind = own;
    return true;
}

static bool put_integer(struct walk *walk, PyObject *leaf, int64_t flat, int64_t *to)
{
    int beyond = 0;
    PyObject *number = PyNumber_Index(leaf);
    if (number == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        return refuse(walk, GARNER_BAD_TYPE, "is not an integer");
    }
    if (number == NULL) return false;
    to[flat] = PyLong_AsLongLongAndOverflow(number, &beyond);
    bool done = !PyErr_Occurred();
    if (beyond && walk->as_indices) {
        to[flat] = beyond > 0 ? INT64_MAX : INT64_MIN;
        done = huge_index_keep(walk->operand, flat, number);
    } else if (beyond) {
        done = refuse(walk, GARNER_BAD_TYPE, "does not fit in 64 bits");
    }
    Py_DECREF(number);
    return done;
}

static bool put_number(struct walk *walk, PyObject *leaf, int64_t flat, void *context)
{
    struct operand *operand = walk->operand;
    (void)context;
    switch (operand->tensor.dtype) {
    case GARNER_BOOL:
        ((unsigned char *)operand->memory)[flat] = leaf == Py_True;
        return true;
    case GARNER_I64:
        return put_integer(walk, leaf, flat, operand->memory);
    case GARNER_F64:
        ((double *)operand->memory)[flat] = PyFloat_AsDouble(leaf);
        return !PyErr_Occurred();
    default:
        ((double *)operand->memory)[2 * flat] = PyComplex_RealAsDouble(leaf);
        ((double *)operand->memory)[2 * flat + 1] = PyComplex_ImagAsDouble(leaf);
        return !PyErr_Occurred();
    }
}

static garner_dtype type_of(enum leaf kind, bool as_indices)
{
    switch (kind) {
    case LEAF_BOOL:
        return GARNER_BOOL;
    case LEAF_INTEGER:
        return GARNER_I64;
    case LEAF_COMPLEX:
        return GARNER_C128;
    default:
        return as_indices ? GARNER_I64 : GARNER_F64;
    }
}

int read_list(struct state *state, struct operand *operand, PyObject *object, enum role role,
              const char *operator, const char * name)
{
    struct walk walk = {.state = state,
                        .operand = operand,
                        .operator= operator,
                        .name = name,
                        .as_indices = role == ROLE_INDICES};
    enum leaf kind = LEAF_NONE;
    if (!is_sequence(object) && !is_number(object)) return 0;
    operand->tensor.shape = operand->shape;
    if (!take_shape(&walk, object) || !check_size(&walk) || !visit_all(&walk, object, note_kind, &kind) ||
        !take_memory(&walk, type_of(kind, walk.as_indices)))
        return -1;
    return visit_all(&walk, object, put_number, NULL) ? 1 : -1;
}

static bool keep_leaf(struct walk *walk, PyObject *leaf, int64_t flat, void *context)
{
    (void)flat;
    (void)context;
    return PyList_Append(walk->operand->owned, leaf) == 0;
}

int read_leaves(struct state *state, struct operand *operand, PyObject *object, const char *operator,
                const char * name)
{
    struct walk walk = {.state = state, .operand = operand, .operator= operator, .name = name };
    operand->tensor.shape = operand->shape;
    operand->owned = PyList_New(0);
    return operand->owned && take_shape(&walk, object) && check_size(&walk) &&
                   visit_all(&walk, object, keep_leaf, NULL)
               ? 1
               : -1;
}
