/* SPDX-License-Identifier: MIT */
/* What the extension for OpenVINO takes: the rules of openvino/choice.cpp and faults.cpp. */
#include <string.h>

#include "fusion_rules.h"
#include "integer.h"
#include "surroundings.h"

enum {
    MIN_BYTES = 32768, /* the default of garner.openvino.library() and replace() */
    OPEN_EXTENT = 16   /* what an extent that the model leaves open is taken for there */
};

static int is_any(garner_dtype dtype, const garner_dtype *types, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (types[i] == dtype) return 1;
    return 0;
}

#define IS_ANY(dtype, ...)                             \
    is_any(dtype, (const garner_dtype[]){__VA_ARGS__}, \
           sizeof((const garner_dtype[]){__VA_ARGS__}) / sizeof(garner_dtype))

/* A value by the one that it is the same tensor as. */
static size_t source_of(const struct surroundings *around, size_t value)
{
    enum { MOST_STEPS = 64 }; /* files may have any number of them, in front of any number of gathers */
    const struct graph_node *maker;
    for (int i = 0; i < MOST_STEPS && (maker = surroundings_maker(around, value)) != NULL; i++) {
        if (maker->kind != GRAPH_IDENTITY) break;
        value = maker->inputs[0];
    }
    return value;
}

static int is_constant(const struct surroundings *around, size_t value)
{
    value = source_of(around, value);
    return around->chain->graph->values[value].constant && !around->is_input[value];
}

/* A few elements of a vector that the model computed. */
static int is_shape_arithmetic(const struct surroundings *around, const struct graph_node *node)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]];
    return IS_ANY(data->dtype, GARNER_I64, GARNER_I32) && data->rank == 1 &&
           surroundings_maker(around, source_of(around, node->inputs[0])) &&
           is_constant(around, node->inputs[1]);
}

static int is_known_to_be_empty(const struct chain_shape *shape)
{
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->extents[i].most == 0) return 1;
    return 0;
}

/* Whether the runtime knows no more of a value's extents than the file tells. */
static int is_declared(const struct surroundings *around, size_t value)
{
    return strcmp(around->chain->graph->format, "ONNX") != 0 || is_constant(around, value) ||
           around->is_input[source_of(around, value)];
}

/* Whether an extent is open to the runtime as well. */
static int is_open(const struct surroundings *around, size_t value, int64_t axis)
{
    const struct graph_extent *extent = &around->chain->shapes[value].extents[axis];
    return extent->least != extent->most && (extent->symbol || is_declared(around, value));
}

/* Whether each constant index lies inside the extents, one or one for each element of a tuple, as far as
 * they are known; from the end too where the version counts so. */
static int are_inside(const garner_tensor *indices, const struct graph_extent *extents, int64_t depth,
                      int negative_too)
{
    int64_t count = array_count(indices->rank, indices->shape),
            bytes = garner_dtype_bytes(indices->dtype, 1, 0);
    if (!integer_is_type(indices->dtype)) return 0;
    for (int64_t i = 0; i < count; i++) {
        const struct graph_extent *extent = &extents[i % depth];
        int64_t index = integer_value((const char *)indices->data + i * bytes, indices->dtype);
        if (extent->least != extent->most) continue;
        if (index >= extent->least || index < (negative_too ? -extent->least : 0)) return 0;
    }
    return 1;
}

/* The constant that a value is; NULL: it is none. */
static const garner_tensor *constant_tensor(const struct surroundings *around, size_t value)
{
    return is_constant(around, value) ? around->chain->graph->values[source_of(around, value)].constant
                                      : NULL;
}

/* Whether the indices are 0, 1, 2 and so on, whatever their shape. */
static int count_up(const garner_tensor *indices)
{
    int64_t count = array_count(indices->rank, indices->shape),
            bytes = garner_dtype_bytes(indices->dtype, 1, 0);
    for (int64_t i = 0; i < count; i++)
        if (integer_value((const char *)indices->data + i * bytes, indices->dtype) != i) return 0;
    return 1;
}

/* Whether two shapes are the same; -1: not known. */
static int are_same(const struct chain_shape *one, const struct chain_shape *other)
{
    int answer = 1;
    if (one->rank != other->rank) return 0;
    for (int32_t i = 0; i < one->rank; i++) {
        const struct graph_extent *a = &one->extents[i], *b = &other->extents[i];
        if (a->least != a->most || b->least != b->most)
            answer = -1;
        else if (a->least != b->least)
            return 0;
    }
    return answer;
}

static int may_be_one(const struct graph_extent *extent)
{
    return extent->least <= 1 && (extent->most < 0 || extent->most >= 1);
}

/* Whether the runtime knows all extents of a value; -1: it may know more of them than the file tells. */
static int is_fixed(const struct surroundings *around, size_t value)
{
    const struct chain_shape *shape = &around->chain->shapes[value];
    int answer = 1;
    if (shape->rank < 0) return is_declared(around, value) ? 0 : -1;
    for (int32_t i = 0; i < shape->rank; i++) {
        if (is_open(around, value, i)) return 0;
        if (shape->extents[i].least != shape->extents[i].most) answer = -1;
    }
    return answer;
}

/* Whether the runtime's transformations would put data in place of the result, as faults.cpp has it; -1: not
 * known. Where they would, garner takes the layer. */
static int is_mistaken_for_data(const struct surroundings *around, const struct graph_node *node,
                                int64_t axis)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]],
                             *out = &around->chain->shapes[node->outputs[0]];
    const garner_tensor *indices = constant_tensor(around, node->inputs[1]);
    int fixed = is_fixed(around, node->inputs[0]), others = is_fixed(around, node->inputs[1]);
    axis = split_from_end(axis, data->rank);
    if (!fixed || !others || axis < 0 || axis >= data->rank) return 0;
    if (indices && !integer_is_type(indices->dtype)) return 0;
    int same = are_same(data, out);
    const struct graph_extent *extent = &data->extents[axis];
    if (extent->least != extent->most) return indices || !same || !may_be_one(&out->extents[axis]) ? 0 : -1;
    if (extent->least == 1 && indices) return !are_inside(indices, extent, 1, 1);
    if (extent->least == 1) return same;
    return indices && !same && array_count(indices->rank, indices->shape) == extent->least &&
           count_up(indices);
}

/* Whether a tensor may be a number or a vector so short that the runtime has a loop of its own for it. */
static int may_be_short(const struct chain_shape *shape)
{
    enum { LONGEST = 64 };
    return shape->rank < 1 || (shape->rank == 1 && shape->extents[0].least <= LONGEST);
}

/* Whether the runtime's kernel may end the process, or read memory of others, as faults.cpp has it: with
 * batches, without elements, and by constants outside of a short vector of integers. By other indices such
 * a vector becomes a matrix, which the runtime has no such kernel for. */
static int is_unsafe_to_leave(const struct surroundings *around, const struct graph_node *node)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]];
    const struct chain_shape *indices = &around->chain->shapes[node->inputs[1]];
    if (node->op.batch_dims != 0 || is_known_to_be_empty(data) || is_known_to_be_empty(indices)) return 1;
    if (data->rank != 1 || !data->dtype ||
        IS_ANY(data->dtype, GARNER_F32, GARNER_F64, GARNER_F16, GARNER_BF16) || !may_be_short(data) ||
        !may_be_short(indices))
        return 0;
    const garner_tensor *constant = constant_tensor(around, node->inputs[1]);
    return constant && !are_inside(constant, data->extents, 1, 1);
}

/* A table of small numbers, scaled before it is gathered from. */
static int is_compressed(const struct surroundings *around, const struct graph_node *node)
{
    static const char *const unpacks[] = {"Convert", "Cast",    "Subtract",         "Sub", "Multiply",
                                          "Mul",     "Reshape", "DequantizeLinear", NULL};
    enum { MOST_STEPS = 6 };
    size_t value = node->inputs[0];
    const struct graph_node *maker;
    int steps = 0;
    while ((maker = surroundings_maker(around, value)) != NULL && claim_is_operator(maker, unpacks) &&
           steps++ < MOST_STEPS) {
        if (!maker->input_count || maker->inputs[0] == GRAPH_NONE) return 0;
        value = maker->inputs[0];
    }
    const garner_tensor *constant = around->chain->graph->values[value].constant;
    return steps > 1 && constant && IS_ANY(constant->dtype, GARNER_U8, GARNER_I8, GARNER_U4, GARNER_I4);
}

/* How many of the result's last axes lie together in data; -1: that is not known. */
static int64_t row_axes_of(const struct surroundings *around, const struct graph_node *node, int64_t axis)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]],
                             *indices = &around->chain->shapes[node->inputs[1]];
    if (node->kind == GRAPH_GATHER_ELEMENTS) return 0;
    if (data->rank < 0) return -1;
    if (node->kind == GRAPH_GATHER) return data->rank - split_from_end(axis, data->rank) - 1;
    if (indices->rank < 1) return -1;
    const struct graph_extent *tuple = &indices->extents[indices->rank - 1];
    const int is_known = tuple->least == tuple->most && tuple->least <= GARNER_MAX_RANK;
    return is_known ? data->rank - node->op.batch_dims - tuple->least : -1;
}

/* What a point counts for, by the elements and bytes that lie together there; a number of points that is a
 * guess is a low one. */
static int64_t weight_of(const struct graph_node *node, int64_t elements, int64_t bytes, int is_guess)
{
    enum { SINGLE = 1, IS_SHORT = 64, OF_SHORT = 4, OF_SHORT_TUPLES = 2, IS_LONG = 512, OF_LONG = 16 };
    enum { OF_MEDIUM = 8, OF_MEDIUM_GUESS = 64 };
    if (elements <= 1) return SINGLE;
    if (bytes < 0 || bytes >= IS_LONG) return OF_LONG;
    if (bytes > IS_SHORT) return is_guess ? OF_MEDIUM_GUESS : OF_MEDIUM;
    return node->kind == GRAPH_GATHER_ND ? OF_SHORT_TUPLES : OF_SHORT;
}

/* What an extent of the result is taken for; along the axis of GatherElements an open one is as long as data.
 */
static int64_t foreseen(const struct surroundings *around, const struct graph_node *node, int64_t axis,
                        int32_t i)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]];
    int64_t most = around->chain->shapes[node->outputs[0]].extents[i].most;
    if (most < 0 && node->kind == GRAPH_GATHER_ELEMENTS && split_from_end(axis, data->rank) == i &&
        i < data->rank)
        most = data->extents[i].most;
    return most < 0 ? OPEN_EXTENT : most;
}

/* Whether the plug-in infers the shape in every call: extents are open, and an index may be refused, in
 * another operator than GatherElements, which earns that. -1: not known, since the runtime may know more. */
static int is_inferred(const struct surroundings *around, const struct graph_node *node)
{
    int answer = 0, never_refuses = node->kind == GRAPH_GATHER && strcmp(node->spec, "openvino-8") == 0;
    if (never_refuses || node->kind == GRAPH_GATHER_ELEMENTS) return 0;
    for (int port = 0; port < 2; port++) {
        const struct chain_shape *shape = &around->chain->shapes[node->inputs[port]];
        if (shape->rank < 0) answer = -1;
        for (int32_t i = 0; i < shape->rank; i++) {
            if (is_open(around, node->inputs[port], i)) return 1;
            if (shape->extents[i].least != shape->extents[i].most) answer = -1;
        }
    }
    return answer;
}

/* Whether the points count for little; -1: that is not known. An extent that has a name is open to the
 * runtime, too; of others it may know more. */
static int is_small(const struct surroundings *around, const struct graph_node *node, int64_t axis)
{
    const struct chain_shape *out = &around->chain->shapes[node->outputs[0]];
    int declared = is_declared(around, node->inputs[0]) && is_declared(around, node->inputs[1]), unknown = 0,
        is_guess = 0;
    int64_t points = 1, row = 1, row_axes = row_axes_of(around, node, axis), weight;
    if (out->rank < 0 || !out->dtype || row_axes < 0 || row_axes > out->rank) return -1;
    for (int32_t i = 0; i < out->rank; i++) {
        const struct graph_extent *extent = &out->extents[i];
        int known = extent->least == extent->most || extent->symbol || declared;
        int64_t *count = i < out->rank - row_axes ? &points : &row;
        unknown |= !known;
        is_guess |= extent->most < 0;
        if (known && __builtin_mul_overflow(*count, foreseen(around, node, axis, i), count)) return 0;
    }
    enum { COSTS = 4 }; /* what is inferred in every call counts for so much less */
    int inferred = is_inferred(around, node);
    if (unknown) return points / (inferred ? COSTS : 1) >= MIN_BYTES ? 0 : -1;
    weight = weight_of(node, row, garner_dtype_bytes(out->dtype, row, 0), is_guess);
    if (__builtin_mul_overflow(points, weight, &weight)) weight = INT64_MAX;
    if (inferred < 0) return weight < MIN_BYTES ? 1 : weight / COSTS < MIN_BYTES ? -1 : 0;
    return weight / (inferred ? COSTS : 1) < MIN_BYTES;
}

/* Whether there is one index; -1: not known. */
static int is_one_slice(const struct surroundings *around, const struct graph_node *node)
{
    const struct chain_shape *indices = &around->chain->shapes[node->inputs[1]];
    int unknown = 0;
    if (node->kind != GRAPH_GATHER) return 0;
    if (indices->rank < 0) return -1;
    for (int32_t i = 0; i < indices->rank; i++) {
        const struct graph_extent *extent = &indices->extents[i];
        int fixed = extent->least == extent->most;
        if (fixed ? extent->least != 1 : extent->symbol || is_declared(around, node->inputs[1])) return 0;
        unknown |= !fixed;
    }
    return unknown ? -1 : 1;
}

/* Whether nothing is gathered, or from nothing: on x86-64 the runtime's own kernels may die of that. */
static int is_empty(const struct surroundings *around, const struct graph_node *node)
{
    const struct chain_shape *shapes = around->chain->shapes;
    return is_known_to_be_empty(&shapes[node->inputs[0]]) || is_known_to_be_empty(&shapes[node->inputs[1]]) ||
           is_known_to_be_empty(&shapes[node->outputs[0]]);
}

/* Whether OpenVINO's own operator has the shape that ONNX's has; -1: not known. */
static int infers_like_onnx(const struct surroundings *around, const struct graph_node *node, int64_t axis)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]],
                             *indices = &around->chain->shapes[node->inputs[1]];
    int answer = 1;
    if (strcmp(around->chain->graph->format, "ONNX") != 0 || node->kind == GRAPH_GATHER) return 1;
    if (node->kind == GRAPH_GATHER_ND) return node->op.batch_dims == 0;
    if (data->rank < 0 || indices->rank != data->rank) return -1;
    for (int32_t i = 0; i < data->rank; i++) {
        const struct graph_extent *one = &data->extents[i], *other = &indices->extents[i];
        if (i == split_from_end(axis, data->rank)) continue;
        if (is_open(around, node->inputs[0], i) || is_open(around, node->inputs[1], i)) return 0;
        if (one->least != one->most || other->least != other->most)
            answer = -1;
        else if (one->least != other->least)
            return 0;
    }
    return answer;
}

/* The value that gathers of garner's, one after the other, take their data from. */
static size_t origin_of(const struct surroundings *around, size_t value)
{
    enum { MOST_STEPS = 64 };
    const struct graph_node *maker;
    value = source_of(around, value);
    for (int i = 0; i < MOST_STEPS && (maker = surroundings_maker(around, value)) != NULL; i++) {
        size_t giver = around->chain->graph->values[value].node;
        if (!chain_is_gather(maker) || around->claims[CLAIM_OPENVINO][giver] != CLAIM_TAKEN) break;
        value = source_of(around, maker->inputs[0]);
    }
    return value;
}

/* Whether an input of the model has a type that the plug-in leaves as it is. */
static int is_untouched(garner_dtype dtype)
{
#if defined(__aarch64__) || defined(__arm__)
    if (dtype == GARNER_F32) return 0; /* f16, unless the user says otherwise */
#endif
    return IS_ANY(dtype, GARNER_F32, GARNER_I32, GARNER_I8, GARNER_U8, GARNER_BOOL);
}

/* Types that the plug-in computes in, and types that it turns into these around every layer not ours. */
static int is_kept(garner_dtype dtype)
{
    return IS_ANY(dtype, GARNER_F32, GARNER_F16, GARNER_BF16, GARNER_I32, GARNER_I8, GARNER_U8, GARNER_BOOL);
}
static int is_converted(garner_dtype dtype)
{
    return IS_ANY(dtype, GARNER_F64, GARNER_I64, GARNER_U64, GARNER_U32, GARNER_I16, GARNER_U16);
}

/* Whether data arrive at the runtime's kernel as they would arrive at ours; `computed_with`: where another
 * layer computes with the result, so that the plug-in converts them anyway. */
static int arrives_alike(const struct surroundings *around, size_t data, int computed_with)
{
    size_t origin = origin_of(around, data);
    garner_dtype dtype = around->chain->shapes[data].dtype;
    if (computed_with) return is_kept(dtype) || is_converted(dtype);
    if (around->is_input[origin]) return is_untouched(dtype);
    return is_kept(dtype) || (is_converted(dtype) && !is_constant(around, origin));
}

/* Whether the runtime's kernel reads the indices as this version has them. */
static int are_read_alike(const struct surroundings *around, const struct graph_node *node, int64_t axis)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]];
    int any = node->kind != GRAPH_GATHER ||
              (strcmp(node->spec, "openvino-1") != 0 && strcmp(node->spec, "openvino-7") != 0);
    const garner_tensor *indices = constant_tensor(around, node->inputs[1]);
    if (!indices) return any;
    int64_t depth = node->kind != GRAPH_GATHER_ND ? 1
                    : indices->rank               ? indices->shape[indices->rank - 1]
                                                  : 0,
            first = node->kind != GRAPH_GATHER_ND ? split_from_end(axis, data->rank) : node->op.batch_dims;
    if (depth < 1 || first < 0 || first > data->rank - depth) return any;
    const struct graph_extent *extents = &data->extents[first];
    return (any || extents->least == extents->most) && are_inside(indices, extents, depth, any);
}

/* Whether an axis or a number of axes is one that some tensor may have. */
static int is_of_some_rank(int64_t number)
{
    return number >= -GARNER_MAX_RANK && number <= GARNER_MAX_RANK;
}

static enum claim claim_points(const struct surroundings *around, const struct graph_node *node,
                               int computed_with)
{
    const struct chain_shape *data = &around->chain->shapes[node->inputs[0]];
    int known = data->rank >= 0 && data->dtype;
    int64_t axis;
    if (!chain_axis(around->chain, node, &axis) || is_empty(around, node)) return CLAIM_TAKEN;
    if (!is_of_some_rank(axis) || !is_of_some_rank(node->op.batch_dims)) return CLAIM_TAKEN;
    int mistaken = node->kind == GRAPH_GATHER ? is_mistaken_for_data(around, node, axis) : 0;
    if (mistaken > 0) return CLAIM_TAKEN;
    int small = is_small(around, node, axis), slice = is_one_slice(around, node),
        alike = infers_like_onnx(around, node, axis);
    if ((!small && !slice) || !alike) return CLAIM_TAKEN;
    if (known &&
        (!arrives_alike(around, node->inputs[0], computed_with) || !are_read_alike(around, node, axis)))
        return CLAIM_TAKEN;
    if (!known || alike < 0 || mistaken < 0) return CLAIM_UNKNOWN;
    return slice > 0 ? CLAIM_SLICE : small > 0 ? CLAIM_SMALL : CLAIM_UNKNOWN;
}

enum claim claim_in_openvino(const struct surroundings *around, const struct graph_node *node)
{
    garner_dtype dtype = around->chain->shapes[node->inputs[0]].dtype;
    size_t out = node->outputs[0];
    int is_read = around->first[out] < around->first[out + 1] || around->chain->output[out] != GRAPH_NONE;
    if (!is_read && !around->bodies) return CLAIM_UNUSED;
    if (IS_ANY(dtype, GARNER_C64, GARNER_C128, GARNER_U1, GARNER_U3, GARNER_U6)) return CLAIM_TYPE;
    if (around->is_folded[node->outputs[0]]) return CLAIM_FOLDED;
    if (node->kind == GRAPH_GATHER && is_unsafe_to_leave(around, node)) return CLAIM_TAKEN;
    if (node->kind == GRAPH_GATHER && is_shape_arithmetic(around, node)) return CLAIM_SHAPE;
    if (node->kind == GRAPH_GATHER && is_compressed(around, node)) return CLAIM_COMPRESSED;
    return claim_points(around, node, 0);
}

/* Whether a layer that is not ours computes with a value, or with what gathers of ours make of it; -1: not
 * known. */
static int is_computed_with(const struct surroundings *around, size_t value, int depth)
{
    static const char *const takes_any[] = {"Convert", "Cast", "ShapeOf", "Shape", "Result", NULL};
    int answer = depth ? 0 : -1;
    for (size_t i = around->first[value]; depth && answer <= 0 && i < around->first[value + 1]; i++) {
        size_t id = around->readers[i];
        const struct graph_node *reader = &around->chain->graph->nodes[id];
        int found = !claim_is_operator(reader, takes_any);
        if (reader->kind == GRAPH_IDENTITY)
            found = is_computed_with(around, reader->outputs[0], depth - 1);
        else if (chain_is_gather(reader) && around->claims[CLAIM_OPENVINO][id] == CLAIM_UNKNOWN)
            found = -1;
        else if (chain_is_gather(reader) && around->claims[CLAIM_OPENVINO][id] == CLAIM_TAKEN)
            found = around->ports[i] ? 0 : is_computed_with(around, reader->outputs[0], depth - 1);
        if (found) answer = found;
    }
    return answer;
}

enum claim claim_compiled_in_openvino(const struct surroundings *around, size_t id)
{
    enum { MOST_STEPS = 16 };
    const struct graph_node *node = &around->chain->graph->nodes[id];
    enum claim read = around->claims[CLAIM_OPENVINO][id];
    if (read != CLAIM_TAKEN || (node->kind == GRAPH_GATHER && is_unsafe_to_leave(around, node))) return read;
    enum claim given_back = claim_points(around, node, 1);
    if (given_back == CLAIM_TAKEN) return read;
    int computed_with = is_computed_with(around, node->outputs[0], MOST_STEPS);
    return computed_with < 0 ? CLAIM_UNKNOWN : computed_with ? given_back : read;
}
