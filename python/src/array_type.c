/* SPDX-License-Identifier: MIT */
/* The type garner.Array as Python sees it: attributes, methods, the buffer protocol. */
#include "array_object.h"

#include <stddef.h>
#include <structmember.h>

/* ---- Attributes ------------------------------------------------------------------------------ */

static PyObject *get_shape(PyObject *self, void *unused)
{
    const struct array_object *array = (const struct array_object *)self;
    PyObject *tuple = PyTuple_New(array->tensor.rank);
    (void)unused;
    for (int32_t i = 0; tuple && i < array->tensor.rank; i++) {
        PyObject *number = PyLong_FromLongLong(array->tensor.shape[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(garner_dtype_name(((struct array_object *)self)->tensor.dtype));
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((struct array_object *)self)->tensor.rank);
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(((struct array_object *)self)->count);
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(((struct array_object *)self)->bytes);
}

static PyObject *get_descr(PyObject *self, void *unused)
{
    const struct array_object *array = (const struct array_object *)self;
    (void)unused;
    return array->descr ? PyUnicode_FromString(array->descr) : Py_NewRef(Py_None);
}

static PyObject *get_format(PyObject *self, void *unused)
{
    const struct array_object *array = (const struct array_object *)self;
    (void)unused;
    return array->format ? PyUnicode_FromString(array->format) : Py_NewRef(Py_None);
}

static PyObject *get_item_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct array_object *)self)->tensor.item_bytes);
}

static PyObject *get_is_dense(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(array_object_is_dense((struct array_object *)self));
}

/* NumPy asks this where the buffer protocol fails; the rest is not worth doing in C. */
static PyObject *array_for_numpy(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *helper = PyImport_ImportModule("garner._numpy"), *result = NULL;
    PyObject *function = helper ? PyObject_GetAttrString(helper, "as_array") : NULL;
    PyObject *first = PyTuple_Pack(1, self), *all = first ? PySequence_Concat(first, arguments) : NULL;
    if (function && all) result = PyObject_Call(function, all, keywords);
    Py_XDECREF(helper);
    Py_XDECREF(function);
    Py_XDECREF(first);
    Py_XDECREF(all);
    return result;
}

static Py_ssize_t array_length(PyObject *self)
{
    const struct array_object *array = (const struct array_object *)self;
    if (array->tensor.rank > 0) return (Py_ssize_t)array->tensor.shape[0];
    PyErr_SetString(PyExc_TypeError, "an Array of rank 0 has no length");
    return -1;
}

static PyObject *array_tolist(PyObject *self, PyTypeObject *type, PyObject *const *arguments,
                              Py_ssize_t count, PyObject *keywords)
{
    struct state *state = state_of_type(type);
    (void)arguments;
    if (count > 0 || keywords) PyErr_SetString(PyExc_TypeError, "tolist() takes no arguments");
    return state && !PyErr_Occurred() ? array_object_list(state, (struct array_object *)self) : NULL;
}

static PyObject *array_tobytes(PyObject *self, PyTypeObject *type, PyObject *const *arguments,
                               Py_ssize_t count, PyObject *keywords)
{
    struct state *state = state_of_type(type);
    (void)arguments;
    if (count > 0 || keywords)
        PyErr_SetString(PyExc_TypeError, "tobytes() takes no arguments");
    else if (((struct array_object *)self)->tensor.dtype == GARNER_STR)
        PyErr_SetString(PyExc_TypeError, "strings have no bytes that could be told apart; use tolist()");
    if (state == NULL || PyErr_Occurred()) return NULL;
    struct array_object *dense = array_object_copy(state, (struct array_object *)self);
    PyObject *bytes = dense ? PyBytes_FromStringAndSize(dense->tensor.data, (Py_ssize_t)dense->bytes) : NULL;
    Py_XDECREF((PyObject *)dense);
    return bytes;
}

/* Whether the elements are few, and so are the lists that they are in: there may be many empty ones. */
static bool is_short(const struct array_object *array)
{
    enum { MOST = 64 };
    int64_t lists = 1;
    for (int32_t i = 0; i < array->tensor.rank && lists > 0; i++)
        if (__builtin_mul_overflow(lists, array->tensor.shape[i], &lists) || lists > MOST) return false;
    return true;
}

static PyObject *array_repr(PyObject *self)
{
    const struct array_object *array = (const struct array_object *)self;
    PyObject *shape = get_shape(self, NULL), *text = NULL, *list = NULL;
    struct state *state = state_of_type(Py_TYPE(self));
    if (shape && state && is_short(array) && array->tensor.dtype != GARNER_OPAQUE)
        list = array_object_list(state, array);
    if (list)
        text = PyUnicode_FromFormat("garner.Array(%R, dtype='%s')", list,
                                    garner_dtype_name(array->tensor.dtype));
    else if (shape && !PyErr_Occurred())
        text = PyUnicode_FromFormat("<garner.Array, shape %R, dtype '%s'>", shape,
                                    garner_dtype_name(array->tensor.dtype));
    Py_XDECREF(shape);
    Py_XDECREF(list);
    return text;
}

/* ---- The buffer protocol --------------------------------------------------------------------- */

/* Whether the elements lie in Fortran's order. */
static bool is_dense_backwards(const struct array_object *array)
{
    int64_t stride = 1;
    if (array->count == 0) return true;
    for (int32_t i = 0; i < array->tensor.rank; i++) {
        if (array->tensor.shape[i] != 1 && array->tensor.strides[i] != stride) return false;
        stride *= array->tensor.shape[i];
    }
    return true;
}

static bool asks_for(int flags, int what)
{
    return (flags & what) == what;
}

/* Why an Array cannot be given as somebody asks for it; NULL if it can. */
static const char *buffer_refusal(const struct array_object *array, int flags)
{
    bool dense = array_object_is_dense(array), backwards = is_dense_backwards(array);
    if ((flags & PyBUF_WRITABLE) && !array->writable) return "this Array is read-only";
    if (array->tensor.dtype == GARNER_STR) return "strings have no buffer";
    if (array->format == NULL && (flags & (PyBUF_FORMAT | PyBUF_ND)))
        return "the buffer protocol has no such element type; use tobytes(), tolist() or DLPack";
    if (!dense && (!asks_for(flags, PyBUF_STRIDES) || asks_for(flags, PyBUF_C_CONTIGUOUS)))
        return "this Array is not in C order";
    if (!backwards && asks_for(flags, PyBUF_F_CONTIGUOUS)) return "this Array is not in Fortran's order";
    if (!dense && !backwards && asks_for(flags, PyBUF_ANY_CONTIGUOUS)) return "this Array is not contiguous";
    return NULL;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct array_object *array = (struct array_object *)self;
    const char *why = buffer_refusal(array, flags);
    bool whole = array->format != NULL, shaped = (flags & PyBUF_ND) != 0;
    view->obj = NULL;
    if (why) {
        PyErr_SetString(PyExc_BufferError, why);
        return -1;
    }
    view->buf = (char *)array->tensor.data + array->tensor.byte_offset;
    view->obj = Py_NewRef(self);
    view->len = (Py_ssize_t)array->bytes;
    view->itemsize = whole && array->count > 0 ? (Py_ssize_t)(array->bytes / array->count) : 1;
    if (whole && array->count == 0)
        view->itemsize = (Py_ssize_t)garner_dtype_bytes(array->tensor.dtype, 1, array->tensor.item_bytes);
    view->readonly = !array->writable;
    view->ndim = shaped ? array->tensor.rank : 1;
    view->format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)array->format : NULL;
    view->shape = shaped ? array->buffer_shape : NULL;
    view->strides = asks_for(flags, PyBUF_STRIDES) ? array->buffer_strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

/* ---- The type -------------------------------------------------------------------------------- */

static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "The extents, as a tuple.", NULL},
    {"dtype", get_dtype, NULL, "The element type's name, such as 'f32'.", NULL},
    {"ndim", get_ndim, NULL, "The rank.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"_descr", get_descr, NULL, NULL, NULL},
    {"_format", get_format, NULL, NULL, NULL},
    {"_item_bytes", get_item_bytes, NULL, NULL, NULL},
    {"_is_dense", get_is_dense, NULL, NULL, NULL},
    {"nbytes", get_nbytes, NULL, "The bytes that the elements take.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct array_object, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef methods[] = {
    {"tolist", FAST(array_tolist), METH_METHOD | METH_FASTCALL | METH_KEYWORDS,
     "tolist($self, /)\n--\n\nThe elements as nested lists of numbers or strings."},
    {"all", array_all, METH_NOARGS, "all($self, /)\n--\n\nWhether every element is true: not 0, not empty."},
    {"any", array_any, METH_NOARGS, "any($self, /)\n--\n\nWhether some element is true: not 0, not empty."},
    {"tobytes", FAST(array_tobytes), METH_METHOD | METH_FASTCALL | METH_KEYWORDS,
     "tobytes($self, /)\n--\n\nThe elements as bytes, in C order."},
    {"__dlpack__", FAST(dlpack_method), METH_METHOD | METH_FASTCALL | METH_KEYWORDS, dlpack_method_doc},
    {"__array__", FAST(array_for_numpy), METH_VARARGS | METH_KEYWORDS,
     "__array__($self, /, dtype=None, copy=None)\n--\n\nThe elements for numpy.asarray."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, dlpack_device_doc},
    {NULL, NULL, 0, NULL},
};

static void array_free_object(PyObject *self)
{
    struct array_object *array = (struct array_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (array->weak_references) PyObject_ClearWeakRefs(self);
    counted_memory_drop(array->block);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "An array of garner's own: what comes back for bytes, array.array, lists and files.\n\n"
     "It has the buffer protocol and DLPack, so that numpy.asarray(a), memoryview(a) and\n"
     "torch.from_dlpack(a) see its memory without a copy.\n\n"
     ">>> import garner\n"
     ">>> a = garner.gather(b'spam', [3, 0])\n"
     ">>> a.shape, a.dtype, a.tolist(), bytes(a)\n"
     "((2,), 'u8', [109, 115], b'ms')\n\n"
     "Integers and slices choose an element, or a view that shares the memory:\n\n"
     ">>> a = garner.gather([[1, 2, 3], [4, 5, 6]], [1, 0])\n"
     ">>> a[0, -1], a[0].tolist(), a[:, ::2].tolist(), [max(row) for row in a]\n"
     "(6, [4, 5, 6], [[4, 6], [1, 3]], [6, 3])\n\n"
     "== and != compare element by element with anything array-like, and give an Array of bool:\n\n"
     ">>> a[0] == [4, 5, 7]\n"
     "garner.Array([True, True, False], dtype='bool')\n"
     ">>> (a == [[4, 5, 6], [1, 2, 3]]).all()\n"
     "True\n"},
    {Py_tp_dealloc, SLOT(array_free_object)},
    {Py_tp_repr, SLOT(array_repr)},
    {Py_tp_iter, SLOT(array_walk)},
    {Py_tp_richcompare, SLOT(array_compare)},
    {Py_tp_hash, SLOT(PyObject_HashNotImplemented)}, /* == is no bool, and elements may change */
    {Py_nb_bool, SLOT(array_truth)},
    {Py_sq_contains, SLOT(array_contains)},
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_sq_length, SLOT(array_length)},
    {Py_sq_item, SLOT(array_item)},
    {Py_mp_length, SLOT(array_length)},
    {Py_mp_subscript, SLOT(array_subscript)},
    {Py_bf_getbuffer, SLOT(get_buffer)},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "garner.Array",
    .basicsize = sizeof(struct array_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int array_object_make_type(struct state *state, PyObject *module)
{
    state->array_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (state->array_type == NULL) return -1;
    return PyModule_AddObjectRef(module, "Array", (PyObject *)state->array_type);
}
