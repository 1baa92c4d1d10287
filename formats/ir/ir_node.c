/* SPDX-License-Identifier: MIT */
/*
 * Which operator a layer of an IR is, in which version, with which attributes. Layers that garner does not
 * know become nodes with the reason.
 */
#include <string.h>

#include "integer.h"
#include "ir_build.h"

/* ---- Which operator ---- */

/* The opsets of each operator, and the version of the specification that counts there. */
static const struct rule {
    const char *type;
    enum graph_kind kind;
    garner_kind gather;
    uint64_t first, last;
    const char *spec;
    size_t inputs;
} rules[] = {
    {"Const", GRAPH_CONSTANT, 0, 1, UINT64_MAX, NULL, 0},
    {"Constant", GRAPH_CONSTANT, 0, 1, UINT64_MAX, NULL, 0},
    {"Convert", GRAPH_CONVERT, 0, 1, UINT64_MAX, NULL, 1},
    {"Gather", GRAPH_GATHER, GARNER_GATHER, 1, 6, "openvino-1", 3},
    {"Gather", GRAPH_GATHER, GARNER_GATHER, 7, 7, "openvino-7", 3},
    {"Gather", GRAPH_GATHER, GARNER_GATHER, 8, 16, "openvino-8", 3},
    {"GatherElements", GRAPH_GATHER_ELEMENTS, GARNER_GATHER_ELEMENTS, 6, 16, "openvino-6", 2},
    {"GatherND", GRAPH_GATHER_ND, GARNER_GATHER_ND, 5, 7, "openvino-5", 2},
    {"GatherND", GRAPH_GATHER_ND, GARNER_GATHER_ND, 8, 16, "openvino-8", 2},
};

/* The number in "opset8", or 0. */
static uint64_t opset_of(const char *version)
{
    uint64_t number = 0;
    if (strncmp(version, "opset", 5) != 0 || !ir_unsigned(version + 5, &number)) return 0;
    return number;
}

/* The rule for a layer, or NULL and the reason, as a phrase after the operator's name; NULL: no memory. */
static const struct rule *find_rule(struct ir_build *build, const struct ir_layer *layer,
                                    const char **refusal)
{
    uint64_t opset = opset_of(layer->version), first = 0, last = 0;
    *refusal = "";
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].type, layer->type) != 0) continue;
        if (opset >= rules[i].first && opset <= rules[i].last) return &rules[i];
        if (!first) first = rules[i].first;
        last = rules[i].last;
    }
    if (first && last == UINT64_MAX)
        *refusal =
            graph_format(build->graph, build->error, "of version '%s', which is no opset", layer->version);
    else if (first)
        *refusal = graph_format(build->graph, build->error, "of version '%s' (it is in opset%d to opset%d)",
                                layer->version, (int)first, (int)last);
    return NULL;
}

/* ---- Attributes ---- */

static garner_status read_number(const struct ir_build *build, const struct ir_layer *layer, const char *name,
                                 const char *text, int64_t *number)
{
    char shown[64];
    if (!text || ir_signed(text, number)) return GARNER_OK;
    return ir_complain(build, GARNER_BAD_FILE, layer, "%s=\"%s\" is not a decimal number of 64 bits", name,
                       printable(shown, sizeof shown, text));
}

static garner_status make_gather(struct ir_build *build, const struct ir_layer *layer,
                                 const struct rule *rule, struct graph_node *node)
{
    garner_status status = garner_op_from_spec(&node->op, rule->spec, rule->gather, build->error);
    node->spec = rule->spec;
    if (!status && rule->kind == GRAPH_GATHER_ELEMENTS) {
        if (!layer->data.axis)
            return ir_complain(build, GARNER_BAD_FILE, layer, "the attribute axis is missing");
        status = read_number(build, layer, "axis", layer->data.axis, &node->op.axis);
    }
    /* also where the version has none: the operator refuses what is not 0 */
    if (!status)
        status = read_number(build, layer, "batch_dims", layer->data.batch_dims, &node->op.batch_dims);
    return status;
}

/* Between integers alone; the type it comes from is known when inputs are connected. */
static garner_status make_convert(struct ir_build *build, const struct ir_layer *layer,
                                  struct graph_node *node)
{
    const char *name = layer->data.destination_type;
    char shown[32];
    if (!name) return ir_complain(build, GARNER_BAD_FILE, layer, "the attribute destination_type is missing");
    node->to = ir_type(name);
    if (integer_is_type(node->to)) return GARNER_OK;
    node->kind = GRAPH_UNSUPPORTED;
    /* save_model of OpenVINO makes f16 of f32 constants, unless it is told not to */
    node->refusal =
        graph_format(build->graph, build->error, "to %s (only integers of 8 to 64 bits are converted%s)",
                     printable(shown, sizeof shown, name),
                     node->to == GARNER_F32 ? "; save_model(compress_to_fp16=False) keeps f32" : "");
    return node->refusal ? GARNER_OK : GARNER_NO_MEMORY;
}

int ir_node_is_known(const struct ir_layer *layer)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].type, layer->type) == 0) return 1;
    return strcmp(layer->type, "Parameter") == 0;
}

/* ---- Nodes ---- */

static garner_status check_ports(const struct ir_build *build, const struct ir_layer *layer,
                                 const struct rule *rule)
{
    if (layer->inputs != rule->inputs)
        return ir_complain(build, GARNER_BAD_FILE, layer, "%zu inputs instead of %zu", layer->inputs,
                           rule->inputs);
    if (layer->outputs != 1)
        return ir_complain(build, GARNER_BAD_FILE, layer, "%zu outputs instead of 1", layer->outputs);
    return GARNER_OK;
}

garner_status ir_node_fill(struct ir_build *build, const struct ir_layer *layer, struct graph_node *node)
{
    const struct rule *rule = find_rule(build, layer, &node->refusal);
    garner_status status = GARNER_OK;
    node->name = layer->name;
    node->type = layer->type;
    node->version = layer->version;
    node->place = layer->place.line;
    node->kind = rule ? rule->kind : GRAPH_UNSUPPORTED;
    if (!rule) return node->refusal ? GARNER_OK : GARNER_NO_MEMORY;
    status = check_ports(build, layer, rule);
    if (!status && rule->gather) status = make_gather(build, layer, rule, node);
    if (!status && rule->kind == GRAPH_CONVERT) status = make_convert(build, layer, node);
    return status;
}

garner_status ir_node_check_convert(struct ir_build *build, struct graph_node *node)
{
    garner_dtype from = build->graph->values[node->inputs[0]].dtype;
    if (node->kind != GRAPH_CONVERT || !from || integer_is_type(from)) return GARNER_OK;
    node->kind = GRAPH_UNSUPPORTED;
    node->refusal =
        graph_format(build->graph, build->error, "from %s (only integers of 8 to 64 bits are converted)",
                     garner_dtype_name(from));
    return node->refusal ? GARNER_OK : GARNER_NO_MEMORY;
}
