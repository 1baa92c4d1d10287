/* SPDX-License-Identifier: MIT */
/*
 * Reads objects through DLPack: by the table of C functions that a type may offer, else by a capsule from
 * __dlpack__, versioned or not. A capsule is consumed as the protocol says: renamed, and its deleter called
 * once, by operand_release.
 */
#include "read_dlpack.h"

#include "device_read.h"
#include "dlpack_abi.h"
#include "error_aside.h"
#include "errors.h"
#include "garner_dlpack.h"
#include "numpy.h"
#include "operand.h"
#include "torch.h"

static const char plain[] = "dltensor", plain_used[] = "used_dltensor";
static const char versioned[] = "dltensor_versioned", versioned_used[] = "used_dltensor_versioned";

const DLPackExchangeAPI *dlpack_functions(struct state *state, PyTypeObject *type)
{
    PyObject *capsule = PyObject_GetAttr((PyObject *)type, state->name[NAME___dlpack_c_exchange_api__]);
    void *found = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    if (found == NULL) PyErr_Clear();
    Py_XDECREF(capsule); /* the type keeps it */
    const DLPackExchangeAPIHeader *header = found;
    while (header && header->version.major != DLPACK_MAJOR_VERSION)
        header = header->prev_api;
    return (const DLPackExchangeAPI *)(const void *)header;
}

/* ---- What may not be read -------------------------------------------------------------------- */

static bool check_device(struct state *state, struct operand *operand, PyObject *object, const char *operator,
                         const char * name)
{
    long long type = kDLCPU, id = 0;
    PyObject *method = PyObject_GetAttr(object, state->name[NAME___dlpack_device__]);
    if (method == NULL) {
        error_forget(); /* capsules say it themselves */
        return !PyErr_Occurred();
    }
    PyObject *pair = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (pair && PyTuple_Check(pair) && PyTuple_Size(pair) == 2) {
        type = PyLong_AsLongLong(PyTuple_GetItem(pair, 0));
        id = PyLong_AsLongLong(PyTuple_GetItem(pair, 1));
    } else if (pair) {
        PyErr_SetString(PyExc_TypeError, "__dlpack_device__ did not return a pair");
    }
    Py_XDECREF(pair);
    if (PyErr_Occurred()) {
        raise_from(state, GARNER_BAD_TYPE, "%s: %s does not say which device it is on", operator, name);
        return false;
    }
    return device_take_place(state, operand, type, id, operator, name);
}

/* ---- From a DLTensor to an operand ----------------------------------------------------------- */

/* Whether elements of less than a byte lie in a byte each. Types that nobody knows are refused by their
 * names. */
static bool is_padded(DLDataType type, uint64_t flags)
{
    const bool is_known = type.code == kDLInt || type.code == kDLUInt || type.code == kDLFloat4_e2m1fn;
    return (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) && is_known && type.bits > 0 && type.bits < 8;
}

static int take_tensor(struct state *state, struct operand *operand, const DLTensor *given, uint64_t flags,
                       const char *operator, const char * name)
{
    garner_error error;
    DLTensor copy = *given;
    if (!device_take_place(state, operand, copy.device.device_type, copy.device.device_id, operator, name))
        return -1;
    copy.device.device_type = kDLCPU; /* as far as types and shapes go */
    if (is_padded(copy.dtype, flags)) copy.dtype = (DLDataType){kDLUInt, 8, copy.dtype.lanes};
    if (copy.dtype.code == kDLFloat4_e2m1fn && copy.dtype.lanes == 2) {
        raise_error(state, GARNER_BAD_TYPE,
                    "%s: %s holds pairs of 4-bit floats, as torch.float4_e2m1fn_x2; give it "
                    ".view(torch.uint8), and .view() the result as what it was",
                    operator, name);
        return -1;
    }
    if (garner_from_dlpack(&operand->tensor, &copy, &error) != GARNER_OK) {
        raise_error(state, error.status, "%s: %s: %s", operator, name, error.message);
        return -1;
    }
    if (copy.ndim < 0 || copy.ndim > GARNER_MAX_RANK || (copy.ndim > 0 && copy.shape == NULL)) {
        raise_error(state, GARNER_BAD_SHAPE, "%s: %s has rank %d%s; it must be 0 to %d", operator, name,
                    (int)copy.ndim, copy.ndim > 0 && copy.shape == NULL ? " and no shape" : "",
                    GARNER_MAX_RANK);
        return -1;
    }
    for (int i = 0; i < copy.ndim; i++) {
        operand->shape[i] = copy.shape[i];
        operand->strides[i] = copy.strides ? copy.strides[i] : 0;
    }
    operand->tensor.shape = operand->shape;
    operand->tensor.strides = copy.strides ? operand->strides : NULL;
    if (operand->tensor.dtype == GARNER_OPAQUE) operand->dlpack_type = copy.dtype;
    return 1;
}

static int take_versioned(struct state *state, struct operand *operand, DLManagedTensorVersioned *managed,
                          const char *operator, const char * name)
{
    operand->origin = FROM_VERSIONED;
    operand->export.versioned = managed;
    operand->writable = !(managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY);
    return take_tensor(state, operand, &managed->dl_tensor, managed->flags, operator, name);
}

/* What a capsule of that name holds, or NULL. It is given out once: of two threads that have the same
 * capsule, the second finds it used. */
static void *claim(PyObject *capsule, const char *name, const char *used)
{
    void *held = NULL;
    BEGIN_EXCLUSIVE(capsule);
    if (PyCapsule_IsValid(capsule, name)) held = PyCapsule_GetPointer(capsule, name);
    if (held) PyCapsule_SetName(capsule, used);
    END_EXCLUSIVE();
    return held;
}

static int take_capsule(struct state *state, struct operand *operand, PyObject *capsule, const char *operator,
                        const char * name)
{
    DLManagedTensorVersioned *with_version = claim(capsule, versioned, versioned_used);
    if (with_version && with_version->version.major > DLPACK_MAJOR_VERSION) {
        raise_error(state, GARNER_BAD_TYPE,
                    "%s: %s comes as DLPack %u.%u; garner knows DLPack up to version %d", operator, name,
                    (unsigned)with_version->version.major, (unsigned)with_version->version.minor,
                    DLPACK_MAJOR_VERSION);
        PyCapsule_SetName(capsule, versioned); /* for somebody who knows it */
        return -1;
    }
    if (with_version) return take_versioned(state, operand, with_version, operator, name);
    DLManagedTensor *managed = claim(capsule, plain, plain_used);
    if (managed) {
        operand->origin = FROM_DLPACK;
        operand->export.managed = managed;
        operand->writable = true;
        return take_tensor(state, operand, &managed->dl_tensor, 0, operator, name);
    }
    bool used = PyCapsule_IsValid(capsule, versioned_used) || PyCapsule_IsValid(capsule, plain_used);
    raise_error(state, GARNER_BAD_TYPE, "%s: %s gives %s", operator, name,
                used ? "a DLPack capsule that has been used before" : "something else than a DLPack capsule");
    return -1;
}

/* Capsules without a version cannot say that they are read-only; the buffer protocol can. */
static bool is_frozen(PyObject *object)
{
    Py_buffer buffer;
    if (!PyObject_CheckBuffer(object)) return false;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_RECORDS_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    bool frozen = buffer.readonly != 0;
    PyBuffer_Release(&buffer);
    return frozen;
}

/* Takes over the reference to `named`, which may be NULL. */
static PyObject *call_named(PyObject *method, PyObject *named)
{
    PyObject *empty = PyTuple_New(0);
    PyObject *capsule = empty && named ? PyObject_Call(method, empty, named) : NULL;
    Py_XDECREF(empty);
    Py_XDECREF(named);
    return capsule;
}

/* `stream` is NULL for memory of the host. */
static PyObject *call_dlpack(PyObject *method, PyObject *stream)
{
    PyObject *named = Py_BuildValue("{s(ii)}", "max_version", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
    if (named && stream && PyDict_SetItemString(named, "stream", stream) < 0) Py_CLEAR(named);
    PyObject *capsule = call_named(method, named);
    if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
    PyErr_Clear(); /* an older producer */
    return stream ? call_named(method, Py_BuildValue("{sO}", "stream", stream)) : PyObject_CallNoArgs(method);
}

/* Types that DLPack lacks, as JAX's int4: by way of NumPy, if the object's library can make its own array of
 * one. */
static int read_by_numpy(struct state *state, struct operand *operand, PyObject *object, const char *operator,
                         const char * name)
{
    struct aside aside;
    error_put_aside(&aside);
    struct numpy *numpy = numpy_get(state);
    bool able = numpy && PyObject_HasAttr(object, state->name[NAME___array__]) &&
                PyObject_HasAttr(object, state->name[NAME___array_namespace__]);
    operand->owned = able ? numpy_convert(numpy, object) : NULL;
    int done = operand->owned ? read_numpy(state, operand, operand->owned, operator, name) : 0;
    if (done == 0) {
        error_take_back(&aside);
        return 0;
    }
    operand->like = object;
    Py_XDECREF(aside.type);
    Py_XDECREF(aside.value);
    Py_XDECREF(aside.traceback);
    return done;
}

static int read_by_capsule(struct state *state, struct operand *operand, PyObject *object, PyObject *method,
                           enum role role, const char *operator, const char * name)
{
    if (!check_device(state, operand, object, operator, name)) return -1;
    const bool on_device = operand->place.device >= 0;
    PyObject *stream = on_device ? device_ask_stream(operand, object) : NULL;
    PyObject *capsule = on_device && stream == NULL ? NULL : call_dlpack(method, stream);
    Py_XDECREF(stream);
    if (capsule == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
        int done = role == ROLE_OUT || on_device ? 0 : read_by_numpy(state, operand, object, operator, name);
        if (done != 0) return done;
        torch_refuse(state, object, operator, name);
        return -1;
    }
    int done = take_capsule(state, operand, capsule, operator, name);
    struct aside aside;
    error_put_aside(&aside); /* the capsule's destructor may be anybody's code */
    Py_DECREF(capsule);
    error_take_back(&aside);
    if (done > 0 && role == ROLE_OUT && operand->origin == FROM_DLPACK && is_frozen(object))
        operand->writable = false;
    return done;
}

/* The way to an object's memory: a table of functions, or a method of which it is a new reference. */
struct producer {
    const DLPackExchangeAPI *functions;
    PyObject *method;
};

/* 1: there is one, 0: there is none, -1: an exception is set. */
static int find_producer(struct state *state, PyObject *object, struct producer *producer)
{
    producer->functions = dlpack_functions(state, Py_TYPE(object));
    producer->method = NULL;
    if (producer->functions) return 1;
    producer->method = PyObject_GetAttr(object, state->name[NAME___dlpack__]);
    if (producer->method) return 1;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
}

static int read_by_functions(struct state *state, struct operand *operand, PyObject *object,
                             const DLPackExchangeAPI *functions, const char *operator, const char * name)
{
    DLManagedTensorVersioned *managed;
    if (functions->managed_tensor_from_py_object_no_sync(object, &managed) == 0) {
        const int done = take_versioned(state, operand, managed, operator, name);
        if (done > 0) device_take_stream(operand, functions);
        return done;
    }
    torch_refuse(state, object, operator, name);
    return -1;
}

int read_dlpack(struct state *state, struct operand *operand, PyObject *object, enum role role,
                const char *operator, const char * name)
{
    if (PyCapsule_CheckExact(object)) return take_capsule(state, operand, object, operator, name);
    if (PyType_Check(object)) return 0;
    PyObject *given = object;
    struct producer producer;
    int done = find_producer(state, object, &producer);
    if (done <= 0) return done;
    done = torch_means_what_it_holds(state, operand, &object, operator, name) ? 1 : -1;
    if (done > 0 && object != given) { /* which may be of another type */
        Py_CLEAR(producer.method);
        done = find_producer(state, object, &producer);
        if (done == 0) {
            raise_error(state, GARNER_BAD_TYPE, "%s: %s has a detach() without __dlpack__", operator, name);
            done = -1;
        }
    }
    if (done > 0 && producer.functions)
        done = read_by_functions(state, operand, object, producer.functions, operator, name);
    else if (done > 0)
        done = read_by_capsule(state, operand, object, producer.method, role, operator, name);
    Py_XDECREF(producer.method);
    if (done > 0 && !torch_note_type(state, operand, object, role, operator, name)) done = -1;
    return done;
}
