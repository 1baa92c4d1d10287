/* SPDX-License-Identifier: MIT */
/* Finds plans, or makes and keeps them; streams of a compiled model share their layers. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plans.h"

enum { LONGEST_NAME = 200 };

struct garner_layer {
    garner_op op;
    int broadcasts; /* a batch extent of 1 stands for any */
    struct plans plans;
};

/* ---- Making layers ------------------------------------------------------------------------------- */

garner_status garner_layer_create(garner_layer **layer, garner_kind kind, const char *spec,
                                  garner_error *error)
{
    garner_op op;
    *layer = NULL;
    garner_status status = garner_op_from_spec(&op, spec, kind, error);
    if (status != GARNER_OK) return status;
    op.spec = 0; /* its policy stays, its type lists go */

    garner_layer *made = malloc(sizeof *made);
    if (made == NULL) {
        if (error != NULL) {
            *error = (garner_error){.status = GARNER_NO_MEMORY};
            snprintf(error->message, sizeof error->message, "%s: no memory for a layer",
                     garner_kind_name(kind));
        }
        return GARNER_NO_MEMORY;
    }
    made->op = op;
    made->broadcasts = kind == GARNER_GATHER_ND && strncmp(spec, "onnx-", 5) == 0;
    plans_open(&made->plans);
    *layer = made;
    return GARNER_OK;
}

void garner_layer_destroy(garner_layer *layer)
{
    if (layer == NULL) return;
    plans_close(&layer->plans);
    free(layer);
}

/* ---- Batch extents of 1 -------------------------------------------------------------------------- */

struct stretched {
    garner_tensor view;
    int64_t extents[GARNER_MAX_RANK];
    int64_t strides[GARNER_MAX_RANK];
};

/* Whether a call has batch extents that differ, one of them 1, and ranks that allow to look at them. */
static int needs_stretching(const garner_layer *layer, const garner_layer_call *call)
{
    if (!layer->broadcasts || call->data.rank > GARNER_MAX_RANK || call->indices.rank > GARNER_MAX_RANK)
        return 0;
    for (int64_t i = 0; i < call->batch_dims && i < call->data.rank && i < call->indices.rank; i++) {
        int64_t of_data = call->data.shape[i], of_indices = call->indices.shape[i];
        if (of_data != of_indices && (of_data == 1 || of_indices == 1)) return 1;
    }
    return 0;
}

/* The tensor with a stride of 0 where its extent is 1 and the other's is not. */
static void stretch(struct stretched *made, const garner_tensor *tensor, const garner_tensor *other,
                    int64_t batch_dims)
{
    uint64_t stride = 1; /* wraps where extents are senseless; the plan then refuses them */
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        made->extents[i] = tensor->shape[i];
        made->strides[i] = (int64_t)stride;
        stride *= (uint64_t)tensor->shape[i];
        if (i >= batch_dims || i >= other->rank || tensor->shape[i] != 1) continue;
        made->extents[i] = other->shape[i];
        made->strides[i] = 0;
    }
    made->view = *tensor;
    made->view.shape = made->extents;
    made->view.strides = made->strides;
}

static garner_status make_plan(const garner_layer *layer, const garner_layer_call *call, garner_plan **plan,
                               garner_error *error)
{
    garner_op op = layer->op;
    op.axis = call->axis;
    op.batch_dims = call->batch_dims;
    if (!needs_stretching(layer, call))
        return garner_plan_create(plan, &op, &call->data, &call->indices, NULL, error);
    struct stretched data, indices;
    stretch(&data, &call->data, &call->indices, call->batch_dims);
    stretch(&indices, &call->indices, &call->data, call->batch_dims);
    return garner_plan_create(plan, &op, &data.view, &indices.view, NULL, error);
}

garner_status garner_layer_find(garner_layer *layer, const garner_layer_call *call, garner_layer_plan *found,
                                garner_error *error)
{
    const struct plan_key key = {call->axis, call->batch_dims, &call->data, &call->indices};
    garner_plan *plan;
    *found = (garner_layer_plan){.plan = plans_find(&layer->plans, &key)};
    if (found->plan) return GARNER_OK;
    garner_status status = make_plan(layer, call, &plan, error);
    if (status != GARNER_OK) return status;
    *found =
        (garner_layer_plan){.plan = plan, .temporary = plans_keep(&layer->plans, &key, plan) ? NULL : plan};
    return GARNER_OK;
}

void garner_layer_done(const garner_layer_plan *found)
{
    garner_plan_destroy(found->temporary);
}

/* ---- Messages ------------------------------------------------------------------------------------ */

/* Appends a byte as it is, or as \xNN; answers where the next one goes. */
static size_t put_byte(char *buffer, size_t at, unsigned char byte)
{
    if (byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '\'') {
        buffer[at] = (char)byte;
        return at + 1;
    }
    return at + (size_t)sprintf(buffer + at, "\\x%02x", byte);
}

const char *garner_layer_message(const char *name, const char *sentence, char *buffer, size_t size)
{
    char printable[(size_t)4 * LONGEST_NAME + sizeof "..."];
    size_t at = 0, taken = 0;
    for (; taken < LONGEST_NAME && name[taken] != '\0'; taken++)
        at = put_byte(printable, at, (unsigned char)name[taken]);
    snprintf(printable + at, sizeof printable - at, "%s", name[taken] != '\0' ? "..." : "");
    snprintf(buffer, size, "layer '%s': %s", printable, sentence);
    return buffer;
}
