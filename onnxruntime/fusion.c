/* SPDX-License-Identifier: MIT */
/*
 * Three rewrites of ONNX Runtime's optimizer, each recognised by its own conditions:
 *     single columns   siblings that pick every element of an axis one by one become one Split
 *     quantized        the DequantizeLinear before and the QuantizeLinear behind are dropped
 *     half precision   between operators that have no f16 kernel, all is computed in f32 without conversions
 * What cannot be found out counts as no rewrite.
 */
#include "fusion.h"

#include <stdlib.h>
#include <string.h>

#include "fusion_rules.h"
#include "long_rows.h"
#include "ort_operand.h"

/* ---- The graph around a node ------------------------------------------------------------------ */

enum { MOST_INPUTS = 5 }; /* of the operators that are looked at */

static const char *type_of(const struct ort *ort, const OrtNode *node)
{
    const char *type = NULL;
    return ort_failed(ort, ort->Node_GetOperatorType(node, &type)) || type == NULL ? "" : type;
}

static bool is(const struct ort *ort, const OrtNode *node, const char *type)
{
    return strcmp(type_of(ort, node), type) == 0;
}

static bool is_version_13(const struct ort *ort, const OrtNode *node)
{
    int version = 0;
    return !ort_failed(ort, ort->Node_GetSinceVersion(node, &version)) && version == 13;
}

/* One of a node's inputs, or NULL where it has none. */
static const OrtValueInfo *input_of(const struct ort *ort, const OrtNode *node, size_t i)
{
    const OrtValueInfo *inputs[MOST_INPUTS];
    size_t count;
    if (ort_failed(ort, ort->Node_GetNumInputs(node, &count)) || i >= count || count > MOST_INPUTS ||
        ort_failed(ort, ort->Node_GetInputs(node, inputs, count)))
        return NULL;
    return inputs[i];
}

static const OrtValueInfo *output_of(const struct ort *ort, const OrtNode *node)
{
    const OrtValueInfo *output = NULL;
    return ort_failed(ort, ort->Node_GetOutputs(node, &output, 1)) ? NULL : output;
}

static const OrtNode *producer_of(const struct ort *ort, const OrtValueInfo *value)
{
    const OrtNode *producer = NULL;
    size_t output;
    return ort_failed(ort, ort->ValueInfo_GetValueProducer(value, &producer, &output)) ? NULL : producer;
}

static bool expect(const struct ort *ort, const OrtValueInfo *value, garner_tensor *tensor,
                   int64_t extents[GARNER_MAX_RANK])
{
    const OrtTypeInfo *type = NULL;
    return !ort_failed(ort, ort->GetValueInfoTypeInfo(value, &type)) && type &&
           ort_operand_expect(ort, type, tensor, extents);
}

/* Who reads a value, and as which input. */
struct readers {
    const OrtNode **node;
    int64_t *input;
    size_t count;
};

static void forget(struct readers *readers)
{
    free(readers->node);
    free(readers->input);
}

static bool find_readers(const struct ort *ort, const OrtValueInfo *value, struct readers *readers)
{
    *readers = (struct readers){0};
    if (ort_failed(ort, ort->ValueInfo_GetValueNumConsumers(value, &readers->count)) || readers->count == 0)
        return false;
    readers->node = calloc(readers->count, sizeof *readers->node);
    readers->input = calloc(readers->count, sizeof *readers->input);
    if (readers->node && readers->input &&
        !ort_failed(ort,
                    ort->ValueInfo_GetValueConsumers(value, readers->node, readers->input, readers->count)))
        return true;
    forget(readers);
    return false;
}

/* Whether all that read a value pass the test; a reader outside the graph does not. */
static bool all_readers(const struct ort *ort, const OrtValueInfo *value,
                        bool (*test)(const struct ort *, const OrtNode *))
{
    struct readers readers;
    bool is_output = true;
    if (ort_failed(ort, ort->ValueInfo_IsGraphOutput(value, &is_output)) || is_output) return false;
    if (!find_readers(ort, value, &readers)) return false;
    bool all = true;
    for (size_t i = 0; i < readers.count && all; i++)
        all = test(ort, readers.node[i]);
    forget(&readers);
    return all;
}

/* ---- Single columns: one Split --------------------------------------------------------------- */

static bool constant_of(const struct ort *ort, const OrtValueInfo *value, int64_t *number)
{
    bool is_constant = false;
    const OrtValue *initializer = NULL;
    garner_tensor tensor;
    if (value == NULL || ort_failed(ort, ort->ValueInfo_IsConstantInitializer(value, &is_constant)) ||
        !is_constant || ort_failed(ort, ort->ValueInfo_GetInitializerValue(value, &initializer)) ||
        initializer == NULL || ort_failed(ort, ort_operand_read(ort, initializer, &tensor)))
        return false;
    bool is_one = tensor.rank == 0 || (tensor.rank == 1 && tensor.shape[0] == 1);
    if (tensor.dtype != GARNER_I64 || !is_one || tensor.data == NULL) return false;
    memcpy(number, tensor.data, sizeof *number);
    return true;
}

/* What a node does not say is 0. */
static int64_t axis_attribute(const struct ort *ort, const OrtNode *node)
{
    const OrtOpAttr *attribute = NULL;
    int64_t axis = 0;
    size_t size;
    if (ort_failed(ort, ort->Node_GetAttributeByName(node, "axis", &attribute)) || attribute == NULL ||
        ort_failed(ort, ort->ReadOpAttr(attribute, ORT_ATTRIBUTE_INT, &axis, sizeof axis, &size)))
        return 0;
    return axis;
}

static bool gather_span(const struct ort *ort, const OrtNode *node, const struct split_axis *axis,
                        struct split_span *span)
{
    int64_t index;
    return constant_of(ort, input_of(ort, node, 1), &index) &&
           split_span_of_gather(span, axis, axis_attribute(ort, node), index);
}

static bool slice_span(const struct ort *ort, const OrtNode *node, const struct split_axis *axis,
                       struct split_span *span)
{
    int64_t number, start, end, step = 1;
    const OrtValueInfo *steps = input_of(ort, node, 4);
    return constant_of(ort, input_of(ort, node, 3), &number) &&
           constant_of(ort, input_of(ort, node, 1), &start) &&
           constant_of(ort, input_of(ort, node, 2), &end) && (!steps || constant_of(ort, steps, &step)) &&
           split_span_of_slice(span, axis, number, start, end, step);
}

/* Every Gather and Slice of these data must have a span, or the runtime splits nothing. */
static bool readers_cover(const struct ort *ort, const struct readers *readers, const struct split_axis *axis,
                          struct split_span *spans)
{
    size_t count = 0;
    for (size_t i = 0; i < readers->count; i++) {
        const OrtNode *node = readers->node[i];
        bool gathers = is(ort, node, "Gather");
        if (readers->input[i] != 0 || (!gathers && !is(ort, node, "Slice"))) continue;
        if (!is_version_13(ort, node) ||
            !(gathers ? gather_span : slice_span)(ort, node, axis, &spans[count++]))
            return false;
    }
    return split_spans_cover(spans, count, axis->extent);
}

/* The axis of a Gather, if its extent is known and what an index picks is one element. Of more than one
 * element our kernels are faster than a Split. */
static bool single_columns(const struct ort *ort, const OrtNode *node, const garner_tensor *data,
                           struct split_axis *axis)
{
    axis->rank = data->rank;
    axis->number = split_from_end(axis_attribute(ort, node), data->rank);
    if (axis->number < 0 || axis->number >= data->rank) return false;
    axis->extent = data->shape[axis->number];
    for (int64_t d = axis->number + 1; d < data->rank; d++)
        if (data->shape[d] != 1) return false;
    return axis->extent >= 0;
}

static bool becomes_split(const struct ort *ort, const OrtNode *node, const OrtValueInfo *value,
                          const garner_tensor *data)
{
    const OrtNode *producer = producer_of(ort, value);
    struct split_axis axis;
    struct readers readers;
    if (!single_columns(ort, node, data, &axis) || (producer && is(ort, producer, "Shape")) ||
        !find_readers(ort, value, &readers))
        return false;
    struct split_span *spans = calloc(readers.count, sizeof *spans);
    bool covered = spans && readers_cover(ort, &readers, &axis, spans);
    free(spans);
    forget(&readers);
    return covered;
}

/* ---- Quantized, and half precision ------------------------------------------------------------ */

static bool quantizes(const struct ort *ort, const OrtNode *node)
{
    return is(ort, node, "QuantizeLinear");
}

static bool is_quantized(const struct ort *ort, const OrtNode *node, const OrtValueInfo *value)
{
    const OrtNode *producer = producer_of(ort, value);
    const OrtValueInfo *out = output_of(ort, node);
    return !is(ort, node, "GatherND") && producer && is(ort, producer, "DequantizeLinear") && out &&
           all_readers(ort, out, quantizes);
}

static bool computes(const struct ort *ort, const OrtNode *node)
{
    return !fusion_moves_data(type_of(ort, node));
}

static bool is_between_f32(const struct ort *ort, const OrtNode *node, const OrtValueInfo *value)
{
    const OrtNode *producer = producer_of(ort, value);
    const OrtValueInfo *out = output_of(ort, node);
    return producer && computes(ort, producer) && out && all_readers(ort, out, computes);
}

/* ---- All of them ------------------------------------------------------------------------------ */

bool fusion_is_expected(const struct ort *ort, const OrtNode *node, struct fusion *last)
{
    const OrtValueInfo *value = input_of(ort, node, 0);
    garner_tensor data;
    int64_t extents[GARNER_MAX_RANK];
    if (value == NULL || !expect(ort, value, &data, extents)) return false;
    if (data.dtype == GARNER_STR) return false; /* the runtime's own copies some strings wrongly */
    bool is_gather = is(ort, node, "Gather");
    if (is_gather && value != last->data)
        *last = (struct fusion){value, becomes_split(ort, node, value, &data)};
    return (is_gather && last->is_split) || is_quantized(ort, node, value) ||
           (data.dtype == GARNER_F16 && is_between_f32(ort, node, value));
}

/* ---- Long rows -------------------------------------------------------------------------------- */

/* The bytes of a tensor's axes from one on, an open extent counted as `open`; LONG_ROWS_OPEN if that is one,
 * or if they fit into no number. */
static int64_t bytes_from(const garner_tensor *tensor, int64_t axis, int64_t open)
{
    int64_t count = 1;
    for (int64_t d = axis; d < tensor->rank; d++) {
        int64_t extent = tensor->shape[d] < 0 ? open : tensor->shape[d];
        if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return LONG_ROWS_OPEN;
    }
    return garner_dtype_bytes(tensor->dtype, count, 0);
}

static bool is_one(const garner_tensor *indices)
{
    for (int32_t d = 0; d < indices->rank; d++)
        if (indices->shape[d] != 1) return false;
    return true;
}

/* Whether this is the only Gather or Slice of its data: of several picks the runtime may make a Split, which
 * is slower. */
static bool picks_alone(const struct ort *ort, const OrtValueInfo *data)
{
    struct readers readers;
    size_t picks = 0;
    if (!find_readers(ort, data, &readers)) return false;
    for (size_t i = 0; i < readers.count; i++)
        picks += readers.input[i] == 0 &&
                 (is(ort, readers.node[i], "Gather") || is(ort, readers.node[i], "Slice"));
    forget(&readers);
    return picks == 1;
}

bool fusion_only_copies(const struct ort *ort, const OrtNode *node)
{
    const OrtValueInfo *value[3] = {input_of(ort, node, 0), input_of(ort, node, 1), output_of(ort, node)};
    garner_tensor data, indices, out;
    int64_t extents[3][GARNER_MAX_RANK];
    if (!is(ort, node, "Gather") || !value[0] || !value[1] || !value[2] ||
        !expect(ort, value[0], &data, extents[0]) || !expect(ort, value[1], &indices, extents[1]) ||
        !expect(ort, value[2], &out, extents[2]))
        return false;
    int64_t axis = split_from_end(axis_attribute(ort, node), data.rank);
    if (data.dtype == GARNER_STR || axis < 0 || axis >= data.rank) return false;
    return long_rows_are_left(bytes_from(&data, axis + 1, 1), bytes_from(&data, axis, -1),
                              bytes_from(&out, 0, -1)) &&
           (!is_one(&indices) || picks_alone(ort, value[0]));
}
