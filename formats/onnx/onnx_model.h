/* SPDX-License-Identifier: MIT */
/*
 * ONNX models: a ModelProto becomes a graph. Constants stay in the mapped file where they can. What the
 * format forbids is refused here (a name given twice, an input that nothing makes, an attribute that the
 * operator does not have); operators that garner does not run are nodes that say so.
 */
#ifndef GARNER_FORMATS_ONNX_MODEL_H
#define GARNER_FORMATS_ONNX_MODEL_H

#include "graph.h"

/* The newest version of ONNX's own operators that is known here. */
enum { ONNX_NEWEST_OPSET = 28 };

/* Loads the model at `path`. External data lie beneath its folder and behind no links, unless
 * `follow_links`. On failure *graph is zeroed. Release with graph_free. */
garner_status onnx_model_load(struct graph *graph, const char *path, int follow_links, garner_error *error);

/* The same from bytes that outlive the graph; `path` is for messages and says where external data are. */
garner_status onnx_model_load_bytes(struct graph *graph, const char *path, const void *bytes, uint64_t size,
                                    int follow_links, garner_error *error);

#endif
