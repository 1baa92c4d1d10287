/* SPDX-License-Identifier: MIT */
/*
 * What the files that read an ONNX model share: the file, the graph that grows, and the names seen so far.
 */
#ifndef GARNER_FORMATS_ONNX_READER_H
#define GARNER_FORMATS_ONNX_READER_H

#include "names.h"
#include "onnx_model.h"
#include "onnx_tensor.h"

/* An external file, mapped. */
struct onnx_opened {
    const unsigned char *bytes;
    uint64_t size;
};

struct onnx_reader {
    struct wire_file file;
    struct graph *graph;
    garner_error *error;
    int follow_links;

    int64_t ir_version, opset;
    struct wire_span producer, producer_version; /* the last ones, which count */
    const char *opset_text;                      /* as it is shown */

    struct names values;    /* to numbers of values */
    struct names functions; /* "domain:name" of the model's own */
    struct names files;     /* locations of external data, to numbers of opened */
    struct names outputs;   /* of the graph, each once */
    struct onnx_opened *opened;
    size_t opened_room;
    size_t next_node; /* whose inputs are looked for next */
};

/* A copy of a text of the file, NULL with a complaint if it holds a zero byte. `what` says what it is. */
const char *onnx_text(struct onnx_reader *reader, struct wire_span span, const char *what);

/* Why onnx_text or an allocation gave nothing. */
garner_status onnx_failure(const struct onnx_reader *reader);

/* Makes a value of that name, or complains if there is one. */
garner_status onnx_define(struct onnx_reader *reader, struct wire_span name, size_t *value);

/* Reads a TensorProto into the constant of a value. */
garner_status onnx_read_constant(struct onnx_reader *reader, const struct onnx_tensor *tensor, size_t value);

/* ---- onnx_value.c: inputs, initializers, outputs ---- */

garner_status onnx_read_input(struct onnx_reader *reader, struct wire_span message);
garner_status onnx_read_initializer(struct onnx_reader *reader, struct wire_span message);
garner_status onnx_read_output(struct onnx_reader *reader, struct wire_span message);
garner_status onnx_read_value_info(struct onnx_reader *reader, struct wire_span message);

/* ---- onnx_node.c ---- */

/* Adds a node with its attributes, and the values that it makes. */
garner_status onnx_read_node(struct onnx_reader *reader, struct wire_span message);

/* Finds the inputs of the next node, once all values are there. */
garner_status onnx_read_node_inputs(struct onnx_reader *reader, struct wire_span message);

/* ---- onnx_attribute.c ---- */

/* What an AttributeProto holds. */
struct onnx_attribute {
    struct wire_span name, message, text, tensor;
    uint64_t type, integer;
    uint32_t real; /* bits */
    int has_tensor, is_reference;
};

enum {
    ONNX_ATTRIBUTE_FLOAT = 1,
    ONNX_ATTRIBUTE_INT = 2,
    ONNX_ATTRIBUTE_STRING = 3,
    ONNX_ATTRIBUTE_TENSOR = 4,
    ONNX_ATTRIBUTE_FLOATS = 6,
    ONNX_ATTRIBUTE_INTS = 7,
    ONNX_ATTRIBUTE_STRINGS = 8
};

garner_status onnx_read_attribute(struct onnx_reader *reader, struct wire_span message,
                                  struct onnx_attribute *attribute);

/* Whether an attribute is called so. */
int onnx_attribute_is(const struct onnx_attribute *attribute, const char *name);

/* Makes the constant of a Constant node's output from its attribute. 0 in *known: no such attribute. */
garner_status onnx_read_constant_attribute(struct onnx_reader *reader, const struct onnx_attribute *attribute,
                                           size_t value, int *known);

#endif
