/* SPDX-License-Identifier: MIT */
/* The names and the sentences of claims. */
#include "claims.h"

#include <string.h>

#define CLAIM_NAME(id, name, why) name,
#define CLAIM_WHY(id, name, why) why,

const char *claim_name(enum claim claim)
{
    static const char *const names[] = {NULL, CLAIM_REASONS(CLAIM_NAME)};
    return names[claim];
}

const char *claim_why(enum claim claim)
{
    static const char *const reasons[] = {NULL, CLAIM_REASONS(CLAIM_WHY)};
    return reasons[claim];
}

const char *claim_runtime_name(enum claim_runtime runtime)
{
    return runtime == CLAIM_ONNXRUNTIME ? "ONNX Runtime" : "OpenVINO";
}

int claim_is_operator(const struct graph_node *node, const char *const *types)
{
    for (; *types; types++)
        if (strcmp(node->type, *types) == 0) return 1;
    return 0;
}
