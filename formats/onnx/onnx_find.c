/* SPDX-License-Identifier: MIT */
/* Finds one initializer of a model, and reads no other part of it: a model that garner cannot run has tables
 * all the same. */
#include <string.h>

#include "fail.h"
#include "onnx_tensor.h"

enum { MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5 };

static const struct wire_schema leaf[] = {{0, NULL}};
static const struct wire_schema tensor_schema[] = {{3, leaf}, {13, leaf}, {16, leaf}, {0, NULL}};
static const struct wire_schema graph_schema[] = {{GRAPH_INITIALIZER, tensor_schema}, {0, NULL}};
static const struct wire_schema model_schema[] = {{MODEL_GRAPH, graph_schema}, {0, NULL}};

/* What is looked for, and what was met. */
struct search {
    const struct wire_file *file;
    const char *name; /* NULL: any */
    struct onnx_tensor *tensor;
    size_t matches, all, graphs;
    char first[64]; /* the name of one that is there, to be shown */
};

static garner_status look(struct search *search, struct wire_span message)
{
    struct onnx_tensor tensor;
    garner_status status = onnx_tensor_read(&tensor, search->file, message);
    if (status) return status;
    size_t size = (size_t)tensor.name.size;
    if (!search->all++) {
        char plain[sizeof search->first] = "";
        memcpy(plain, tensor.name.bytes, size < sizeof plain ? size : sizeof plain - 1);
        printable(search->first, sizeof search->first, plain);
    }
    if (search->name && (size != strlen(search->name) || memcmp(search->name, tensor.name.bytes, size) != 0))
        return GARNER_OK;
    search->matches++;
    *search->tensor = tensor;
    return GARNER_OK;
}

static garner_status search_graph(struct search *search, struct wire_span graph)
{
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0;
    while (!status && (more = wire_next(search->file, &graph, &field)) > 0)
        if (field.number == GRAPH_INITIALIZER && field.type == WIRE_BYTES) status = look(search, field.span);
    return more < 0 ? GARNER_BAD_FILE : status;
}

static garner_status search_model(struct search *search, struct wire_span model)
{
    struct wire_field field;
    garner_status status = GARNER_OK;
    int more = 0;
    while (!status && (more = wire_next(search->file, &model, &field)) > 0) {
        if (field.number != MODEL_GRAPH || field.type != WIRE_BYTES) continue;
        search->graphs++;
        status = search_graph(search, field.span);
    }
    return more < 0 ? GARNER_BAD_FILE : status;
}

static garner_status judge(const struct search *search)
{
    const struct wire_file *file = search->file;
    char shown[100];
    if (search->matches == 1) return GARNER_OK;
    if (!search->graphs)
        return fail_at(file->error, GARNER_BAD_FILE, file->path, "it holds no graph: it is no ONNX model");
    if (!search->all)
        return fail_at(file->error, GARNER_BAD_FILE, file->path, "the model has no initializers");
    if (!search->name)
        return fail_at(file->error, GARNER_BAD_FILE, file->path,
                       "the model has %zu initializers, of which one is to be named, such as '%s'",
                       search->all, search->first);
    printable(shown, sizeof shown, search->name);
    if (search->matches)
        return fail_at(file->error, GARNER_BAD_FILE, file->path, "initializer '%s' is given twice", shown);
    return fail_at(file->error, GARNER_BAD_FILE, file->path,
                   "the model has no initializer '%s'; it has %zu, such as '%s'", shown, search->all,
                   search->first);
}

garner_status onnx_find_initializer(struct onnx_tensor *tensor, const struct wire_file *file,
                                    struct wire_span model, const char *name)
{
    struct search search = {.file = file, .name = name, .tensor = tensor};
    garner_status status = wire_check(file, model, model_schema);
    if (!status) status = search_model(&search, model);
    return status ? status : judge(&search);
}
