/* SPDX-License-Identifier: MIT */
/* Writing .npy: the header as NumPy lays it out, to the byte, then the elements in C order. */
#include "npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "file.h"
#include "npy_header.h"

enum { ALIGNMENT = 64, GROWTH_DIGITS = 21, LONGEST_VERSION_1 = 65535, MOST_AROUND_DESCR = 2048 };

/* Text that grows within memory measured beforehand. */
struct text {
    char *bytes;
    size_t size, capacity;
};

struct content {
    const garner_tensor *tensor;
    int64_t count;
    size_t item_bytes;
    struct text header; /* with everything that comes before the elements */
};

static void add(struct text *text, const char *format, ...) FAIL_FORMAT(2);

static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text->bytes + text->size, text->capacity - text->size, format, arguments);
    va_end(arguments);
    if (size > 0) text->size += (size_t)size;
}

static void add_dictionary(struct text *text, const garner_tensor *tensor, const char *descr)
{
    add(text, "{'descr': %s, 'fortran_order': False, 'shape': (", descr);
    for (int32_t i = 0; i < tensor->rank; i++)
        add(text, i ? ", %lld" : "%lld", (long long)tensor->shape[i]);
    add(text, tensor->rank == 1 ? ",), }" : "), }");
    /* NumPy leaves room for the first extent to grow in place. */
    if (tensor->rank)
        add(text, "%*s", GROWTH_DIGITS - snprintf(NULL, 0, "%lld", (long long)tensor->shape[0]), "");
}

/* Version 1; 2 if the header is too long for it; 3 if it is more than ASCII. */
static int choose_version(const char *descr, size_t size)
{
    for (; *descr; descr++)
        if ((unsigned char)*descr >= 0x80) return 3;
    return size > LONGEST_VERSION_1 ? 2 : 1;
}

static void add_prefix(struct text *text, int version, size_t size)
{
    static const char magic[] = "\x93NUMPY";
    memcpy(text->bytes, magic, 6);
    text->bytes[6] = (char)version;
    text->bytes[7] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        text->bytes[8 + i] = (char)(size >> 8 * i & 0xff);
}

static garner_status make_header(struct text *text, const garner_tensor *tensor, const char *descr,
                                 const char *path, garner_error *error)
{
    text->capacity = strlen(descr) + MOST_AROUND_DESCR;
    text->bytes = malloc(text->capacity);
    if (!text->bytes) return fail_memory(error, path, text->capacity);
    size_t prefix = 10;
    text->size = prefix;
    add_dictionary(text, tensor, descr);
    int version = choose_version(descr, text->size + ALIGNMENT);
    if (version > 1) {
        memmove(text->bytes + 12, text->bytes + prefix, text->size - prefix);
        text->size += 2;
        prefix = 12;
    }
    size_t padding = ALIGNMENT - (text->size + 1) % ALIGNMENT;
    memset(text->bytes + text->size, ' ', padding);
    text->size += padding;
    text->bytes[text->size++] = '\n';
    add_prefix(text, version, text->size - prefix);
    return GARNER_OK;
}

/* ---- Elements ---- */

static int64_t stride(const garner_tensor *tensor, int32_t axis)
{
    return tensor->strides ? tensor->strides[axis] : 0; /* asked only of strided tensors */
}

/* Merges the last axes that lie densely into one run; returns how many axes remain before it. */
static int32_t find_run(const garner_tensor *tensor, int64_t *run)
{
    int32_t axes = tensor->rank;
    *run = 1;
    while (axes > 0) {
        int64_t extent = tensor->shape[axes - 1];
        if (tensor->strides && extent != 1 && tensor->strides[axes - 1] != *run) break;
        *run *= extent;
        axes--;
    }
    return axes;
}

/* Moves to the next run as an odometer does; returns the change of the offset, in elements. */
static int64_t step(const garner_tensor *tensor, int32_t axes, int64_t *at)
{
    int64_t move = 0;
    for (int32_t i = axes; i-- > 0;) {
        move += stride(tensor, i);
        if (++at[i] < tensor->shape[i]) break;
        move -= at[i] * stride(tensor, i);
        at[i] = 0;
    }
    return move;
}

static garner_status write_elements(const struct content *content, struct sink *sink, garner_error *error)
{
    const garner_tensor *tensor = content->tensor;
    int64_t at[GARNER_MAX_RANK] = {0}, run, item = (int64_t)content->item_bytes;
    if (!content->count) return GARNER_OK;
    int32_t axes = find_run(tensor, &run);
    const char *element = (const char *)tensor->data + tensor->byte_offset;
    garner_status status = GARNER_OK;
    for (int64_t left = content->count / run; left > 0 && !status; left--) {
        status = sink_write(sink, element, (size_t)(run * item), error);
        if (left > 1) element += step(tensor, axes, at) * item;
    }
    return status;
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    const struct content *content = context;
    garner_status status = sink_write(sink, content->header.bytes, content->header.size, error);
    return status ? status : write_elements(content, sink, error);
}

/* ---- What is written ---- */

/* The type's text and the size of an element. `code` is room for a text made here. */
static garner_status choose_descr(const char **descr, char code[32], const garner_tensor *tensor,
                                  const char *path, garner_error *error)
{
    char plain[8];
    if (npy_type_code(plain, tensor->dtype)) {
        snprintf(code, 32, "'%s'", plain);
        *descr = code;
        return GARNER_OK;
    }
    if (tensor->dtype != GARNER_OPAQUE) {
        const char *name = garner_dtype_name(tensor->dtype);
        return fail_at(error, GARNER_UNSUPPORTED, path, ".npy has no type for %s elements",
                       name ? name : "such");
    }
    if (!*descr) {
        snprintf(code, 32, "'|V%llu'", (unsigned long long)tensor->item_bytes);
        *descr = code;
    }
    struct npy_type type;
    struct npy_scan scan = {
        .start = *descr, .at = *descr, .end = *descr + strlen(*descr), .path = path, .error = error};
    garner_status status = npy_type(&scan, &type);
    if (!status && (scan.at != scan.end || type.item_bytes != tensor->item_bytes))
        status = fail_at(error, GARNER_BAD_ARGUMENT, path,
                         "the .npy type does not describe elements of %llu bytes",
                         (unsigned long long)tensor->item_bytes);
    return status;
}

static garner_status measure(struct content *content, const char *path, garner_error *error)
{
    const garner_tensor *tensor = content->tensor;
    if (tensor->rank < 0 || tensor->rank > GARNER_MAX_RANK)
        return fail_at(error, GARNER_BAD_SHAPE, path, "rank %d is outside [0, %d]", (int)tensor->rank,
                       GARNER_MAX_RANK);
    content->count = array_count(tensor->rank, tensor->shape);
    if (content->count == -2) return fail_at(error, GARNER_BAD_SHAPE, path, "an extent is negative");
    int64_t bytes =
        content->count < 0 ? -1 : garner_dtype_bytes(tensor->dtype, content->count, tensor->item_bytes);
    int64_t item = garner_dtype_bytes(tensor->dtype, 1, tensor->item_bytes);
    if (bytes < 0 || item < 0)
        return fail_at(error, GARNER_TOO_LARGE, path, "the size does not fit in 63 bits");
    content->item_bytes = (size_t)item;
    return GARNER_OK;
}

garner_status npy_save(const char *path, const garner_tensor *tensor, const char *descr, garner_error *error)
{
    char code[32];
    struct content content = {.tensor = tensor};
    garner_status status = choose_descr(&descr, code, tensor, path, error);
    if (!status) status = measure(&content, path, error);
    if (!status) status = make_header(&content.header, tensor, descr, path, error);
    if (!status) status = file_save(path, produce, &content, error);
    free(content.header.bytes);
    return status;
}
