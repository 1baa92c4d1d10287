/* SPDX-License-Identifier: MIT */
/* The type garner.Plan. */
#include "plan_object.h"

#include <stddef.h>
#include <string.h>

#include "arguments.h"
#include "call.h"
#include "errors.h"
#include "numpy.h"
#include "show.h"

struct plan_object {
    PyObject_HEAD garner_op op;
    garner_plan *plan;
    garner_tensor data, indices; /* what it is for; shapes are below */
    int64_t data_shape[GARNER_MAX_RANK], indices_shape[GARNER_MAX_RANK];
};

/* ---- Making ---------------------------------------------------------------------------------- */

garner_kind kind_of_name(struct state *state, PyObject *name)
{
    static const char *const words[][2] = {[GARNER_GATHER] = {"gather", "gather"},
                                           [GARNER_GATHER_ELEMENTS] = {"gather_elements", "gather-elements"},
                                           [GARNER_GATHER_ND] = {"gather_nd", "gather-nd"}};
    for (int kind = GARNER_GATHER; PyUnicode_Check(name) && kind <= GARNER_GATHER_ND; kind++)
        if (PyUnicode_CompareWithASCIIString(name, words[kind][0]) == 0 ||
            PyUnicode_CompareWithASCIIString(name, words[kind][1]) == 0)
            return (garner_kind)kind;
    raise_error(state, GARNER_BAD_ARGUMENT, "op is %s; it must be 'gather', 'gather_elements' or 'gather_nd'",
                show(name).text);
    return 0;
}

/* One extent after the other, and no more of what may have no end than a shape can have. */
static bool take_shape(struct state *state, const char *name, PyObject *given, garner_tensor *tensor,
                       int64_t *shape)
{
    PyObject *walk = PyObject_GetIter(given), *extent;
    int32_t rank = 0;
    bool fits = walk != NULL;
    while (fits && (extent = PyIter_Next(walk))) {
        fits = rank < GARNER_MAX_RANK && option_integer(state, "Plan", name, extent, &shape[rank]);
        if (rank++ == GARNER_MAX_RANK)
            raise_error(state, GARNER_BAD_SHAPE, "Plan: %s has more than 64 extents, which are the most",
                        name);
        Py_DECREF(extent);
    }
    Py_XDECREF(walk);
    tensor->rank = rank;
    tensor->shape = shape;
    return fits && !PyErr_Occurred();
}

/* A type by garner's, NumPy's, ONNX's or OpenVINO's name; torch writes its own in front of NumPy's. */
static garner_dtype type_of_text(PyObject *text)
{
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (name == NULL) error_forget();
    if (name && strncmp(name, "torch.", 6) == 0) name += 6;
    return name ? garner_dtype_from_name(name) : 0;
}

static bool take_type(struct state *state, const char *name, PyObject *given, garner_tensor *tensor)
{
    struct numpy *numpy = PyUnicode_Check(given) ? NULL : numpy_get(state);
    bool swapped;
    if (numpy && numpy_is_type(numpy, given)) {
        tensor->dtype = numpy_type(state, numpy, given, &tensor->item_bytes, &swapped, "Plan", name);
        return tensor->dtype != 0;
    }
    PyErr_Clear();
    const bool is_container =
        PySequence_Check(given) || PyMapping_Check(given); /* whose text may have no end */
    const bool has_name = PyUnicode_Check(given) || PyType_Check(given) || !is_container;
    PyObject *text = NULL;
    if (has_name) text = PyType_Check(given) ? PyType_GetName((PyTypeObject *)given) : PyObject_Str(given);
    tensor->dtype = type_of_text(text);
    Py_XDECREF(text);
    if (tensor->dtype == 0 || tensor->dtype == GARNER_OPAQUE) {
        raise_error(state, GARNER_BAD_TYPE,
                    "Plan: %s is %s; it must be the name of an element type, such as 'f32'", name,
                    show(given).text);
        return false;
    }
    return true;
}

static bool plan_init(struct state *state, struct plan_object *self, PyObject *const *values)
{
    garner_error error;
    garner_kind kind = kind_of_name(state, values[0]);
    if (kind == 0 || !option_operator(state, &self->op, kind, values[7], values[8], values[9])) return false;
    const char *operator= garner_kind_name(kind);
    if (!option_integer(state, operator, "axis", values[5], &self->op.axis) ||
        !option_integer(state, operator, "batch_dims", values[6], &self->op.batch_dims) ||
        !take_shape(state, "data_shape", values[1], &self->data, self->data_shape) ||
        !take_shape(state, "indices_shape", values[2], &self->indices, self->indices_shape))
        return false;
    self->data.dtype = GARNER_F32;
    self->indices.dtype = GARNER_I64;
    if ((values[3] && !take_type(state, "dtype", values[3], &self->data)) ||
        (values[4] && !take_type(state, "index_dtype", values[4], &self->indices)))
        return false;
    if (garner_plan_create(&self->plan, &self->op, &self->data, &self->indices, NULL, &error) == GARNER_OK)
        return true;
    raise_record(state, &error);
    return false;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static const struct signature signature = {"Plan",
                                               10,
                                               3,
                                               3,
                                               {NAME_op, NAME_data_shape, NAME_indices_shape, NAME_dtype,
                                                NAME_index_dtype, NAME_axis, NAME_batch_dims, NAME_spec,
                                                NAME_strict, NAME_oob}};
    PyObject *values[10];
    struct state *state = state_of_type(type);
    if (state == NULL || !arguments_unpack(state, &signature, arguments, keywords, values)) return NULL;
    allocfunc allocate = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    struct plan_object *self = (struct plan_object *)allocate(type, 0);
    if (self && !plan_init(state, self, values)) Py_CLEAR(self);
    return (PyObject *)self;
}

static void plan_free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    garner_plan_destroy(((struct plan_object *)self)->plan);
    freefunc free_memory = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
    free_memory(self);
    Py_DECREF((PyObject *)type);
}

/* ---- Calling --------------------------------------------------------------------------------- */

/* The first axis on which shapes of one rank differ, or -1. */
static int32_t differing_axis(const garner_tensor *planned, const garner_tensor *given)
{
    for (int32_t i = 0; i < planned->rank; i++)
        if (planned->shape[i] != given->shape[i]) return i;
    return -1;
}

static void refuse_extent(struct call *call, const garner_tensor *planned, const garner_tensor *given,
                          int32_t axis, const char *name)
{
    garner_error error;
    error.status = GARNER_BAD_SHAPE;
    error.has = GARNER_HAS_AXIS;
    error.axis = axis;
    PyOS_snprintf(error.message, sizeof error.message,
                  "%s: %s has extent %lld on axis %d; the plan is for %lld", call->operator, name,
                  (long long)given->shape[axis], (int)axis, (long long)planned->shape[axis]);
    raise_record(call->state, &error);
}

static bool check_operand(struct call *call, const garner_tensor *planned, const struct operand *given,
                          const char *name)
{
    const garner_tensor *tensor = &given->tensor;
    bool right = planned->dtype == tensor->dtype && planned->item_bytes == tensor->item_bytes;
    if (!right)
        raise_error(call->state, GARNER_BAD_TYPE, "%s: %s has type %s; the plan is for %s", call->operator,
                    name, garner_dtype_name(tensor->dtype), garner_dtype_name(planned->dtype));
    else if (!(right = planned->rank == tensor->rank))
        raise_error(call->state, GARNER_BAD_SHAPE, "%s: %s has rank %d; the plan is for rank %d",
                    call->operator, name, (int)tensor->rank, (int)planned->rank);
    if (!right) return false;
    int32_t axis = differing_axis(planned, tensor);
    if (axis >= 0) refuse_extent(call, planned, tensor, axis, name);
    return axis < 0;
}

static PyObject *run_plan(const struct plan_object *self, struct state *state, PyObject *const *values)
{
    struct call call;
    call.state = state;
    call.op = self->op;
    call.operator= garner_kind_name(self->op.kind);
    call.threads = 0;
    call.scalar = false;
    call.given = NULL;
    call.out = values[2];
    if (!option_threads(call.state, values[3], &call.threads)) return NULL;
    if (!call_read(&call, values[0], "data", values[1], "indices")) return NULL;
    if (!check_operand(&call, &self->data, &call.data, "data") ||
        !check_operand(&call, &self->indices, &call.indices, "indices"))
        return call_abandon(&call);
    bool dense = call.data.tensor.strides == NULL && call.indices.tensor.strides == NULL &&
                 call.data.tensor.byte_offset == 0 && call.indices.tensor.byte_offset == 0;
    call.plan = dense ? self->plan : NULL;
    return call_run(&call);
}

static PyObject *plan_call(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    static const struct signature signature = {
        "Plan", 4, 4, 2, {NAME_data, NAME_indices, NAME_out, NAME_threads}};
    struct state *state = state_of_type(Py_TYPE(object));
    PyObject *values[4];
    if (state == NULL || !arguments_unpack(state, &signature, arguments, keywords, values)) return NULL;
    for (int i = 0; i < 4; i++) /* code that reading them runs may change the dictionary they are from */
        Py_XINCREF(values[i]);
    PyObject *result = run_plan((struct plan_object *)object, state, values);
    for (int i = 0; i < 4; i++)
        Py_XDECREF(values[i]);
    return result;
}

/* ---- Looking --------------------------------------------------------------------------------- */

static PyObject *get_shape(PyObject *object, void *unused)
{
    const garner_shape *shape = garner_plan_output(((struct plan_object *)object)->plan);
    PyObject *tuple = PyTuple_New(shape->rank);
    (void)unused;
    for (int32_t i = 0; tuple && i < shape->rank; i++) {
        PyObject *number = PyLong_FromLongLong(shape->extents[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *plan_repr(PyObject *object)
{
    char line[8192];
    garner_plan_describe(((struct plan_object *)object)->plan, line, sizeof line);
    return PyUnicode_FromFormat("<garner.Plan %s>", line);
}

static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "The shape of the result.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* Calls go by the type's slot; this is for those who ask a plan for its signature. */
static PyMethodDef methods[] = {
    {"__call__", FAST(plan_call), METH_VARARGS | METH_KEYWORDS | METH_COEXIST,
     "__call__($self, /, data, indices, out=None, threads=None)\n--\n\n"
     "Gathers from data, which like indices must be of the shape and the type that the plan is for."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Plan(op, data_shape, indices_shape, *, dtype='f32', index_dtype='i64', axis=0, batch_dims=0, "
     "spec=None, strict=False, oob=None)\n--\n\n"
     "A gather whose shapes and types are checked and whose kernel is chosen once.\n\n"
     "op is 'gather', 'gather_elements' or 'gather_nd'. plan(data, indices, out=None, threads=None) runs "
     "it,\nfrom any number of threads; plan.shape is the shape of the result, and repr(plan) says which "
     "kernel runs.\n\n"
     ">>> import array, garner\n"
     ">>> plan = garner.Plan('gather', (3,), (2,), dtype='f64')\n"
     ">>> plan.shape\n"
     "(2,)\n"
     ">>> plan(array.array('d', [1.5, 2.5, 3.5]), array.array('q', [2, 0])).tolist()\n"
     "[3.5, 1.5]\n"},
    {Py_tp_new, SLOT(plan_new)},
    {Py_tp_dealloc, SLOT(plan_free_object)},
    {Py_tp_call, SLOT(plan_call)},
    {Py_tp_repr, SLOT(plan_repr)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "garner.Plan",
    .basicsize = sizeof(struct plan_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int plan_object_make_type(struct state *state, PyObject *module)
{
    state->plan_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (state->plan_type == NULL) return -1;
    return PyModule_AddObjectRef(module, "Plan", (PyObject *)state->plan_type);
}
