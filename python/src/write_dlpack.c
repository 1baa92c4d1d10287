/* SPDX-License-Identifier: MIT */
/* garner.Array's side of DLPack: capsules of both kinds, that keep the memory and not the Python object. */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "array_object.h"
#include "dlpack_abi.h"
#include "errors.h"
#include "garner_dlpack.h"

/* What a capsule points to: one of the two forms, then the shape and the strides. */
struct shared {
    union {
        DLManagedTensor plain;
        DLManagedTensorVersioned versioned;
    } form;
    struct counted_memory *block;
    int64_t numbers[];
};

static void free_shared(struct shared *shared)
{
    counted_memory_drop(shared->block);
    free(shared);
}

static void delete_plain(DLManagedTensor *self)
{
    free_shared(self->manager_ctx);
}

static void delete_versioned(DLManagedTensorVersioned *self)
{
    free_shared(self->manager_ctx);
}

/* The array as DLPack has it; false if it lacks the type. Opaque elements may have come from there. */
static bool describe(const struct array_object *array, DLTensor *tensor)
{
    garner_tensor known = array->tensor;
    bool foreign = known.dtype == GARNER_OPAQUE && array->dlpack_type.lanes > 0;
    if (foreign) known.dtype = GARNER_U8;
    if (garner_to_dlpack(tensor, &known, NULL) != GARNER_OK) return false;
    if (foreign) tensor->dtype = array->dlpack_type;
    return true;
}

static struct shared *share(const struct array_object *array, DLTensor *tensor)
{
    int32_t rank = array->tensor.rank;
    if (!describe(array, tensor)) {
        PyErr_Format(PyExc_BufferError, "DLPack has no type for %s", garner_dtype_name(array->tensor.dtype));
        return NULL;
    }
    struct shared *shared = malloc(sizeof *shared + 2 * (size_t)rank * sizeof shared->numbers[0]);
    if (shared == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    tensor->shape = shared->numbers;
    tensor->strides = shared->numbers + rank;
    for (int32_t i = 0; i < rank; i++) {
        tensor->shape[i] = array->tensor.shape[i];
        tensor->strides[i] = array->tensor.strides[i];
    }
    counted_memory_share(array->block);
    shared->block = array->block;
    return shared;
}

DLManagedTensorVersioned *dlpack_share(const struct array_object *array)
{
    DLTensor tensor;
    struct shared *shared = share(array, &tensor);
    if (shared == NULL) return NULL;
    shared->form.versioned = (DLManagedTensorVersioned){
        .version = {DLPACK_MAJOR_VERSION, 0},
        .manager_ctx = shared,
        .deleter = delete_versioned,
        .flags = array->writable ? 0 : DLPACK_FLAG_BITMASK_READ_ONLY,
        .dl_tensor = tensor,
    };
    return &shared->form.versioned;
}

/* Capsules that nobody consumed release what they hold. */
static void drop_versioned(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return;
    DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    managed->deleter(managed);
}

static void drop_plain(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    DLManagedTensor *managed = PyCapsule_GetPointer(capsule, "dltensor");
    managed->deleter(managed);
}

static PyObject *versioned_capsule(const struct array_object *array, bool copied)
{
    DLManagedTensorVersioned *managed = dlpack_share(array);
    if (managed == NULL) return NULL;
    if (copied) managed->flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
    PyObject *capsule = PyCapsule_New(managed, "dltensor_versioned", drop_versioned);
    if (capsule == NULL) managed->deleter(managed);
    return capsule;
}

static PyObject *plain_capsule(const struct array_object *array)
{
    DLTensor tensor;
    if (!array->writable) {
        PyErr_SetString(PyExc_BufferError,
                        "this Array is read-only, which DLPack before version 1 cannot say; "
                        "ask with max_version=(1, 0), or load with copy=True");
        return NULL;
    }
    struct shared *shared = share(array, &tensor);
    if (shared == NULL) return NULL;
    shared->form.plain = (DLManagedTensor){tensor, shared, delete_plain};
    PyObject *capsule = PyCapsule_New(&shared->form.plain, "dltensor", drop_plain);
    if (capsule == NULL) free_shared(shared);
    return capsule;
}

/* ---- The methods ----------------------------------------------------------------------------- */

const char dlpack_method_doc[] =
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
    "A DLPack capsule of this array, for from_dlpack of other libraries.";
const char dlpack_device_doc[] =
    "__dlpack_device__($self, /)\n--\n\nThe device as DLPack numbers it: (1, 0), the CPU.";

/* 1 if a capsule with a version may be given, 0 if not, -1 with an exception. */
static int may_be_versioned(PyObject *version)
{
    if (version == NULL || version == Py_None) return 0;
    PyObject *major =
        PyTuple_Check(version) && PyTuple_Size(version) == 2 ? PyTuple_GetItem(version, 0) : NULL;
    if (major == NULL || !PyLong_Check(major)) {
        PyErr_SetString(PyExc_TypeError, "max_version must be None or a pair of integers");
        return -1;
    }
    return PyLong_AsLong(major) >= DLPACK_MAJOR_VERSION;
}

static bool is_cpu(PyObject *device)
{
    if (device == NULL || device == Py_None) return true;
    PyObject *type = PyTuple_Check(device) && PyTuple_Size(device) == 2 ? PyTuple_GetItem(device, 0) : NULL;
    bool cpu = type && PyLong_Check(type) && PyLong_AsLong(type) == kDLCPU;
    PyErr_Clear();
    return cpu;
}

PyObject *dlpack_method(PyObject *self, PyTypeObject *type, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords)
{
    static const struct signature signature = {
        "__dlpack__", 4, 0, 0, {NAME_stream, NAME_max_version, NAME_dl_device, NAME_copy}};
    struct state *state = state_of_type(type);
    PyObject *values[4];
    if (state == NULL || !arguments_take(state, &signature, arguments, count, keywords, values)) return NULL;
    if (!is_cpu(values[2])) {
        PyErr_SetString(PyExc_BufferError, "a garner.Array is in the CPU's memory, device (1, 0)");
        return NULL;
    }
    int versioned = may_be_versioned(values[1]);
    int copied = versioned < 0 ? -1 : values[3] && values[3] != Py_None ? PyObject_IsTrue(values[3]) : 0;
    if (copied < 0) return NULL;
    struct array_object *array = copied ? array_object_copy(state, (struct array_object *)self)
                                        : (struct array_object *)Py_NewRef(self);
    if (array == NULL) return NULL;
    PyObject *capsule = versioned ? versioned_capsule(array, copied != 0) : plain_capsule(array);
    Py_DECREF((PyObject *)array);
    return capsule;
}

PyObject *dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue("(ii)", kDLCPU, 0);
}
