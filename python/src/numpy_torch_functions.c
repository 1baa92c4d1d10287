/* SPDX-License-Identifier: MIT */
/*
 * The functions that NumPy, the Array API and torch have too, with their arguments and their shapes. Each
 * views data and indices so that one of the operators means the same.
 */
#include <stdlib.h>

#include "arguments.h"
#include "call.h"
#include "device_call.h"
#include "errors.h"
#include "functions.h"
#include "huge_index.h"
#include "show.h"

const char take_doc[] =
    "take($module, x, indices, axis=None, out=None, mode='raise')\n--\n\n"
    "As numpy.take and the Array API's: slices of x along an axis, or elements of the flattened x if axis is "
    "None.\n\n"
    "mode says what an index outside its axis does: 'raise', 'wrap' around, or 'clip' to the ends (and then\n"
    "negative indices become 0). Every index is checked, also where the result is empty for another "
    "reason.\n\n"
    ">>> import garner\n"
    ">>> garner.take([4, 3, 5, 7, 6, 8], [0, 1, 4]).tolist()\n"
    "[4, 3, 6]\n"
    ">>> garner.take([[1, 2], [3, 4]], [5, -1], axis=1, mode='clip').tolist()\n"
    "[[2, 1], [4, 3]]\n";

const char take_along_axis_doc[] =
    "take_along_axis($module, x, indices, axis=-1)\n--\n\n"
    "As numpy.take_along_axis and the Array API's: what argsort and argmax along an axis point to.\n\n"
    "x and indices have the same rank and are broadcast against each other off the axis. If axis is None, x "
    "is\n"
    "flattened and indices must have rank 1.\n\n"
    ">>> import garner\n"
    ">>> garner.take_along_axis([[30, 10, 20], [5, 6, 4]], [[1, 2, 0], [2, 0, 1]]).tolist()\n"
    "[[10, 20, 30], [4, 5, 6]]\n";

const char index_select_doc[] =
    "index_select($module, input, dim, index, *, out=None)\n--\n\n"
    "As torch.index_select: slices of input along dim, one for each element of index, which has rank 1 or "
    "0.\n\n"
    "Any integer type will do for index, and negative ones count from the end (torch refuses those).\n\n"
    ">>> import garner\n"
    ">>> garner.index_select([[1, 2, 3], [4, 5, 6]], 1, [2, 0]).tolist()\n"
    "[[3, 1], [6, 4]]\n";

const char take_along_dim_doc[] =
    "take_along_dim($module, input, indices, dim=None, *, out=None)\n--\n\n"
    "As torch.take_along_dim: one element of input for each index along dim, broadcast against each other "
    "off\n"
    "it. If dim is None, both are flattened.\n\n"
    "Any integer type will do for indices. Negative ones count from the end, and one outside its axis is an "
    "error\n"
    "(torch takes indices modulo the extent if dim is given, and refuses negative ones if not).\n\n"
    ">>> import garner\n"
    ">>> garner.take_along_dim([[30, 10, 20]], [[1, 2, 0]], 1).tolist()\n"
    "[[10, 20, 30]]\n"
    ">>> garner.take_along_dim([[30, 10], [20, 40]], [3, 0]).tolist()\n"
    "[40, 30]\n";

static void begin(struct call *call, PyObject *module, const char *operator, garner_kind kind)
{
    call->state = PyModule_GetState(module);
    call->operator= operator;
    call->op = (garner_op){.kind = kind};
    call->out = NULL;
    call->threads = 0;
    call->scalar = false;
    call->given = NULL;
    call->plan = NULL;
}

/* Remembers the indices as they were given, for errors. */
static void remember(struct call *call, struct given_indices *given)
{
    given->rank = call->indices.tensor.rank;
    for (int32_t i = 0; i < given->rank; i++)
        given->shape[i] = call->indices.shape[i];
    call->given = given;
}

/* A view of one element has any rank. */
static void view_scalar_as_vector(struct operand *operand)
{
    operand->shape[0] = 1;
    operand->tensor.shape = operand->shape;
    operand->tensor.strides = NULL;
    operand->tensor.rank = 1;
}

/* An axis counted from 0, or -1 with an exception. */
static int32_t whole_axis(struct call *call, const char *what, const char *name)
{
    int64_t axis = call->op.axis;
    int32_t rank = call->data.tensor.rank;
    if (axis >= -(int64_t)rank && axis < rank) return (int32_t)(axis < 0 ? axis + rank : axis);
    raise_error(call->state, GARNER_BAD_SHAPE, "%s: %s %lld is outside [%d, %d] of %s's rank %d",
                call->operator, what, (long long)axis, -(int)rank, (int)rank - 1, name, (int)rank);
    return -1;
}

/* ---- Broadcasting ---------------------------------------------------------------------------- */

static void repeat(struct operand *operand, int32_t axis, int64_t extent)
{
    if (operand->tensor.strides == NULL) {
        dense_strides(operand->tensor.rank, operand->shape, 1, operand->strides);
        operand->tensor.strides = operand->strides;
    }
    operand->shape[axis] = extent;
    operand->strides[axis] = 0;
}

static bool refuse_extents(struct call *call, int32_t axis, const char *name)
{
    garner_error error;
    error.status = GARNER_BAD_SHAPE;
    error.has = GARNER_HAS_AXIS;
    error.axis = axis;
    PyOS_snprintf(
        error.message, sizeof error.message,
        "%s: indices has extent %lld on axis %d, where %s has %lld; off the axis they must be equal, or "
        "one of them 1",
        call->operator,(long long) call->indices.shape[axis], (int)axis, name,
        (long long)call->data.shape[axis]);
    raise_record(call->state, &error);
    return false;
}

/* Where data has no elements off the axis, broadcasting leaves no index to look at. Each is checked all the
 * same, by picking it along the same axis of one element that is repeated. */
static bool check_unseen(struct call *call, int32_t axis)
{
    const struct operand *indices = &call->indices;
    int64_t shape[GARNER_MAX_RANK], strides[GARNER_MAX_RANK] = {0};
    int64_t count = count_elements(indices->tensor.rank, indices->shape);
    unsigned char *memory = malloc(count > 0 ? (size_t)count : 1), byte = 0;
    garner_error error = {.status = GARNER_NO_MEMORY, .message = "no memory"};
    garner_status status = GARNER_NO_MEMORY;
    for (int32_t i = 0; i < indices->tensor.rank; i++)
        shape[i] = i == axis ? call->data.shape[i] : indices->shape[i];
    garner_tensor data = {
        .data = &byte, .shape = shape, .strides = strides, .rank = indices->tensor.rank, .dtype = GARNER_U8};
    garner_tensor out = {
        .data = memory, .shape = indices->shape, .rank = indices->tensor.rank, .dtype = GARNER_U8};
    if (memory) status = garner_run(&call->op, &data, &indices->tensor, &out, NULL, &error);
    free(memory);
    if (status != GARNER_OK) huge_index_raise(call->state, indices, &error);
    return status == GARNER_OK;
}

/* Whether the extents of data off the axis make indices disappear that were given. */
static bool hides_indices(const struct call *call, int32_t axis)
{
    bool hides = false;
    for (int32_t i = 0; i < call->data.tensor.rank; i++) {
        if (call->indices.shape[i] == 0) return false;
        hides |= i != axis && call->data.shape[i] == 0;
    }
    return hides;
}

/* Makes the extents off the axis equal. */
static bool broadcast(struct call *call, const char *what, const char *name)
{
    struct operand *data = &call->data, *indices = &call->indices;
    if (data->tensor.rank != indices->tensor.rank) {
        raise_error(call->state, GARNER_BAD_SHAPE,
                    "%s: indices has rank %d and %s has rank %d; they must be equal",
                    call->operator,(int) indices->tensor.rank, name, (int)data->tensor.rank);
        return false;
    }
    int32_t axis = whole_axis(call, what, name), rank = data->tensor.rank;
    if (axis < 0) return false;
    for (int32_t i = 0; i < rank; i++)
        if (i != axis && data->shape[i] != indices->shape[i] && data->shape[i] != 1 && indices->shape[i] != 1)
            return refuse_extents(call, i, name);
    const bool on_device = indices->place.device >= 0;
    if (hides_indices(call, axis) &&
        !(on_device ? device_check_indices(call, axis) : check_unseen(call, axis)))
        return false;
    for (int32_t i = 0; i < rank; i++) {
        if (i == axis || data->shape[i] == indices->shape[i]) continue;
        if (indices->shape[i] == 1)
            repeat(indices, i, data->shape[i]);
        else
            repeat(data, i, indices->shape[i]);
    }
    return true;
}

/* ---- NumPy's --------------------------------------------------------------------------------- */

static bool option_mode(struct call *call, PyObject *mode)
{
    if (mode == NULL || (PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, "raise") == 0))
        return true;
    if (PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, "wrap") == 0) {
        call->op.oob = GARNER_OOB_WRAP;
        return true;
    }
    if (PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, "clip") == 0) {
        call->op.oob = GARNER_OOB_CLAMP;
        call->op.negative = GARNER_NEGATIVE_IS_OUTSIDE;
        return true;
    }
    raise_error(call->state, GARNER_BAD_ARGUMENT, "take: mode is %s; it must be 'raise', 'wrap' or 'clip'",
                show(mode).text);
    return false;
}

PyObject *take(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {
        "take", 5, 5, 2, {NAME_x, NAME_indices, NAME_axis, NAME_out, NAME_mode}};
    struct call call;
    PyObject *values[5];
    begin(&call, module, "take", GARNER_GATHER);
    call.scalar = true;
    if (!arguments_take(call.state, &signature, arguments, count, keywords, values)) return NULL;
    bool flat = values[2] == NULL || values[2] == Py_None;
    if (!flat && !option_integer(call.state, call.operator, "axis", values[2], &call.op.axis)) return NULL;
    if (!option_mode(&call, values[4])) return NULL;
    call.out = values[3];
    if (!call_read(&call, values[0], "x", values[1], "indices")) return NULL;
    if (flat && !device_flatten(&call, &call.data, ROLE_DATA, "x")) return call_abandon(&call);
    if (call.data.tensor.rank == 0) view_scalar_as_vector(&call.data); /* as NumPy does */
    return call_run(&call);
}

PyObject *take_along_axis(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {"take_along_axis", 3, 3, 2, {NAME_x, NAME_indices, NAME_axis}};
    struct call call;
    struct given_indices given;
    PyObject *values[3];
    begin(&call, module, "take_along_axis", GARNER_GATHER_ELEMENTS);
    if (!arguments_take(call.state, &signature, arguments, count, keywords, values)) return NULL;
    bool flat = values[2] == Py_None;
    call.op.axis = flat ? 0 : -1;
    if (!flat && !option_integer(call.state, call.operator, "axis", values[2], &call.op.axis)) return NULL;
    if (!call_read(&call, values[0], "x", values[1], "indices")) return NULL;
    if (flat && call.indices.tensor.rank == 1 && !device_flatten(&call, &call.data, ROLE_DATA, "x"))
        return call_abandon(&call);
    if (flat && call.indices.tensor.rank != 1) {
        raise_error(call.state, GARNER_BAD_SHAPE,
                    "take_along_axis: indices has rank %d; with axis None it must be 1",
                    (int)call.indices.tensor.rank);
        return call_abandon(&call);
    }
    remember(&call, &given);
    return broadcast(&call, "axis", "x") ? call_run(&call) : call_abandon(&call);
}

/* ---- torch's --------------------------------------------------------------------------------- */

/* Selecting from a scalar gives a scalar, and takes one index. */
static bool select_from_scalar(struct call *call)
{
    if (call->op.axis != 0 && call->op.axis != -1) return whole_axis(call, "dim", "input") >= 0;
    if (call->indices.tensor.rank == 1 && call->indices.shape[0] != 1) {
        raise_error(call->state, GARNER_BAD_SHAPE,
                    "index_select: index has %lld elements; of a scalar input it must be one",
                    (long long)call->indices.shape[0]);
        return false;
    }
    view_scalar_as_vector(&call->data);
    call->indices.tensor.rank = 0;
    call->op.axis = 0;
    return true;
}

PyObject *index_select(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {
        "index_select", 4, 3, 3, {NAME_input, NAME_dim, NAME_index, NAME_out}};
    struct call call;
    struct given_indices given;
    PyObject *values[4];
    begin(&call, module, "index_select", GARNER_GATHER);
    if (!arguments_take(call.state, &signature, arguments, count, keywords, values)) return NULL;
    if (!option_integer(call.state, call.operator, "dim", values[1], &call.op.axis)) return NULL;
    call.out = values[3];
    if (!call_read(&call, values[0], "input", values[2], "index")) return NULL;
    remember(&call, &given);
    if (call.indices.tensor.rank > 1) {
        raise_error(call.state, GARNER_BAD_SHAPE, "index_select: index has rank %d; it must be 1, or 0",
                    (int)call.indices.tensor.rank);
        return call_abandon(&call);
    }
    if (call.data.tensor.rank == 0) return select_from_scalar(&call) ? call_run(&call) : call_abandon(&call);
    if (whole_axis(&call, "dim", "input") < 0) return call_abandon(&call);
    if (call.indices.tensor.rank == 0) view_scalar_as_vector(&call.indices);
    return call_run(&call);
}

PyObject *take_along_dim(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {
        "take_along_dim", 4, 3, 2, {NAME_input, NAME_indices, NAME_dim, NAME_out}};
    struct call call;
    struct given_indices given;
    PyObject *values[4];
    begin(&call, module, "take_along_dim", GARNER_GATHER_ELEMENTS);
    if (!arguments_take(call.state, &signature, arguments, count, keywords, values)) return NULL;
    bool flat = values[2] == NULL || values[2] == Py_None;
    if (!flat && !option_integer(call.state, call.operator, "dim", values[2], &call.op.axis)) return NULL;
    call.out = values[3];
    if (!call_read(&call, values[0], "input", values[1], "indices")) return NULL;
    remember(&call, &given);
    if (flat && (!device_flatten(&call, &call.data, ROLE_DATA, "input") ||
                 !device_flatten(&call, &call.indices, ROLE_INDICES, "indices")))
        return call_abandon(&call);
    return broadcast(&call, "dim", "input") ? call_run(&call) : call_abandon(&call);
}
