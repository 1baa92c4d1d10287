/* SPDX-License-Identifier: MIT */
/*
 * Which gathers of a model garner takes inside a runtime, as far as the model's file tells, and why the
 * others are left to it. The rules are those of onnxruntime/provider.c and fusion.c and of
 * openvino/choice.cpp; tests/onnxruntime/test_claims.py and tests/openvino/test_claims.py hold the answers
 * here against what those did inside the runtimes.
 */
#ifndef GARNER_DRAW_CLAIMS_H
#define GARNER_DRAW_CLAIMS_H

#include "graph.h"

enum claim_runtime { CLAIM_ONNXRUNTIME, CLAIM_OPENVINO, CLAIM_RUNTIMES };

/* The id and the reason of each answer but the first. */
#define CLAIM_REASONS(REASON)                                                                           \
    REASON(REFUSED, "refused", "garner refuses it")                                                     \
    REASON(FORMAT, "format", "the runtime does not read this format")                                   \
    REASON(TYPE, "type", "the runtime has no such type")                                                \
    REASON(UNUSED, "unused", "nothing takes the result, so it is not computed")                         \
    REASON(FOLDED, "constant", "the inputs are constant: computed once, when the model is loaded")      \
    REASON(SHAPE, "shape", "arithmetic with shapes, which the runtime folds")                           \
    REASON(COMPRESSED, "compressed", "the runtime fuses it with what unpacks a compressed table")       \
    REASON(SPLIT, "split", "siblings pick the rest of the axis, and the runtime makes a Split of them") \
    REASON(QUANTIZED, "quantized", "the runtime gathers the quantized data instead")                    \
    REASON(HALF, "half", "the runtime computes in f32 here, without conversions")                       \
    REASON(SMALL, "small", "fewer points than min_bytes asks for, and the runtime's own is the same")   \
    REASON(COPY, "copy", "long rows, few or of no large table, which the runtime copies as fast")       \
    REASON(SLICE, "slice", "one index: a slice, which the runtime copies as fast or not at all")        \
    REASON(UNKNOWN, "unknown", "the file does not tell the types and shapes that it depends on")

#define CLAIM_ID(id, name, why) CLAIM_##id,
enum claim { CLAIM_TAKEN, CLAIM_REASONS(CLAIM_ID) CLAIMS };
#undef CLAIM_ID

/* Whether a node is one of the operators in a list that ends with NULL. */
int claim_is_operator(const struct graph_node *node, const char *const *types);

const char *claim_name(enum claim claim); /* for programs: "split"; NULL of CLAIM_TAKEN */
const char *claim_why(enum claim claim);  /* a sentence without its end; NULL of CLAIM_TAKEN */
const char *claim_runtime_name(enum claim_runtime runtime);

#endif
