/* SPDX-License-Identifier: MIT */
/*
 * The reader of OpenVINO IR from C: the texts in attributes, whole files in memory, and each rule with the
 * file that breaks it. Files that OpenVINO wrote are read in tests/oracle.
 */
#include "ir.h"
#include "ir_net.h"

#include <stdlib.h>
#include <string.h>

#include "ir_files.h" /* last: cmocka has a macro called fail */

/* ---- Texts in attributes ---- */

static void test_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", " ", "1e9", "0x10", "1 2", "+1", "1.0", "1,", "-", "--1", "- 1", "1a", "18446744073709551616"};
    uint64_t number = 0;
    int64_t signed_number = 0;
    assert_true(ir_unsigned("18446744073709551615", &number) && number == UINT64_MAX);
    assert_true(ir_unsigned(" 7\n", &number) && number == 7);
    assert_true(ir_unsigned("\t\r 8\r\t", &number) && number == 8);
    assert_true(ir_signed("-9223372036854775808", &signed_number) && signed_number == INT64_MIN);
    assert_true(ir_signed("9223372036854775807", &signed_number) && signed_number == INT64_MAX);
    assert_false(ir_signed("9223372036854775808", &signed_number));
    assert_false(ir_signed("-9223372036854775809", &signed_number));
    assert_false(ir_unsigned("-1", &number));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        number = 5;
        signed_number = -5;
        assert_false(ir_unsigned(bad[i], &number));
        assert_false(ir_signed(bad[i], &signed_number));
        assert_true(number == 5 && signed_number == -5);
    }
}

static void expect_extent(const char *text, int64_t least, int64_t most)
{
    struct graph_extent extent = {.least = -7};
    if (!ir_extent(text, strlen(text), &extent)) fail_msg("'%s' is refused", text);
    assert_int_equal(extent.least, least);
    assert_int_equal(extent.most, most);
}

static void test_extents(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "-2", "x", "5..2", "1...3", "1..x", "-1..4", "1..-1", "9223372036854775808"};
    struct graph_extent extent;
    expect_extent("3", 3, 3);
    expect_extent(" 0 ", 0, 0);
    expect_extent("-1", 0, -1);
    expect_extent("?", 0, -1);
    expect_extent("2..5", 2, 5);
    expect_extent("..5", 0, 5);
    expect_extent("2..", 2, -1);
    expect_extent("9223372036854775807", INT64_MAX, INT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (ir_extent(bad[i], strlen(bad[i]), &extent)) fail_msg("'%s' is taken", bad[i]);
}

static void test_shapes(void **state)
{
    (void)state;
    static const char *const bad[] = {"1,,2", ",", "1,", ",1", "1;2", "[1,2", "1 2", "[[1]]"};
    struct graph_extent extents[GARNER_MAX_RANK];
    char longest[256] = "1";
    assert_int_equal(ir_shape("", extents), 0);
    assert_int_equal(ir_shape("[]", extents), 0);
    assert_int_equal(ir_shape(" [ 1, ? ,3..4 ] ", extents), 3);
    assert_int_equal(extents[1].most, -1);
    assert_int_equal(extents[2].most, 4);
    assert_int_equal(ir_shape("...", extents), IR_ANY_RANK);
    for (int i = 1; i < GARNER_MAX_RANK; i++)
        strcat(longest, ",1");
    assert_int_equal(ir_shape(longest, extents), GARNER_MAX_RANK);
    assert_int_equal(ir_shape(strcat(longest, ",1"), extents), IR_NO_SHAPE);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (ir_shape(bad[i], extents) != IR_NO_SHAPE) fail_msg("'%s' is taken", bad[i]);
}

static void test_types(void **state)
{
    (void)state;
    static const char *const names[] = {"boolean", "bf16",   "f16",    "f32",   "f64", "i4",  "i8",
                                        "i16",     "i32",    "i64",    "u1",    "u2",  "u3",  "u4",
                                        "u6",      "u8",     "u16",    "u32",   "u64", "nf4", "f8e4m3",
                                        "f8e5m2",  "f8e8m0", "f4e2m1", "string"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(ir_type(names[i]), garner_dtype_from_name(names[i]));
    assert_int_equal(ir_type("FP32"), GARNER_F32);
    assert_int_equal(ir_type("BOOL"), GARNER_BOOL);
    assert_int_equal(ir_type("STRING"), GARNER_STR);
    assert_int_equal(ir_type("c64"), 0); /* OpenVINO has no such type */
    assert_int_equal(ir_type("float32"), 0);
    assert_int_equal(ir_type(""), 0);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const expected[] = {"a", "b,c", "d\\e", " f"};
    const char *list = ",a,,b\\,c,d\\e, f,";
    char name[32];
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        list = ir_next_name(list, name);
        assert_non_null(list);
        assert_string_equal(name, expected[i]);
    }
    assert_null(ir_next_name(list, name));
    assert_null(ir_next_name("", name));
}

/* ---- Whole files ---- */

static void test_smallest(void **state)
{
    (void)state;
    NEED_EXPAT();
    struct graph graph;
    expect_fine(&graph, "<?xml version='1.0'?>" NET(DATA RESULT, EDGE));
    assert_string_equal(graph.name, "n");
    assert_int_equal(graph.input_count, 1);
    assert_int_equal(graph.output_count, 1);
    assert_int_equal(graph.node_count, 0);
    assert_string_equal(graph.inputs[0].name, "data");
    assert_int_equal(graph.outputs[0].value, graph.inputs[0].value);
    assert_int_equal(graph.values[0].dtype, GARNER_F32);
    graph_free(&graph);
}

static void test_structure(void **state)
{
    (void)state;
    NEED_EXPAT();
    expect_refusal(GARNER_BAD_FILE, "line 1, column 1: this is no OpenVINO IR: it begins with <svg>",
                   "<svg/>");
    expect_refusal(GARNER_BAD_FILE, "no element found", "");
    expect_refusal(GARNER_BAD_FILE, "line 2, column 3", "<net version='11'>\n</x>");
    expect_refusal(GARNER_BAD_FILE, "has no <layers>", "<net version='11'/>");
    expect_refusal(GARNER_BAD_FILE, "x.xml: it has no layers, and an OpenVINO IR has at least one",
                   "<net version='11'><layers/></net>");
    expect_refusal(GARNER_BAD_FILE, "version is missing", "<net/>");
    expect_refusal(GARNER_UNSUPPORTED, "version 7 of OpenVINO's IR; those read are 10 and 11",
                   "<net version='7'/>");
    expect_refusal(GARNER_BAD_FILE, "version=\"1e1\"", "<net version='1e1'/>");
    expect_refusal(GARNER_BAD_FILE, "a second <layers>", "<net version='11'><layers/><layers/></net>");
    expect_refusal(GARNER_BAD_FILE, "a second <edges>", "<net version='11'><layers/><edges/><edges/></net>");
    expect_refusal(GARNER_BAD_FILE, "a layer without a type", NET("<layer id='1'/>", ""));
    expect_refusal(GARNER_BAD_FILE, "the attribute id is missing", NET("<layer type='X'/>", ""));
    expect_refusal(GARNER_BAD_FILE, "id=\"-1\"", NET("<layer id='-1' type='X'/>", ""));
    expect_refusal(GARNER_BAD_FILE, "id=\"\\xc2\\x9b\"", NET("<layer type='X' id='&#x9b;'/>", ""));
    expect_refusal(GARNER_BAD_FILE, "two layers have the id 1",
                   NET("<layer id='1' type='X'/><layer id='1' type='Y'/>", ""));
    expect_refusal(GARNER_BAD_FILE, "a second <data>",
                   NET("<layer id='1' type='X'><data/><data/></layer>", ""));
    expect_refusal(GARNER_BAD_FILE, "<dim>x</dim>",
                   NET("<layer id='1' type='X'><input><port id='0'><dim>x</dim></port></input></layer>", ""));
}

static void test_edges(void **state)
{
    (void)state;
    NEED_EXPAT();
    struct graph graph;
    expect_refusal(GARNER_BAD_FILE, "an edge from layer 0, port 7, and there is no such output port",
                   NET(DATA RESULT, "<edge from-layer='0' from-port='7' to-layer='9' to-port='0'/>"));
    expect_refusal(GARNER_BAD_FILE, "an edge to layer 0, port 0, and there is no such input port",
                   NET(DATA RESULT, "<edge from-layer='0' from-port='0' to-layer='0' to-port='0'/>"));
    expect_refusal(GARNER_BAD_FILE, "a second edge to layer 9", NET(DATA RESULT, EDGE EDGE));
    expect_refusal(GARNER_BAD_FILE, "layer \"out\" (Result)", NET(DATA RESULT, ""));
    expect_refusal(GARNER_BAD_FILE, "to-port is missing",
                   NET(DATA RESULT, "<edge from-layer='0' from-port='0' to-layer='9'/>"));
    expect_refusal(GARNER_BAD_FILE, "two input ports have the id 0",
                   NET("<layer id='1' type='X'><input>" PORT PORT "</input></layer>", ""));
    /* One id for an input and an output is fine: they are looked up apart. */
    expect_fine(&graph, NET(DATA "<layer id='1' name='c' type='Convert' version='opset1'><data "
                                 "destination_type='i64'/><input>" PORT "</input><output>" PORT
                                 "</output></layer>" RESULT,
                            "<edge from-layer='0' from-port='0' to-layer='1' to-port='0'/>"
                            "<edge from-layer='1' from-port='0' to-layer='9' to-port='0'/>"));
    assert_int_equal(graph.nodes[0].kind, GRAPH_UNSUPPORTED); /* from f32 */
    assert_non_null(strstr(graph.nodes[0].refusal, "from f32"));
    assert_int_equal(graph.outputs[0].value, graph.nodes[0].outputs[0]);
    graph_free(&graph);
}

/* ---- Limits ---- */

/* `count` copies of a text between two others. */
static char *repeat(const char *before, const char *text, size_t count, const char *after)
{
    size_t size = strlen(text);
    char *all = malloc(strlen(before) + count * size + strlen(after) + 1), *at = all;
    assert_non_null(all);
    at += strlen(strcpy(at, before));
    for (size_t i = 0; i < count; i++, at += size)
        memcpy(at, text, size);
    strcpy(at, after);
    return all;
}

static void expect_limit(const char *words, char *xml)
{
    expect_refusal(GARNER_BAD_FILE, words, xml);
    free(xml);
}

static void test_limits(void **state)
{
    (void)state;
    NEED_EXPAT();
    struct graph graph;
    char *xml = repeat("<net version='11'><layers/>", "<a>", 63, "");
    expect_refusal(GARNER_BAD_FILE, "no element found", xml); /* 64 deep is allowed */
    free(xml);
    expect_limit("nested deeper than the limit of 64", repeat("<net version='11'>", "<a>", 64, ""));
    expect_limit("nested deeper than the limit of 64", repeat("", "<net version='11'>", 1000000, ""));
    xml = repeat("<net version='11' x='", "y", (1 << 20) - 100, "'>" ONE "</net>");
    expect_fine(&graph, xml);
    graph_free(&graph);
    free(xml);
    expect_limit("more than 1048576 bytes",
                 repeat("<net version='11' x='", "y", 1 << 20, "'><layers/></net>"));
    expect_limit("more than 1048576 bytes",
                 repeat("<net version='11'><!--", "y", 3 << 20, "--><layers/></net>"));
    expect_limit("more than 1048576 bytes", repeat("<net version='11' x='", "y", 1 << 25, ""));
    expect_refusal(
        GARNER_BAD_FILE, ": a document type declaration (DOCTYPE)",
        "<?xml version='1.0'?>\n<!DOCTYPE net [<!ENTITY a 'aaaa'>]><net version='11'><layers/></net>");
    expect_refusal(GARNER_BAD_FILE, "undefined entity", "<net version='11'>&a;</net>");
    expect_refusal_of(GARNER_BAD_FILE, "the limit for an IR is", "<net/>", (size_t)IR_LARGEST_FILE + 1);
}

static void test_attributes(void **state)
{
    (void)state;
    NEED_EXPAT();
    struct graph graph;
    char xml[8192] = "<net version='11'";
    for (int i = 1; i < 256; i++)
        snprintf(xml + strlen(xml), 32, " a%d=''", i);
    strcat(xml, ">" ONE "</net>");
    expect_fine(&graph, xml);
    graph_free(&graph);
    strcpy(strstr(xml, "><"), " b=''><layers/></net>");
    expect_refusal(GARNER_BAD_FILE, "an element with 257 attributes; the limit is 256", xml);
    expect_refusal(GARNER_BAD_FILE, "duplicate attribute", "<net version='11' version='11'/>");
}

static void test_encodings(void **state)
{
    (void)state;
    NEED_EXPAT();
    struct graph graph;
    static const char text[] = "<net version='11'>" ONE "</net>";
    char utf16[2 * sizeof text] = "\xff\xfe";
    for (size_t i = 0; i < sizeof text - 1; i++)
        utf16[2 + 2 * i] = text[i];
    static const char latin1[] =
        "<?xml version='1.0' encoding='ISO-8859-1'?><net name='\xe4' version='11'>" ONE "</net>";
    static const char zero[] = "<net version='11'>\0<layers/></net>";
    assert_int_equal(read_bytes(&graph, utf16, sizeof utf16, NULL), GARNER_OK);
    graph_free(&graph);
    expect_fine(&graph, "\xef\xbb\xbf<net version='11'>" ONE "</net>");
    graph_free(&graph);
    expect_fine(&graph, latin1);
    assert_string_equal(graph.name, "\xc3\xa4");
    graph_free(&graph);
    expect_refusal(GARNER_BAD_FILE, "line 1, column 12", "<net name='\xff\xfe' version='11'><layers/></net>");
    expect_refusal_of(GARNER_BAD_FILE, "line 1, column 19", zero, sizeof zero - 1);
    expect_refusal(GARNER_BAD_FILE, "unknown encoding", "<?xml version='1.0' encoding='EBCDIC'?><net/>");
}

/* ---- Parameters, constants, gathers ---- */

/* A file of one constant that is the result. */
static const char *constant(const char *data)
{
    static char xml[1024];
    snprintf(
        xml, sizeof xml,
        NET("<layer id='0' name='c' type='Const' version='opset1'><data %s/><output><port id='0'/></output>"
            "</layer>" RESULT,
            EDGE),
        data);
    return xml;
}

static void test_constants(void **state)
{
    (void)state;
    NEED_EXPAT();
    struct graph graph;
    expect_fine(&graph, constant("element_type='i32' shape='' offset='3' size='4'"));
    assert_int_equal(graph.values[0].constant->rank, 0);
    if (IS_LITTLE_ENDIAN) assert_ptr_equal(graph.values[0].constant->data, bin + 3);
    for (int i = 0; i < 4; i++)
        assert_int_equal(((const unsigned char *)graph.values[0].constant->data)[i],
                         bin[3 + (IS_LITTLE_ENDIAN ? i : 3 - i)]);
    graph_free(&graph);
    expect_fine(&graph, constant("element_type='u3' shape='3' offset='61' size='3'"));
    graph_free(&graph);
    expect_fine(&graph, constant("element_type='f64' shape='0,9223372036854775807' offset='0' size='0'"));
    graph_free(&graph);
    static const char *const bad[][2] = {
        {"size=\"3\", but 1 elements of type i32 take 4 bytes",
         "element_type='i32' shape='1' offset='0' size='3'"},
        {"do not lie in the .bin file, which has 64", "element_type='i32' shape='1' offset='61' size='4'"},
        {"do not lie in the .bin file", "element_type='i8' shape='1' offset='18446744073709551615' size='1'"},
        {"do not lie in the .bin file", "element_type='i8' shape='1' offset='1' size='18446744073709551615'"},
        {"shape=\"1,,2\" is no list", "element_type='i8' shape='1,,2' offset='0' size='2'"},
        {"every extent of a constant must be known", "element_type='i8' shape='-1' offset='0' size='1'"},
        {"every extent of a constant must be known", "element_type='i8' shape='...' offset='0' size='1'"},
        {"too many elements", "element_type='i8' shape='9223372036854775807,2' offset='0' size='1'"},
        {"take -1 bytes", "element_type='i64' shape='9223372036854775807' offset='0' size='1'"},
        {"offset=\"0x10\"", "element_type='i8' shape='1' offset='0x10' size='1'"},
        {"size is missing", "element_type='i8' shape='1' offset='0'"},
        {"shape is missing", "element_type='i8' offset='0' size='1'"},
        {"element_type is missing", "shape='1' offset='0' size='1'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refusal(GARNER_BAD_FILE, bad[i][0], constant(bad[i][1]));
    expect_refusal(GARNER_UNSUPPORTED, "there is no element type \"c64\"",
                   constant("element_type='c64' shape='1' offset='0' size='8'"));
}

static void test_strings(void **state)
{
    (void)state;
    NEED_EXPAT();
    struct graph graph;
    expect_fine(&graph, constant("element_type='string' shape='2' offset='0' size='19'"));
    const garner_string *strings = graph.values[0].constant->data;
    assert_true(strings[0].size == 1 && strings[0].bytes[0] == 'a');
    assert_true(strings[1].size == 2 && memcmp(strings[1].bytes, "bc", 2) == 0);
    graph_free(&graph);
    expect_refusal(GARNER_BAD_FILE, "do not hold 3 strings",
                   constant("element_type='string' shape='3' offset='0' size='19'"));
    expect_refusal(GARNER_BAD_FILE, "string 1 ends outside",
                   constant("element_type='string' shape='2' offset='0' size='18'"));
    expect_refusal(GARNER_BAD_FILE, "do not hold 2 strings",
                   constant("element_type='string' shape='2' offset='0' size='15'"));
    expect_refusal(GARNER_BAD_FILE, "do not hold 2 strings",
                   constant("element_type='string' shape='2' offset='0' size='3'"));
    expect_refusal(GARNER_BAD_FILE, "do not hold 0 strings",
                   constant("element_type='string' shape='0' offset='0' size='0'"));
}

/* Constants that share bytes as far as they say the same of them, and no further. */
static void test_shared_strings(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *words;
    } pairs[] = {
        {"shape='2' offset='0' size='19'", "shape='2' offset='0' size='19'", NULL},
        {"shape='2' offset='0' size='19'", "shape='1,2' offset='0' size='20'", NULL},
        {"shape='2' offset='0' size='20'", "shape='2' offset='0' size='19'", NULL},
        {"shape='2' offset='0' size='19'", "shape='0' offset='40' size='8'", NULL},
        {"shape='0' offset='40' size='8'", "shape='2' offset='0' size='19'", NULL},
        {"shape='2' offset='0' size='19'", "shape='3' offset='0' size='19'", "do not hold 3 strings"},
        {"shape='9' offset='0' size='64'", "shape='9' offset='1' size='63'", "do not hold 9 strings"},
        {"shape='17' offset='0' size='64'", "shape='2' offset='0' size='19'",
         "overlap those of other layers"},
        {"shape='4294967296' offset='0' size='19'", "shape='2' offset='0' size='19'",
         "overlap those of other layers"},
        {"shape='1' offset='4' size='19'", "shape='2' offset='0' size='19'", "do not hold 1 strings"},
    };
    NEED_EXPAT();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char xml[1024];
        struct graph graph;
        snprintf(xml, sizeof xml,
                 NET("<layer id='0' type='Const' version='opset1'><data element_type='string' "
                     "%s/><output><port id='0'/>"
                     "</output></layer><layer id='1' type='Const' version='opset1'><data "
                     "element_type='string' %s/><output>"
                     "<port id='0'/></output></layer>" RESULT,
                     EDGE),
                 pairs[i].first, pairs[i].second);
        if (pairs[i].words) {
            expect_refusal(GARNER_BAD_FILE, pairs[i].words, xml);
            continue;
        }
        expect_fine(&graph, xml);
        graph_free(&graph);
    }
}

/* A file of one gather, of which nothing is connected: enough to see what is said of the layer. */
static garner_status gather(struct graph *graph, const char *type, const char *opset, const char *data,
                            int inputs, garner_error *error)
{
    char xml[1024], ports[256] = "";
    for (int i = 0; i < inputs; i++)
        snprintf(ports + strlen(ports), 32, "<port id='%d'/>", i);
    snprintf(
        xml, sizeof xml,
        NET("<layer id='5' name='g' type='%s' version='%s'><data %s/><input>%s</input><output><port id='0'/>"
            "</output></layer>",
            ""),
        type, opset, data, ports);
    return read_bytes(graph, xml, strlen(xml), error);
}

static void test_gathers(void **state)
{
    (void)state;
    NEED_EXPAT();
    static const struct {
        const char *type, *opset, *data, *words;
        int inputs;
        garner_status status;
    } cases[] = {
        {"GatherElements", "opset6", "", "the attribute axis is missing", 2, GARNER_BAD_FILE},
        {"GatherElements", "opset6", "axis='1e1'", "axis=\"1e1\"", 2, GARNER_BAD_FILE},
        {"GatherElements", "opset6", "axis='1'", "nothing is connected to its input port 0", 2,
         GARNER_BAD_FILE},
        {"GatherND", "opset8", "batch_dims='0x1'", "batch_dims=\"0x1\"", 2, GARNER_BAD_FILE},
        {"GatherND", "opset8", "", "3 inputs instead of 2", 3, GARNER_BAD_FILE},
        {"Gather", "opset8", "", "2 inputs instead of 3", 2, GARNER_BAD_FILE},
        {"Gather", "opset1", "batch_dims='x'", "batch_dims=\"x\"", 3, GARNER_BAD_FILE},
        {"Gather", "opset1", "batch_dims='1'", "nothing is connected", 3, GARNER_BAD_FILE},
        {"GatherElements", "opset6", "axis='1' batch_dims='x'", "batch_dims=\"x\"", 2, GARNER_BAD_FILE},
        {"Gather", "opset17", "", "", 3, GARNER_OK},
        {"GatherND", "opset4", "", "", 2, GARNER_OK},
        {"GatherElements", "opset5", "", "", 2, GARNER_OK},
        {"Gather", "extension", "", "", 3, GARNER_OK},
        {"Relu", "opset1", "", "", 3, GARNER_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph graph;
        garner_error error;
        garner_status status =
            gather(&graph, cases[i].type, cases[i].opset, cases[i].data, cases[i].inputs, &error);
        if (status != cases[i].status || !strstr(error.message, cases[i].words))
            fail_msg("%s %s: %s '%s'", cases[i].type, cases[i].opset, garner_status_name(status),
                     error.message);
        if (status) continue;
        assert_int_equal(graph.nodes[0].kind, GRAPH_UNSUPPORTED);
        assert_non_null(graph.nodes[0].refusal);
        graph_free(&graph);
    }
}

/* ---- Time ---- */

/* Layers, ports, names and edges by the hundred thousand, none of which is looked for one by one. */
static void test_linear(void **state)
{
    (void)state;
    NEED_EXPAT();
    enum { COUNT = 50000 };
    struct graph graph;
    char *xml = malloc(COUNT * 300 + 1000), *at = xml;
    assert_non_null(xml);
    at += sprintf(at,
                  "<net version='11'><layers><layer id='0' name='x' type='Split' version='opset1'><output>");
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "<port id='%d' names='a,b,c'/>", COUNT - i);
    at += sprintf(at, "</output></layer>");
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at,
                      "<layer id='%d' name='same' type='Result' output_names='one'><input><port "
                      "id='0'/></input></layer>",
                      i + 1);
    at += sprintf(at, "</layers><edges>");
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "<edge from-layer='0' from-port='%d' to-layer='%d' to-port='0'/>", i + 1, i + 1);
    strcpy(at, "</edges></net>");
    expect_fine(&graph, xml);
    assert_int_equal(graph.output_count, COUNT);
    assert_string_equal(graph.outputs[0].name, "one");
    assert_string_equal(graph.outputs[1].name, "same");
    assert_string_equal(graph.outputs[2].name, "same#3");
    graph_free(&graph);
    free(xml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_extents),
        cmocka_unit_test(test_shapes),    cmocka_unit_test(test_types),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_structure), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_encodings), cmocka_unit_test(test_constants),
        cmocka_unit_test(test_strings),   cmocka_unit_test(test_gathers),
        cmocka_unit_test(test_linear),    cmocka_unit_test(test_shared_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
