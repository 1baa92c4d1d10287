/* SPDX-License-Identifier: MIT */
/*
 * Reading models when the n-th allocation fails, for every n: an answer that says so, nothing leaked. Most of
 * what a graph has comes out of blocks of an arena; the path's length says where these end, so it is tried
 * with many lengths.
 */
#include "ir.h" /* these two before cmocka, which has another fail */
#include "onnx_model.h"

#include <stdio.h>
#include <string.h>

#include "counted_malloc.h"
#include "ir/ir_sample.h"
#include "onnx/onnx_sample.h"
#include "random.h"

enum { LONGEST_PATH = 496, LONGEST_NAME = 496 }; /* longer texts get a block of their own */

static int name_length;

static const char *model_name(void)
{
    static char name[LONGEST_NAME + 1];
    memset(name, 'm', (size_t)name_length);
    name[name_length] = 0;
    return name;
}

typedef garner_status reader(struct graph *graph, const char *path, garner_error *error);

static garner_status read_onnx(struct graph *graph, const char *path, garner_error *error)
{
    static struct message model;
    static int made = -1;
    if (made != name_length) model = sample_model_called(model_name());
    made = name_length;
    return onnx_model_load_bytes(graph, path, model.bytes, model.size, 0, error);
}

static garner_status read_ir(struct graph *graph, const char *path, garner_error *error)
{
    return ir_read_bytes(graph, path, sample_xml, sizeof sample_xml - 1, sample_bin, sizeof sample_bin,
                         error);
}

/* Lets each allocation fail in turn; returns how many failures were told. */
static int check_failures(reader *read, const char *path)
{
    int failures = 0, n = 0;
    do {
        struct graph graph;
        garner_error error;
        counting_begin(++n);
        garner_status status = read(&graph, path, &error);
        if (!status) graph_free(&graph);
        counting_end();
        assert_int_equal(live, 0);
        if (allocations < n) { /* none failed */
            if (status) fail_msg("%s", error.message);
        } else if (status) {
            if (status != GARNER_NO_MEMORY) fail_msg("allocation %d: %s", n, error.message);
            assert_non_null(
                strstr(error.message, path + strlen(path) - 16)); /* of long ones the end is shown */
            failures++;
        }
    } while (allocations >= n);
    return failures;
}

static void check_lengths(reader *read, int step)
{
    char path[LONGEST_PATH + 1];
    NEEDS_MALLOC();
    if (test_is_long()) step = 16; /* the grain of the arena */
    for (int length = 16; length <= LONGEST_PATH + LONGEST_NAME; length += step) {
        int of_path = length < LONGEST_PATH ? length : LONGEST_PATH;
        name_length = length - of_path;
        memset(path, 'x', (size_t)of_path);
        path[of_path] = 0;
        assert_true(check_failures(read, path) > 10);
    }
}

static void test_onnx(void **state)
{
    (void)state;
    check_lengths(read_onnx, 16);
}

static void test_ir(void **state)
{
    (void)state;
    struct graph graph;
    garner_status status = read_ir(&graph, "x.xml", NULL);
    if (status == GARNER_UNSUPPORTED) SKIP_LOUDLY("built without expat");
    assert_int_equal(status, GARNER_OK);
    graph_free(&graph);
    check_lengths(read_ir, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_onnx), cmocka_unit_test(test_ir)};
    return cmocka_run_group_tests_name("graph memory", tests, NULL, NULL);
}
