/* SPDX-License-Identifier: MIT */
/* What the ports of an IR may say and what not, of themselves and against what they are connected to. */
#include "ir_files.h"

static void test_ports(void **state)
{
    (void)state;
    NEED_EXPAT();
    char dims[65 * 16 + 1] = "", xml[4096];
    for (int i = 0; i < 65; i++)
        strcat(dims, "<dim>1</dim>");
    snprintf(xml, sizeof xml, NET("<layer id='1' type='X'><input><port id='0'>%s</port></input></layer>", ""),
             dims);
    expect_refusal(GARNER_BAD_FILE, "a port of more than 64 dimensions", xml);
    memset(dims, '1', 100);
    dims[100] = 0;
    snprintf(xml, sizeof xml,
             NET("<layer id='1' type='X'><input><port id='0'><dim>%s</dim></port></input></layer>", ""),
             dims);
    expect_refusal(GARNER_BAD_FILE, "a <dim> that is too long", xml);
    expect_refusal(GARNER_BAD_FILE, "a second <input>",
                   NET("<layer id='1' type='X'><input/><input/></layer>", ""));
    expect_refusal(GARNER_BAD_FILE, "a second <input> or <output>",
                   NET("<layer id='1' type='X'><output/><output/></layer>", ""));
    expect_refusal(GARNER_BAD_FILE, "two output ports have the id 0",
                   NET("<layer id='1' type='X'><output>" PORT PORT "</output></layer>", ""));
    expect_refusal(GARNER_BAD_FILE, "2 outputs instead of 1",
                   NET("<layer id='1' type='Parameter'><output>" PORT "<port id='1'/></output></layer>", ""));
    expect_refusal(
        GARNER_BAD_FILE, "0 outputs instead of 1",
        NET("<layer id='1' type='Gather' version='opset8'><input><port id='0'/><port id='1'/><port id='2'/>"
            "</input></layer>",
            ""));
    expect_refusal(GARNER_BAD_FILE, "0 outputs instead of 1", NET("<layer id='1' type='Constant'/>", ""));
    expect_refusal(
        GARNER_UNSUPPORTED, "there is no element type \"f33\"",
        NET("<layer id='1' type='Parameter'><data shape='' element_type='f32'/><output><port id='0' "
            "precision='f33'/></output></layer>",
            ""));
    expect_refusal(GARNER_BAD_FILE, "the attribute destination_type is missing",
                   NET("<layer id='1' type='Convert' version='opset1'><input><port "
                       "id='0'/></input><output><port id='1'/>"
                       "</output></layer>",
                       ""));
    expect_refusal(GARNER_BAD_FILE, "from-port is missing", NET(DATA RESULT, "<edge from-layer='0'/>"));
    expect_refusal(GARNER_BAD_FILE, "to-layer is missing",
                   NET(DATA RESULT, "<edge from-layer='0' from-port='0'/>"));
    expect_refusal(GARNER_BAD_FILE, "to-port=\"x\"",
                   NET(DATA RESULT, "<edge from-layer='0' from-port='0' to-layer='9' to-port='x'/>"));
    expect_refusal(GARNER_BAD_FILE, "a Result has one input",
                   NET(DATA "<layer id='9' name='out' type='Result'><input>" PORT
                            "<port id='1'/></input></layer>",
                       EDGE));
}

/* Types that are known only later, by all their names; extents that cannot be the same tensor's. */
static void test_what_ports_say(void **state)
{
    (void)state;
    static const char *const unknown[] = {"dynamic", "undefined", "UNSPECIFIED"};
    static const struct {
        const char *shape, *dims;
        size_t notes;
    } said[] = {{"3", "<dim>3</dim>", 0},    {"2..4", "<dim>3</dim>", 0},
                {"2..4", "<dim>5</dim>", 1}, {"4", "<dim>2</dim>", 1},
                {"?", "<dim>7</dim>", 0},    {"3", "<dim>-1</dim>", 0},
                {"5..", "<dim>3</dim>", 1},  {"3", "<dim>3</dim><dim>3</dim>", 1},
                {"...", "<dim>3</dim>", 0}};
    struct graph graph;
    char xml[1024];
    NEED_EXPAT();
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        snprintf(xml, sizeof xml,
                 NET("<layer id='0' type='Parameter'><data shape='' element_type='%s'/><output><port id='0' "
                     "precision='%s'/>"
                     "</output></layer>" RESULT,
                     EDGE),
                 unknown[i], unknown[i]);
        expect_fine(&graph, xml);
        assert_int_equal(graph.values[0].dtype, 0);
        graph_free(&graph);
    }
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        snprintf(
            xml, sizeof xml,
            NET("<layer id='0' name='p' type='Parameter'><data shape='%s' element_type='f32'/><output><port "
                "id='0'>%s"
                "</port></output></layer><layer id='9' type='Result'><input><port id='0'/></input></layer>",
                EDGE),
            said[i].shape, said[i].dims);
        expect_fine(&graph, xml);
        if (graph.note_count != said[i].notes)
            fail_msg("%s and %s: %zu notes", said[i].shape, said[i].dims, graph.note_count);
        graph_free(&graph);
    }
}

/* A thousand ports that contradict what they are connected to: the notes end after a hundred. */
static void test_notes(void **state)
{
    (void)state;
    NEED_EXPAT();
    struct graph graph;
    char *ports = malloc(1000 * 200 + 1000), *at = ports;
    assert_non_null(ports);
    at += sprintf(at, "<net version='11'><layers>" DATA "<layer id='1' type='X'><input>");
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, "<port id='%d'><dim>4</dim></port>", i);
    at += sprintf(at, "</input></layer>" RESULT "</layers><edges>" EDGE);
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, "<edge from-layer='0' from-port='0' to-layer='1' to-port='%d'/>", i);
    strcpy(at, "</edges></net>");
    expect_fine(&graph, ports);
    assert_int_equal(graph.note_count, GRAPH_MOST_NOTES);
    graph_free(&graph);
    free(ports);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ports), cmocka_unit_test(test_what_ports_say),
                                       cmocka_unit_test(test_notes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
