/* SPDX-License-Identifier: MIT */
/* Whole files in memory for the tests of the reader of IR, put together from pieces of text. */
#ifndef GARNER_TESTS_IR_FILES_H
#define GARNER_TESTS_IR_FILES_H

#include "ir.h"
#include "ir_net.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h" /* last: cmocka has a macro called fail */

#define PORT "<port id='0' precision='FP32'><dim>3</dim></port>"
#define DATA                                                       \
    "<layer id='0' name='data' type='Parameter' version='opset1'>" \
    "<data shape='3' element_type='f32'/><output>" PORT "</output></layer>"
#define RESULT "<layer id='9' name='out' type='Result' version='opset1'><input>" PORT "</input></layer>"
#define EDGE "<edge from-layer='0' from-port='0' to-layer='9' to-port='0'/>"
#define ONE "<layers><layer id='0' type='X'/></layers>" /* the least that an IR has */
#define NET(layers, edges) \
    "<net name='n' version='11'><layers>" layers "</layers><edges>" edges "</edges></net>"

/* Two strings, "a" and "bc"; as numbers, whatever it is. */
static const unsigned char bin[64] = {2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c'};

static inline garner_status read_bytes(struct graph *graph, const char *xml, size_t size, garner_error *error)
{
    memset(graph, 0x5a, sizeof *graph);
    return ir_read_bytes(graph, "folder/x.xml", xml, size, bin, sizeof bin, error);
}

/* Some builds have no expat; then a whole file is one refusal. */
static inline int can_read(void)
{
    struct graph graph;
    static const char least[] = "<net version='10'><layers/></net>";
    garner_status status = read_bytes(&graph, least, sizeof least - 1, NULL);
    if (!status) graph_free(&graph);
    return status != GARNER_UNSUPPORTED;
}

#define NEED_EXPAT() \
    if (!can_read()) SKIP_LOUDLY("built without expat")

static inline void expect_refusal_of(garner_status expected, const char *words, const char *xml, size_t size)
{
    struct graph graph;
    garner_error error;
    garner_status status = read_bytes(&graph, xml, size, &error);
    if (status != expected || !strstr(error.message, words))
        fail_msg("status %s, '%s'; expected %s with '%s'", garner_status_name(status), error.message,
                 garner_status_name(expected), words);
    assert_memory_equal(error.message, "folder/x.xml: ", 14);
    assert_null(graph.arena);
    assert_int_equal(read_bytes(&graph, xml, size, NULL), expected);
}

static inline void expect_refusal(garner_status expected, const char *words, const char *xml)
{
    expect_refusal_of(expected, words, xml, strlen(xml));
}

static inline void expect_fine(struct graph *graph, const char *xml)
{
    garner_error error;
    garner_status status = read_bytes(graph, xml, strlen(xml), &error);
    if (status) fail_msg("%s", error.message);
    assert_int_equal(error.status, GARNER_OK);
}

#endif
