/* SPDX-License-Identifier: MIT */
/* Texts, names and constants of an ONNX model, as all its parts read them. */
#include "onnx_reader.h"

#include <stdlib.h>
#include <string.h>

#include "open_beneath.h"

const char *onnx_text(struct onnx_reader *reader, struct wire_span span, const char *what)
{
    if (span.size && memchr(span.bytes, 0, (size_t)span.size)) {
        (void)fail_at(reader->error, GARNER_BAD_FILE, reader->file.path,
                      "malformed at byte %llu: %s has a zero byte",
                      (unsigned long long)(span.bytes - reader->file.bytes), what);
        return NULL;
    }
    return graph_text(reader->graph, (const char *)span.bytes, (size_t)span.size, reader->error);
}

garner_status onnx_failure(const struct onnx_reader *reader)
{
    return reader->error->status ? reader->error->status : GARNER_NO_MEMORY;
}

garner_status onnx_define(struct onnx_reader *reader, struct wire_span name, size_t *value)
{
    char shown[128];
    size_t present;
    const char *text = onnx_text(reader, name, "a name");
    if (!text) return onnx_failure(reader);
    garner_status status = graph_add_value(reader->graph, text, value, reader->error);
    if (status) return status;
    if (!names_add(&reader->values, text, strlen(text), *value, &present))
        return fail_memory(reader->error, reader->file.path, sizeof *value);
    if (present == NAMES_NONE) return GARNER_OK;
    return fail_at(reader->error, GARNER_BAD_FILE, reader->file.path, "the name '%s' is given to two tensors",
                   printable(shown, sizeof shown, text));
}

/* Opens a location once. Its name is copied, since those in a mapped file may change. */
static garner_status open_external(void *context, struct wire_span location, const unsigned char **bytes,
                                   uint64_t *size, garner_error *error)
{
    struct onnx_reader *reader = context;
    size_t length = (size_t)location.size, present, mapped;
    size_t known = names_find(&reader->files, (const char *)location.bytes, length);
    void *mapping = NULL;
    if (known == NAMES_NONE) {
        const char *name = graph_text(reader->graph, (const char *)location.bytes, length, error);
        if (!name) return GARNER_NO_MEMORY;
        garner_status status =
            open_beneath_map(reader->file.path, name, length, reader->follow_links, &mapping, &mapped, error);
        if (!status && mapping) status = graph_keep_mapping(reader->graph, mapping, mapped, error);
        if (status) return status;
        known = reader->files.count;
        if (known == reader->opened_room) {
            size_t room = known ? 2 * known : 4;
            struct onnx_opened *opened = realloc(reader->opened, room * sizeof *opened);
            if (!opened) return fail_memory(error, reader->file.path, room * sizeof *opened);
            reader->opened = opened;
            reader->opened_room = room;
        }
        reader->opened[known] = (struct onnx_opened){mapping, mapped};
        if (!names_add(&reader->files, name, length, known, &present))
            return fail_memory(error, reader->file.path, length);
    }
    *bytes = reader->opened[known].bytes;
    *size = reader->opened[known].size;
    return GARNER_OK;
}

garner_status onnx_read_constant(struct onnx_reader *reader, const struct onnx_tensor *tensor, size_t value)
{
    struct graph *graph = reader->graph;
    const void *data;
    void *memory;
    garner_status status = onnx_tensor_load(tensor, &reader->file, open_external, reader, &data, &memory);
    if (!status && memory) status = graph_keep_memory(graph, memory, reader->error);
    if (status) return status;
    garner_tensor *constant = graph_alloc(graph, 1, sizeof *constant, reader->error);
    int64_t *shape = graph_alloc(graph, (size_t)tensor->rank, sizeof *shape, reader->error);
    if (!constant || !shape) return GARNER_NO_MEMORY;
    memcpy(shape, tensor->shape, (size_t)tensor->rank * sizeof *shape);
    *constant = (garner_tensor){.data = (void *)(uintptr_t)data,
                                .shape = shape,
                                .rank = tensor->rank,
                                .dtype = tensor->dtype,
                                .bytes = tensor->bytes};
    graph->values[value].constant = constant;
    return GARNER_OK;
}
