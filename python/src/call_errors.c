/* SPDX-License-Identifier: MIT */
/* Errors about indices that were viewed otherwise than given, and outs that cannot take a result. */
#include "call_errors.h"

#include "errors.h"
#include "huge_index.h"

void given_restore(const struct given_indices *given, garner_error *error)
{
    int64_t position = 0, rest = error->position;
    if (!(error->has & GARNER_HAS_POSITION)) return;
    if (error->rank == given->rank) { /* an extent of 1 was repeated, and only its 0 is ever lowest */
        for (int32_t i = 0; i < given->rank; i++)
            position = position * given->shape[i] + error->coordinates[i];
        error->position = position;
        return;
    }
    for (int32_t i = given->rank - 1; i >= 0; i--) {
        error->coordinates[i] = given->shape[i] > 0 ? rest % given->shape[i] : 0;
        rest = given->shape[i] > 0 ? rest / given->shape[i] : 0;
    }
    error->rank = given->rank;
}

PyObject *call_refuse(struct call *call, garner_error *error)
{
    if (PyErr_Occurred()) return NULL; /* an interrupt, or memory that moved */
    if (call->given) given_restore(call->given, error);
    return huge_index_raise(call->state, &call->indices, error);
}

bool call_may_write(struct call *call, const struct operand *out)
{
    if (!out->writable)
        raise_error(call->state, GARNER_BAD_ARGUMENT, "%s: out is read-only", call->operator);
    else if (!operand_same_type(call->state, &call->data, out))
        raise_error(call->state, GARNER_BAD_TYPE, "%s: out has another element type than data",
                    call->operator);
    else if (out->tensor.dtype == GARNER_STR)
        raise_error(
            call->state, GARNER_BAD_TYPE,
            "%s: out is of strings, which cannot be replaced; leave it out, and a new Array comes back",
            call->operator);
    return !PyErr_Occurred();
}
