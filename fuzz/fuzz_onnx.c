/* SPDX-License-Identifier: MIT */
/*
 * ONNX models: any bytes are refused, or make a model. One that runs and is small is planned and run twice,
 * with zeros for its inputs; both runs must answer the same.
 */
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "onnx_model.h"

enum { MOST_BYTES = 1 << 16 };

/* Whether all values are known to be small. */
static int is_small(const struct model *model)
{
    const struct graph *graph = model_graph(model);
    for (size_t i = 0; i < graph->value_count; i++) {
        const garner_shape *shape = model_shape(model, i);
        if (!shape || shape->bytes > MOST_BYTES) return 0;
    }
    return graph->input_count < 64 && graph->output_count < 64 && graph->value_count < 1024;
}

static void run(struct model *model)
{
    const struct graph *graph = model_graph(model);
    struct array inputs[64], first[64], second[64];
    const garner_tensor *tensors[64];
    garner_error error;
    for (size_t i = 0; i < graph->input_count; i++) {
        const garner_shape *shape = model_shape(model, graph->inputs[i].value);
        if (array_create(&inputs[i], "an input", shape->dtype, 0, shape->rank, shape->extents, &error))
            __builtin_trap();
        tensors[i] = &inputs[i].tensor;
    }
    garner_status status = model_run(model, tensors, first, NULL, &error);
    if (model_run(model, tensors, second, NULL, &error) != status) __builtin_trap();
    for (size_t i = 0; i < graph->output_count; i++) {
        const garner_tensor *a = &first[i].tensor, *b = &second[i].tensor;
        if (a->bytes != b->bytes || (a->bytes && memcmp(a->data, b->data, (size_t)a->bytes)))
            __builtin_trap();
        array_free(&first[i]);
        array_free(&second[i]);
    }
    for (size_t i = 0; i < graph->input_count; i++)
        array_free(&inputs[i]);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    struct graph graph;
    struct model *model;
    garner_error error;
    char text[256];
    if (onnx_model_load_bytes(&graph, "x.onnx", bytes, size, 0, &error)) {
        if (strncmp(error.message, "x.onnx: ", 8) != 0) __builtin_trap();
        return 0;
    }
    if (model_from_graph(&model, &graph, &error)) return 0;
    if ((model_refusal(model) != NULL) != (model_plan(model, &error) == GARNER_UNSUPPORTED)) __builtin_trap();
    for (size_t i = 0; i < model_graph(model)->node_count; i++)
        model_describe(model, model_order(model, i), text, sizeof text);
    if (!model_refusal(model) && is_small(model)) run(model);
    model_free(model);
    return 0;
}
