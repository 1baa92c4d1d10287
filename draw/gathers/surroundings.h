/* SPDX-License-Identifier: MIT */
/* What is known around a model's gathers, which is what their claims depend on. */
#ifndef GARNER_DRAW_SURROUNDINGS_H
#define GARNER_DRAW_SURROUNDINGS_H

#include "chain.h"
#include "claims.h"

struct split_span; /* fusion_rules.h */

struct surroundings {
    const struct chain *chain;
    enum claim *claims[CLAIM_RUNTIMES]; /* of each node; gathers.c fills them in */
    struct split_span *spans;           /* room for one for each reader of a value */
    size_t *first, *readers,
        *ports; /* value v is read by readers[first[v]] to readers[first[v+1]-1] as input ports[...] */
    unsigned char *is_input, *is_folded; /* of each value */
    unsigned char *split;                /* of each value, for claims_onnxruntime.c */
    size_t bodies;                       /* nodes with graphs of their own, which may read any value */
};

/* 0: no memory; surroundings_free is fine then too. */
int surroundings_create(struct surroundings *around, const struct chain *chain);
void surroundings_free(struct surroundings *around);

/* The node that makes a value; NULL: none does, or it is a constant. */
const struct graph_node *surroundings_maker(const struct surroundings *around, size_t value);

/* Whether a runtime leaves a gather that garner does not refuse to garner, and why not (claims_onnxruntime.c,
 * claims_openvino.c). Of gathers that come before it in the order of running the claims are there. */
enum claim claim_in_onnxruntime(const struct surroundings *around, const struct graph_node *node);
enum claim claim_in_openvino(const struct surroundings *around, const struct graph_node *node);

/* What becomes of such a claim when OpenVINO compiles the model: some gathers are given back, by who reads
 * them. Of gathers that come after it these claims are there. */
enum claim claim_compiled_in_openvino(const struct surroundings *around, size_t id);

#endif
