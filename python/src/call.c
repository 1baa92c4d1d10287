/* SPDX-License-Identifier: MIT */
/* Runs one gather: plan, result, work, and the result as the caller's kind of array. */
#include "call.h"

#include <stdlib.h>

#include "array_object.h"
#include "cache.h"
#include "call_errors.h"
#include "device_call.h"
#include "errors.h"
#include "huge_index.h"
#include "numpy.h"
#include "result.h"
#include "work.h"

bool call_read(struct call *call, PyObject *data, const char *data_name, PyObject *indices,
               const char *indices_name)
{
    struct state *state = call->state;
    if (!operand_read_anywhere(state, &call->data, data, ROLE_DATA, call->operator, data_name, NULL))
        return false;
    const struct operand *beside = call->data.place.device >= 0 ? &call->data : NULL;
    if (!operand_read_anywhere(state, &call->indices, indices, ROLE_INDICES, call->operator, indices_name,
                               beside)) {
        operand_release(&call->data);
        return false;
    }
    if ((beside || call->indices.place.device >= 0) && !device_accept(call, data_name, indices_name)) {
        call_abandon(call);
        return false;
    }
    if ((call->data.odd && !operand_settle(state, &call->data, ROLE_DATA, call->operator)) ||
        ((call->indices.odd || call->indices.swapped) &&
         !operand_settle(state, &call->indices, ROLE_INDICES, call->operator))) {
        call_abandon(call);
        return false;
    }
    return true;
}

PyObject *call_abandon(struct call *call)
{
    operand_release(&call->data);
    operand_release(&call->indices);
    return NULL;
}

/* ---- Work ------------------------------------------------------------------------------------ */

/* Whether all memory is where it was when the arguments were read; and stays there, if that takes long. False
 * with an exception. */
static bool check_memory(struct call *call, struct operand *out, bool is_long)
{
    struct operand *all[] = {&call->data, &call->indices, out};
    static const char *const names[] = {"data", "indices", "out"};
    for (int i = 0; i < 3 && is_long; i++)
        if (all[i]) operand_hold(all[i]);
    for (int i = 0; i < 3; i++)
        if (all[i] && !operand_check_there(call->state, all[i], call->operator, names[i])) return false;
    return true;
}

static garner_status run_held(struct call *call, const garner_plan *plan, struct operand *out, void *to,
                              garner_error *error)
{
    const garner_shape *shape = garner_plan_output(plan);
    const void *data = call->data.tensor.data, *indices = call->indices.tensor.data;
    int64_t points = count_elements(call->indices.tensor.rank, call->indices.shape);
    int64_t cost = work_cost(points, shape->bytes);
    const bool is_long = work_is_long(cost);
    if (!check_memory(call, out, is_long))
        return GARNER_BAD_ARGUMENT; /* call_refuse() leaves the exception */
    if (!is_long) return garner_execute(plan, data, indices, to, NULL, error);
    struct work work;
    work_begin(&work, call->threads, cost);
    garner_status status = garner_execute(plan, data, indices, to, work.exec, error);
    work_end(&work);
    return status;
}

/* ---- Into a new result ----------------------------------------------------------------------- */

static PyObject *run_new(struct call *call, const garner_plan *plan, garner_error *error)
{
    void *to = NULL;
    PyObject *made = result_new(call->state, &call->data, garner_plan_output(plan), &to);
    if (made == NULL) return NULL;
    if (run_held(call, plan, NULL, to, error) != GARNER_OK) {
        Py_DECREF(made);
        return call_refuse(call, error);
    }
    if (call->data.tensor.dtype == GARNER_STR && !array_object_own_strings((struct array_object *)made)) {
        Py_DECREF(made);
        return NULL;
    }
    return result_finish(call->state, &call->data, made, call->scalar);
}

/* ---- Into a given out ------------------------------------------------------------------------ */

static bool do_meet(const struct operand *a, const struct operand *b)
{
    uintptr_t low, high, other_low, other_high;
    operand_span(a, &low, &high);
    operand_span(b, &other_low, &other_high);
    return low < other_high && other_low < high;
}

/* An out whose strides are not whole elements gets its result from a dense one. */
static garner_status run_odd(struct call *call, struct operand *out, garner_error *error)
{
    struct cached_plan cached;
    garner_tensor dense = out->tensor;
    int64_t item = operand_item(out), to[GARNER_MAX_RANK], bytes;
    const char *met = do_meet(out, &call->data) ? "data" : do_meet(out, &call->indices) ? "indices" : NULL;
    if (met) {
        *error = (garner_error){.status = GARNER_BAD_SHAPE};
        PyOS_snprintf(error->message, sizeof error->message, "%s: out shares memory with %s", call->operator,
                      met);
        return GARNER_BAD_SHAPE;
    }
    dense.strides = NULL;
    garner_status status =
        cache_plan(&cached, &call->op, &call->data.tensor, &call->indices.tensor, &dense, error);
    if (status != GARNER_OK) return status;
    bytes = garner_plan_output(cached.plan)->bytes;
    void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (memory == NULL) {
        cache_release(&cached);
        error->status = GARNER_NO_MEMORY;
        error->has = 0;
        PyOS_snprintf(error->message, sizeof error->message, "%s: no memory for %lld bytes",
                      call->operator,(long long) bytes);
        return GARNER_NO_MEMORY;
    }
    status = run_held(call, cached.plan, out, memory, error);
    dense_strides(out->tensor.rank, out->shape, item, to);
    if (status == GARNER_OK)
        status = copy_elements((char *)out->tensor.data + out->tensor.byte_offset, out->strides, memory, to,
                               out->tensor.rank, out->shape, item, out, error);
    cache_release(&cached);
    free(memory);
    return status;
}

static garner_status run_into(struct call *call, struct operand *out, garner_error *error)
{
    struct cached_plan cached;
    if (call->plan && out->tensor.strides == NULL && out->tensor.byte_offset == 0) {
        const garner_shape *shape = garner_plan_output(call->plan);
        bool same = shape->rank == out->tensor.rank && shape->dtype == out->tensor.dtype &&
                    shape->item_bytes == out->tensor.item_bytes;
        for (int32_t i = 0; same && i < shape->rank; i++)
            same = shape->extents[i] == out->shape[i];
        if (same) return run_held(call, call->plan, out, out->tensor.data, error);
    }
    if (out->odd) return run_odd(call, out, error);
    garner_status status =
        cache_plan(&cached, &call->op, &call->data.tensor, &call->indices.tensor, &out->tensor, error);
    if (status != GARNER_OK) return status;
    status = run_held(call, cached.plan, out, out->tensor.data, error);
    cache_release(&cached);
    return status;
}

static PyObject *run_out(struct call *call, garner_error *error)
{
    struct operand out;
    if (!operand_read(call->state, &out, call->out, ROLE_OUT, call->operator, "out")) return NULL;
    PyObject *result = NULL;
    if (call_may_write(call, &out)) {
        if (run_into(call, &out, error) == GARNER_OK)
            result = Py_NewRef(call->out);
        else
            call_refuse(call, error);
    }
    operand_release(&out);
    return result;
}

PyObject *call_run(struct call *call)
{
    garner_error error;
    PyObject *result;
    if (call->indices.beyond && !huge_index_wrap(&call->op, &call->data, &call->indices))
        return call_abandon(call);
    if (call->data.place.device >= 0) {
        result = device_run(call);
    } else if (call->out && call->out != Py_None) {
        result = run_out(call, &error);
    } else if (call->plan) {
        result = run_new(call, call->plan, &error);
    } else {
        struct cached_plan cached;
        garner_status status =
            cache_plan(&cached, &call->op, &call->data.tensor, &call->indices.tensor, NULL, &error);
        result = status == GARNER_OK ? run_new(call, cached.plan, &error) : call_refuse(call, &error);
        if (status == GARNER_OK) cache_release(&cached);
    }
    call_abandon(call);
    return result;
}
