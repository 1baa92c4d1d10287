/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder know of a model and nobody else does. Values that are the same tensor
 * through Identity share a source; of the sources, those that nodes make and that are no output of the
 * model lie in slots, buffers that serve one value after the other.
 */
#ifndef GARNER_MODEL_INTERNAL_H
#define GARNER_MODEL_INTERNAL_H

#include "model.h"

/* A buffer that is kept from run to run. */
struct slot {
    void *memory;
    size_t size;
};

/* What a source is at the moment. */
struct state {
    garner_tensor view;  /* data NULL while only planning */
    garner_shape *shape; /* that view.shape points into; NULL: never known so far */
    int known;
};

/* A gather's plan, and what it was made for; or of any node why planning refused it. */
struct step {
    garner_plan *plan;
    int64_t *key;
    size_t key_size;
    char *refusal;
};

struct model {
    struct graph graph;
    size_t *order;    /* nodes, as they run */
    size_t *source;   /* of each value */
    size_t *slot;     /* of each value; GRAPH_NONE: it has none */
    size_t *port;     /* of each value: the first output that it is the source of; GRAPH_NONE: none */
    size_t *consumed; /* of each value: where in the order it is last taken; GRAPH_NONE: nowhere */
    struct slot *slots;
    size_t slot_count;
    struct state *states; /* of each value; sources only */
    struct step *steps;   /* of each node */
    char *refusal;
    char **notes;
    size_t note_count, note_room;
};

/* model_order.c: orders the nodes, finds sources, and hands out slots. */
garner_status model_arrange(struct model *model, garner_error *error);

/* model_refusal.c: sets model->refusal if there is something to refuse. */
garner_status model_judge(struct model *model, garner_error *error);

/* model_convert.c: writes the integers of `from`, of any strides, as integers of type `to`, densely. Those
 * that do not fit lose their highest bits. */
garner_status model_convert(const garner_tensor *from, garner_dtype to, void *out, garner_error *error);

/* model_convert.c: the one integer that an axis input holds. */
garner_status model_axis(const garner_tensor *tensor, int64_t *axis, garner_error *error);

/* model_shapes.c: whether a value is what the file declares it to be. A shape that is not is noted; a type
 * that is not fails. */
garner_status model_compare(struct model *model, size_t value, const garner_tensor *is, garner_error *error);

/* model_shapes.c: whether a tensor may be given for an input. */
garner_status model_check_input(const struct model *model, size_t input, const garner_tensor *given,
                                garner_error *error);

/* model_message.c: a node for messages: 'NAME', made harmless, or #N if it has none. */
enum { MODEL_NODE_TEXT = 96 };
const char *model_node_text(char text[MODEL_NODE_TEXT], const struct model *model, size_t node);

/* model_message.c: puts "PATH: node 'NAME' (Gather, onnx-13): " in front of what went wrong, and returns the
 * status. */
garner_status model_blame(const struct model *model, size_t node, garner_error *error);

#endif
