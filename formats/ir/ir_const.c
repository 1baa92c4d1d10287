/* SPDX-License-Identifier: MIT */
/*
 * The elements of an IR's constants: ranges of the .bin, at any offset, and several layers may share one.
 * Strings are the exception: a table of offsets and then the characters, which becomes views of them.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "byteorder.h"
#include "ir_build.h"
#include "open_beneath.h"

/* A constant and its range. */
struct constant {
    const struct ir_layer *layer;
    size_t value;
    uint64_t offset, size;
    int64_t count;
};

/* ---- The .bin ---- */

/* Its name: that of the .xml file with another ending. The caller frees it. */
static char *bin_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t size = strlen(base);
    char *name = malloc(size + 5);
    if (!name) return NULL;
    memcpy(name, base, size); /* analysis: the ending, below, terminates it */
    if (size > 4 && memcmp(base + size - 4, ".xml", 4) == 0) size -= 4;
    memcpy(name + size, ".bin", 5);
    return name;
}

static garner_status open_bin(struct ir_build *build)
{
    const char *path = build->graph->path;
    void *mapping;
    size_t size;
    if (build->bin_open) return GARNER_OK;
    char *name = bin_name(path);
    if (!name) return fail_memory(build->error, path, strlen(path) + 5);
    garner_status status =
        open_beneath_map(path, name, strlen(name), build->follow_links, &mapping, &size, build->error);
    free(name);
    if (status) return status;
    if (mapping) status = graph_keep_mapping(build->graph, mapping, size, build->error);
    build->bin = mapping;
    build->bin_size = size;
    build->bin_open = 1;
    return status;
}

/* ---- Ranges ---- */

static garner_status read_range(const struct ir_build *build, struct constant *constant)
{
    const struct ir_data *data = &constant->layer->data;
    const char *texts[] = {data->offset, data->size}, *const names[] = {"offset", "size"};
    uint64_t *numbers[] = {&constant->offset, &constant->size};
    char shown[64];
    for (int i = 0; i < 2; i++) {
        if (!texts[i])
            return ir_complain(build, GARNER_BAD_FILE, constant->layer, "the attribute %s is missing",
                               names[i]);
        if (!ir_unsigned(texts[i], numbers[i]))
            return ir_complain(build, GARNER_BAD_FILE, constant->layer, "%s=\"%s\" is not a decimal number",
                               names[i], printable(shown, sizeof shown, texts[i]));
    }
    return GARNER_OK;
}

/* Whether the range lies in the .bin. */
static garner_status check_range(struct ir_build *build, const struct constant *constant)
{
    garner_status status = constant->size ? open_bin(build) : GARNER_OK;
    if (status || !constant->size) return status;
    if (constant->size <= build->bin_size && constant->offset <= build->bin_size - constant->size)
        return GARNER_OK;
    return ir_complain(build, GARNER_BAD_FILE, constant->layer,
                       "its %llu bytes from byte %llu on do not lie in the .bin file, which has %llu",
                       (unsigned long long)constant->size, (unsigned long long)constant->offset,
                       (unsigned long long)build->bin_size);
}

/* ---- Tensors ---- */

/* The tensor's shape, every extent of which must be known. */
static garner_status make_tensor(struct ir_build *build, const struct constant *constant,
                                 garner_tensor *tensor, int64_t *count)
{
    const struct graph_value *value = &build->graph->values[constant->value];
    int64_t *shape =
        graph_alloc(build->graph, (size_t)(value->rank > 0 ? value->rank : 0), sizeof *shape, build->error);
    if (!shape) return GARNER_NO_MEMORY;
    int known = value->rank >= 0 && value->dtype;
    for (int32_t i = 0; i < value->rank; i++) {
        known &= value->shape[i].least == value->shape[i].most;
        shape[i] = value->shape[i].least;
    }
    if (!known)
        return ir_complain(build, GARNER_BAD_FILE, constant->layer,
                           "the type and every extent of a constant must be known");
    *tensor = (garner_tensor){.shape = shape, .rank = value->rank, .dtype = value->dtype};
    *count = array_count(value->rank, shape);
    if (*count < 0) return ir_complain(build, GARNER_BAD_FILE, constant->layer, "too many elements to count");
    return GARNER_OK;
}

/* The bytes as this machine has numbers: where they lie, or a copy with each number reversed. */
static garner_status take_numbers(struct ir_build *build, const unsigned char *bytes, garner_tensor *tensor)
{
    unsigned swap = byteorder_swap(tensor->dtype);
    tensor->data = (void *)(uintptr_t)bytes;
    /* uncovered: only on big-endian machines, which tests/cross has */
    if (!swap) return GARNER_OK;
    unsigned char *copy = graph_alloc(build->graph, (size_t)tensor->bytes, 1, build->error);
    /* uncovered: only on big-endian machines, which tests/cross has */
    if (!copy) return GARNER_NO_MEMORY;
    tensor->data = memcpy(copy, bytes, (size_t)tensor->bytes);
    byteorder_reverse(copy, (size_t)tensor->bytes, swap);
    return GARNER_OK;
}

static garner_status load_numbers(struct ir_build *build, const struct constant *constant,
                                  garner_tensor *tensor)
{
    int64_t bytes = garner_dtype_bytes(tensor->dtype, constant->count, 0);
    if (bytes < 0 || (uint64_t)bytes > constant->size)
        return ir_complain(build, GARNER_BAD_FILE, constant->layer,
                           "size=\"%llu\", but %lld elements of type %s take %lld bytes",
                           (unsigned long long)constant->size, (long long)constant->count,
                           garner_dtype_name(tensor->dtype), (long long)bytes);
    tensor->bytes = (uint64_t)bytes;
    if (!bytes) return GARNER_OK;
    return take_numbers(build, build->bin + constant->offset, tensor);
}

/* ---- Strings ---- */

static uint64_t read_u32(const unsigned char *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
}

/* int32 count, count + 1 offsets into the characters, the characters. */
static garner_status load_strings(struct ir_build *build, const struct constant *constant,
                                  garner_tensor *tensor)
{
    uint64_t count = (uint64_t)constant->count, head = 4 * (count + 2);
    const int has_head = constant->size >= 4 && count <= INT32_MAX && constant->size >= head;
    const unsigned char *bytes = has_head ? build->bin + constant->offset : NULL;
    if (!has_head || read_u32(bytes) != count)
        return ir_complain(build, GARNER_BAD_FILE, constant->layer,
                           "its %llu bytes do not hold %lld strings: their number, offsets and characters",
                           (unsigned long long)constant->size, (long long)constant->count);
    garner_string *strings = graph_alloc(build->graph, (size_t)count, sizeof *strings, build->error);
    if (!strings) return GARNER_NO_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t begin = read_u32(bytes + 4 * (i + 1)), end = read_u32(bytes + 4 * (i + 2));
        if (begin > end || end > constant->size - head)
            return ir_complain(build, GARNER_BAD_FILE, constant->layer,
                               "string %llu ends outside the bytes that the layer has",
                               (unsigned long long)i);
        strings[i] = (garner_string){.bytes = (const char *)bytes + head + begin, .size = end - begin};
    }
    tensor->data = strings;
    tensor->bytes = count * sizeof *strings;
    return GARNER_OK;
}

/* Strings take memory, so layers that share a range share the views too. Tables that overlap otherwise
 * could ask for any amount: together they may have no more strings than the .bin has room for. */
static int compare_ranges(const void *a, const void *b)
{
    const struct constant *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

static garner_status load_all_strings(struct ir_build *build, struct constant *list, size_t count)
{
    uint64_t left = build->bin_size / 4;
    const struct constant *last = NULL;
    const garner_tensor *loaded = NULL;
    garner_status status = GARNER_OK;
    if (count) qsort(list, count, sizeof *list, compare_ranges);
    for (size_t i = 0; i < count && !status; i++) {
        garner_tensor *tensor = (garner_tensor *)(uintptr_t)build->graph->values[list[i].value].constant;
        if (last && compare_ranges(last, &list[i]) == 0 && last->count == list[i].count) {
            tensor->data = loaded->data;
            tensor->bytes = loaded->bytes;
            continue;
        }
        if ((uint64_t)list[i].count > left)
            return ir_complain(build, GARNER_BAD_FILE, list[i].layer,
                               "its strings overlap those of other layers");
        left -= (uint64_t)list[i].count;
        status = load_strings(build, &list[i], tensor);
        last = &list[i];
        loaded = tensor;
    }
    return status;
}

/* ---- All ---- */

/* A constant's tensor; of strings without its elements, which `*strings` is counted up for. */
static garner_status load(struct ir_build *build, struct constant *constant, int *is_string)
{
    garner_tensor *tensor = graph_alloc(build->graph, 1, sizeof *tensor, build->error);
    if (!tensor) return GARNER_NO_MEMORY;
    garner_status status = make_tensor(build, constant, tensor, &constant->count);
    if (!status) status = read_range(build, constant);
    if (!status) status = check_range(build, constant);
    if (status) return status;
    build->graph->values[constant->value].constant = tensor;
    *is_string = tensor->dtype == GARNER_STR;
    return *is_string ? GARNER_OK : load_numbers(build, constant, tensor);
}

garner_status ir_constants(struct ir_build *build)
{
    struct constant *strings = calloc(build->net.layer_count + 1, sizeof *strings);
    size_t count = 0;
    garner_status status = GARNER_OK;
    if (!strings)
        return fail_memory(build->error, build->graph->path, build->net.layer_count * sizeof *strings);
    for (size_t i = 0; i < build->net.layer_count && !status; i++) {
        const struct ir_layer *layer = &build->net.layers[i];
        int is_string = 0;
        if (strcmp(layer->type, "Const") != 0 && strcmp(layer->type, "Constant") != 0) continue;
        struct constant constant = {.layer = layer, .value = build->value[layer->first_output]};
        status = load(build, &constant, &is_string);
        if (is_string) strings[count++] = constant;
    }
    if (!status) status = load_all_strings(build, strings, count);
    free(strings);
    return status;
}
