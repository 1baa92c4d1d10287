/* SPDX-License-Identifier: MIT */
/*
 * The parts of NumPy's binary interface that have been the same since NumPy 1.7, declared here so that no
 * NumPy is needed to build: the front of an array, the front of a type, and some entries of the table of
 * functions. NumPy 2 moved the size of an element within a type, so its place depends on the version.
 */
#include "numpy.h"

#include <string.h>

#include "byteorder.h"
#include "errors.h"
#include "operand.h"

struct type_object {
    PyObject_HEAD PyTypeObject *scalar;
    char kind, letter, byte_order, unused;
    int number;
};

struct type_object_1 {
    struct type_object front;
    int item;
};

struct type_object_2 {
    struct type_object front;
    uint64_t flags;
    Py_ssize_t item;
};

struct array_front {
    PyObject_HEAD char *data;
    int rank;
    Py_ssize_t *shape, *strides; /* in bytes */
    PyObject *base;
    struct type_object *type;
    int flags;
};

enum { C_CONTIGUOUS = 0x1, OWNS_DATA = 0x4, WRITEABLE = 0x400 };

/* Places in the table of functions. */
enum {
    API_VERSION = 0,
    API_ARRAY = 2,
    API_TYPE = 3,
    API_SCALAR = 10,
    API_FROM_ANY = 69,
    API_RETURN = 76,
    API_NEW = 94,
    API_EQUIVALENT = 182
};

enum { NUMBER_OBJECT = 17, BUILT_IN = 24, USER_TYPES = 256, NUMBER_STRING = 2056 };

struct numpy {
    PyObject *module; /* keeps the table alive */
    bool two;         /* NumPy 2 or later */
    PyTypeObject *array_type, *type_type, *scalar_type;
    PyObject *(*from_any)(PyObject *, struct type_object *, int, int, int, PyObject *);
    PyObject *(*as_scalar)(PyObject *);
    PyObject *(*new_array)(PyTypeObject *, struct type_object *, int, const Py_ssize_t *, const Py_ssize_t *,
                           void *, int, PyObject *);
    unsigned char (*equivalent)(struct type_object *, struct type_object *);
};

/* ---- Fetching -------------------------------------------------------------------------------- */

/* A pointer to a function out of a table of pointers to anything. */
static void take_function(void *function, void *const *entry)
{
    memcpy(function, entry, sizeof *entry);
}

static struct numpy *numpy_make(PyObject *module, void *const *table)
{
    unsigned int (*version)(void);
    struct numpy *numpy = PyMem_Malloc(sizeof *numpy);
    if (numpy == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    take_function(&version, &table[API_VERSION]);
    numpy->module = Py_NewRef(module);
    numpy->two = version() >= 0x02000000;
    numpy->array_type = table[API_ARRAY];
    numpy->type_type = table[API_TYPE];
    numpy->scalar_type = table[API_SCALAR];
    take_function(&numpy->from_any, &table[API_FROM_ANY]);
    take_function(&numpy->as_scalar, &table[API_RETURN]);
    take_function(&numpy->new_array, &table[API_NEW]);
    take_function(&numpy->equivalent, &table[API_EQUIVALENT]);
    return numpy;
}

static void numpy_drop(struct numpy *numpy)
{
    if (numpy == NULL) return;
    Py_DECREF(numpy->module);
    PyMem_Free(numpy);
}

/* NumPy's module of that name, if it has been imported; a new reference. */
static PyObject *loaded_module(const char *name)
{
    PyObject *modules = PyImport_GetModuleDict();
    return Py_XNewRef(modules ? PyDict_GetItemString(modules, name) : NULL);
}

static struct numpy *numpy_fetch(void)
{
    PyObject *module = loaded_module("numpy._core._multiarray_umath");
    if (module == NULL) module = loaded_module("numpy.core._multiarray_umath");
    if (module == NULL) return NULL;
    PyObject *capsule = PyObject_GetAttrString(module, "_ARRAY_API");
    void *const *table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    struct numpy *numpy = table ? numpy_make(module, table) : NULL;
    if (capsule == NULL) PyErr_Clear(); /* NumPy is still being imported */
    Py_XDECREF(capsule);
    Py_DECREF(module);
    return numpy;
}

struct numpy *numpy_get(struct state *state)
{
    struct numpy *known = atomic_load_explicit(&state->numpy, memory_order_acquire);
    if (known) return known;
    struct numpy *made = numpy_fetch();
    if (made == NULL) return NULL;
    /* uncovered at times: seldom do two threads meet NumPy's first object */
    if (atomic_compare_exchange_strong(&state->numpy, &known, made)) return made;
    numpy_drop(made);
    return known;
}

void numpy_free(struct state *state)
{
    numpy_drop(atomic_exchange(&state->numpy, NULL));
}

/* ---- Types ----------------------------------------------------------------------------------- */

static int64_t item_of(const struct numpy *numpy, const struct type_object *type)
{
    /* uncovered: NumPy 1 is not the one installed where this is measured */
    return numpy->two ? (int64_t)((const struct type_object_2 *)type)->item
                      : (int64_t)((const struct type_object_1 *)type)->item;
}

/* C's long. */
static garner_dtype of_long(bool is_signed)
{
    static const garner_dtype of_size[][2] = {[4] = {GARNER_U32, GARNER_I32}, [8] = {GARNER_U64, GARNER_I64}};
    return of_size[sizeof(long)][is_signed];
}

/* NumPy's own types, by number; what has no number here is moved as it is, by its size. */
static garner_dtype built_in(int number)
{
    static const garner_dtype plain[BUILT_IN] = {
        [0] = GARNER_BOOL, [1] = GARNER_I8,   [2] = GARNER_U8,    [3] = GARNER_I16,  [4] = GARNER_U16,
        [5] = GARNER_I32,  [6] = GARNER_U32,  [9] = GARNER_I64,   [10] = GARNER_U64, [11] = GARNER_F32,
        [12] = GARNER_F64, [14] = GARNER_C64, [15] = GARNER_C128, [23] = GARNER_F16,
    };
    if (number == 7 || number == 8) return of_long(number == 7);
    return plain[number] ? plain[number] : GARNER_OPAQUE;
}

/* Types of other packages (ml_dtypes), by the name of their scalars. Sub-byte ones take a byte each there. */
static garner_dtype of_package(const struct type_object *type, int64_t item)
{
    PyObject *name = PyType_GetName(type->scalar);
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    garner_dtype dtype = text ? garner_dtype_from_name(text) : 0;
    PyErr_Clear();
    Py_XDECREF(name);
    return dtype && garner_dtype_bits(dtype) == 8 * item ? dtype : GARNER_OPAQUE;
}

static garner_dtype refuse_type(struct state *state, const char *operator, const char * name, const char *why)
{
    raise_error(state, GARNER_BAD_TYPE, "%s: %s %s", operator, name, why);
    return 0;
}

static bool holds_objects(struct state *state, PyObject *type)
{
    PyObject *answer = PyObject_GetAttr(type, state->name[NAME_hasobject]);
    bool holds = answer != Py_False;
    if (answer == NULL) error_forget();
    Py_XDECREF(answer);
    return holds;
}

garner_dtype numpy_type(struct state *state, const struct numpy *numpy, PyObject *dtype, uint64_t *item_bytes,
                        bool *swapped, const char *operator, const char * name)
{
    const struct type_object *type = (const struct type_object *)dtype;
    /* uncovered: only on big-endian machines */
    *swapped = type->byte_order == (byteorder_is_little() ? '>' : '<');
    if (type->number >= 0 && type->number < BUILT_IN) {
        garner_dtype known = built_in(type->number);
        if (known != GARNER_OPAQUE) return known;
    }
    if (type->number == NUMBER_STRING)
        return refuse_type(
            state, operator, name,
            "has NumPy's variable-width StringDType, whose characters lie elsewhere; convert it "
            "to fixed width with .astype('U')");
    if (type->number == NUMBER_OBJECT || type->number < 0 || holds_objects(state, dtype))
        return refuse_type(state, operator, name,
                           "is an array of Python objects, which are references and not values that can be "
                           "moved as bits; convert it to a plain type first, as with .astype(float) or "
                           ".astype('U')");
    int64_t item = item_of(numpy, type);
    garner_dtype found = type->number >= USER_TYPES ? of_package(type, item) : GARNER_OPAQUE;
    if (found == GARNER_OPAQUE) *item_bytes = (uint64_t)item;
    return found;
}

bool numpy_is_type(const struct numpy *numpy, PyObject *object)
{
    return PyType_IsSubtype(Py_TYPE(object), numpy->type_type) != 0;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

bool numpy_is_exact(const struct numpy *numpy, PyObject *object)
{
    return Py_TYPE(object) == numpy->array_type;
}

bool numpy_is_array(const struct numpy *numpy, PyObject *object)
{
    return Py_TYPE(object) == numpy->array_type || PyType_IsSubtype(Py_TYPE(object), numpy->array_type);
}

bool numpy_is_scalar(const struct numpy *numpy, PyObject *object)
{
    return PyType_IsSubtype(Py_TYPE(object), numpy->scalar_type) != 0;
}

/* NumPy has seen to it that this fits. */
static int64_t bytes_of(const struct numpy *numpy, const struct array_front *array)
{
    int64_t bytes = item_of(numpy, array->type);
    for (int i = 0; i < array->rank; i++)
        bytes *= array->shape[i];
    return bytes;
}

int read_numpy(struct state *state, struct operand *operand, PyObject *object, const char *operator,
               const char * name)
{
    const struct numpy *numpy = atomic_load_explicit(&state->numpy, memory_order_acquire);
    const struct array_front *array = (const struct array_front *)object;
    if (numpy == NULL || !numpy_is_array(numpy, object)) return 0;
    operand->origin = FROM_NUMPY;
    operand->object = object;
    operand->seen.type = Py_NewRef((PyObject *)array->type);
    operand->seen.numpy = numpy;
    operand->seen.data = array->data;
    operand->seen.bytes = bytes_of(numpy, array);
    garner_tensor *tensor = &operand->tensor;
    tensor->dtype = numpy_type(state, numpy, (PyObject *)array->type, &tensor->item_bytes,
                               &operand->swapped, operator, name);
    if (tensor->dtype == 0) return -1;
    tensor->data = array->data;
    tensor->rank = array->rank;
    tensor->shape = operand->shape;
    operand->writable = (array->flags & WRITEABLE) != 0;
    for (int i = 0; i < array->rank; i++)
        operand->shape[i] = array->shape[i];
    if (!(array->flags & C_CONTIGUOUS) && (tensor->dtype != GARNER_OPAQUE || tensor->item_bytes > 0))
        operand_take_strides(operand, array->strides, operand_item(operand));
    return 1;
}

PyObject *numpy_new(const struct numpy *numpy, PyObject *type, const garner_shape *shape, void **data)
{
    Py_ssize_t extents[GARNER_MAX_RANK];
    for (int i = 0; i < shape->rank; i++)
        extents[i] = (Py_ssize_t)shape->extents[i];
    struct type_object *own = (struct type_object *)Py_NewRef(type); /* which NumPy takes over */
    PyObject *made = numpy->new_array(numpy->array_type, own, shape->rank, extents, NULL, NULL, 0, NULL);
    if (made) *data = ((struct array_front *)made)->data;
    return made;
}

PyObject *numpy_return(const struct numpy *numpy, PyObject *array)
{
    return array && ((struct array_front *)array)->rank == 0 ? numpy->as_scalar(array) : array;
}

PyObject *numpy_owner(const struct numpy *numpy, PyObject *array)
{
    while (array && numpy_is_array(numpy, array)) {
        if (((struct array_front *)array)->flags & OWNS_DATA) return array;
        array = ((struct array_front *)array)->base;
    }
    return NULL;
}

bool numpy_has(const struct numpy *numpy, PyObject *array, const void *data, int64_t bytes)
{
    const struct array_front *front = (const struct array_front *)array;
    return front->data == data && bytes_of(numpy, front) == bytes;
}

bool numpy_same_type(const struct numpy *numpy, PyObject *type, PyObject *other)
{
    return type == other || numpy->equivalent((struct type_object *)type, (struct type_object *)other);
}

PyObject *numpy_convert(const struct numpy *numpy, PyObject *object)
{
    return numpy->from_any(object, NULL, 0, 0, 0, NULL);
}
