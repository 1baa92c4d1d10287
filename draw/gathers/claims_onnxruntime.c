/* SPDX-License-Identifier: MIT */
/* What the plug-in for ONNX Runtime takes: the rules of onnxruntime/fusion.c. */
#include <stdlib.h>
#include <string.h>

#include "fusion_rules.h"
#include "long_rows.h"
#include "surroundings.h"

/* Whether nodes read a value, all of which pass the test, and it is no output of the model. */
static int all_readers(const struct surroundings *around, size_t value,
                       int (*test)(const struct graph_node *))
{
    if (around->chain->output[value] != GRAPH_NONE) return 0;
    for (size_t i = around->first[value]; i < around->first[value + 1]; i++)
        if (!test(&around->chain->graph->nodes[around->readers[i]])) return 0;
    return around->first[value] < around->first[value + 1];
}

/* The one integer of a constant. */
static int constant_of(const struct surroundings *around, size_t value, int64_t *number)
{
    const garner_tensor *constant = value == GRAPH_NONE ? NULL : around->chain->graph->values[value].constant;
    if (!constant || around->is_input[value] || constant->dtype != GARNER_I64 || constant->rank > 1 ||
        array_count(constant->rank, constant->shape) != 1)
        return 0;
    memcpy(number, constant->data, sizeof *number);
    return 1;
}

/* ---- Single columns that become one Split ---- */

static int gather_span(const struct surroundings *around, const struct graph_node *node,
                       const struct split_axis *axis, struct split_span *span)
{
    int64_t index;
    return constant_of(around, node->inputs[1], &index) &&
           split_span_of_gather(span, axis, node->op.axis, index);
}

static int slice_span(const struct surroundings *around, const struct graph_node *node,
                      const struct split_axis *axis, struct split_span *span)
{
    int64_t number, start, end, step = 1;
    return node->input_count >= 4 && constant_of(around, node->inputs[3], &number) &&
           constant_of(around, node->inputs[1], &start) && constant_of(around, node->inputs[2], &end) &&
           (node->input_count < 5 || node->inputs[4] == GRAPH_NONE ||
            constant_of(around, node->inputs[4], &step)) &&
           split_span_of_slice(span, axis, number, start, end, step);
}

/* Every Gather and Slice of these data must have a span. */
static int readers_cover(const struct surroundings *around, size_t data, const struct split_axis *axis)
{
    const struct graph *graph = around->chain->graph;
    size_t first = around->first[data], end = around->first[data + 1], count = 0;
    struct split_span *spans = around->spans;
    int fits = 1;
    for (size_t i = first; i < end && fits; i++) {
        const struct graph_node *node = &graph->nodes[around->readers[i]];
        int gathers = node->kind == GRAPH_GATHER;
        if (around->ports[i] != 0 || (!gathers && strcmp(node->type, "Slice") != 0)) continue;
        fits = strtol(node->version, NULL, 10) >= 13 &&
               (gathers ? gather_span : slice_span)(around, node, axis, &spans[count++]);
    }
    return fits && split_spans_cover(spans, count, axis->extent);
}

static int siblings_cover(const struct surroundings *around, const struct graph_node *node)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]];
    const struct graph_node *maker = surroundings_maker(around, node->inputs[0]);
    if (data->rank < 1 || (maker && strcmp(maker->type, "Shape") == 0)) return 0;
    struct split_axis axis = {split_from_end(node->op.axis, data->rank), 0, data->rank};
    if (axis.number < 0 || axis.number >= data->rank) return 0;
    const struct graph_extent *extent = &data->extents[axis.number];
    for (int64_t d = axis.number; d < data->rank; d++)
        if (data->extents[d].least != data->extents[d].most ||
            (d > axis.number && data->extents[d].least != 1))
            return 0;
    axis.extent = extent->least;
    return readers_cover(around, node->inputs[0], &axis);
}

/* All siblings share the answer: each would look at all the others. */
static int becomes_split(const struct surroundings *around, const struct graph_node *node)
{
    enum { NOT_ASKED, NO, YES };
    unsigned char *answer = &around->split[node->inputs[0]];
    if (node->kind != GRAPH_GATHER) return 0;
    if (*answer == NOT_ASKED) *answer = siblings_cover(around, node) ? YES : NO;
    return *answer == YES;
}

/* ---- Quantized data, half precision ---- */

static int quantizes(const struct graph_node *node)
{
    return strcmp(node->type, "QuantizeLinear") == 0;
}

static int is_quantized(const struct surroundings *around, const struct graph_node *node)
{
    const struct graph_node *maker = surroundings_maker(around, node->inputs[0]);
    return node->kind != GRAPH_GATHER_ND && maker && strcmp(maker->type, "DequantizeLinear") == 0 &&
           all_readers(around, node->outputs[0], quantizes);
}

static int computes(const struct graph_node *node)
{
    return !fusion_moves_data(node->type);
}

static int is_between_f32(const struct surroundings *around, const struct graph_node *node)
{
    const struct graph_node *maker = surroundings_maker(around, node->inputs[0]);
    return around->chain->shapes[node->inputs[0]].dtype == GARNER_F16 && maker && computes(maker) &&
           all_readers(around, node->outputs[0], computes);
}

/* ---- Long rows ---- */

/* Whether the runtime knows no more of a value's extents than the file tells. */
static int is_declared(const struct surroundings *around, size_t value)
{
    return around->is_input[value] || around->chain->graph->values[value].constant;
}

/* The bytes of a value's axes from one on, an open extent counted as `open`; LONG_ROWS_OPEN if that is one,
 * or if they fit into no number. Clears `known` where the runtime may know more than the file. */
static int64_t bytes_from(const struct surroundings *around, size_t value, int64_t axis, int64_t open,
                          int *known)
{
    const struct chain_shape *shape = &around->chain->shapes[value];
    int64_t count = 1;
    for (int64_t d = axis; d < shape->rank; d++) {
        const struct graph_extent *told = &shape->extents[d];
        int is_fixed = told->least == told->most;
        int64_t extent = is_fixed ? told->least : open;
        if (!is_fixed && !told->symbol && !is_declared(around, value)) *known = 0;
        if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return LONG_ROWS_OPEN;
    }
    return garner_dtype_bytes(shape->dtype, count, 0);
}

static int is_one(const struct surroundings *around, size_t indices, int *known)
{
    const struct chain_shape *shape = &around->chain->shapes[indices];
    if (shape->rank < 0) *known = 0;
    for (int32_t d = 0; d < shape->rank; d++) {
        const struct graph_extent *told = &shape->extents[d];
        if (told->least != told->most && !told->symbol && !is_declared(around, indices)) *known = 0;
        if (told->least != 1 || told->most != 1) return 0;
    }
    return 1;
}

/* Whether a Gather is the only one, and there is no Slice, of its data. */
static int picks_alone(const struct surroundings *around, size_t data)
{
    size_t picks = 0;
    for (size_t i = around->first[data]; i < around->first[data + 1]; i++) {
        const struct graph_node *node = &around->chain->graph->nodes[around->readers[i]];
        picks += around->ports[i] == 0 && (node->kind == GRAPH_GATHER || strcmp(node->type, "Slice") == 0);
    }
    return picks == 1;
}

static enum claim claim_rows(const struct surroundings *around, const struct graph_node *node)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]],
                             *out = &around->chain->shapes[node->outputs[0]];
    int64_t axis = split_from_end(node->op.axis, data->rank);
    int known = 1;
    if (node->kind != GRAPH_GATHER) return CLAIM_TAKEN;
    if (data->rank < 0 || !data->dtype || out->rank < 0) return CLAIM_UNKNOWN;
    if (axis < 0 || axis >= data->rank) return CLAIM_TAKEN;
    int64_t row = bytes_from(around, node->inputs[0], axis + 1, 1, &known),
            table = bytes_from(around, node->inputs[0], axis, -1, &known),
            all = bytes_from(around, node->outputs[0], 0, -1, &known);
    int left = long_rows_are_left(row, table, all) &&
               (!is_one(around, node->inputs[1], &known) || picks_alone(around, node->inputs[0]));
    return known ? left ? CLAIM_COPY : CLAIM_TAKEN : CLAIM_UNKNOWN;
}

enum claim claim_in_onnxruntime(const struct surroundings *around, const struct graph_node *node)
{
    garner_dtype dtype = around->chain->shapes[node->inputs[0]].dtype;
    if (strcmp(around->chain->graph->format, "ONNX") != 0) return CLAIM_FORMAT;
    if (dtype == GARNER_C64 || dtype == GARNER_C128) return CLAIM_TYPE;
    if (around->is_folded[node->outputs[0]]) return CLAIM_FOLDED;
    if (dtype == GARNER_STR) return CLAIM_TAKEN; /* the runtime's own copies some strings wrongly */
    if (becomes_split(around, node)) return CLAIM_SPLIT;
    if (is_quantized(around, node)) return CLAIM_QUANTIZED;
    return is_between_f32(around, node) ? CLAIM_HALF : claim_rows(around, node);
}
