/* SPDX-License-Identifier: MIT */
/*
 * A gather layer of a model, without a word of OpenVINO's: one operator in one version, the plans for
 * the shapes that it has met, and where it stands in messages. operators.cpp is the thin part around it.
 */
#ifndef GARNER_LAYER_H
#define GARNER_LAYER_H

#include "garner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct garner_layer garner_layer;

/* What a layer needs to know for one call; data pointers are not looked at. */
typedef struct garner_layer_call {
    int64_t axis;
    int64_t batch_dims;
    garner_tensor data;
    garner_tensor indices;
} garner_layer_call;

/* A plan; the same once more if it was made for this call alone, because the layer has met too many shapes.
 */
typedef struct garner_layer_plan {
    const garner_plan *plan;
    garner_plan *temporary;
} garner_layer_plan;

/*
 * Makes a layer of one version ("openvino-8"). It takes every element type: the runtime converts types on
 * its own account, so a version's type lists say nothing about what arrives here. A batch extent of 1 in
 * ONNX's GatherND stands for any, as the runtime reads it; models that rely on that go on to work.
 */
garner_status garner_layer_create(garner_layer **layer, garner_kind kind, const char *spec,
                                  garner_error *error);

/* Frees a layer and its plans; NULL is fine. */
void garner_layer_destroy(garner_layer *layer);

/* The plan for a call: found, or made and kept. Any number of threads may ask at once. */
garner_status garner_layer_find(garner_layer *layer, const garner_layer_call *call, garner_layer_plan *found,
                                garner_error *error);

/* To be called after each garner_layer_find that succeeded. */
void garner_layer_done(const garner_layer_plan *found);

/*
 * Writes "layer 'NAME': SENTENCE" with what is not printable in the name escaped, and a long name cut.
 * Returns buffer.
 */
const char *garner_layer_message(const char *name, const char *sentence, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* GARNER_LAYER_H */
