/* SPDX-License-Identifier: MIT */
/*
 * Reads tags, varints and lengths. A range is only ever cut at its front, after the length was held
 * against what is left, so nothing can lead outside it.
 */
#include "wire.h"

#include "fail.h"

enum { LONGEST_VARINT = 10 };

garner_status wire_malformed(const struct wire_file *file, const unsigned char *place, const char *what)
{
    return fail_at(file->error, GARNER_BAD_FILE, file->path, "malformed at byte %llu: %s",
                   (unsigned long long)(place - file->bytes), what);
}

garner_status wire_changed(const struct wire_file *file, const unsigned char *place)
{
    return wire_malformed(file, place, "the file was changed while it was read");
}

static int refuse(const struct wire_file *file, const unsigned char *place, const char *what)
{
    (void)wire_malformed(file, place, what);
    return -1;
}

static int refuse_type(const struct wire_file *file, const unsigned char *place, unsigned type)
{
    return refuse(file, place, type < 5 ? "a group, which ONNX files never have" : "an unknown wire type");
}

static void cut(struct wire_span *span, uint64_t size)
{
    span->bytes += size;
    span->size -= size;
}

/* Bits beyond the 64th are dropped, as by every other reader. */
static int read_varint(const struct wire_file *file, struct wire_span *span, uint64_t *value)
{
    const unsigned char *start = span->bytes;
    *value = 0;
    /*@ loop invariant 0 <= i <= LONGEST_VARINT && i <= span->size;
        loop assigns i, *value;
        loop variant LONGEST_VARINT - i; */
    for (unsigned i = 0; i < LONGEST_VARINT; i++) {
        if (i == span->size) return refuse(file, start, "a varint reaches past the end of its message");
        unsigned byte = start[i];
        *value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            cut(span, i + 1);
            return 1;
        }
    }
    return refuse(file, start, "a varint of more than 10 bytes");
}

static int read_fixed(const struct wire_file *file, struct wire_span *span, unsigned bytes, uint64_t *value)
{
    if (span->size < bytes) return refuse(file, span->bytes, "a number reaches past the end of its message");
    *value = 0;
    /*@ loop invariant 0 <= i <= bytes;
        loop assigns i, *value;
        loop variant i; */
    for (unsigned i = bytes; i-- > 0;)
        *value = *value << 8 | span->bytes[i];
    cut(span, bytes);
    return 1;
}

static int read_bytes(const struct wire_file *file, struct wire_span *span, struct wire_span *bytes)
{
    const unsigned char *start = span->bytes;
    uint64_t size;
    if (read_varint(file, span, &size) < 0) return -1;
    if (size > span->size) return refuse(file, start, "a length reaches past the end of its message");
    *bytes = (struct wire_span){span->bytes, size};
    cut(span, size);
    return 1;
}

int wire_next(const struct wire_file *file, struct wire_span *message, struct wire_field *field)
{
    uint64_t tag;
    if (message->size == 0) return 0;
    const unsigned char *place = message->bytes;
    *field = (struct wire_field){.place = place};
    if (read_varint(file, message, &tag) < 0) return -1;
    if (tag > UINT32_MAX) return refuse(file, place, "a field number above the largest there is");
    field->number = (uint32_t)tag >> 3;
    if (field->number == 0) return refuse(file, place, "field number 0");
    field->type = (enum wire_type)(tag & 7);
    switch (field->type) {
    case WIRE_VARINT:
        return read_varint(file, message, &field->value);
    case WIRE_FIXED64:
        return read_fixed(file, message, 8, &field->value);
    case WIRE_FIXED32:
        return read_fixed(file, message, 4, &field->value);
    case WIRE_BYTES:
        return read_bytes(file, message, &field->span);
    }
    return refuse_type(file, place, (unsigned)(tag & 7));
}

int wire_next_packed(const struct wire_file *file, struct wire_span *packed, enum wire_type type,
                     uint64_t *value)
{
    if (packed->size == 0) return 0;
    if (type == WIRE_VARINT) return read_varint(file, packed, value);
    return read_fixed(file, packed, type == WIRE_FIXED64 ? 8 : 4, value);
}

/* ---- Checking a whole file ---- */

static const struct wire_schema *find_message(const struct wire_schema *schema, uint32_t field)
{
    for (; schema->field; schema++)
        if (schema->field == field) return schema->message;
    return NULL;
}

garner_status wire_check(const struct wire_file *file, struct wire_span message,
                         const struct wire_schema *schema)
{
    struct level {
        struct wire_span left;
        const struct wire_schema *schema;
    } levels[WIRE_MOST_DEPTH];
    int depth = 0;
    struct wire_field field;
    levels[0] = (struct level){message, schema};
    while (depth >= 0) {
        int more = wire_next(file, &levels[depth].left, &field);
        if (more < 0) return GARNER_BAD_FILE;
        const struct wire_schema *inner = NULL;
        if (!more)
            depth--;
        else if (field.type == WIRE_BYTES)
            inner = find_message(levels[depth].schema, field.number);
        if (!inner) continue;
        if (++depth == WIRE_MOST_DEPTH)
            return wire_malformed(file, field.place, "messages lie more than 64 levels deep");
        levels[depth] = (struct level){field.span, inner};
    }
    return GARNER_OK;
}
