/* SPDX-License-Identifier: MIT */
/*
 * A model opened, planned and run when the n-th allocation fails, for every n: an answer that says so,
 * nothing leaked, and the same model right in the next run.
 */
#include "ir.h" /* these two before cmocka, which has another fail */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "counted_malloc.h"
#include "random.h"

#define PORT(number) "<port id='" number "'/>"
#define EDGE(from, from_port, to, to_port) \
    "<edge from-layer='" from "' from-port='" from_port "' to-layer='" to "' to-port='" to_port "'/>"
#define PARAMETER(number, name, type, shape)                                                       \
    "<layer id='" number "' name='" name "' type='Parameter' version='opset1'><data shape='" shape \
    "' element_type='" type "'/><output>" PORT("0") "</output></layer>"
#define GATHER(number)                                                                   \
    "<layer id='" number "' name='g" number                                              \
    "' type='Gather' version='opset8'><data batch_dims='0'/><input>" PORT("0") PORT("1") \
        PORT("2") "</input><output><port id='3'><dim>7</dim></port></output></layer>"

/* rows of data by ids that are converted, twice over; each result is declared with a shape that it has not.
 */
static const char xml[] = "<net name='n' version='11'><layers>" PARAMETER("0", "data", "f32", "3,2")
    PARAMETER("1", "ids", "u16", "?") "<layer id='2' name='axis' type='Const' version='opset1'><data "
                                      "element_type='i64' shape='' offset='0' size='8'/><output>" PORT("0") "</output></layer><layer id='3' name='c' type='Convert' version='opset1'><data destination_type='i32'/><input>" PORT(
                                          "0") "</input><output>" PORT("1") "</output></layer>" GATHER("4")
                                          GATHER(
                                              "5") "<layer id='6' name='y' type='Result' "
                                                   "version='opset1'><input>" PORT(
                                                       "0") "</input></layer>"
                                                            "<layer id='7' name='z' type='Result' "
                                                            "version='opset1'><input>" PORT(
                                                                "0") "</input></layer></"
                                                                     "layers><edges>" EDGE("1", "0", "3", "0")
                                                                         EDGE("0", "0", "4", "0") EDGE(
                                                                             "3", "1", "4",
                                                                             "1") EDGE("2", "0", "4", "2")
                                                                             EDGE("4", "3", "5", "0") EDGE(
                                                                                 "3", "1", "5",
                                                                                 "1") EDGE("2", "0", "5",
                                                                                           "2") EDGE("5", "3",
                                                                                                     "6", "0")
                                                                                 EDGE("0", "0", "7",
                                                                                      "0") "</edges></net>";
static const unsigned char bin[8];

static garner_status open_model(struct model **model, garner_error *error)
{
    struct graph graph;
    *model = NULL;
    garner_status status = ir_read_bytes(&graph, "m.xml", xml, sizeof xml - 1, bin, sizeof bin, error);
    return status ? status : model_from_graph(model, &graph, error);
}

/* The first and the last row; data themselves are the second output. */
static garner_status run_model(struct model *model, garner_error *error)
{
    static float rows[6] = {1, 2, 3, 4, 5, 6};
    static uint16_t ids[2] = {0, 1};
    static const int64_t shape[] = {3, 2}, two = 2;
    const garner_tensor data = {.data = rows, .shape = shape, .rank = 2, .dtype = GARNER_F32};
    const garner_tensor indices = {.data = ids, .shape = &two, .rank = 1, .dtype = GARNER_U16};
    struct array outputs[2];
    garner_status status = model_run(model, (const garner_tensor *[]){&data, &indices}, outputs, NULL, error);
    if (status) return status;
    assert_memory_equal(outputs[0].tensor.data, rows, 4 * sizeof *rows);
    assert_memory_equal(outputs[1].tensor.data, rows, sizeof rows);
    array_free(&outputs[0]);
    array_free(&outputs[1]);
    return GARNER_OK;
}

static garner_status all_of_it(garner_error *error)
{
    struct model *model;
    garner_status status = open_model(&model, error);
    if (!status) status = model_plan(model, error);
    if (!status) status = run_model(model, error);
    model_free(model);
    return status;
}

static void test_from_the_beginning(void **state)
{
    (void)state;
    garner_error error;
    int n = 0, failures = 0;
    NEEDS_MALLOC();
    if (all_of_it(&error) == GARNER_UNSUPPORTED) SKIP_LOUDLY("built without expat");
    do {
        counting_begin(++n);
        garner_status status = all_of_it(&error);
        counting_end();
        assert_int_equal(live, 0);
        if (status) assert_int_equal(status, GARNER_NO_MEMORY);
        if (allocations < n) assert_int_equal(status, GARNER_OK);
        failures += status != GARNER_OK;
    } while (allocations >= n);
    assert_true(failures > 30);
}

/* The same model, for which one run fails, and the next one does not. */
static void test_the_next_run(void **state)
{
    (void)state;
    struct model *model;
    garner_error error;
    NEEDS_MALLOC();
    if (open_model(&model, &error) == GARNER_UNSUPPORTED) SKIP_LOUDLY("built without expat");
    model_free(model);
    for (int planned = 0; planned < 2; planned++)
        for (int n = 1; n < 40; n++) {
            assert_int_equal(open_model(&model, &error), GARNER_OK);
            if (planned) assert_int_equal(model_plan(model, &error), GARNER_OK);
            counting_begin(n);
            garner_status status = n % 2 ? run_model(model, &error) : model_plan(model, &error);
            counting_end();
            if (status) assert_int_equal(status, GARNER_NO_MEMORY);
            assert_int_equal(run_model(model, &error), GARNER_OK);
            assert_true(model_note_count(model) > 0);
            model_free(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_from_the_beginning),
                                       cmocka_unit_test(test_the_next_run)};
    return cmocka_run_group_tests_name("model memory", tests, NULL, NULL);
}
