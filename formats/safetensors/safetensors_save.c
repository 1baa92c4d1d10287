/* SPDX-License-Identifier: MIT */
/*
 * Writing .safetensors: the header is made from descriptions alone, then each tensor is loaded for its own
 * turn. Tensors of larger elements come first and the data begins on a multiple of 64 bytes, so that every
 * tensor is aligned for its type.
 */
#include "byteorder.h"
#include "safetensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "fail.h"
#include "file.h"
#include "utf8.h"

enum { ALIGNMENT = 64 };

/* Text that grows; out of memory is noticed in the end. */
struct text {
    char *bytes;
    size_t size, capacity;
    int failed;
};

struct turn {
    size_t position; /* in the source */
    int bits;        /* of an element */
    uint64_t bytes;
};

struct writing {
    const char *path;
    const struct store_source *source;
    struct turn *turns;
    struct text header;
};

/* ---- Text ---- */

static void add_bytes(struct text *text, const char *bytes, size_t size)
{
    if (text->failed) return;
    if (size > text->capacity - text->size) {
        size_t capacity = 2 * text->capacity + size;
        char *grown = realloc(text->bytes, capacity);
        text->failed = !grown;
        if (!grown) return;
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->size, bytes, size); /* analysis: room for them was made, if there are any */
    text->size += size;
}

static void add(struct text *text, const char *format, ...) FAIL_FORMAT(2);

static void add(struct text *text, const char *format, ...)
{
    char piece[64];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (size > 0) add_bytes(text, piece, (size_t)size);
}

static void add_string(struct text *text, const char *string)
{
    add(text, "\"");
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (c < ' ' || c == '"' || c == '\\')
            add(text, "\\u%04x", c);
        else
            add_bytes(text, string, 1);
    }
    add(text, "\"");
}

/* ---- The header ---- */

static garner_status check_entry(const struct writing *writing, const struct store_entry *entry,
                                 garner_error *error)
{
    char shown[100];
    const char *name = printable(shown, sizeof shown, entry->name), *type = garner_dtype_name(entry->dtype);
    if (!safetensors_type_name(entry->dtype))
        return fail_at(error, GARNER_UNSUPPORTED, writing->path, ".safetensors has no type for %s elements",
                       type ? type : "such");
    int64_t count = array_count(entry->rank, entry->shape);
    if (count > 0 && count % 2 && garner_dtype_bits(entry->dtype) < 8)
        return fail_at(error, GARNER_UNSUPPORTED, writing->path,
                       "'%s' has an odd number of %s elements, which .safetensors has no room for", name,
                       type);
    if (strcmp(entry->name, SAFETENSORS_METADATA) == 0 || !utf8_is_valid(entry->name))
        return fail_at(error, GARNER_UNSUPPORTED, writing->path, ".safetensors has no tensor called '%s'",
                       name);
    return GARNER_OK;
}

static int compare_turns(const void *a, const void *b)
{
    const struct turn *left = a, *right = b;
    if (left->bits != right->bits) return left->bits > right->bits ? -1 : 1;
    return left->position < right->position ? -1 : left->position > right->position;
}

static garner_status order(struct writing *writing, garner_error *error)
{
    const struct store_source *source = writing->source;
    for (size_t i = 0; i < source->count; i++) {
        struct store_entry entry;
        garner_status status = source->describe(source->context, i, &entry, error);
        if (!status) status = check_entry(writing, &entry, error);
        if (status) return status;
        writing->turns[i] = (struct turn){i, garner_dtype_bits(entry.dtype), entry.bytes};
    }
    qsort(writing->turns, source->count, sizeof *writing->turns, compare_turns);
    return GARNER_OK;
}

static void add_entry(struct text *text, const struct store_entry *entry, uint64_t begin)
{
    add_string(text, entry->name);
    add(text, ":{\"dtype\":\"%s\",\"shape\":[", safetensors_type_name(entry->dtype));
    for (int32_t i = 0; i < entry->rank; i++)
        add(text, i ? ",%lld" : "%lld", (long long)entry->shape[i]);
    add(text, "],\"data_offsets\":[%llu,", (unsigned long long)begin);
    add(text, "%llu]}", (unsigned long long)begin + entry->bytes);
}

static garner_status make_header(struct writing *writing, garner_error *error)
{
    const struct store_source *source = writing->source;
    struct text *text = &writing->header;
    uint64_t at = 0;
    add(text, "{");
    if (source->metadata) {
        add(text, "\"" SAFETENSORS_METADATA "\":");
        add_bytes(text, source->metadata, source->metadata_size);
    }
    for (size_t i = 0; i < source->count && !text->failed; i++) {
        struct store_entry entry;
        garner_status status = source->describe(source->context, writing->turns[i].position, &entry, error);
        if (status) return status;
        if (i || source->metadata) add(text, ",");
        add_entry(text, &entry, at);
        at += entry.bytes;
    }
    add(text, "}");
    while (!text->failed && (SAFETENSORS_PREFIX + text->size) % ALIGNMENT)
        add(text, " ");
    if (text->failed) return fail_memory(error, writing->path, 2 * text->capacity);
    if (text->size <= SAFETENSORS_LONGEST_HEADER) return GARNER_OK;
    return fail_at(error, GARNER_UNSUPPORTED, writing->path,
                   "a header of %zu bytes is above the limit of %d that .safetensors has", text->size,
                   SAFETENSORS_LONGEST_HEADER);
}

/* ---- The file ---- */

static garner_status write_tensor(const struct writing *writing, const struct turn *turn, struct sink *sink,
                                  garner_error *error)
{
    const struct store_source *source = writing->source;
    struct array array;
    uint64_t bytes;
    garner_status status = source->load(source->context, turn->position, &array, error);
    if (status) return status;
    unsigned swap = byteorder_swap(array.tensor.dtype);
    status = elements_bytes(&array.tensor, writing->path, &bytes, error);
    if (!status && bytes != turn->bytes)
        status = fail_at(error, GARNER_SYSTEM, writing->path, "a tensor changed while it was written");
    if (!status) status = elements_write(&array.tensor, swap, sink, error);
    array_free(&array);
    return status;
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    const struct writing *writing = context;
    unsigned char prefix[SAFETENSORS_PREFIX];
    for (int i = 0; i < SAFETENSORS_PREFIX; i++)
        prefix[i] = (unsigned char)((uint64_t)writing->header.size >> 8 * i & 0xff);
    garner_status status = sink_write(sink, prefix, sizeof prefix, error);
    if (!status) status = sink_write(sink, writing->header.bytes, writing->header.size, error);
    for (size_t i = 0; i < writing->source->count && !status; i++)
        status = write_tensor(writing, &writing->turns[i], sink, error);
    return status;
}

garner_status safetensors_save(const char *path, const struct store_source *source, garner_error *error)
{
    size_t count = source->count ? source->count : 1;
    struct writing writing = {.path = path, .source = source};
    writing.turns = calloc(count, sizeof *writing.turns);
    if (!writing.turns) return fail_memory(error, path, count * sizeof *writing.turns);
    garner_status status = order(&writing, error);
    if (!status) status = make_header(&writing, error);
    if (!status) status = file_save(path, produce, &writing, error);
    free(writing.header.bytes);
    free(writing.turns);
    return status;
}
