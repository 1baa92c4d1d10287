/* SPDX-License-Identifier: MIT */
/* Writing .npy: the header as NumPy lays it out, to the byte, then the elements in C order. */
#include "npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "fail.h"
#include "file.h"
#include "npy_header.h"

enum { ALIGNMENT = 64, GROWTH_DIGITS = 21, LONGEST_VERSION_1 = 65535, MOST_AROUND_DESCR = 2048 };

struct content {
    const garner_tensor *tensor;
    struct npy_text text;
};

static void add(struct npy_text *text, const char *format, ...) FAIL_FORMAT(2);

static void add(struct npy_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text->bytes + text->size, text->capacity - text->size, format, arguments);
    va_end(arguments);
    if (size > 0) text->size += (size_t)size;
}

static void add_dictionary(struct npy_text *text, const garner_tensor *tensor, const char *descr)
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

static void add_prefix(struct npy_text *text, int version, size_t size)
{
    static const char magic[] = "\x93NUMPY";
    memcpy(text->bytes, magic, 6);
    text->bytes[6] = (char)version;
    text->bytes[7] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        text->bytes[8 + i] = (char)(size >> 8 * i & 0xff);
}

static garner_status make_header(struct npy_text *text, const garner_tensor *tensor, const char *descr,
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
    if (text->size - prefix <= NPY_LONGEST_HEADER) return GARNER_OK;
    return fail_at(error, GARNER_UNSUPPORTED, path,
                   "its .npy header would have %zu bytes, which is above the limit of %d",
                   text->size - prefix, NPY_LONGEST_HEADER);
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
    struct tokens scan = tokens_begin(*descr, strlen(*descr), NPY_SPACES, path, error);
    garner_status status = npy_type(&scan, &type);
    if (!status && (scan.at != scan.end || type.item_bytes != tensor->item_bytes))
        status = fail_at(error, GARNER_BAD_ARGUMENT, path,
                         "the .npy type does not describe elements of %llu bytes",
                         (unsigned long long)tensor->item_bytes);
    return status;
}

garner_status npy_preamble(struct npy_text *text, const garner_tensor *tensor, const char *descr,
                           const char *path, garner_error *error)
{
    char code[32];
    uint64_t bytes;
    *text = (struct npy_text){0};
    garner_status status = choose_descr(&descr, code, tensor, path, error);
    if (!status) status = elements_bytes(tensor, path, &bytes, error);
    return status ? status : make_header(text, tensor, descr, path, error);
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    const struct content *content = context;
    garner_status status = sink_write(sink, content->text.bytes, content->text.size, error);
    return status ? status : elements_write(content->tensor, 0, sink, error);
}

garner_status npy_save(const char *path, const garner_tensor *tensor, const char *descr, garner_error *error)
{
    struct content content = {.tensor = tensor};
    garner_status status = npy_preamble(&content.text, tensor, descr, path, error);
    if (!status) status = file_save(path, produce, &content, error);
    free(content.text.bytes);
    return status;
}
