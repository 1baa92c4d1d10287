/* SPDX-License-Identifier: MIT */
/*
 * An IR in which a reader meets nearly all that it knows: constants of numbers and of strings, some of them
 * the same bytes, gathers, conversions, unknown operators and types, names with commas, results of one name,
 * what is said twice.
 */
#ifndef GARNER_TESTS_IR_SAMPLE_H
#define GARNER_TESTS_IR_SAMPLE_H

#define SAMPLE_PORT(id, more) "<port id='" id "' " more "><dim>3</dim></port>"
#define SAMPLE_LAYER(id, type, version, data, inputs, outputs)                                        \
    "<layer id='" id "' name='" type "' type='" type "' version='" version "'>" data "<input>" inputs \
    "</input><output>" outputs "</output></layer>"
#define SAMPLE_CONST(id, type, shape, offset, size)                                             \
    "<layer id='" id "' name='c" id "' type='Const' version='opset1'><data element_type='" type \
    "' shape='" shape "' offset='" offset "' size='" size "'/><output><port id='0'/></output></layer>"
#define SAMPLE_RESULT(id, more)                                          \
    "<layer id='" id "' name='end' type='Result' version='opset1' " more \
    "><input>" SAMPLE_PORT("0", "") "</input></layer>"
#define SAMPLE_EDGE(from, from_port, to, to_port) \
    "<edge from-layer='" from "' from-port='" from_port "' to-layer='" to "' to-port='" to_port "'/>"

/* Two strings, "a" and "bc", from byte 0; from 24 on numbers. */
static const unsigned char sample_bin[64] = {2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c'};

static const char sample_xml[] =
    "<?xml version='1.0'?>\n<net name='sample' version='11'>\n<layers>\n"
    "<layer id='0' name='data' type='Parameter' version='opset1'><data shape='3,?,2..4' "
    "element_type='f32'/><output>"
    "<port id='0' precision='FP32' "
    "names='data,a\\,b,other'><dim>3</dim><dim>-1</dim><dim>-1</dim></port></output></layer>\n"
    "<layer id='1' name='any' type='Parameter' version='opset1'><data shape='...' "
    "element_type='dynamic'/><output>"
    "<port id='0' precision='UNSPECIFIED'/></output></layer>\n" SAMPLE_CONST("2", "i64", "", "24", "8")
        SAMPLE_CONST("3", "i32", "2", "24", "8") SAMPLE_CONST("4", "string", "2", "0", "19") SAMPLE_CONST(
            "5", "string", "2", "0",
            "19") "\n" SAMPLE_LAYER("6", "Gather", "opset8", "<data batch_dims='0'/>",
                                    SAMPLE_PORT("0", "") "<port id='1'/><port id='2'/>",
                                    "<port id='3' names=''><dim>2</dim><dim>-1</dim><dim>4</dim></port>")
            SAMPLE_LAYER("7", "Convert", "opset1", "<data destination_type='i64'/>", "<port id='0'/>",
                         "<port id='1'/>") SAMPLE_LAYER("8", "Convert", "opset1",
                                                        "<data destination_type='f16'/>", "<port id='0'/>",
                                                        "<port id='1'/>")
                SAMPLE_LAYER("9", "Split", "opset1", "", "<port id='0'/>",
                             SAMPLE_PORT("1", "names='left'")
                                 SAMPLE_PORT("2", "precision='odd'")) SAMPLE_LAYER("10", "Gather", "opset99",
                                                                                   "", "<port id='0'/>",
                                                                                   "<port id='1'/>")
                    SAMPLE_LAYER("14", "Convert", "other", "<data destination_type='i64'/>", "<port id='0'/>",
                                 "<port id='1'/>") "\n" SAMPLE_RESULT("11", "output_names='first,second'")
                        SAMPLE_RESULT("12", "") SAMPLE_RESULT(
                            "13", "output_names=''") "</layers>\n<edges>\n" SAMPLE_EDGE("0", "0", "6", "0")
                            SAMPLE_EDGE("3", "0", "6", "1") SAMPLE_EDGE("2", "0", "6", "2")
                                SAMPLE_EDGE("3", "0", "7", "0") SAMPLE_EDGE("0", "0", "8", "0") SAMPLE_EDGE(
                                    "0", "0", "9", "0") SAMPLE_EDGE("7", "1", "10", "0")
                                    SAMPLE_EDGE("1", "0", "14", "0") SAMPLE_EDGE("6", "3", "11", "0")
                                        SAMPLE_EDGE("9", "1", "12", "0") SAMPLE_EDGE(
                                            "9", "1", "13",
                                            "0") "\n</edges>\n<rt_info><Runtime_version value='2026'/><info "
                                                 "name='OpenVINO Runtime' value='2026.1'/><info name='x'/>"
                                                 "<info value='y'/></rt_info></net>\n";

#endif
