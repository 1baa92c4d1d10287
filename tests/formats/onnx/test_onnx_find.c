/* SPDX-License-Identifier: MIT */
/* One initializer of a model, by its name or because it is the only one, and what is said if it is not there.
 */
#include "onnx_tensor.h" /* before cmocka, which has another fail */

#include "testing.h"

#include "guarded.h"
#include "protobuf.h"

enum { MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5 };

static garner_error error;

static struct message tensor_of(const char *name, int64_t value)
{
    struct message tensor = {.size = 0};
    put_number(&tensor, 1, 1);
    put_number(&tensor, 2, GARNER_I64);
    put_number(&tensor, 7, (uint64_t)value);
    put_text(&tensor, 8, name);
    return tensor;
}

/* A model of that many initializers. */
static struct message model_of(size_t count, const char *const *names)
{
    struct message graph = {.size = 0}, model = graph;
    put_text(&graph, 2, "graph");
    put_number(&graph, GRAPH_INITIALIZER, 7); /* a field of that number that is no message */
    for (size_t i = 0; i < count; i++) {
        struct message tensor = tensor_of(names[i], (int64_t)i);
        put_message(&graph, GRAPH_INITIALIZER, &tensor);
    }
    put_number(&model, 1, 8);
    put_number(&model, MODEL_GRAPH, 7);
    put_message(&model, MODEL_GRAPH, &graph);
    return model;
}

static garner_status find(const struct message *model, const char *name, struct onnx_tensor *tensor)
{
    unsigned char *place = guard_place(&guard, model->size, GUARD_AFTER);
    memcpy(place, model->bytes, model->size);
    memset(&error, 0, sizeof error);
    struct wire_file file = {"m.onnx", place, &error};
    return onnx_find_initializer(tensor, &file, (struct wire_span){place, model->size}, name);
}

static void test_found(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "bb", "ab"};
    struct message model = model_of(3, names);
    struct onnx_tensor tensor;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(find(&model, names[i], &tensor), GARNER_OK);
        assert_int_equal(tensor.name.size, strlen(names[i]));
        assert_memory_equal(tensor.name.bytes, names[i], strlen(names[i]));
    }
    model = model_of(1, names);
    assert_int_equal(find(&model, NULL, &tensor), GARNER_OK);
    assert_int_equal(tensor.count, 1);
}

static void expect(const struct message *model, const char *name, const char *words)
{
    struct onnx_tensor tensor;
    assert_int_equal(find(model, name, &tensor), GARNER_BAD_FILE);
    if (!strstr(error.message, words)) fail_msg("'%s' does not say '%s'", error.message, words);
    assert_memory_equal(error.message, "m.onnx: ", 8);
}

static void test_not_found(void **state)
{
    (void)state;
    char long_name[200] = "";
    memset(long_name, 'n', sizeof long_name - 1);
    const char *const names[] = {"a", "b", "a"}, *const longest[] = {long_name, "b"};
    struct message none = model_of(0, names), twice = model_of(3, names), longer = model_of(2, longest),
                   empty = {.size = 0};
    expect(&empty, NULL, "it holds no graph");
    expect(&none, "a", "the model has no initializers");
    expect(&twice, NULL, "has 3 initializers, of which one is to be named, such as 'a'");
    expect(&twice, "a", "initializer 'a' is given twice");
    expect(&twice, "c", "has no initializer 'c'; it has 3, such as 'a'");
    expect(&longer, NULL, "has 2 initializers, of which one is to be named, such as 'nnn");
}

/* Whatever byte is another, it is found as it is or refused in words. */
static void test_damaged(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "bb"};
    const struct message whole = model_of(2, names);
    for (size_t at = 0; at < whole.size; at++)
        for (unsigned change = 0; change < 256; change++) {
            struct message damaged = whole;
            struct onnx_tensor tensor;
            damaged.bytes[at] ^= (unsigned char)change;
            if (!change) damaged.size = at;
            garner_status status = find(&damaged, "bb", &tensor);
            assert_int_equal(status != GARNER_OK, error.message[0] != '\0');
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_not_found),
                                       cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, make_guard, drop_guard);
}
