/* SPDX-License-Identifier: MIT */
/*
 * Runs models that are made of gathers, whatever file they came from. Opening orders the nodes and decides
 * which buffers they share; running makes a plan for each gather, and keeps it for as long as shapes and
 * types stay what they are. Buffers between nodes are kept too. One model runs in one thread at a time
 * (the gathers themselves in as many as the executor has); several models know nothing of each other.
 */
#ifndef GARNER_MODEL_MODEL_H
#define GARNER_MODEL_MODEL_H

#include "array.h"
#include "graph.h"

struct model;

enum { MODEL_FOLLOW_LINKS = 1 /* data outside the model's file may lie behind links */ };

/* Whether a path ends as models do: .onnx or .xml. */
int model_has_path(const char *path);

/*
 * Opens a .onnx or .xml file. A model with operators that do not run here opens too, to be looked at. A
 * cycle, an input that nothing makes, or a name that two things have is GARNER_BAD_FILE.
 */
garner_status model_open(struct model **model, const char *path, unsigned flags, garner_error *error);

/* Opens a graph, which the model takes over; graph_free is then called by model_free, or here on failure. */
garner_status model_from_graph(struct model **model, struct graph *graph, garner_error *error);

/* Releases a model; NULL is fine. Strings in its outputs are gone with it. */
void model_free(struct model *model);

/* What the file says. */
const struct graph *model_graph(const struct model *model);

/* Why the model does not run: one sentence that counts the operators that garner does not run, and fits into
 * an error record. NULL if it runs. */
const char *model_refusal(const struct model *model);

/* The node that runs i-th, i < node_count: never before what makes its inputs. */
size_t model_order(const struct model *model, size_t i);

/* Makes all plans that the declared shapes are enough for. Where nodes refuse them, or types or attributes,
 * fails as the first of these does, naming it; all the others are planned. A model that does not run is
 * GARNER_UNSUPPORTED, and what runs of it is planned too. */
garner_status model_plan(struct model *model, garner_error *error);

/* What a node said when it refused to be planned: one sentence, without the node's name. NULL: it did not, or
 * it is one that garner does not run at all. */
const char *model_node_refusal(const struct model *model, size_t node);

/*
 * Runs the model. inputs[i] goes to the graph's input i; NULL stands for its default. Tensors may have any
 * strides. outputs[i] becomes the graph's output i, dense and with memory of its own, but strings point to
 * characters of the inputs and of the model. On failure all outputs are zeroed. Release with array_free.
 *
 * An input that is missing is GARNER_BAD_ARGUMENT; one whose type or shape the model does not allow is
 * GARNER_BAD_TYPE or GARNER_BAD_SHAPE. A gather's own refusals come as garner.h describes them, with the
 * node's name in front of the sentence.
 */
garner_status model_run(struct model *model, const garner_tensor *const *inputs, struct array *outputs,
                        const garner_exec *exec, garner_error *error);

/* Type and shape of a value, as last planned or run; NULL: not known. */
const garner_shape *model_shape(const struct model *model, size_t value);

/* The plan of a gather as garner_plan_describe writes it, and its length; "" and 0: it has none (yet). */
size_t model_describe(const struct model *model, size_t node, char *buffer, size_t size);

/* Shapes that the file declares and that are not so, as sentences, from the last plan or run. */
size_t model_note_count(const struct model *model);
const char *model_note(const struct model *model, size_t i);

#endif
