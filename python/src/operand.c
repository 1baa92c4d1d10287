/* SPDX-License-Identifier: MIT */
/* Finds the reader for an object, releases what it held, and makes copies where nothing else helps. */
#include "operand.h"

#include <stdlib.h>
#include <string.h>

#include "arrow.h"
#include "byteorder.h"
#include "errors.h"
#include "integer.h"
#include "numpy.h"
#include "work.h"

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_masked(PyObject *object)
{
    PyObject *type = (PyObject *)Py_TYPE(object);
    return PyObject_HasAttrString(type, "mask") && PyObject_HasAttrString(type, "filled");
}

/* A subclass of ndarray, or something that NumPy can look at. */
static int read_for_numpy(struct state *state, struct operand *operand, PyObject *object,
                          const char *operator, const char * name)
{
    struct numpy *numpy = numpy_get(state);
    if (numpy == NULL) return PyErr_Occurred() ? -1 : 0;
    if (numpy_is_array(numpy, object)) {
        if (!is_masked(object)) return read_numpy(state, operand, object, operator, name);
        raise_error(
            state, GARNER_BAD_TYPE,
            "%s: %s is a masked array, whose mask would be lost; give its .data or .filled(value)", operator,
            name);
        return -1;
    }
    bool convertible = PyObject_HasAttr(object, state->name[NAME___array__]) ||
                       PyObject_HasAttr(object, state->name[NAME___array_interface__]);
    if (!convertible || PyType_Check(object)) return 0;
    PyObject *array = numpy_convert(numpy, object);
    if (array == NULL) return -1;
    operand->owned = array;
    return read_numpy(state, operand, array, operator, name);
}

static void refuse_object(struct state *state, PyObject *object, enum role role, const char *operator,
                          const char * name)
{
    PyObject *type = PyType_GetQualName(Py_TYPE(object));
    if (type == NULL) return;
    raise_error(
        state, GARNER_BAD_TYPE,
        "%s: %s is a '%U'; it must be an array that has the buffer protocol or __dlpack__%s", operator, name,
        type, role == ROLE_OUT ? " and can be written to" : ", or a list of numbers");
    Py_DECREF(type);
}

static int read_other(struct state *state, struct operand *operand, PyObject *object, enum role role,
                      const char *operator, const char * name)
{
    bool plain = PyBytes_CheckExact(object) || PyByteArray_CheckExact(object) || PyMemoryView_Check(object);
    if (plain) return read_buffer(state, operand, object, operator, name);
    int done = role == ROLE_OUT ? 0 : read_list(state, operand, object, role, operator, name);
    struct numpy *numpy = done == 0 ? numpy_get(state) : NULL;
    bool scalar = role == ROLE_DATA && numpy && numpy_is_scalar(numpy, object);
    if (done == 0 && numpy && (scalar || numpy_is_array(numpy, object)))
        done = read_for_numpy(state, operand, object, operator, name);
    if (done == 0 && !PyErr_Occurred()) done = read_arrow(state, operand, object, operator, name);
    if (done == 0 && !PyErr_Occurred()) done = read_dlpack(state, operand, object, role, operator, name);
    if (done == 0) done = read_buffer(state, operand, object, operator, name);
    if (done == 0 && role != ROLE_OUT) done = read_for_numpy(state, operand, object, operator, name);
    if (done == 0) refuse_object(state, object, role, operator, name);
    return done;
}

/* What holds nothing yet. */
static void clear(struct operand *operand, PyObject *object)
{
    operand->tensor = (garner_tensor){0};
    operand->writable = operand->swapped = operand->odd = false;
    operand->format = NULL;
    operand->object = object;
    operand->owned = operand->detached = NULL;
    operand->like = NULL;
    operand->memory = NULL;
    operand->seen.type = operand->seen.guard = NULL;
    operand->beyond = operand->torch_type = NULL;
    operand->dlpack_type = (DLDataType){0, 0, 0};
    operand->origin = FROM_LIST;
}

bool operand_read(struct state *state, struct operand *operand, PyObject *object, enum role role,
                  const char *operator, const char * name)
{
    clear(operand, object);
    int done = 0;
    struct numpy *numpy = atomic_load_explicit(&state->numpy, memory_order_acquire);
    if (numpy && numpy_is_exact(numpy, object))
        done = read_numpy(state, operand, object, operator, name);
    else
        done = read_array(state, operand, object);
    const bool plain = done > 0; /* if dense, in memory that NumPy or we have made */
    if (done == 0) done = read_other(state, operand, object, role, operator, name);
    if (done > 0) operand_drop_strides(operand);
    const bool known = plain && operand->tensor.strides == NULL;
    if (done > 0 && (known || operand_check_view(state, operand, operator, name))) return true;
    operand_release(operand);
    return false;
}

bool operand_read_leaves(struct state *state, struct operand *operand, PyObject *object, const char *operator)
{
    clear(operand, object);
    if (read_leaves(state, operand, object, operator, "the other") > 0) return true;
    operand_release(operand);
    return false;
}

static void release_export(struct operand *operand)
{
    switch (operand->origin) {
    case FROM_BUFFER:
        PyBuffer_Release(&operand->export.buffer);
        break;
    case FROM_DLPACK:
        if (operand->export.managed->deleter) operand->export.managed->deleter(operand->export.managed);
        break;
    case FROM_VERSIONED:
        if (operand->export.versioned->deleter) operand->export.versioned->deleter(operand->export.versioned);
        break;
    default:
        break;
    }
    operand->origin = FROM_LIST;
}

/* Exports and objects of others may run anybody's code when they end, which must not see our exception. */
void operand_release(struct operand *operand)
{
    struct aside aside;
    error_put_aside(&aside);
    release_export(operand);
    Py_CLEAR(operand->seen.guard);
    Py_CLEAR(operand->seen.type);
    Py_CLEAR(operand->owned);
    Py_CLEAR(operand->detached);
    Py_CLEAR(operand->beyond);
    Py_CLEAR(operand->torch_type);
    error_take_back(&aside);
    free(operand->memory);
    operand->memory = NULL;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

bool operand_is_there(const struct operand *operand)
{
    return operand->origin != FROM_NUMPY || operand->memory ||
           numpy_has(operand->seen.numpy, operand->object, operand->seen.data, operand->seen.bytes);
}

void operand_hold(struct operand *operand)
{
    if (operand->origin != FROM_NUMPY || operand->seen.guard) return;
    PyObject *owner = numpy_owner(operand->seen.numpy, operand->object);
    if (owner && !(operand->seen.guard = PyWeakref_NewRef(owner, NULL))) PyErr_Clear();
}

static const char moved[] = "%s: %s was given other memory while the arguments were read";

bool operand_check_there(struct state *state, const struct operand *operand, const char *operator,
                         const char * name)
{
    if (operand_is_there(operand)) return true;
    raise_error(state, GARNER_BAD_ARGUMENT, moved, operator, name);
    return false;
}

/* Without the interpreter's lock if there is much to do. */
static garner_status run_copy(const garner_op *op, const garner_tensor *data, const garner_tensor *index,
                              const garner_tensor *out, struct operand *owner, garner_error *error)
{
    int64_t bytes = count_elements(out->rank, out->shape);
    const bool is_long = work_is_long(bytes);
    if (owner && is_long) operand_hold(owner);
    if (owner && !operand_is_there(owner)) {
        *error = (garner_error){.status = GARNER_BAD_ARGUMENT};
        PyOS_snprintf(error->message, sizeof error->message, moved, "copy", "the array");
        return GARNER_BAD_ARGUMENT;
    }
    if (!is_long) return garner_run(op, data, index, out, NULL, error);
    struct work work;
    work_begin(&work, 0, bytes);
    garner_status status = garner_run(op, data, index, out, work.exec, error);
    work_end(&work);
    return status;
}

/* A copy is a gather of bytes: the one element of a first axis in front of all others. Axes of one place are
 * left out, so that two more fit: no memory has elements along so many others. */
garner_status copy_elements(void *to, const int64_t *to_strides, const void *from,
                            const int64_t *from_strides, int32_t given_rank, const int64_t *shape,
                            int64_t item, struct operand *owner, garner_error *error)
{
    int64_t extent[GARNER_MAX_RANK + 2] = {1}, zero = 0;
    int64_t from_stride[GARNER_MAX_RANK + 2] = {0}, to_stride[GARNER_MAX_RANK + 2] = {0};
    int32_t rank = 0;
    if (count_elements(given_rank, shape) == 0) return GARNER_OK;
    for (int32_t i = 0; i < given_rank; i++) {
        if (shape[i] == 1) continue;
        extent[++rank] = shape[i];
        from_stride[rank] = from_strides[i];
        to_stride[rank] = to_strides[i];
    }
    extent[rank + 1] = item;
    from_stride[rank + 1] = to_stride[rank + 1] = 1;
    garner_op op = {.kind = GARNER_GATHER};
    garner_tensor index = {.data = &zero, .dtype = GARNER_I64};
    garner_tensor data = {.data = (void *)(uintptr_t)from,
                          .shape = extent,
                          .strides = from_stride,
                          .rank = rank + 2,
                          .dtype = GARNER_U8};
    garner_tensor out = {
        .data = to, .shape = extent + 1, .strides = to_stride + 1, .rank = rank + 1, .dtype = GARNER_U8};
    return run_copy(&op, &data, &index, &out, owner, error);
}

/* Replaces the view by a dense copy of its own. */
static bool make_dense(struct state *state, struct operand *operand, const char *operator)
{
    int64_t item = operand_item(operand), count = count_elements(operand->tensor.rank, operand->shape), bytes;
    int64_t from[GARNER_MAX_RANK], to[GARNER_MAX_RANK];
    garner_error error;
    if (count < 0 || __builtin_mul_overflow(count, item, &bytes) || bytes > PTRDIFF_MAX) {
        raise_error(state, GARNER_TOO_LARGE,
                    "%s: a copy would need more bytes than can be addressed", operator);
        return false;
    }
    void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (memory == NULL) {
        PyErr_NoMemory();
        return false;
    }
    operand_byte_strides(operand, from);
    dense_strides(operand->tensor.rank, operand->shape, item, to);
    const char *data = (const char *)operand->tensor.data + operand->tensor.byte_offset;
    garner_status status =
        copy_elements(memory, to, data, from, operand->tensor.rank, operand->shape, item, operand, &error);
    if (status != GARNER_OK) {
        free(memory);
        if (!PyErr_Occurred()) raise_record(state, &error);
        return false;
    }
    free(operand->memory);
    operand->memory = memory;
    operand->tensor.data = memory;
    operand->tensor.strides = NULL;
    operand->tensor.byte_offset = 0;
    operand->odd = false;
    return true;
}

/* Turns the bytes of each number of the operand's own copy around. */
static void swap_bytes(struct operand *operand)
{
    bool pairs = operand->tensor.dtype == GARNER_C64 || operand->tensor.dtype == GARNER_C128;
    size_t item = (size_t)operand_item(operand) / (pairs ? 2 : 1);
    size_t count = (size_t)count_elements(operand->tensor.rank, operand->shape) * (pairs ? 2 : 1);
    unsigned char *at = operand->memory;
    for (size_t i = 0; i < count; i++, at += item)
        for (size_t low = 0, high = item - 1; low < high; low++, high--) {
            unsigned char byte = at[low];
            at[low] = at[high];
            at[high] = byte;
        }
    operand->swapped = false;
}

bool operand_settle(struct state *state, struct operand *operand, enum role role, const char *operator)
{
    bool swap = role == ROLE_INDICES && operand->swapped && operand->tensor.dtype != GARNER_OPAQUE;
    if (!swap && !operand->odd) return true;
    if (!make_dense(state, operand, operator)) return false;
    if (swap) swap_bytes(operand);
    return true;
}

bool operand_flatten(struct state *state, struct operand *operand, const char *operator)
{
    garner_tensor *tensor = &operand->tensor;
    int64_t count = count_elements(tensor->rank, operand->shape);
    if ((tensor->strides || count < 0) && !make_dense(state, operand, operator)) return false;
    operand->shape[0] = count;
    tensor->rank = 1;
    tensor->shape = operand->shape;
    return true;
}

/* ---- Small questions ------------------------------------------------------------------------- */

void operand_integer(const struct operand *operand, int64_t *number)
{
    unsigned char bytes[8];
    size_t size = (size_t)operand_item(operand);
    memcpy(bytes, (const char *)operand->tensor.data + operand->tensor.byte_offset, size);
    if (operand->swapped) byteorder_reverse(bytes, size, (unsigned)size);
    *number = integer_value(bytes, operand->tensor.dtype);
}

bool operand_same_type(struct state *state, const struct operand *data, const struct operand *out)
{
    if (data->tensor.dtype != out->tensor.dtype) return true; /* the library says it better */
    if (data->origin == FROM_NUMPY && out->origin == FROM_NUMPY)
        return numpy_same_type(numpy_get(state), data->seen.type, out->seen.type);
    const DLDataType *type = &data->dlpack_type, *other = &out->dlpack_type;
    bool same = type->code == other->code && type->bits == other->bits && type->lanes == other->lanes;
    return same && data->torch_type == out->torch_type && data->swapped == out->swapped;
}
