/* SPDX-License-Identifier: MIT */
/*
 * A model as every reader of models gives it and everything else sees it: values, the nodes that make
 * them, inputs and outputs. Nothing in it tells which file format it came from, but for words to be shown.
 *
 * A graph owns all that it points to: one arena for texts and arrays, and the mappings and memory that
 * constants lie in. Texts end in a zero byte and have none inside; they come from outside, so they are
 * shown through `printable`. A graph is what a file says: readers check what each file format demands
 * (and that every number below is in range), the layer above decides whether and how it runs.
 */
#ifndef GARNER_FORMATS_GRAPH_H
#define GARNER_FORMATS_GRAPH_H

#include "fail.h"
#include "garner.h"

/* No value: an input that is left out, a value that no node makes. */
#define GRAPH_NONE SIZE_MAX

/* One extent of a declared shape. */
struct graph_extent {
    int64_t least, most; /* equal: fixed; most -1: no upper bound. Unknown is 0 to -1 */
    const char *symbol;  /* the name that the file gives it ("batch"), or NULL */
};

/* A tensor of the model: an input, a constant, or what a node makes. */
struct graph_value {
    const char *name;                 /* as the file calls it; "" if it does not */
    garner_dtype dtype;               /* as declared; 0: not declared */
    int32_t rank;                     /* as declared; -1: not declared, then no shape */
    const struct graph_extent *shape; /* rank extents, to be held against what is computed */
    const garner_tensor *constant;    /* the elements, dense, if the file holds them; else NULL */
    const char *foreign;              /* what it is if no tensor: "sequence", "map"; else NULL */
    size_t node;                      /* what makes it; GRAPH_NONE: an input or a bare constant */
};

enum graph_kind {
    GRAPH_UNSUPPORTED, /* node.refusal says why */
    GRAPH_GATHER,      /* inputs: data, indices, and in OpenVINO's files the axis */
    GRAPH_GATHER_ELEMENTS,
    GRAPH_GATHER_ND,
    GRAPH_CONSTANT, /* no inputs; its output has its elements in value.constant */
    GRAPH_IDENTITY, /* one input, one output, the same tensor */
    GRAPH_CONVERT   /* one input, one output of type node.to; both types are integers of 8 to 64 bits */
};

struct graph_node {
    enum graph_kind kind;
    const char *name;    /* "" if it has none */
    const char *type;    /* the operator as the file writes it: "Gather" */
    const char *domain;  /* whose operator, as the file writes it: "", "ai.onnx", "com.microsoft"; IR: "" */
    const char *version; /* as the file writes it: "13" of ONNX's opset 13, "opset8" of an IR */
    const char *spec;    /* of the three gathers: the version that counts, "onnx-13"; else NULL */
    const char *refusal; /* of GRAPH_UNSUPPORTED: why, as a phrase after the operator's name; else NULL */
    garner_op op;        /* of the three gathers, whole but for an axis that comes as third input */
    garner_dtype to;     /* of GRAPH_CONVERT */
    uint64_t types;      /* of IDENTITY and CONSTANT: bit t set if the version lists type t; 0: every type */
    size_t *inputs;      /* values; GRAPH_NONE for one left out */
    size_t *outputs;
    size_t input_count, output_count;
    uint64_t place; /* where in the file: a byte offset (ONNX) or a line (IR) */
};

/* An input or an output as callers name it. */
struct graph_port {
    const char *name;           /* the one that is shown; no two inputs and no two outputs share one */
    const char *const *aliases; /* further names it goes by: tensor names of an IR, layers' names */
    size_t alias_count;
    size_t value; /* an input whose value has a constant may be left out: that is its default */
};

struct graph_arena; /* graph.c's own */

struct graph {
    const char *path;     /* as it was opened */
    const char *format;   /* "ONNX", "OpenVINO IR" */
    const char *name;     /* of the model, or "" */
    const char *producer; /* what wrote the file, or "" */
    const char *version;  /* "IR version 10, opset 21", "IR version 11": to be shown */

    struct graph_value *values;
    struct graph_node *nodes; /* in the file's order, which need not be the order of running */
    struct graph_port *inputs, *outputs;
    size_t value_count, node_count, input_count, output_count;

    const char **notes; /* what the file says twice and differently, as sentences */
    size_t note_count;

    struct graph_arena *arena;
};

/* ---- For everybody ---- */

/* Releases everything and zeroes the graph. A zeroed graph is fine. */
void graph_free(struct graph *graph);

/* The port of that name, or of that alias where no name matches; GRAPH_NONE: there is none. */
size_t graph_find_port(const struct graph_port *ports, size_t count, const char *name);

/* Whether an extent may have that value. */
int graph_extent_allows(const struct graph_extent *extent, int64_t value);

/* Writes what an extent may be: 2, 1..5, 1.. or ?; its symbol aside. Returns text. */
enum { GRAPH_EXTENT_TEXT = 48, GRAPH_SHAPE_TEXT = 160 };
char *graph_extent_text(char text[GRAPH_EXTENT_TEXT], const struct graph_extent *extent);

/* Writes a shape for a message: [2,batch,1..5,?], with dots at the end where there is no room for all. */
char *graph_shape_text(char text[GRAPH_SHAPE_TEXT], const struct graph_extent *extents, int32_t rank);

/* ---- For readers ---- */

/* Begins an empty graph; `path` is copied. The texts are "" until set. */
garner_status graph_begin(struct graph *graph, const char *path, const char *format, garner_error *error);

/* Zeroed memory that lives as long as the graph, aligned for anything; NULL with GARNER_NO_MEMORY set. */
void *graph_alloc(struct graph *graph, size_t count, size_t size, garner_error *error);

/* A copy of `size` bytes as text. Bytes that hold a zero byte are the caller's to refuse beforehand. */
const char *graph_text(struct graph *graph, const char *bytes, size_t size, garner_error *error);

/* Text made as by printf. */
const char *graph_format(struct graph *graph, garner_error *error, const char *format, ...) FAIL_FORMAT(3);

/* Gives a mapping to the graph, which unmaps it in the end, also if this fails. */
garner_status graph_keep_mapping(struct graph *graph, void *mapping, size_t size, garner_error *error);

/* The same for memory from malloc. */
garner_status graph_keep_memory(struct graph *graph, void *memory, garner_error *error);

/* Appends a sentence to the notes; text made as by printf. Beyond GRAPH_MOST_NOTES they are dropped. */
enum { GRAPH_MOST_NOTES = 100 };
garner_status graph_add_note(struct graph *graph, garner_error *error, const char *format, ...);

/* Appends a value (no type, rank -1, no node), a node (unsupported, no inputs or outputs), an input or an
 * output, all texts "". *id is its number. Pointers to earlier ones are invalid then; numbers stay. */
garner_status graph_add_value(struct graph *graph, const char *name, size_t *id, garner_error *error);
garner_status graph_add_node(struct graph *graph, size_t *id, garner_error *error);
garner_status graph_add_input(struct graph *graph, const char *name, size_t value, size_t *id,
                              garner_error *error);
garner_status graph_add_output(struct graph *graph, const char *name, size_t value, size_t *id,
                               garner_error *error);

#endif
