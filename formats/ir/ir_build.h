/* SPDX-License-Identifier: MIT */
/*
 * From a net as it is written to a graph: what the files of this step share. ir_build.c complains, ir_graph.c
 * makes values and nodes, ir_node.c knows the operators, ir_edges.c follows edges, ir_const.c finds the
 * elements of constants, ir_names.c names inputs and outputs.
 */
#ifndef GARNER_FORMATS_IR_BUILD_H
#define GARNER_FORMATS_IR_BUILD_H

#include "ir_net.h"

struct ir_build {
    struct ir_net net;
    struct graph *graph;
    garner_error *error;

    /* The .bin: opened when the first constant needs it. */
    const unsigned char *bin;
    uint64_t bin_size;
    int bin_open, follow_links;

    /* For each port of the net. */
    size_t *value;  /* of an output: the value it gives */
    size_t *source; /* of an input: the output port that it is connected to; GRAPH_NONE: nothing */
    size_t *layer;  /* whose it is */
};

/* A complaint about a layer: "PATH: line 3, column 5: layer "name" (Gather): ...". */
garner_status ir_complain(const struct ir_build *build, garner_status status, const struct ir_layer *layer,
                          const char *format, ...) FAIL_FORMAT(4);

/* Whether this layer's types matter: what does not run may have any. */
int ir_node_is_known(const struct ir_layer *layer);

/* What a layer says of its node: operator, version, attributes. The number of its ports is checked. */
garner_status ir_node_fill(struct ir_build *build, const struct ir_layer *layer, struct graph_node *node);

/* A Convert from something else than an integer does not run. What it comes from may be unknown until it
 * runs; then that is where it is refused. */
garner_status ir_node_check_convert(struct ir_build *build, struct graph_node *node);

/* Finds out what each input port is connected to, and whose each port is. */
garner_status ir_connect(struct ir_build *build);

/* Holds what a port says of the shape of a value against what is known of it; of what a node makes, the port
 * that it comes from is the first that is asked. Shapes in ports are only information, so a contradiction
 * becomes a note of the graph. */
garner_status ir_declare(struct ir_build *build, size_t value, const struct ir_port *port);

/* The elements of every constant. */
garner_status ir_constants(struct ir_build *build);

/* Makes an input of each Parameter and an output of each Result, with all names they go by. */
garner_status ir_interface(struct ir_build *build);

#endif
