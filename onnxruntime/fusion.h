/* SPDX-License-Identifier: MIT */
/*
 * The runtime's optimizer works on after the nodes were given away, and some of its rewrites take only a
 * gather that is the runtime's own. Where such a rewrite is worth more than our kernel, the node is left to
 * it, by the rules of fusion_rules.h; and so it is where there is nothing to gain, by that of long_rows.h.
 * draw/gathers/claims_onnxruntime.c tells users the same of a file.
 */
#ifndef GARNER_ONNXRUNTIME_FUSION_H
#define GARNER_ONNXRUNTIME_FUSION_H

#include "runtime.h"

/* What was found out last of the Gathers of some data: siblings would each look at all the others. */
struct fusion {
    const OrtValueInfo *data;
    bool is_split;
};

/* Whether the runtime would rewrite this gather. `last` is all zero for the first node of a graph. */
bool fusion_is_expected(const struct ort *ort, const OrtNode *node, struct fusion *last);

/* Whether this is a Gather of long rows that the runtime copies as fast, as far as the model states shapes.
 */
bool fusion_only_copies(const struct ort *ort, const OrtNode *node);

#endif
