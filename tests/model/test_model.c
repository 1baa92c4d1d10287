/* SPDX-License-Identifier: MIT */
/*
 * Models through their C interface, from graphs made here: plans that are kept and made anew, an axis that is
 * a tensor, conversions, shared and repeated outputs, memory that runs out.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- Making graphs ---- */

static struct graph begin(void)
{
    struct graph graph;
    assert_int_equal(graph_begin(&graph, "made.onnx", "test", NULL), GARNER_OK);
    return graph;
}

static size_t add_input(struct graph *graph, const char *name, garner_dtype dtype)
{
    size_t value, port;
    assert_int_equal(graph_add_value(graph, name, &value, NULL), GARNER_OK);
    graph->values[value].dtype = dtype;
    assert_int_equal(graph_add_input(graph, name, value, &port, NULL), GARNER_OK);
    return value;
}

static void add_output(struct graph *graph, const char *name, size_t value)
{
    size_t port;
    assert_int_equal(graph_add_output(graph, name, value, &port, NULL), GARNER_OK);
}

static size_t add_node(struct graph *graph, enum graph_kind kind, size_t count, const size_t *inputs)
{
    size_t id, value;
    assert_int_equal(graph_add_node(graph, &id, NULL), GARNER_OK);
    assert_int_equal(graph_add_value(graph, "made", &value, NULL), GARNER_OK);
    graph->values[value].node = id;
    struct graph_node *node = &graph->nodes[id];
    node->kind = kind;
    node->name = "node";
    node->inputs = graph_alloc(graph, count, sizeof *node->inputs, NULL);
    node->outputs = graph_alloc(graph, 1, sizeof *node->outputs, NULL);
    memcpy(node->inputs, inputs, count * sizeof *inputs);
    node->outputs[0] = value;
    node->input_count = count;
    node->output_count = 1;
    if (kind == GRAPH_GATHER)
        assert_int_equal(garner_op_from_spec(&node->op, "openvino-8", GARNER_GATHER, NULL), GARNER_OK);
    return value;
}

static struct model *open_graph(struct graph *graph)
{
    struct model *model;
    garner_error error;
    assert_int_equal(model_from_graph(&model, graph, &error), GARNER_OK);
    return model;
}

static garner_tensor f32(float *data, const int64_t *shape, int32_t rank)
{
    return (garner_tensor){.data = data, .shape = shape, .rank = rank, .dtype = GARNER_F32};
}

static garner_tensor i32(int32_t *data, const int64_t *shape, int32_t rank)
{
    return (garner_tensor){.data = data, .shape = shape, .rank = rank, .dtype = GARNER_I32};
}

static void expect(const struct array *array, const float *values, size_t count)
{
    assert_int_equal(array->tensor.dtype, GARNER_F32);
    assert_int_equal(array->tensor.bytes, count * sizeof *values);
    assert_memory_equal(array->tensor.data, values, count * sizeof *values);
}

/* ---- Tests ---- */

static char plan_text[2][200];

/* The axis is a third input: another axis makes another plan, other elements do not. */
static void test_axis_input(void **state)
{
    (void)state;
    struct graph graph = begin();
    size_t x = add_input(&graph, "x", GARNER_F32), i = add_input(&graph, "i", GARNER_I32),
           axis = add_input(&graph, "axis", GARNER_I32);
    add_output(&graph, "y", add_node(&graph, GRAPH_GATHER, 3, (size_t[]){x, i, axis}));
    struct model *model = open_graph(&graph);

    float data[] = {1, 2, 3, 4, 5, 6};
    int32_t indices[] = {1}, number = 0;
    garner_tensor tensors[] = {f32(data, (int64_t[]){2, 3}, 2), i32(indices, (int64_t[]){1}, 1),
                               i32(&number, NULL, 0)};
    const garner_tensor *inputs[] = {&tensors[0], &tensors[1], &tensors[2]};
    struct array out;
    garner_error error;
    assert_int_equal(model_plan(model, &error), GARNER_OK); /* nothing is declared: nothing is planned */
    assert_int_equal(model_describe(model, 0, plan_text[0], sizeof plan_text[0]), 0);
    assert_int_equal(model_run(model, inputs, &out, NULL, &error), GARNER_OK);
    expect(&out, (float[]){4, 5, 6}, 3);
    array_free(&out);
    assert_true(model_describe(model, 0, plan_text[0], sizeof plan_text[0]) > 0);

    number = -1;
    assert_int_equal(model_run(model, inputs, &out, NULL, &error), GARNER_OK);
    expect(&out, (float[]){2, 5}, 2);
    array_free(&out);
    model_describe(model, 0, plan_text[1], sizeof plan_text[1]);
    assert_string_not_equal(plan_text[0], plan_text[1]);

    indices[0] = 9; /* Gather-8: outside is zeros */
    assert_int_equal(model_run(model, inputs, &out, NULL, &error), GARNER_OK);
    expect(&out, (float[]){0, 0}, 2);
    array_free(&out);

    number = 2;
    assert_int_equal(model_run(model, inputs, &out, NULL, &error), GARNER_BAD_SHAPE);
    assert_null(out.memory);
    assert_non_null(strstr(error.message, "made.onnx: node 'node'"));
    number = 0;
    indices[0] = 0;
    assert_int_equal(model_run(model, inputs, &out, NULL, &error), GARNER_OK); /* usable right afterwards */
    expect(&out, (float[]){1, 2, 3}, 3);
    array_free(&out);
    model_free(model);
}

static void test_axis_refused(void **state)
{
    (void)state;
    struct graph graph = begin();
    size_t x = add_input(&graph, "x", 0), i = add_input(&graph, "i", 0), axis = add_input(&graph, "axis", 0);
    add_output(&graph, "y", add_node(&graph, GRAPH_GATHER, 3, (size_t[]){x, i, axis}));
    struct model *model = open_graph(&graph);
    float data[] = {1, 2};
    int32_t numbers[] = {0, 0};
    garner_tensor tensors[] = {f32(data, (int64_t[]){2}, 1), i32(numbers, (int64_t[]){1}, 1),
                               i32(numbers, (int64_t[]){2}, 1)};
    const garner_tensor *inputs[] = {&tensors[0], &tensors[1], &tensors[2]};
    struct array out;
    assert_int_equal(model_run(model, inputs, &out, NULL, NULL), GARNER_BAD_SHAPE);
    tensors[2] = i32(NULL, (int64_t[]){0}, 1);
    assert_int_equal(model_run(model, inputs, &out, NULL, NULL), GARNER_BAD_SHAPE);
    tensors[2] = f32(data, NULL, 0);
    assert_int_equal(model_run(model, inputs, &out, NULL, NULL), GARNER_BAD_TYPE);
    tensors[2] = i32(numbers, (int64_t[]){1}, 1);
    assert_int_equal(model_run(model, inputs, &out, NULL, NULL), GARNER_OK);
    array_free(&out);
    inputs[2] = NULL;
    assert_int_equal(model_run(model, inputs, &out, NULL, NULL), GARNER_BAD_ARGUMENT);
    model_free(model);
}

/* Where the lowest bits of a number lie. */
static void *low_bytes(int64_t *number, int bits)
{
    return (char *)number + (IS_LITTLE_ENDIAN ? 0 : (64 - bits) / 8);
}

/* Every integer type to every other: numbers that fit stay, others lose their highest bits. */
static void test_conversions(void **state)
{
    (void)state;
    static const garner_dtype types[] = {GARNER_I8,  GARNER_U8,  GARNER_I16, GARNER_U16,
                                         GARNER_I32, GARNER_U32, GARNER_I64, GARNER_U64};
    for (size_t from = 0; from < 8; from++)
        for (size_t to = 0; to < 8; to++) {
            struct graph graph = begin();
            size_t x = add_input(&graph, "x", 0), y = add_node(&graph, GRAPH_CONVERT, 1, &x);
            graph.nodes[0].to = types[to];
            add_output(&graph, "y", y);
            struct model *model = open_graph(&graph);
            int64_t number = types[from] == GARNER_I8 || types[from] == GARNER_U8 ? -56 : -300, back = 0;
            int bits = garner_dtype_bits(types[from]), result = garner_dtype_bits(types[to]);
            const garner_tensor tensor = {.data = low_bytes(&number, bits), .dtype = types[from]},
                                *input = &tensor;
            struct array out;
            assert_int_equal(model_run(model, &input, &out, NULL, NULL), GARNER_OK);
            assert_int_equal(out.tensor.dtype, types[to]);
            uint64_t expected = (uint64_t)number;
            if (from % 2 && bits < 64) expected &= (UINT64_C(1) << bits) - 1;
            if (result < 64) expected &= (UINT64_C(1) << result) - 1;
            memcpy(low_bytes(&back, result), out.tensor.data, (size_t)result / 8);
            assert_true((uint64_t)back == expected);
            array_free(&out);
            model_free(model);
        }
}

/* One value at two outputs, one of them through Identity, and an input that is an output. */
static void test_shared_outputs(void **state)
{
    (void)state;
    struct graph graph = begin();
    size_t x = add_input(&graph, "x", GARNER_F32), i = add_input(&graph, "i", GARNER_I32);
    size_t y = add_node(&graph, GRAPH_GATHER, 2, (size_t[]){x, i}),
           z = add_node(&graph, GRAPH_IDENTITY, 1, &y);
    add_output(&graph, "z", z);
    add_output(&graph, "y", y);
    add_output(&graph, "x", x);
    struct model *model = open_graph(&graph);
    float data[] = {1, 2, 3, 4};
    int32_t index = 1;
    garner_tensor tensors[] = {f32(data, (int64_t[]){2, 2}, 2), i32(&index, NULL, 0)};
    tensors[0].strides = (int64_t[]){1, 2}; /* columns */
    const garner_tensor *inputs[] = {&tensors[0], &tensors[1]};
    struct array outputs[3];
    assert_int_equal(model_run(model, inputs, outputs, NULL, NULL), GARNER_OK);
    expect(&outputs[0], (float[]){2, 4}, 2);
    expect(&outputs[1], (float[]){2, 4}, 2);
    expect(&outputs[2], (float[]){1, 3, 2, 4}, 4);
    assert_ptr_not_equal(outputs[0].tensor.data, outputs[1].tensor.data);
    for (int k = 0; k < 3; k++)
        array_free(&outputs[k]);
    model_free(model);
}

/* x[x] again and again, with each result needed once more later: slots must not be given away too early. */
static void test_slots(void **state)
{
    (void)state;
    enum { STEPS = 40, SIZE = 16 };
    struct graph graph = begin();
    size_t values[STEPS + 1];
    values[0] = add_input(&graph, "x", GARNER_I32);
    for (size_t k = 0; k < STEPS; k++)
        values[k + 1] = add_node(&graph, GRAPH_GATHER, 2, (size_t[]){values[k], values[k > 3 ? k - 3 : 0]});
    add_output(&graph, "y", values[STEPS]);
    struct model *model = open_graph(&graph);
    int32_t expected[STEPS + 1][SIZE];
    for (int k = 0; k < SIZE; k++)
        expected[0][k] = (k * 5 + 3) % SIZE;
    for (int k = 0; k < STEPS; k++)
        for (int e = 0; e < SIZE; e++)
            expected[k + 1][e] = expected[k][expected[k > 3 ? k - 3 : 0][e]];
    const garner_tensor tensor = i32(expected[0], (int64_t[]){SIZE}, 1), *input = &tensor;
    for (int round = 0; round < 2; round++) {
        struct array out;
        assert_int_equal(model_run(model, &input, &out, NULL, NULL), GARNER_OK);
        assert_memory_equal(out.tensor.data, expected[STEPS], sizeof expected[STEPS]);
        array_free(&out);
    }
    model_free(model);
}

static void test_cycle(void **state)
{
    (void)state;
    struct graph graph = begin();
    size_t x = add_input(&graph, "x", 0), y = add_node(&graph, GRAPH_IDENTITY, 1, &x);
    graph.nodes[0].inputs[0] = y;
    struct model *model;
    garner_error error;
    assert_int_equal(model_from_graph(&model, &graph, &error), GARNER_BAD_FILE);
    assert_null(model);
    assert_non_null(strstr(error.message, "cycle"));
}

/* ---- What is refused, and what is noted ---- */

/* Six values whose declared shapes are wrong: a note of each, anew in each run. */
static void test_notes(void **state)
{
    (void)state;
    static const struct graph_extent two = {2, 2, NULL};
    struct graph graph = begin();
    size_t x = add_input(&graph, "x", GARNER_F32), i = add_input(&graph, "i", GARNER_I32),
           axis = add_input(&graph, "axis", GARNER_I32);
    for (int k = 0; k < 6; k++) {
        x = add_node(&graph, GRAPH_GATHER, 3, (size_t[]){x, i, axis});
        graph.values[x].rank = 1;
        graph.values[x].shape = &two;
    }
    add_output(&graph, "y", x);
    struct model *model = open_graph(&graph);
    float data[] = {1, 2, 3};
    int32_t indices[] = {2, 1, 0}, number = 0;
    garner_tensor tensors[] = {f32(data, (int64_t[]){3}, 1), i32(indices, (int64_t[]){3}, 1),
                               i32(&number, NULL, 0)};
    const garner_tensor *inputs[] = {&tensors[0], &tensors[1], &tensors[2]};
    struct array out;
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(model_run(model, inputs, &out, NULL, NULL), GARNER_OK);
        expect(&out, (float[]){1, 2, 3}, 3);
        array_free(&out);
        assert_int_equal(model_note_count(model), 6);
        assert_non_null(strstr(model_note(model, 5), "is declared [2], and its shape is [3]"));
    }
    model_free(model);
}

static void expect_failure(struct model *model, const garner_tensor *const *inputs, garner_status status,
                           const char *words)
{
    struct array outputs[2];
    garner_error error;
    assert_int_equal(model_run(model, inputs, outputs, NULL, NULL), status);
    assert_int_equal(model_run(model, inputs, outputs, NULL, &error), status);
    if (!strstr(error.message, words)) fail_msg("'%s' does not say '%s'", error.message, words);
    assert_null(outputs[0].memory);
}

static void test_axes_that_are_none(void **state)
{
    (void)state;
    struct graph graph = begin();
    size_t x = add_input(&graph, "x", GARNER_F32), i = add_input(&graph, "i", GARNER_I32),
           axis = add_input(&graph, "axis", 0);
    add_output(&graph, "y", add_node(&graph, GRAPH_GATHER, 3, (size_t[]){x, i, axis}));
    struct model *model = open_graph(&graph);
    float data[] = {1, 2, 3};
    int32_t indices[] = {0}, numbers[] = {0, 0};
    garner_tensor tensors[] = {f32(data, (int64_t[]){3}, 1), i32(indices, (int64_t[]){1}, 1),
                               f32(data, NULL, 0)};
    const garner_tensor *inputs[] = {&tensors[0], &tensors[1], &tensors[2]};
    expect_failure(model, inputs, GARNER_BAD_TYPE, "axis is of type f32");
    tensors[2] = i32(numbers, (int64_t[]){2}, 1);
    expect_failure(model, inputs, GARNER_BAD_SHAPE, "axis is no scalar");
    tensors[2] = i32(numbers, (int64_t[]){1, 1}, 2);
    expect_failure(model, inputs, GARNER_BAD_SHAPE, "axis is no scalar");
    inputs[1] = NULL;
    expect_failure(model, inputs, GARNER_BAD_ARGUMENT, "input 'i' is not given");
    assert_int_equal(model_plan(model, NULL), GARNER_OK);
    model_free(model);
}

static void test_conversions_that_cannot_be(void **state)
{
    (void)state;
    static const int64_t many[] = {INT64_C(1) << 61}, still[] = {0};
    struct graph graph = begin();
    size_t x = add_input(&graph, "x", 0), made = add_node(&graph, GRAPH_CONVERT, 1, &x);
    graph.nodes[0].to = GARNER_I64;
    add_output(&graph, "y", made);
    struct model *model = open_graph(&graph);
    float data[] = {1};
    signed char byte = 1;
    garner_tensor real = f32(data, (int64_t[]){1}, 1);
    garner_tensor large = {.data = &byte, .shape = many, .strides = still, .rank = 1, .dtype = GARNER_I8};
    expect_failure(model, (const garner_tensor *[]){&real}, GARNER_BAD_TYPE, "Convert: from f32 to i64");
    expect_failure(model, (const garner_tensor *[]){&large}, GARNER_TOO_LARGE, "does not fit in 63 bits");
    model_free(model);
}

/* A type that the version of an Identity does not list, and one beyond every list. */
static void test_types_of_identities(void **state)
{
    (void)state;
    struct graph graph = begin();
    size_t x = add_input(&graph, "x", 0), made = add_node(&graph, GRAPH_IDENTITY, 1, &x);
    graph.nodes[0].types = UINT64_C(1) << GARNER_F32;
    graph.nodes[0].type = "Identity";
    graph.nodes[0].version = "1";
    add_output(&graph, "y", made);
    struct model *model = open_graph(&graph);
    float data[] = {1, 2};
    int32_t number = 0;
    const garner_tensor real = f32(data, (int64_t[]){2}, 1), whole = i32(&number, NULL, 0);
    const garner_tensor opaque = {.data = data, .dtype = GARNER_OPAQUE, .item_bytes = 3};
    struct array out;
    assert_int_equal(model_run(model, (const garner_tensor *[]){&real}, &out, NULL, NULL), GARNER_OK);
    expect(&out, data, 2);
    array_free(&out);
    expect_failure(model, (const garner_tensor *[]){&whole}, GARNER_BAD_TYPE, "type i32 is not in its list");
    expect_failure(model, (const garner_tensor *[]){&opaque}, GARNER_BAD_TYPE, "is not in its list");
    model_free(model);
}

/* Inputs and outputs that are no tensors, with and without operators that garner does not run. */
static void test_foreign_ports(void **state)
{
    (void)state;
    static const char *const refusals[] = {NULL, "", "of domain odd"};
    for (int side = 0; side < 2; side++)
        for (size_t r = 0; r <= sizeof refusals / sizeof *refusals; r++) {
            struct graph graph = begin();
            size_t x = add_input(&graph, "x", 0), y = x;
            if (r) {
                y = add_node(&graph, GRAPH_UNSUPPORTED, 1, &x);
                graph.nodes[0].type = "Odd";
                graph.nodes[0].refusal = refusals[r - 1];
            }
            graph.values[side ? y : x].foreign = "map";
            add_output(&graph, "y", y);
            struct model *model = open_graph(&graph);
            const char *refusal = model_refusal(model);
            assert_non_null(refusal);
            assert_non_null(strstr(refusal, side && r ? "output 'y' is no tensor but of type map"
                                                      : "input 'x' is no tensor but of type map"));
            assert_int_equal(strstr(refusal, "1 operator that does not run here; and ") != NULL, r > 0);
            expect_failure(model, (const garner_tensor *[]){NULL}, GARNER_UNSUPPORTED,
                           "is no tensor but of type map");
            assert_int_equal(model_plan(model, NULL), GARNER_UNSUPPORTED);
            model_free(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis_input),
        cmocka_unit_test(test_axis_refused),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_shared_outputs),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_axes_that_are_none),
        cmocka_unit_test(test_conversions_that_cannot_be),
        cmocka_unit_test(test_types_of_identities),
        cmocka_unit_test(test_foreign_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
