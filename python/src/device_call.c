/* SPDX-License-Identifier: MIT */
/* Plans, results by the data's own library, and work in the order of its current stream. */
#include "device_call.h"

#include <string.h>

#include "arguments.h"
#include "cache.h"
#include "call_errors.h"
#include "device_read.h"
#include "device_scope.h"
#include "errors.h"

/* ---- Operands -------------------------------------------------------------------------------- */

bool device_accept(struct call *call, const char *data_name, const char *indices_name)
{
    struct operand *data = &call->data, *indices = &call->indices;
    const int on = data->place.device, other = indices->place.device;
    if (on < 0)
        raise_error(call->state, GARNER_BAD_ARGUMENT,
                    "%s: %s is on cuda:%d and %s on the host; copy %s to the device, or %s to the host",
                    call->operator, indices_name, other, data_name, data_name, indices_name);
    else if (other >= 0 && other != on)
        raise_error(call->state, GARNER_BAD_ARGUMENT,
                    "%s: %s is on cuda:%d and %s on cuda:%d; they must be on one device", call->operator,
                    data_name, on, indices_name, other);
    else
        return other >= 0 || indices->tensor.strides == NULL ||
               operand_make_dense(call->state, indices, call->operator);
    return false;
}

bool device_flatten(struct call *call, struct operand *operand, enum role role, const char *name)
{
    struct operand flat;
    if (operand->place.device < 0 || operand->tensor.strides == NULL)
        return operand_flatten(call->state, operand, call->operator);
    PyObject *made = PyObject_CallMethod(operand->object, "reshape", "(i)", -1);
    if (made == NULL) {
        raise_from(call->state, GARNER_BAD_SHAPE,
                   "%s: %s is not dense, and cannot be flattened on the device", call->operator, name);
        return false;
    }
    const struct operand *beside = role == ROLE_DATA ? NULL : &call->data;
    if (!operand_read_anywhere(call->state, &flat, made, role, call->operator, name, beside)) {
        Py_DECREF(made);
        return false;
    }
    Py_XDECREF(flat.owned); /* none of a device's has one */
    flat.owned = made;
    operand_release(operand);
    *operand = flat;
    operand->tensor.shape = operand->shape;
    if (operand->tensor.strides) operand->tensor.strides = operand->strides;
    return true;
}

/* Copies indices from the host to the data's device. `sent` holds them there, as bytes. */
static bool send_indices(struct call *call, struct operand *sent, garner_tensor *tensor)
{
    uintptr_t first, end;
    operand_span(&call->indices, &first, &end);
    PyObject *bytes = PyByteArray_FromStringAndSize((const char *)first, (Py_ssize_t)(end - first));
    PyObject *object =
        bytes ? device_help("upload", "(OOi)", call->data.object, bytes, (int)call->data.place.device) : NULL;
    Py_XDECREF(bytes);
    if (object == NULL) return false;
    if (object == Py_None) {
        Py_DECREF(object);
        raise_error(
            call->state, GARNER_BAD_ARGUMENT,
            "%s: indices are on the host and data on cuda:%d, in an array of a library that garner does not "
            "know; give indices on the device",
            call->operator,(int) call->data.place.device);
        return false;
    }
    const bool read = operand_read_anywhere(call->state, sent, object, ROLE_INDICES, call->operator,
                                            "indices", &call->data);
    if (!read) {
        Py_DECREF(object);
        return false;
    }
    sent->owned = object;
    tensor->data = (char *)sent->tensor.data + sent->tensor.byte_offset + ((uintptr_t)tensor->data - first);
    return true;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static garner_status create_plan(void **plan, const garner_op *op, const garner_tensor *data,
                                 const garner_tensor *indices, const garner_tensor *out, garner_error *error)
{
    garner_cuda_plan *made = NULL;
    garner_tensor placed = *data;
    if (placed.data == NULL) placed.data = indices->data; /* any address on the device names it */
    const struct device_library *library = device_library_get(error);
    const garner_status status =
        library ? library->plan_create(&made, op, &placed, indices, out, error) : GARNER_SYSTEM;
    *plan = made;
    return status;
}

static void destroy_plan(void *plan)
{
    garner_error ignored;
    const struct device_library *library = device_library_get(&ignored);
    if (library) library->plan_destroy(plan);
}

static bool find_plan(struct call *call, struct cached_plan *plan, const garner_tensor *indices,
                      const garner_tensor *out)
{
    garner_error error;
    const struct plan_maker maker = {create_plan, destroy_plan, call->data.place.device};
    const garner_tensor *const tensors[] = {&call->data.tensor, indices, out};
    if (cache_plan_for(plan, &maker, &call->op, tensors, &error) == GARNER_OK) return true;
    call_refuse(call, &error);
    return false;
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* Makes an operand ready for the data's stream; false with an exception. */
static bool join_stream(struct call *call, const struct device_library *library,
                        const struct operand *operand)
{
    void *stream = operand->place.stream;
    if (operand->place.device < 0 || stream == call->data.place.stream) return true;
    int result;
    Py_BEGIN_ALLOW_THREADS;
    result = library->synchronize(stream);
    Py_END_ALLOW_THREADS;
    if (result == 0) return true;
    raise_error(call->state, GARNER_SYSTEM, "%s: the driver does not wait for an operand's stream: error %d",
                call->operator, result);
    return false;
}

/* Whether memory may be freed by its library while the work is still to come. */
static bool may_go_on(const struct call *call, const struct operand *operand)
{
    return operand->place.device < 0 ||
           (operand->place.pooled && operand->place.stream == call->data.place.stream);
}

/* ---- Work ------------------------------------------------------------------------------------ */

struct work_here {
    const struct device_library *library;
    struct device_launch launch;
    bool waits;
};

static bool run_now(struct call *call, const struct work_here *work)
{
    garner_error error;
    const struct device_launch *launch = &work->launch;
    garner_status status;
    Py_BEGIN_ALLOW_THREADS;
    /* analysis: find_plan has set it, or there is no work */
    status = work->library->run(launch->plan->plan, launch->data, launch->indices, launch->out,
                                launch->stream, &error);
    Py_END_ALLOW_THREADS;
    if (status != GARNER_OK) call_refuse(call, &error);
    return status == GARNER_OK;
}

static bool launch_or_run(struct call *call, struct work_here *work)
{
    struct device_launch *launch = &work->launch;
    struct device_scope *scope = device_scope_current(call->state);
    launch->is_captured = device_is_capturing(work->library, launch->stream);
    if (scope && !work->waits) return device_scope_launch(call->state, scope, launch);
    if (launch->is_captured) {
        raise_error(
            call->state, GARNER_BAD_ARGUMENT,
            scope ? "%s: the stream is being captured into a CUDA graph, and these operands have to be "
                    "waited for"
                  : "%s: the stream is being captured into a CUDA graph, and cannot be waited for; call "
                    "within garner.cuda.deferred()",
            call->operator);
        return false;
    }
    if (scope) device_scope_wait(call->state, scope); /* whose errors come first */
    if (run_now(call, work)) return true;
    if (scope == NULL || !PyErr_ExceptionMatches(call->state->out_of_range)) return false;
    device_scope_keep(scope);
    return true;
}

/* Whether the indices as given are others than those that the plan has. */
static bool is_viewed(const struct call *call)
{
    const struct given_indices *given = call->given;
    bool same = given == NULL || given->rank == call->indices.tensor.rank;
    for (int32_t i = 0; given && same && i < given->rank; i++)
        same = given->shape[i] == call->indices.shape[i];
    return !same;
}

/* Executes into an operand that has the result's shape and type. */
static bool run_operand(struct call *call, struct cached_plan *plan, const garner_tensor *indices,
                        const struct operand *sent, const struct operand *out)
{
    struct work_here work = {.library = device_library_get(NULL)};
    const struct operand *other = sent ? sent : &call->indices;
    if (out->place.device != call->data.place.device) {
        raise_error(call->state, GARNER_BAD_ARGUMENT,
                    out->place.device < 0
                        ? "%s: out is on the host and data on cuda:%d; they must be on one device"
                        : "%s: out is on another device than data, which is on cuda:%d",
                    call->operator,(int) call->data.place.device);
        return false;
    }
    if (!join_stream(call, work.library, other) || !join_stream(call, work.library, out)) return false;
    work.launch = (struct device_launch){.plan = plan,
                                         .data = call->data.tensor.data,
                                         .indices = indices->data,
                                         .out = out->tensor.data,
                                         .stream = call->data.place.stream,
                                         .given = is_viewed(call) ? call->given : NULL};
    work.waits = call->indices.beyond || !may_go_on(call, &call->data) || !may_go_on(call, other) ||
                 !may_go_on(call, out);
    return launch_or_run(call, &work);
}

/* ---- Results --------------------------------------------------------------------------------- */

static PyObject *tuple_of(int32_t rank, const int64_t *shape)
{
    PyObject *tuple = PyTuple_New(rank);
    for (int32_t i = 0; tuple && i < rank; i++) {
        PyObject *extent = PyLong_FromLongLong(shape[i]);
        if (extent == NULL || PyTuple_SetItem(tuple, i, extent) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

/* An array of the data's kind: torch's tensors make one themselves, others are known to garner._cuda. */
static PyObject *make_result(struct call *call, int32_t rank, const int64_t *shape)
{
    PyObject *extents = tuple_of(rank, shape), *made = NULL;
    PyObject *method =
        extents ? PyObject_GetAttr(call->data.object, call->state->name[NAME_new_empty]) : NULL;
    if (method) {
        made = PyObject_CallFunctionObjArgs(method, extents, NULL);
    } else if (extents && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        made = device_help("empty", "(OOi)", call->data.object, extents, (int)call->data.place.device);
    }
    Py_XDECREF(method);
    Py_XDECREF(extents);
    if (made != Py_None) return made;
    Py_DECREF(made);
    raise_error(
        call->state, GARNER_BAD_ARGUMENT,
        "%s: data on cuda:%d is of a library whose arrays garner cannot make; give out, or give data as "
        "torch's or CuPy's",
        call->operator,(int) call->data.place.device);
    return NULL;
}

/* Whether what a library made is what was asked of it. */
static bool is_as_planned(const struct operand *out, const garner_shape *shape)
{
    const garner_tensor *tensor = &out->tensor;
    bool is = tensor->strides == NULL && tensor->byte_offset == 0 && tensor->rank == shape->rank &&
              tensor->dtype == shape->dtype && tensor->item_bytes == shape->item_bytes;
    for (int32_t i = 0; is && i < shape->rank; i++)
        is = out->shape[i] == shape->extents[i];
    return is;
}

/* Into a result that was made, whatever its strides are. */
static bool run_made(struct call *call, struct cached_plan *plan, const garner_tensor *indices,
                     const struct operand *sent, const struct operand *out)
{
    struct cached_plan other;
    const struct device_library *library = device_library_get(NULL);
    if (is_as_planned(out, library->plan_output(plan->plan)))
        return run_operand(call, plan, indices, sent, out);
    if (!find_plan(call, &other, indices, &out->tensor)) return false;
    const bool done = run_operand(call, &other, indices, sent, out);
    cache_release(&other);
    return done;
}

static PyObject *run_new(struct call *call, const garner_tensor *indices, const struct operand *sent)
{
    struct cached_plan plan;
    struct operand out;
    if (!find_plan(call, &plan, indices, NULL)) return NULL;
    const garner_shape *shape = device_library_get(NULL)->plan_output(plan.plan);
    PyObject *made = make_result(call, shape->rank, shape->extents);
    bool done = false;
    if (made &&
        operand_read_anywhere(call->state, &out, made, ROLE_OUT, call->operator, "out", &call->data)) {
        done = run_made(call, &plan, indices, sent, &out);
        operand_release(&out);
    }
    cache_release(&plan);
    if (!done) Py_CLEAR(made);
    return made;
}

/* JAX's arrays do not change, and DLPack does not say so. */
static bool is_mutable(struct call *call)
{
    PyObject *answer = device_help("is_immutable", "(O)", call->out);
    if (answer == Py_True)
        raise_error(call->state, GARNER_BAD_ARGUMENT, "%s: out is one of JAX's arrays, which do not change",
                    call->operator);
    Py_XDECREF(answer);
    return !PyErr_Occurred();
}

static PyObject *run_given(struct call *call, const garner_tensor *indices, const struct operand *sent)
{
    struct cached_plan plan;
    struct operand out;
    bool done = false;
    if (!operand_read_anywhere(call->state, &out, call->out, ROLE_OUT, call->operator, "out", &call->data))
        return NULL;
    if (out.place.device >= 0 && !out.place.pooled && !is_mutable(call)) {
        operand_release(&out);
        return NULL;
    }
    if (out.place.device < 0) { /* a plan for it would be one for the host's memory */
        done = run_operand(call, NULL, indices, sent, &out);
    } else if (call_may_write(call, &out) && find_plan(call, &plan, indices, &out.tensor)) {
        done = run_operand(call, &plan, indices, sent, &out);
        cache_release(&plan);
    }
    operand_release(&out);
    return done ? Py_NewRef(call->out) : NULL;
}

bool device_check_indices(struct call *call, int32_t axis)
{
    struct call check = *call;
    struct cached_plan plan;
    struct operand out;
    int64_t shape[GARNER_MAX_RANK], strides[GARNER_MAX_RANK] = {0};
    const garner_tensor *indices = &call->indices.tensor;
    for (int32_t i = 0; i < indices->rank; i++)
        shape[i] = i == axis ? call->data.shape[i] : indices->shape[i];
    check.data.tensor = (garner_tensor){.data = indices->data, /* one byte of it, again and again */
                                        .shape = shape,
                                        .strides = strides,
                                        .rank = indices->rank,
                                        .dtype = GARNER_U8};
    if (!find_plan(&check, &plan, indices, NULL)) return false;
    PyObject *made = make_result(call, indices->rank, indices->shape); /* which has bytes enough */
    bool done = false;
    if (made &&
        operand_read_anywhere(call->state, &out, made, ROLE_OUT, call->operator, "out", &call->data)) {
        done = out.tensor.byte_offset == 0 && run_operand(&check, &plan, indices, NULL, &out);
        operand_release(&out);
    }
    Py_XDECREF(made);
    cache_release(&plan);
    return done;
}

PyObject *device_run(struct call *call)
{
    struct operand sent;
    garner_tensor indices = call->indices.tensor;
    PyObject *result = NULL;
    const bool sends =
        call->indices.place.device < 0 && count_elements(indices.rank, call->indices.shape) > 0;
    if (sends && !send_indices(call, &sent, &indices)) return NULL;
    if (call->out && call->out != Py_None)
        result = run_given(call, &indices, sends ? &sent : NULL);
    else
        result = run_new(call, &indices, sends ? &sent : NULL);
    if (sends) operand_release(&sent);
    return result;
}

/* ---- For garner.cuda ------------------------------------------------------------------------- */

PyObject *device_count(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {"device_count", 0, 0, 0, {0}};
    struct state *state = PyModule_GetState(module);
    garner_error error;
    int devices = 0;
    if (!arguments_take(state, &signature, arguments, count, keywords, NULL)) return NULL;
    const struct device_library *library = device_library_get(&error);
    if (library == NULL || library->devices(&devices, &error) != GARNER_OK)
        return raise_record(state, &error);
    return PyLong_FromLong(devices);
}
