/* SPDX-License-Identifier: MIT */
/*
 * An ONNX model in which a reader meets nearly all that it knows: constants in each form, initializers of
 * numbers and strings, symbols, a sequence, a function, a foreign operator, a Gather, what is declared twice.
 */
#ifndef GARNER_TESTS_ONNX_SAMPLE_H
#define GARNER_TESTS_ONNX_SAMPLE_H

#include "garner.h"
#include "protobuf.h"

/* A ValueInfoProto: a vector whose extent has that name, or none (NULL), or a fixed one (""). */
static inline struct message sample_info(const char *name, garner_dtype dtype, const char *symbol)
{
    struct message dim = {.size = 0}, shape = dim, tensor = dim, type = dim, info = dim;
    if (symbol && *symbol)
        put_text(&dim, 2, symbol);
    else
        put_number(&dim, 1, symbol ? 2 : (uint64_t)-1);
    put_message(&shape, 1, &dim);
    put_number(&tensor, 1, (uint64_t)dtype);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_text(&info, 1, name);
    put_message(&info, 2, &type);
    return info;
}

/* A node with up to two inputs and one attribute. */
static inline struct message sample_node(const char *type, const char *in, const char *more, const char *out,
                                         const struct message *attribute)
{
    struct message node = {.size = 0};
    if (in) put_text(&node, 1, in);
    if (more) put_text(&node, 1, more);
    put_text(&node, 2, out);
    put_text(&node, 3, type);
    put_text(&node, 4, type);
    if (attribute) put_message(&node, 5, attribute);
    return node;
}

static inline void put_node(struct message *graph, struct message node)
{
    put_message(graph, 1, &node);
}

/* Constants by their attributes: a tensor, numbers and texts, one and several, packed and not. */
static inline void put_constants(struct message *graph)
{
    static const uint32_t halves[] = {0x3f000000, 0x3f000000};
    static const unsigned char packed[] = {1, 0, 0x81, 1};
    struct message tensor = {.size = 0}, value = tensor, ints = tensor, real = tensor, reals = tensor,
                   text = tensor, texts = tensor;
    put_number(&tensor, 2, GARNER_I64);
    put_number(&tensor, 7, 1);
    put_text(&value, 1, "value");
    put_message(&value, 5, &tensor);
    put_node(graph, sample_node("Constant", NULL, NULL, "one", &value));
    put_text(&ints, 1, "value_ints");
    put_bytes(&ints, 8, packed, sizeof packed);
    put_number(&ints, 8, 3);
    put_node(graph, sample_node("Constant", NULL, NULL, "ints", &ints));
    put_text(&real, 1, "value_float");
    put_varint(&real, 2 << 3 | 5);
    memcpy(real.bytes + real.size, halves, 4);
    real.size += 4;
    put_node(graph, sample_node("Constant", NULL, NULL, "real", &real));
    put_text(&reals, 1, "value_floats");
    put_bytes(&reals, 7, halves, sizeof halves);
    put_node(graph, sample_node("Constant", NULL, NULL, "reals", &reals));
    put_text(&text, 1, "value_string");
    put_text(&text, 4, "text");
    put_node(graph, sample_node("Constant", NULL, NULL, "text", &text));
    put_text(&texts, 1, "value_strings");
    put_text(&texts, 9, "a");
    put_text(&texts, 9, "b");
    put_node(graph, sample_node("Constant", NULL, NULL, "texts", &texts));
}

static inline void put_nodes(struct message *graph)
{
    struct message axis = {.size = 0}, foreign = sample_node("Grow", "data", "", "grown", NULL);
    put_text(&axis, 1, "axis");
    put_number(&axis, 3, 0);
    put_number(&axis, 20, 2);
    put_node(graph, sample_node("Gather", "data", "rows", "picked", &axis));
    put_node(graph, sample_node("Identity", "picked", NULL, "out", NULL));
    put_text(&foreign, 7, "odd");
    put_node(graph, foreign);
    put_node(graph, sample_node("Softmax", "grown", NULL, "soft", NULL));
}

static inline void put_values(struct message *graph)
{
    struct message rows = {.size = 0}, words = rows, sequence = rows, kind = rows, inner = rows;
    struct message infos[] = {sample_info("data", GARNER_F32, "n"), sample_info("rows", GARNER_I64, ""),
                              sample_info("out", GARNER_F32, NULL), sample_info("picked", GARNER_F32, "n")};
    put_number(&rows, 1, 2);
    put_number(&rows, 2, GARNER_I64);
    put_number(&rows, 7, 1);
    put_number(&rows, 7, 0);
    put_text(&rows, 8, "rows");
    put_number(&words, 1, 1);
    put_number(&words, 2, GARNER_STR);
    put_text(&words, 6, "word");
    put_text(&words, 8, "words");
    put_message(&kind, 1, &inner);
    put_message(&sequence, 4, &kind);
    put_text(&inner, 1, "list");
    put_message(&inner, 2, &sequence);
    put_message(graph, 5, &rows);
    put_message(graph, 5, &words);
    put_message(graph, 11, &infos[0]);
    put_message(graph, 11, &infos[1]);
    put_message(graph, 11, &inner);
    put_message(graph, 12, &infos[2]);
    put_message(graph, 13, &infos[3]);
}

static inline struct message sample_model_called(const char *name)
{
    struct message graph = {.size = 0}, opset = graph, other = graph, function = graph, model = graph;
    put_text(&graph, 2, name);
    put_constants(&graph);
    put_nodes(&graph);
    put_values(&graph);
    put_text(&opset, 1, "ai.onnx");
    put_number(&opset, 2, 13);
    put_text(&other, 1, "odd");
    put_number(&other, 2, 1);
    put_text(&function, 1, "Soft");
    put_text(&function, 10, "odd");
    put_number(&model, 1, 8);
    put_text(&model, 2, "maker");
    put_text(&model, 3, "1.0");
    put_message(&model, 7, &graph);
    put_message(&model, 8, &opset);
    put_message(&model, 8, &other);
    put_message(&model, 25, &function);
    return model;
}

static inline struct message sample_model(void)
{
    return sample_model_called("sample");
}

#endif
