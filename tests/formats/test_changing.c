/* SPDX-License-Identifier: MIT */
/*
 * Every format, read while another process changes the file: refused, or read as one of the two, never a look
 * or a write outside what was allocated, and never a tensor larger than what it points at.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "onnx_model.h" /* before cmocka, which has another fail */

#include "stored.h"

#include <sys/stat.h>

#include "changing.h"
#include "npy_header.h"
#include "onnx/onnx_sample.h"
#include "open_beneath.h"

static void look_at(const garner_tensor *tensor)
{
    uint64_t bytes = 0, sum = 0;
    garner_error error;
    assert_int_equal(elements_bytes(tensor, "x", &bytes, &error), GARNER_OK);
    assert_int_equal(bytes, tensor->bytes);
    assert_int_equal(elements_walk(tensor, 0, sum_up, &sum, &error), GARNER_OK);
}

/* ---- Stores ---- */

/* The size of an element as .npy writes its type; 0 if it is none. */
static uint64_t bytes_of(const char *descr)
{
    struct npy_type type = {0};
    struct tokens scan = tokens_begin(descr, strlen(descr), NPY_SPACES, "x", NULL);
    return npy_type(&scan, &type) || scan.at != scan.end ? 0 : type.item_bytes;
}

static const char *store_name_read;

static void read_store(const void *bytes, size_t size)
{
    struct store store;
    garner_error error;
    if (store_open_bytes(&store, store_name_read, bytes, size, &error)) {
        assert_memory_equal(error.message, store_name_read, strlen(store_name_read));
        return;
    }
    for (size_t i = 0; i < store.count; i++) {
        struct array array;
        struct store_entry entry;
        size_t found;
        if (*store_name(&store, i)) assert_int_equal(store_has(&store, store_name(&store, i), &found), 1);
        (void)store_describe(&store, i, &entry, &error);
        if (store_load_verified(&store, i, &array, &error)) continue;
        look_at(&array.tensor);
        if (array.descr) assert_int_equal(bytes_of(array.descr), array.tensor.item_bytes);
        array_free(&array);
    }
    store_close(&store);
}

static void change_store(enum store_kind kind, const char *name, const garner_tensor *tensor,
                         const char *descr)
{
    size_t size;
    garner_error error;
    set_path(name);
    store_name_read = name;
    if (store_save_one(path, kind, "\xc3\xa9\"", tensor, descr, &error)) fail_msg("%s", error.message);
    unsigned char *bytes = slurp(&size);
    change_everywhere(bytes, size, read_store);
    free(bytes);
    unlink(path);
}

static void test_npy(void **state)
{
    (void)state;
    static const unsigned char items[5] = {0};
    static const int64_t one = 1;
    const garner_tensor fields = {.data = (void *)(uintptr_t)items,
                                  .shape = &one,
                                  .rank = 1,
                                  .dtype = GARNER_OPAQUE,
                                  .bytes = sizeof items,
                                  .item_bytes = sizeof items};
    change_store(STORE_NPY, "x.npy", &fields, "[('a', '<f4'), ('b', 'S1')]");
}

static void test_npz(void **state)
{
    (void)state;
    change_store(STORE_NPZ, "x.npz", &samples[0], NULL);
}

static void test_safetensors(void **state)
{
    (void)state;
    change_store(STORE_SAFETENSORS, "x.safetensors", &samples[0], NULL);
}

static void test_pb(void **state)
{
    (void)state;
    change_store(STORE_PB, "x.pb", &samples[0], NULL);
}

/* ---- Models ---- */

/* An empty tensor whose elements lie in a file of its own name. */
static void put_outside(struct message *tensor, const char *name)
{
    struct message entry = {.size = 0};
    put_text(&entry, 1, "location");
    put_text(&entry, 2, name);
    tensor->size = 0;
    put_number(tensor, 1, 0);
    put_number(tensor, 2, 1);
    put_text(tensor, 8, name);
    put_message(tensor, 13, &entry);
    put_number(tensor, 14, 1);
}

static void put_empty_file(const char *name)
{
    char outside[64];
    snprintf(outside, sizeof outside, "%s/%s", folder, name);
    FILE *file = fopen(outside, "wb");
    assert_true(file && fclose(file) == 0);
}

/* Constant -> Gather -> Identity, a list of numbers of one and of two bytes, and external data. */
static void make_model(struct message *model)
{
    static const unsigned char numbers[] = {0x81, 0x01, 0x02, 0x81, 0x01};
    struct message graph = {.size = 0}, opset = {.size = 0}, list = {.size = 0}, constant = {.size = 0},
                   gather = {.size = 0}, identity = {.size = 0}, output = {.size = 0}, input = {.size = 0},
                   outside = {.size = 0};
    put_bytes(&list, 8, numbers, sizeof numbers);
    put_text(&list, 1, "value_ints");
    put_text(&constant, 2, "c");
    put_text(&constant, 4, "Constant");
    put_message(&constant, 5, &list);
    put_text(&gather, 1, "x");
    put_text(&gather, 1, "c");
    put_text(&gather, 2, "g");
    put_text(&gather, 4, "Gather");
    put_text(&identity, 1, "g");
    put_text(&identity, 2, "y");
    put_text(&identity, 4, "Identity");
    put_text(&input, 1, "x");
    put_text(&output, 1, "y");
    put_message(&graph, 1, &constant);
    put_message(&graph, 1, &gather);
    put_message(&graph, 1, &identity);
    put_outside(&outside, "v");
    put_message(&graph, 5, &outside);
    put_outside(&outside, "w");
    put_message(&graph, 5, &outside);
    put_message(&graph, 11, &input);
    put_message(&graph, 12, &output);
    put_number(&opset, 2, 13);
    put_number(model, 1, 8);
    put_message(model, 8, &opset);
    put_message(model, 7, &graph);
}

static void read_model(const void *bytes, size_t size)
{
    struct graph graph;
    garner_error error;
    if (onnx_model_load_bytes(&graph, path, bytes, size, 0, &error)) {
        assert_memory_equal(error.message, path, strlen(path));
        return;
    }
    for (size_t i = 0; i < graph.node_count; i++) {
        const struct graph_node *node = &graph.nodes[i];
        for (size_t k = 0; k < node->input_count; k++)
            assert_true(node->inputs[k] < graph.value_count || node->inputs[k] == GRAPH_NONE);
        for (size_t k = 0; k < node->output_count; k++)
            assert_true(node->outputs[k] == GRAPH_NONE || graph.values[node->outputs[k]].node == i);
    }
    for (size_t i = 0; i < graph.value_count; i++)
        if (graph.values[i].constant) look_at(graph.values[i].constant);
    graph_free(&graph);
}

static void check_model(const struct message *model)
{
    struct graph graph;
    garner_error error;
    if (onnx_model_load_bytes(&graph, path, model->bytes, model->size, 0, &error))
        fail_msg("%s", error.message);
    graph_free(&graph);
}

static void test_onnx(void **state)
{
    (void)state;
    struct message model = {.size = 0};
    make_model(&model);
    put_empty_file("v");
    put_empty_file("w");
    set_path("x.onnx");
    check_model(&model);
    change_everywhere(model.bytes, model.size, read_model);
    set_path("v");
    unlink(path);
    set_path("w");
    unlink(path);
}

/* A model that has nearly everything; every byte of it where there is time. */
static void test_onnx_sample(void **state)
{
    (void)state;
    struct message model = sample_model();
    set_path("x.onnx");
    check_model(&model);
    changing_begin(model.size);
    for (size_t i = 0; i < model.size; i += test_is_long() ? 1 : 11)
        change_byte(model.bytes, model.size, i, read_model);
    changing_end();
}

/* A list as large as gets memory of its own, in which one number becomes two, or two become one. */
static void test_onnx_list(void **state)
{
    (void)state;
    enum { NUMBERS = 67 }; /* one fewer is a multiple of 16 bytes */
    unsigned char numbers[NUMBERS];
    struct message model = {.size = 0}, graph = {.size = 0}, node = {.size = 0}, list = {.size = 0},
                   opset = {.size = 0};
    memset(numbers, 1, sizeof numbers);
    put_text(&list, 1, "value_ints");
    put_bytes(&list, 8, numbers, sizeof numbers);
    put_text(&node, 2, "c");
    put_text(&node, 4, "Constant");
    put_message(&node, 5, &list);
    put_message(&graph, 1, &node);
    put_number(&opset, 2, 13);
    put_message(&model, 8, &opset);
    put_message(&model, 7, &graph);
    set_path("x.onnx");
    check_model(&model);
    changing_begin(model.size);
    for (size_t i = 0; i < 4; i++)
        change_byte(model.bytes, model.size, model.size - NUMBERS / 2 - i, read_model);
    changing_end();
}

/* A name that is fine when it is checked, and leads out of the folder when it is opened. */
static void open_beneath(const void *bytes, size_t size)
{
    void *mapping;
    size_t mapped;
    garner_error error;
    assert_int_not_equal(open_beneath_map(path, bytes, size, 1, &mapping, &mapped, &error), GARNER_OK);
}

static void test_beneath(void **state)
{
    (void)state;
    static const unsigned char name[] = {'.', 'a', '/', 'w'};
    put_empty_file("w");
    set_path("sub");
    assert_int_equal(mkdir(path, 0700), 0);
    set_path("sub/x.onnx");
    changing_begin(sizeof name);
    changing.flip = 'a' ^ '.';
    for (int when = 0; when <= MOST_MOMENTS; when++)
        (void)changing_read(name, sizeof name, 1, when, open_beneath);
    changing_end();
    set_path("sub");
    assert_int_equal(rmdir(path), 0);
    set_path("w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_npy),         cmocka_unit_test(test_npz),
                                       cmocka_unit_test(test_safetensors), cmocka_unit_test(test_pb),
                                       cmocka_unit_test(test_onnx),        cmocka_unit_test(test_onnx_list),
                                       cmocka_unit_test(test_onnx_sample), cmocka_unit_test(test_beneath)};
    return cmocka_run_group_tests_name("changing", tests, make_folder, remove_folder);
}
