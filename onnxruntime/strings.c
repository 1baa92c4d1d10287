/* SPDX-License-Identifier: MIT */
/* Gathers the positions of strings, and copies the strings by the runtime's own functions. */
#include "strings.h"

#include <stdlib.h>

static OrtStatus *copy(const struct strings *strings, const int64_t *from, int64_t count)
{
    const struct ort *ort = strings->ort;
    for (int64_t i = 0; i < count; i++) {
        size_t size, at = (size_t)from[i];
        char *bytes;
        RETURN_FAILURE(ort->GetStringTensorElementLength(strings->data, at, &size));
        RETURN_FAILURE(ort->GetResizedStringTensorElementBuffer(strings->out, (size_t)i, size, &bytes));
        RETURN_FAILURE(ort->GetStringTensorElement(strings->data, size, at, bytes));
    }
    return NULL;
}

OrtStatus *strings_gather(const struct strings *strings, const garner_plan *plan, const int64_t *positions,
                          const void *indices)
{
    const garner_shape *shape = garner_plan_output(plan);
    garner_error error;
    int64_t *from = malloc(shape->bytes > 0 ? (size_t)shape->bytes : 1);
    if (from == NULL) return ort_no_memory(strings->ort);
    OrtStatus *status = garner_execute(plan, positions, indices, from, strings->exec, &error) == GARNER_OK
                            ? copy(strings, from, shape->count)
                            : ort_refuse(strings->ort, &error);
    free(from);
    return status;
}
