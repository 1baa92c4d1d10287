/* SPDX-License-Identifier: MIT */
/* Copies of what operands hold, and whether it is still there. */
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "numpy.h"
#include "operand.h"
#include "work.h"

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

bool operand_make_dense(struct state *state, struct operand *operand, const char *operator)
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
    if (!operand_make_dense(state, operand, operator)) return false;
    if (swap) swap_bytes(operand);
    return true;
}

bool operand_flatten(struct state *state, struct operand *operand, const char *operator)
{
    garner_tensor *tensor = &operand->tensor;
    int64_t count = count_elements(tensor->rank, operand->shape);
    if ((tensor->strides || count < 0) && !operand_make_dense(state, operand, operator)) return false;
    operand->shape[0] = count;
    tensor->rank = 1;
    tensor->shape = operand->shape;
    return true;
}
