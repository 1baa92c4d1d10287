/* SPDX-License-Identifier: MIT */
/*
 * An OpenVINO IR as it is written: layers with their ports, and the edges between them. Texts are kept as
 * texts; ir_text.c reads them when ir_graph.c knows what they must be. Whatever else the file holds
 * (runtime information, bodies of loops) is passed over.
 */
#ifndef GARNER_FORMATS_IR_NET_H
#define GARNER_FORMATS_IR_NET_H

#include "graph.h"
#include "ir_xml.h"

struct ir_port {
    uint64_t id;
    const char *precision, *names; /* NULL: not written */
    size_t first_extent;           /* in ir_net.extents */
    int32_t rank;
    struct ir_place place;
};

/* The attributes of <data> that some layer here has; NULL: not written. */
struct ir_data {
    const char *shape, *element_type, *offset, *size, *axis, *batch_dims, *destination_type;
};

struct ir_layer {
    uint64_t id;
    const char *name, *type, *version; /* "" where they are not written */
    const char *output_names;          /* of a Result; NULL: not written */
    struct ir_data data;
    size_t first_input, inputs, first_output, outputs; /* in ir_net.ports */
    int has_data, has_input, has_output;               /* these sections were there */
    struct ir_place place;
};

struct ir_edge {
    uint64_t from_layer, from_port, to_layer, to_port;
    struct ir_place place;
};

struct ir_net {
    struct graph *graph; /* whose arena holds every text */
    int version;         /* 10 or 11 */
    struct ir_layer *layers;
    struct ir_edge *edges;
    struct ir_port *ports;
    struct graph_extent *extents;
    size_t layer_count, edge_count, port_count, extent_count;
    size_t layer_room, edge_room, port_room, extent_room;
};

/* Reads the XML. Texts go to the graph, which gets its name and producer, too. On failure nothing else is
 * kept. */
garner_status ir_net_read(struct ir_net *net, struct graph *graph, const unsigned char *bytes, uint64_t size,
                          garner_error *error);

void ir_net_free(struct ir_net *net);

/* ---- ir_text.c: what stands in the attributes. None of these changes anything on failure. ---- */

/* A decimal number with nothing but blanks around it; 1 if it is one. */
int ir_unsigned(const char *text, uint64_t *number);
int ir_signed(const char *text, int64_t *number);

/* "3", "-1" and "?" (anything), "2..5", "..5", "2..". */
int ir_extent(const char *text, size_t size, struct graph_extent *extent);

enum { IR_NO_SHAPE = -1, IR_ANY_RANK = -2 };

/* "1,?,3", also in square brackets: the rank; IR_NO_SHAPE if it is malformed or longer than GARNER_MAX_RANK;
 * IR_ANY_RANK for "...". "" is a scalar. */
int32_t ir_shape(const char *text, struct graph_extent extents[GARNER_MAX_RANK]);

/* An element type by the names that OpenVINO has for it; 0 if there is none. */
garner_dtype ir_type(const char *name);

/* The next name of a list "a,b\,c" into `name`, which has room for the whole list; where to go on, or NULL
 * if there are no more. Empty names are passed over. */
const char *ir_next_name(const char *list, char *name);

#endif
