/* SPDX-License-Identifier: MIT */
/*
 * The reader of ModelProto alone: a Gather with an attribute, a constant and declared shapes becomes a graph;
 * names that do not fit together, versions, and damage at every byte. Models of the onnx package, and bad
 * ones one by one, are in tests/cli.
 */
#include "onnx_model.h" /* before cmocka, which has another fail */

#include "testing.h"

#include "guarded.h"
#include "onnx_sample.h"

static garner_error error;

/* ---- A model ---- */

/* What a test may change of it. */
struct choice {
    const char *type, *attribute, *input, *constant;
    int64_t axis, opset;
};

static const struct choice usual = {"Gather", "axis", "data", "rows", -1, 13};

static struct message value_info(const char *name, garner_dtype dtype, int64_t extent)
{
    struct message dim = {.size = 0}, shape = dim, tensor = dim, type = dim, info = dim;
    put_number(&dim, 1, (uint64_t)extent);
    put_message(&shape, 1, &dim);
    put_number(&tensor, 1, (uint64_t)dtype);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_text(&info, 1, name);
    put_message(&info, 2, &type);
    return info;
}

static struct message gather(const struct choice *choice)
{
    struct message attribute = {.size = 0}, node = attribute;
    put_text(&attribute, 1, choice->attribute);
    put_number(&attribute, 3, (uint64_t)choice->axis);
    put_number(&attribute, 20, 2); /* an integer */
    put_text(&node, 1, choice->input);
    put_text(&node, 1, choice->constant);
    put_text(&node, 2, "out");
    put_text(&node, 3, "pick");
    put_text(&node, 4, choice->type);
    put_message(&node, 5, &attribute);
    return node;
}

static struct message model_of(const struct choice *choice)
{
    struct message rows = {.size = 0}, graph = rows, opset = rows, model = rows;
    put_number(&rows, 1, 2);
    put_number(&rows, 2, GARNER_I64);
    put_number(&rows, 7, 1);
    put_number(&rows, 7, 0);
    put_text(&rows, 8, "rows");
    struct message node = gather(choice), input = value_info("data", GARNER_F32, 3);
    struct message output = value_info("out", GARNER_F32, 2);
    put_message(&graph, 1, &node);
    put_text(&graph, 2, "small");
    put_message(&graph, 5, &rows);
    put_message(&graph, 11, &input);
    put_message(&graph, 12, &output);
    put_number(&opset, 2, (uint64_t)choice->opset);
    put_number(&model, 1, 8);
    put_message(&model, 7, &graph);
    put_message(&model, 8, &opset);
    return model;
}

static garner_status load(const struct message *model, struct graph *graph)
{
    unsigned char *place = guard_place(&guard, model->size, GUARD_AFTER);
    memcpy(place, model->bytes, model->size);
    memset(&error, 0, sizeof error);
    return onnx_model_load_bytes(graph, "m.onnx", place, model->size, 0, &error);
}

/* ---- What is read ---- */

static void test_graph(void **state)
{
    (void)state;
    struct message model = model_of(&usual);
    struct graph graph;
    assert_int_equal(load(&model, &graph), GARNER_OK);
    assert_int_equal(graph.node_count, 1);
    const struct graph_node *node = &graph.nodes[0];
    assert_int_equal(node->kind, GRAPH_GATHER);
    assert_string_equal(node->name, "pick");
    assert_string_equal(node->spec, "onnx-13");
    assert_int_equal(node->op.axis, -1);
    const struct graph_value *data = &graph.values[node->inputs[0]], *rows = &graph.values[node->inputs[1]];
    assert_string_equal(data->name, "data");
    assert_int_equal(data->dtype, GARNER_F32);
    assert_int_equal(data->rank, 1);
    assert_int_equal(data->shape[0].most, 3);
    assert_non_null(rows->constant);
    assert_memory_equal(rows->constant->data, ((const int64_t[]){1, 0}), 2 * sizeof(int64_t));
    graph_free(&graph);
}

static void test_versions(void **state)
{
    (void)state;
    static const struct {
        int64_t opset;
        const char *spec;
    } versions[] = {
        {1, "onnx-1"}, {11, "onnx-11"}, {12, "onnx-11"}, {13, "onnx-13"}, {ONNX_NEWEST_OPSET, "onnx-13"}};
    struct graph graph;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct choice choice = usual;
        choice.opset = versions[i].opset;
        struct message model = model_of(&choice);
        assert_int_equal(load(&model, &graph), GARNER_OK);
        assert_string_equal(graph.nodes[0].spec, versions[i].spec);
        graph_free(&graph);
    }
}

static void test_no_version(void **state)
{
    (void)state;
    static const int64_t opsets[] = {0, -1, (int64_t)INT32_MAX + 1};
    struct graph graph;
    for (size_t i = 0; i < sizeof opsets / sizeof *opsets; i++) {
        struct choice choice = usual;
        choice.opset = opsets[i];
        struct message model = model_of(&choice);
        assert_int_equal(load(&model, &graph), GARNER_BAD_FILE);
        assert_non_null(strstr(error.message, "is no version"));
    }
}

/* Files from before there were opsets have none; later ones must. */
static void test_without_opsets(void **state)
{
    (void)state;
    for (uint64_t version = 1; version < 5; version++) {
        struct message node = {.size = 0}, graph = node, model = node;
        struct message input = value_info("data", GARNER_F32, 3), output = value_info("out", GARNER_F32, 3);
        struct graph read;
        put_text(&node, 1, "data");
        put_text(&node, 2, "out");
        put_text(&node, 4, "Identity");
        put_message(&graph, 1, &node);
        put_message(&graph, 11, &input);
        put_message(&graph, 12, &output);
        put_number(&model, 1, version);
        put_message(&model, 7, &graph);
        garner_status status = load(&model, &read);
        assert_int_equal(status, version < 3 ? GARNER_OK : GARNER_BAD_FILE);
        if (status) assert_non_null(strstr(error.message, "imports no version of ONNX's operators"));
        graph_free(&read);
        unsigned char *place = guard_place(&guard, model.size, GUARD_AFTER);
        memcpy(place, model.bytes, model.size);
        assert_int_equal(onnx_model_load_bytes(&read, "m.onnx", place, model.size, 0, NULL), status);
        graph_free(&read);
    }
}

static void test_other_operators(void **state)
{
    (void)state;
    struct choice choice = usual;
    struct graph graph;
    choice.type = "Softmax";
    struct message model = model_of(&choice);
    assert_int_equal(load(&model, &graph), GARNER_OK);
    assert_int_equal(graph.nodes[0].kind, GRAPH_UNSUPPORTED);
    assert_non_null(graph.nodes[0].refusal);
    graph_free(&graph);
}

/* ---- What is refused ---- */

static void expect_refused(const struct choice *choice, garner_status status, const char *what)
{
    struct message model = model_of(choice);
    struct graph graph;
    assert_int_equal(load(&model, &graph), status);
    assert_int_equal(strncmp(error.message, "m.onnx: ", 8), 0);
    if (!strstr(error.message, what)) fail_msg("'%s' does not say '%s'", error.message, what);
    assert_int_equal(graph.node_count, 0);
    graph_free(&graph);
}

static void test_refusals(void **state)
{
    (void)state;
    struct choice attribute = usual, input = usual, opset = usual;
    attribute.attribute = "axes";
    expect_refused(&attribute, GARNER_BAD_FILE, "axes");
    input.input = "nothing";
    expect_refused(&input, GARNER_BAD_FILE, "nothing");
    opset.opset = -3;
    expect_refused(&opset, GARNER_BAD_FILE, "opset -3 is no version");
}

/* Any byte changed, any end: the model is read within its bounds, and what is refused is refused in words. */
static void test_damaged_anywhere(void **state)
{
    (void)state;
    struct message whole = model_of(&usual);
    int refused = 0;
    for (size_t at = 0; at < whole.size; at++) {
        for (unsigned change = 0; change < 256; change += 5) {
            struct message damaged = whole;
            struct graph graph;
            if (change)
                damaged.bytes[at] ^= (unsigned char)change;
            else
                damaged.size = at;
            garner_status status = load(&damaged, &graph);
            assert_int_equal(status != GARNER_OK, error.message[0] != '\0');
            refused += status != GARNER_OK;
            graph_free(&graph);
        }
    }
    assert_in_range(refused, whole.size, 52 * whole.size);
}

/* The same of a model that has nearly everything, where each change makes something else of a field: its
 * number, its wire type, its length, its value. */
static void test_sample_damaged(void **state)
{
    (void)state;
    static const unsigned char changes[] = {0, 1, 2, 3, 7, 8, 0x10, 0x20, 0x80, 0xff};
    const struct message whole = sample_model();
    struct graph graph;
    int refused = 0, read = 0;
    if (load(&whole, &graph)) fail_msg("%s", error.message);
    assert_int_equal(graph.node_count, 10);
    assert_string_equal(graph.producer, "maker 1.0");
    graph_free(&graph);
    for (size_t at = 0; at < whole.size; at++) {
        for (size_t i = 0; i < sizeof changes; i++) {
            struct message damaged = whole;
            damaged.bytes[at] ^= changes[i];
            if (!changes[i]) damaged.size = at;
            garner_status status = load(&damaged, &graph);
            assert_int_equal(status != GARNER_OK, error.message[0] != '\0');
            refused += status != GARNER_OK;
            read += status == GARNER_OK;
            graph_free(&graph);
        }
    }
    assert_true(refused > read && read > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph),          cmocka_unit_test(test_versions),
        cmocka_unit_test(test_no_version),     cmocka_unit_test(test_other_operators),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_damaged_anywhere),
        cmocka_unit_test(test_sample_damaged), cmocka_unit_test(test_without_opsets),
    };
    return cmocka_run_group_tests(tests, make_guard, drop_guard);
}
