/* SPDX-License-Identifier: MIT */
/* What is known around gathers, and the rules of each runtime, most decisive first. */
#include "claims.h"

#include <stdlib.h>
#include <string.h>

#include "value.h"

/* ---- Answers ---- */

#define CLAIM_NAME(id, name, why) name,
#define CLAIM_WHY(id, name, why) why,

const char *claim_name(enum claim claim)
{
    static const char *const names[] = {NULL, CLAIM_REASONS(CLAIM_NAME)};
    return names[claim];
}

const char *claim_why(enum claim claim)
{
    static const char *const reasons[] = {NULL, CLAIM_REASONS(CLAIM_WHY)};
    return reasons[claim];
}

const char *claim_runtime_name(enum claim_runtime runtime)
{
    return runtime == CLAIM_ONNXRUNTIME ? "ONNX Runtime" : "OpenVINO";
}

/* ---- Surroundings ---- */

static void count_readers(struct surroundings *around, const struct graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++)
            if (graph->nodes[i].inputs[k] != GRAPH_NONE) around->first[graph->nodes[i].inputs[k] + 1]++;
    for (size_t i = 0; i < graph->value_count; i++)
        around->first[i + 1] += around->first[i];
}

/* first[v + 1] counts up from where the readers of v begin to where they end, which is where those of v + 1
 * do. */
static void list_readers(struct surroundings *around, const struct graph *graph)
{
    for (size_t i = graph->value_count; i > 0; i--)
        around->first[i] = around->first[i - 1];
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++) {
            size_t value = graph->nodes[i].inputs[k];
            if (value == GRAPH_NONE) continue;
            size_t at = around->first[value + 1]++;
            around->readers[at] = i;
            around->ports[at] = k;
        }
}

static int is_open(const struct chain_shape *shape)
{
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->extents[i].least != shape->extents[i].most) return 1;
    return shape->rank < 0;
}

static int is_operator(const struct graph_node *node, const char *const *types)
{
    for (; *types; types++)
        if (strcmp(node->type, *types) == 0) return 1;
    return 0;
}

/* Whether runtimes compute a node while they load the model. What unpacks a compressed table they leave. */
static int is_foldable(const struct surroundings *around, const struct graph_node *node)
{
    static const char *const kept[] = {"DequantizeLinear",
                                       "QuantizeLinear",
                                       "RandomNormalLike",
                                       "RandomUniformLike",
                                       "Bernoulli",
                                       "If",
                                       "Loop",
                                       "Scan",
                                       NULL};
    static const char *const measures[] = {"Shape", "ShapeOf", "Size", NULL};
    if (!node->input_count || is_operator(node, kept)) return 0;
    if (is_operator(node, measures) && node->inputs[0] != GRAPH_NONE &&
        !is_open(&around->chain->shapes[node->inputs[0]]))
        return 1;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] != GRAPH_NONE && !around->is_folded[node->inputs[i]]) return 0;
    return 1;
}

static void find_folded(struct surroundings *around)
{
    const struct graph *graph = around->chain->graph;
    for (size_t i = 0; i < graph->input_count; i++)
        around->is_input[graph->inputs[i].value] = 1;
    for (size_t i = 0; i < graph->value_count; i++)
        around->is_folded[i] = graph->values[i].constant && !around->is_input[i];
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[model_order(around->chain->model, i)];
        int folded = is_foldable(around, node);
        for (size_t k = 0; folded && k < node->output_count; k++)
            if (node->outputs[k] != GRAPH_NONE) around->is_folded[node->outputs[k]] = 1;
    }
}

int surroundings_create(struct surroundings *around, const struct chain *chain)
{
    const struct graph *graph = chain->graph;
    size_t values = graph->value_count + 2, reads = 1;
    for (size_t i = 0; i < graph->node_count; i++)
        reads += graph->nodes[i].input_count;
    *around = (struct surroundings){.chain = chain,
                                    .first = calloc(values, sizeof *around->first),
                                    .readers = calloc(reads, sizeof *around->readers),
                                    .ports = calloc(reads, sizeof *around->ports),
                                    .is_input = calloc(values, 1),
                                    .is_folded = calloc(values, 1)};
    if (!around->first || !around->readers || !around->ports || !around->is_input || !around->is_folded)
        return 0;
    count_readers(around, graph);
    list_readers(around, graph);
    find_folded(around);
    return 1;
}

void surroundings_free(struct surroundings *around)
{
    free(around->first);
    free(around->readers);
    free(around->ports);
    free(around->is_input);
    free(around->is_folded);
    *around = (struct surroundings){.chain = NULL};
}

/* ---- The graph around a node ---- */

static const struct graph_node *maker_of(const struct surroundings *around, size_t value)
{
    const struct graph *graph = around->chain->graph;
    size_t node = graph->values[value].node;
    return node == GRAPH_NONE || graph->nodes[node].kind == GRAPH_CONSTANT ? NULL : &graph->nodes[node];
}

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

/* ---- ONNX Runtime: single columns that become one Split ---- */

struct axis {
    int64_t number, extent, rank;
};

struct span {
    int64_t start, end;
};

static int64_t from_end(int64_t number, int64_t extent)
{
    return number < 0 ? number + extent : number;
}

static int64_t within(int64_t number, int64_t extent)
{
    number = from_end(number, extent);
    return number < 0 ? 0 : number > extent ? extent : number;
}

static int gather_span(const struct surroundings *around, const struct graph_node *node,
                       const struct axis *axis, struct span *span)
{
    if (from_end(node->op.axis, axis->rank) != axis->number ||
        !constant_of(around, node->inputs[1], &span->start))
        return 0;
    span->start = from_end(span->start, axis->extent);
    span->end = span->start + 1;
    return span->start >= 0 && span->start < axis->extent;
}

static int slice_span(const struct surroundings *around, const struct graph_node *node,
                      const struct axis *axis, struct span *span)
{
    int64_t number, step = 1;
    if (node->input_count < 4 || !constant_of(around, node->inputs[3], &number) ||
        from_end(number, axis->rank) != axis->number || !constant_of(around, node->inputs[1], &span->start) ||
        !constant_of(around, node->inputs[2], &span->end) ||
        (node->input_count > 4 && node->inputs[4] != GRAPH_NONE &&
         !constant_of(around, node->inputs[4], &step)))
        return 0;
    span->start = within(span->start, axis->extent);
    span->end = within(span->end, axis->extent);
    return step == 1 && span->start < span->end;
}

static int compare_spans(const void *a, const void *b)
{
    int64_t x = ((const struct span *)a)->start, y = ((const struct span *)b)->start;
    return (x > y) - (x < y);
}

/* Whether the spans are the whole axis, each part once. */
static int cover(struct span *spans, size_t count, int64_t extent)
{
    int64_t end = 0;
    qsort(spans, count, sizeof *spans, compare_spans);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].start != end) return 0;
        end = spans[i].end;
    }
    return end == extent;
}

/* Every Gather and Slice of these data must have a span. */
static int readers_cover(const struct surroundings *around, size_t data, const struct axis *axis)
{
    const struct graph *graph = around->chain->graph;
    size_t first = around->first[data], end = around->first[data + 1], count = 0;
    struct span *spans = calloc(end - first + 1, sizeof *spans);
    int fits = spans != NULL;
    for (size_t i = first; i < end && fits; i++) {
        const struct graph_node *node = &graph->nodes[around->readers[i]];
        int gathers = node->kind == GRAPH_GATHER;
        if (around->ports[i] != 0 || (!gathers && strcmp(node->type, "Slice") != 0)) continue;
        fits = strtol(node->version, NULL, 10) >= 13 &&
               (gathers ? gather_span : slice_span)(around, node, axis, &spans[count++]);
    }
    fits = fits && count > 1 && cover(spans, count, axis->extent);
    free(spans);
    return fits;
}

static int becomes_split(const struct surroundings *around, const struct graph_node *node)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]];
    const struct graph_node *maker = maker_of(around, node->inputs[0]);
    if (node->kind != GRAPH_GATHER || data->rank < 1 || (maker && strcmp(maker->type, "Shape") == 0))
        return 0;
    struct axis axis = {from_end(node->op.axis, data->rank), 0, data->rank};
    if (axis.number < 0 || axis.number >= data->rank) return 0;
    const struct graph_extent *extent = &data->extents[axis.number];
    for (int64_t d = axis.number; d < data->rank; d++)
        if (data->extents[d].least != data->extents[d].most ||
            (d > axis.number && data->extents[d].least != 1))
            return 0;
    axis.extent = extent->least;
    return readers_cover(around, node->inputs[0], &axis);
}

/* ---- ONNX Runtime: quantized data, half precision ---- */

static int quantizes(const struct graph_node *node)
{
    return strcmp(node->type, "QuantizeLinear") == 0;
}

static int is_quantized(const struct surroundings *around, const struct graph_node *node)
{
    const struct graph_node *maker = maker_of(around, node->inputs[0]);
    return node->kind != GRAPH_GATHER_ND && maker && strcmp(maker->type, "DequantizeLinear") == 0 &&
           all_readers(around, node->outputs[0], quantizes);
}

static int computes(const struct graph_node *node)
{
    static const char *const movers[] = {
        "Cast",      "Concat",    "Expand", "Flatten",  "Gather",  "GatherElements", "GatherND",
        "Identity",  "If",        "Loop",   "Pad",      "Reshape", "Scan",           "ScatterElements",
        "ScatterND", "Shape",     "Size",   "Slice",    "Split",   "Squeeze",        "Tile",
        "Transpose", "Unsqueeze", "Where",  "Constant", NULL};
    return !is_operator(node, movers);
}

static int is_between_f32(const struct surroundings *around, const struct graph_node *node)
{
    const struct graph_node *maker = maker_of(around, node->inputs[0]);
    return around->chain->shapes[node->inputs[0]].dtype == GARNER_F16 && maker && computes(maker) &&
           all_readers(around, node->outputs[0], computes);
}

static enum claim claim_in_onnxruntime(const struct surroundings *around, const struct graph_node *node)
{
    garner_dtype dtype = around->chain->shapes[node->inputs[0]].dtype;
    if (strcmp(around->chain->graph->format, "ONNX") != 0) return CLAIM_FORMAT;
    if (dtype == GARNER_C64 || dtype == GARNER_C128) return CLAIM_TYPE;
    if (around->is_folded[node->outputs[0]]) return CLAIM_FOLDED;
    if (dtype == GARNER_STR) return CLAIM_TAKEN; /* the runtime's own copies some strings wrongly */
    if (becomes_split(around, node)) return CLAIM_SPLIT;
    if (is_quantized(around, node)) return CLAIM_QUANTIZED;
    return is_between_f32(around, node) ? CLAIM_HALF : CLAIM_TAKEN;
}

/* ---- OpenVINO ---- */

/* A few elements of a vector that the model computed. */
static int is_shape_arithmetic(const struct surroundings *around, const struct graph_node *node)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]];
    return node->kind == GRAPH_GATHER && (data->dtype == GARNER_I64 || data->dtype == GARNER_I32) &&
           data->rank == 1 && maker_of(around, node->inputs[0]) &&
           around->chain->graph->values[node->inputs[1]].constant && !around->is_input[node->inputs[1]];
}

/* A table of small numbers, scaled before it is gathered from. */
static int is_compressed(const struct surroundings *around, const struct graph_node *node)
{
    static const char *const unpacks[] = {"Convert", "Cast",    "Subtract",         "Sub", "Multiply",
                                          "Mul",     "Reshape", "DequantizeLinear", NULL};
    size_t value = node->inputs[0];
    const struct graph_node *maker;
    int steps = 0;
    while ((maker = maker_of(around, value)) != NULL && is_operator(maker, unpacks) && steps++ < 6) {
        if (!maker->input_count || maker->inputs[0] == GRAPH_NONE) return 0;
        value = maker->inputs[0];
    }
    const garner_tensor *constant = around->chain->graph->values[value].constant;
    garner_dtype dtype = constant ? constant->dtype : 0;
    return steps > 1 &&
           (dtype == GARNER_U8 || dtype == GARNER_I8 || dtype == GARNER_U4 || dtype == GARNER_I4);
}

static enum claim claim_in_openvino(const struct surroundings *around, const struct graph_node *node)
{
    garner_dtype dtype = around->chain->shapes[node->inputs[0]].dtype;
    if (dtype == GARNER_C64 || dtype == GARNER_C128 || dtype == GARNER_U1 || dtype == GARNER_U3 ||
        dtype == GARNER_U6)
        return CLAIM_TYPE;
    if (around->is_folded[node->outputs[0]]) return CLAIM_FOLDED;
    if (is_shape_arithmetic(around, node)) return CLAIM_SHAPE;
    return is_compressed(around, node) ? CLAIM_COMPRESSED : CLAIM_TAKEN;
}

/* ---- Both ---- */

enum claim claim_of(const struct surroundings *around, size_t id, enum claim_runtime runtime)
{
    const struct graph_node *node = &around->chain->graph->nodes[id];
    if (chain_refuses(around->chain, id)) return CLAIM_REFUSED;
    size_t out = node->outputs[0];
    if (around->first[out] == around->first[out + 1] && around->chain->output[out] == GRAPH_NONE)
        return CLAIM_UNUSED;
    return runtime == CLAIM_ONNXRUNTIME ? claim_in_onnxruntime(around, node)
                                        : claim_in_openvino(around, node);
}
