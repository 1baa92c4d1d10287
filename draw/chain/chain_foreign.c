/* SPDX-License-Identifier: MIT */
/*
 * Type and shape of what common operators of ONNX make, as far as their inputs tell and their attributes have
 * no say in it. Files need not declare them, and gathers often come next. An IR declares them all.
 */
#include <string.h>

#include "chain.h"

enum kept {
    NOTHING,
    RANK,      /* of the first input */
    SHAPE,     /* of the first input */
    BROADCAST, /* of the first two */
    PRODUCT,   /* the same but for the last axis, which is the second's, as MatMul has it */
    A_VECTOR   /* as long as the first input has axes */
};

static const struct habit {
    const char *type;
    garner_dtype dtype; /* 0: that of the first input */
    enum kept kept;
} habits[] = {
    {"Abs", 0, SHAPE},
    {"Add", 0, BROADCAST},
    {"And", GARNER_BOOL, BROADCAST},
    {"ArgMax", GARNER_I64, NOTHING},
    {"ArgMin", GARNER_I64, NOTHING},
    {"Ceil", 0, SHAPE},
    {"Clip", 0, SHAPE},
    {"Concat", 0, RANK},
    {"Conv", 0, RANK},
    {"Cos", 0, SHAPE},
    {"Div", 0, BROADCAST},
    {"Equal", GARNER_BOOL, BROADCAST},
    {"Erf", 0, SHAPE},
    {"Exp", 0, SHAPE},
    {"Expand", 0, NOTHING},
    {"Floor", 0, SHAPE},
    {"Gelu", 0, SHAPE},
    {"Gemm", 0, RANK},
    {"Greater", GARNER_BOOL, BROADCAST},
    {"LayerNormalization", 0, SHAPE},
    {"Less", GARNER_BOOL, BROADCAST},
    {"Log", 0, SHAPE},
    {"LogSoftmax", 0, SHAPE},
    {"MatMul", 0, PRODUCT},
    {"MaxPool", 0, RANK},
    {"Mul", 0, BROADCAST},
    {"Neg", 0, SHAPE},
    {"NonZero", GARNER_I64, NOTHING},
    {"Not", GARNER_BOOL, SHAPE},
    {"Or", GARNER_BOOL, BROADCAST},
    {"Pad", 0, RANK},
    {"Pow", 0, BROADCAST},
    {"Relu", 0, SHAPE},
    {"Reshape", 0, NOTHING},
    {"Resize", 0, RANK},
    {"Round", 0, SHAPE},
    {"Shape", GARNER_I64, A_VECTOR},
    {"Sigmoid", 0, SHAPE},
    {"Sin", 0, SHAPE},
    {"Slice", 0, RANK},
    {"Softmax", 0, SHAPE},
    {"Sqrt", 0, SHAPE},
    {"Squeeze", 0, NOTHING},
    {"Sub", 0, BROADCAST},
    {"Tanh", 0, SHAPE},
    {"Tile", 0, RANK},
    {"Transpose", 0, RANK},
    {"Trilu", 0, SHAPE},
    {"Unsqueeze", 0, NOTHING},
};

static const struct graph_extent unknown = {0, -1, NULL};

static const struct habit *find_habit(const struct graph_node *node)
{
    for (size_t i = 0; !*node->domain && i < sizeof habits / sizeof *habits; i++)
        if (strcmp(habits[i].type, node->type) == 0) return &habits[i];
    return NULL;
}

static int is_same(const struct graph_extent *a, const struct graph_extent *b)
{
    if (a->least == a->most || b->least == b->most) return a->least == b->least && a->most == b->most;
    return a->symbol && b->symbol && strcmp(a->symbol, b->symbol) == 0;
}

static int is_one(const struct graph_extent *extent)
{
    return extent->least == 1 && extent->most == 1;
}

/* Axis `i` of two shapes laid over each other, counted from the last of `rank`. */
static struct graph_extent lay_over(const struct chain_shape *a, const struct chain_shape *b, int32_t rank,
                                    int32_t i)
{
    int32_t in_a = i - (rank - a->rank), in_b = i - (rank - b->rank);
    if (in_a < 0 || (in_b >= 0 && is_one(&a->extents[in_a]))) return b->extents[in_b];
    if (in_b < 0 || is_one(&b->extents[in_b]) || is_same(&a->extents[in_a], &b->extents[in_b]))
        return a->extents[in_a];
    return unknown;
}

static int infer_two(const struct chain_shape *a, const struct chain_shape *b, int product,
                     struct chain_shape *shape)
{
    int32_t rank = a->rank > b->rank ? a->rank : b->rank;
    if (a->rank < 0 || b->rank < 0 || (product && (a->rank < 2 || b->rank < 2))) return 1;
    if (!chain_set_rank(shape, rank)) return 0;
    for (int32_t i = 0; i < rank; i++)
        shape->extents[i] = lay_over(a, b, rank, i);
    if (!product) return 1;
    shape->extents[rank - 2] = a->extents[a->rank - 2];
    shape->extents[rank - 1] = b->extents[b->rank - 1];
    return 1;
}

static int infer_vector(const struct chain_shape *from, struct chain_shape *shape)
{
    if (!chain_set_rank(shape, 1)) return 0;
    shape->extents[0] = from->rank < 0 ? unknown : (struct graph_extent){from->rank, from->rank, NULL};
    return 1;
}

static int infer_one(const struct chain_shape *from, int rank_alone, struct chain_shape *shape)
{
    if (from->rank < 0) return 1;
    if (!chain_set_rank(shape, from->rank)) return 0;
    for (int32_t i = 0; i < from->rank; i++)
        shape->extents[i] = rank_alone ? unknown : from->extents[i];
    return 1;
}

int chain_infer_foreign(const struct chain *chain, const struct graph_node *node, struct chain_shape *shape)
{
    const struct habit *habit = find_habit(node);
    const struct chain_shape *from = &chain->shapes[node->inputs[0]];
    if (!habit) return 1;
    if (!shape->dtype) shape->dtype = habit->dtype ? habit->dtype : from->dtype;
    if (habit->kept == A_VECTOR) return infer_vector(from, shape);
    if (habit->kept == RANK || habit->kept == SHAPE) return infer_one(from, habit->kept == RANK, shape);
    if (habit->kept == NOTHING || node->input_count < 2 || node->inputs[1] == GRAPH_NONE) return 1;
    return infer_two(from, &chain->shapes[node->inputs[1]], habit->kept == PRODUCT, shape);
}
