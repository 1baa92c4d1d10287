/* SPDX-License-Identifier: MIT */
/*
 * Nodes of an ONNX graph. The model's opset decides which version of an operator a node is; which versions
 * there are, and what they mean, the core says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_reader.h"

#define TYPE(name) (UINT64_C(1) << GARNER_##name)

/* What Identity and Constant list: types up to bf16 were there by opset 13, others came one by one. */
#define TYPES_1                                                                                    \
    (TYPE(F32) | TYPE(U8) | TYPE(I8) | TYPE(U16) | TYPE(I16) | TYPE(I32) | TYPE(I64) | TYPE(STR) | \
     TYPE(BOOL) | TYPE(F16) | TYPE(F64) | TYPE(U32) | TYPE(U64) | TYPE(C64) | TYPE(C128))
static const struct {
    int64_t opset;
    uint64_t types;
} added_types[] = {
    {1, TYPES_1},
    {13, TYPE(BF16)},
    {19, TYPE(F8E4M3FN) | TYPE(F8E4M3FNUZ) | TYPE(F8E5M2) | TYPE(F8E5M2FNUZ)},
    {21, TYPE(U4) | TYPE(I4)},
    {23, TYPE(F4E2M1)},
    {24, TYPE(F8E8M0)},
    {25, TYPE(U2) | TYPE(I2)},
};

/* The operators that run here. */
static const struct rule {
    const char *type;
    enum graph_kind kind;
    garner_kind gather; /* of the three; 0: it is in every opset */
    size_t inputs;
    const char *attribute; /* an integer, the only one */
} rules[] = {
    {"Gather", GRAPH_GATHER, GARNER_GATHER, 2, "axis"},
    {"GatherElements", GRAPH_GATHER_ELEMENTS, GARNER_GATHER_ELEMENTS, 2, "axis"},
    {"GatherND", GRAPH_GATHER_ND, GARNER_GATHER_ND, 2, "batch_dims"},
    {"Constant", GRAPH_CONSTANT, 0, 0, NULL},
    {"Identity", GRAPH_IDENTITY, 0, 1, NULL},
};

/* A node while it is read. */
struct scan {
    struct onnx_reader *reader;
    size_t node;
    const struct rule *rule; /* NULL: not ours */
    const unsigned char *place;
    size_t constants; /* attributes that gave a Constant its value */
};

static struct graph_node *node_of(const struct scan *scan)
{
    return &scan->reader->graph->nodes[scan->node];
}

/* "PATH: node 'NAME' (Gather) at byte N: WHAT" */
static garner_status refuse(const struct scan *scan, const char *what)
{
    char name[96], type[64];
    const struct graph_node *node = node_of(scan);
    return fail_at(scan->reader->error, GARNER_BAD_FILE, scan->reader->file.path,
                   "node '%s' (%s) at byte %llu: %s", printable(name, sizeof name, node->name),
                   printable(type, sizeof type, node->type), (unsigned long long)node->place, what);
}

/* ---- Which operator ---- */

static const struct rule *find_rule(const char *type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].type, type) == 0) return &rules[i];
    return NULL;
}

static uint64_t types_of(int64_t opset)
{
    uint64_t types = 0;
    for (size_t i = 0; i < sizeof added_types / sizeof *added_types; i++)
        if (added_types[i].opset <= opset) types |= added_types[i].types;
    return types;
}

/* The version of a gather that an opset has, "onnx-13"; NULL if it came later. */
static const char *spec_of(garner_kind kind, int64_t opset)
{
    static const char prefix[] = "onnx-";
    const size_t length = sizeof prefix - 1;
    const char *spec = NULL, *name;
    for (int i = 0; (name = garner_spec_name(kind, i)) != NULL; i++) /* oldest first */
        if (strncmp(name, prefix, length) == 0 && strtoll(name + length, NULL, 10) <= opset) spec = name;
    return spec;
}

static int is_function(const struct onnx_reader *reader, const struct graph_node *node, garner_error *error)
{
    if (!reader->functions.count) return 0;
    const char *name = graph_format(reader->graph, error, "%s:%s", node->domain, node->type);
    return name && names_find(&reader->functions, name, strlen(name)) != NAMES_NONE;
}

/* NULL, or why a node does not run here. */
static const char *refusal_of(const struct scan *scan, garner_error *error)
{
    struct onnx_reader *reader = scan->reader;
    const struct graph_node *node = node_of(scan);
    const struct rule *rule = find_rule(node->type);
    if (is_function(reader, node, error)) return "is a function of the model";
    if (*node->domain && strcmp(node->domain, "ai.onnx") != 0)
        return graph_format(reader->graph, error, "of domain %s", node->domain);
    if (!rule) return "";
    if (rule->gather && !spec_of(rule->gather, reader->opset))
        return graph_format(reader->graph, error, "does not exist in opset %s", reader->opset_text);
    return NULL;
}

/* Sets kind and version. */
static garner_status identify(struct scan *scan)
{
    struct onnx_reader *reader = scan->reader;
    struct graph_node *node = node_of(scan);
    (void)succeed(reader->error);
    node->refusal = refusal_of(scan, reader->error);
    if (reader->error->status) return reader->error->status;
    if (node->refusal) return GARNER_OK;
    scan->rule = find_rule(node->type);
    node->kind = scan->rule->kind;
    if (!scan->rule->gather) {
        node->types = types_of(reader->opset);
        return GARNER_OK;
    }
    node->spec = spec_of(scan->rule->gather, reader->opset);
    return garner_op_from_spec(&node->op, node->spec, scan->rule->gather, reader->error);
}

/* ---- Its parts ---- */

/* Texts and counts, for which the order of fields does not matter. */
static garner_status read_texts(struct scan *scan, struct wire_span message)
{
    struct graph_node *node = node_of(scan);
    struct wire_field field;
    int more;
    while ((more = wire_next(&scan->reader->file, &message, &field)) > 0) {
        const char **text = NULL;
        if (field.type != WIRE_BYTES) continue;
        node->input_count += field.number == 1;
        node->output_count += field.number == 2;
        if (field.number == 3) text = &node->name;
        if (field.number == 4) text = &node->type;
        if (field.number == 7) text = &node->domain;
        if (text && !(*text = onnx_text(scan->reader, field.span, "a node's text")))
            return scan->reader->error->status;
    }
    return more < 0 ? GARNER_BAD_FILE : GARNER_OK;
}

static garner_status make_outputs(struct scan *scan, struct wire_span message)
{
    struct onnx_reader *reader = scan->reader;
    struct wire_field field;
    size_t made = 0, count = node_of(scan)->output_count;
    size_t *outputs = graph_alloc(reader->graph, count, sizeof *outputs, reader->error);
    if (!outputs) return GARNER_NO_MEMORY;
    while (made < count && wire_next(&reader->file, &message, &field) > 0) {
        if (field.number != 2 || field.type != WIRE_BYTES) continue;
        outputs[made] = GRAPH_NONE;
        if (field.span.size) {
            garner_status status = onnx_define(reader, field.span, &outputs[made]);
            if (status) return status;
            reader->graph->values[outputs[made]].node = scan->node;
        }
        made++;
    }
    node_of(scan)->outputs = outputs;
    return made == count ? GARNER_OK : wire_changed(&reader->file, scan->place);
}

static garner_status check_counts(const struct scan *scan)
{
    const struct graph_node *node = node_of(scan);
    char what[96];
    if (node->input_count != scan->rule->inputs) {
        snprintf(what, sizeof what, "it takes %zu inputs, not %zu", scan->rule->inputs, node->input_count);
        return refuse(scan, what);
    }
    if (node->output_count != 1 || node->outputs[0] == GRAPH_NONE)
        return refuse(scan, "it makes one output, which needs a name");
    return GARNER_OK;
}

/* ---- Attributes ---- */

static garner_status take_integer(struct scan *scan, const struct onnx_attribute *attribute)
{
    struct graph_node *node = node_of(scan);
    char what[64];
    if (attribute->type && attribute->type != ONNX_ATTRIBUTE_INT) {
        snprintf(what, sizeof what, "attribute %s is no integer", scan->rule->attribute);
        return refuse(scan, what);
    }
    int64_t value = (int64_t)attribute->integer;
    if (strcmp(scan->rule->attribute, "axis") == 0)
        node->op.axis = value;
    else
        node->op.batch_dims = value;
    return GARNER_OK;
}

static garner_status refuse_attribute(struct scan *scan, const struct onnx_attribute *attribute)
{
    char shown[64], what[128];
    const char *name = onnx_text(scan->reader, attribute->name, "an attribute's name");
    if (!name) return scan->reader->error->status;
    snprintf(what, sizeof what, "it has no attribute '%s' in opset %s", printable(shown, sizeof shown, name),
             scan->reader->opset_text);
    return refuse(scan, what);
}

static garner_status take_attribute(struct scan *scan, const struct onnx_attribute *attribute)
{
    struct graph_node *node = node_of(scan);
    if (scan->rule->attribute && onnx_attribute_is(attribute, scan->rule->attribute))
        return take_integer(scan, attribute);
    if (node->kind != GRAPH_CONSTANT) return refuse_attribute(scan, attribute);
    int known = 1;
    garner_status status = GARNER_OK;
    if (onnx_attribute_is(attribute, "sparse_value")) {
        node->kind = GRAPH_UNSUPPORTED;
        node->refusal = "with a sparse value";
    } else {
        status = onnx_read_constant_attribute(scan->reader, attribute, node->outputs[0], &known);
    }
    scan->constants++;
    if (!status && !known) status = refuse_attribute(scan, attribute);
    if (!status && scan->constants > 1) status = refuse(scan, "it has more than one value");
    return status;
}

static garner_status read_attributes(struct scan *scan, struct wire_span message)
{
    struct onnx_attribute attribute;
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0;
    while (!status && (more = wire_next(&scan->reader->file, &message, &field)) > 0) {
        if (field.number != 5 || field.type != WIRE_BYTES) continue;
        status = onnx_read_attribute(scan->reader, field.span, &attribute);
        if (!status) status = take_attribute(scan, &attribute);
    }
    if (more < 0) return GARNER_BAD_FILE;
    if (!status && scan->rule->kind == GRAPH_CONSTANT && !scan->constants)
        status = refuse(scan, "it has no value");
    return status;
}

garner_status onnx_read_node(struct onnx_reader *reader, struct wire_span message)
{
    struct scan scan = {.reader = reader, .place = message.bytes};
    garner_status status = graph_add_node(reader->graph, &scan.node, reader->error);
    if (status) return status;
    node_of(&scan)->place = (uint64_t)(message.bytes - reader->file.bytes);
    node_of(&scan)->version = reader->opset_text;
    status = read_texts(&scan, message);
    if (!status) status = identify(&scan);
    if (!status) status = make_outputs(&scan, message);
    if (status || !scan.rule) return status;
    status = check_counts(&scan);
    return status ? status : read_attributes(&scan, message);
}

/* ---- Inputs ---- */

static garner_status find_input(const struct scan *scan, struct wire_span name, size_t *value)
{
    struct onnx_reader *reader = scan->reader;
    char shown[96], what[160];
    *value = GRAPH_NONE;
    if (!name.size && node_of(scan)->kind == GRAPH_UNSUPPORTED) return GARNER_OK;
    if (!name.size) return refuse(scan, "an input is left out");
    *value = names_find(&reader->values, (const char *)name.bytes, (size_t)name.size);
    if (*value != NAMES_NONE) return GARNER_OK;
    const char *text = onnx_text(reader, name, "an input's name");
    if (!text) return reader->error->status;
    snprintf(what, sizeof what, "input '%s' is made by nothing", printable(shown, sizeof shown, text));
    return refuse(scan, what);
}

garner_status onnx_read_node_inputs(struct onnx_reader *reader, struct wire_span message)
{
    const unsigned char *place = message.bytes;
    if (reader->next_node == reader->graph->node_count) return wire_changed(&reader->file, place);
    struct scan scan = {.reader = reader, .node = reader->next_node++};
    struct graph_node *node = node_of(&scan);
    struct wire_field field;
    size_t found = 0;
    node->inputs = graph_alloc(reader->graph, node->input_count, sizeof *node->inputs, reader->error);
    if (!node->inputs) return GARNER_NO_MEMORY;
    while (found < node->input_count && wire_next(&reader->file, &message, &field) > 0) {
        if (field.number != 1 || field.type != WIRE_BYTES) continue;
        garner_status status = find_input(&scan, field.span, &node->inputs[found++]);
        if (status) return status;
    }
    return found == node->input_count ? GARNER_OK : wire_changed(&reader->file, place);
}
