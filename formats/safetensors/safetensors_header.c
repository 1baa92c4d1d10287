/* SPDX-License-Identifier: MIT */
/* The header of a .safetensors file: the names of types, and where each tensor is described. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "safetensors.h"

/* ---- Types ---- */

static const struct {
    const char *name;
    garner_dtype dtype;
} types[] = {
    {"F32", GARNER_F32},
    {"F16", GARNER_F16},
    {"BF16", GARNER_BF16},
    {"F64", GARNER_F64},
    {"I64", GARNER_I64},
    {"I32", GARNER_I32},
    {"I16", GARNER_I16},
    {"I8", GARNER_I8},
    {"U64", GARNER_U64},
    {"U32", GARNER_U32},
    {"U16", GARNER_U16},
    {"U8", GARNER_U8},
    {"BOOL", GARNER_BOOL},
    {"C64", GARNER_C64},
    {"F8_E4M3", GARNER_F8E4M3FN},
    {"F8_E5M2", GARNER_F8E5M2},
    {"F8_E8M0", GARNER_F8E8M0},
    {"F8_E4M3FNUZ", GARNER_F8E4M3FNUZ},
    {"F8_E5M2FNUZ", GARNER_F8E5M2FNUZ},
    {"F4", GARNER_F4E2M1},
};
enum { TYPES = sizeof types / sizeof *types };

garner_dtype safetensors_type(const char *name, size_t size)
{
    for (size_t i = 0; i < TYPES; i++)
        if (strlen(types[i].name) == size && memcmp(types[i].name, name, size) == 0) return types[i].dtype;
    return 0;
}

const char *safetensors_type_name(garner_dtype dtype)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype) return types[i].name;
    return NULL;
}

/* ---- One tensor of the header ---- */

static garner_status refuse(const struct tokens *scan, const char *name, const char *what)
{
    char shown[100];
    return fail_at(scan->error, GARNER_BAD_FILE, scan->path, "tensor '%s': %s",
                   printable(shown, sizeof shown, name), what);
}

static garner_status read_type(struct tokens *scan, struct safetensors_item *item)
{
    return safetensors_string(scan, &item->type, &item->type_size);
}

static garner_status read_shape(struct tokens *scan, struct safetensors_item *item)
{
    size_t count;
    if (!tokens_take(scan, '[')) return tokens_malformed(scan, "'['");
    item->shape = --scan->at;
    return safetensors_integers(scan, NULL, 0, &count);
}

static garner_status read_offsets(struct tokens *scan, struct safetensors_item *item)
{
    int64_t offsets[2];
    size_t count;
    garner_status status = safetensors_integers(scan, offsets, 2, &count);
    if (status) return status;
    if (count != 2) return refuse(scan, item->name, "data_offsets are not two numbers");
    if (offsets[0] > offsets[1]) return refuse(scan, item->name, "data_offsets begin after their end");
    item->begin = (uint64_t)offsets[0];
    item->end = (uint64_t)offsets[1];
    return GARNER_OK;
}

enum { FIELDS = 3 };
static const struct {
    const char *name;
    garner_status (*read)(struct tokens *, struct safetensors_item *);
} fields[FIELDS] = {{"dtype", read_type}, {"shape", read_shape}, {"data_offsets", read_offsets}};

static garner_status read_field(struct tokens *scan, struct safetensors_item *item, unsigned *seen)
{
    const char *text;
    size_t size, field = 0;
    garner_status status = safetensors_string(scan, &text, &size);
    if (status) return status;
    while (field < FIELDS &&
           (strlen(fields[field].name) != size || memcmp(fields[field].name, text, size) != 0))
        field++;
    if (field == FIELDS)
        return refuse(scan, item->name, "has a field other than dtype, shape and data_offsets");
    if (*seen & 1u << field) return refuse(scan, item->name, "has a field twice");
    *seen |= 1u << field;
    status = tokens_expect(scan, ':');
    return status ? status : fields[field].read(scan, item);
}

static garner_status read_tensor(struct tokens *scan, struct safetensors_item *item)
{
    unsigned seen = 0;
    int done = 0;
    garner_status status = tokens_expect(scan, '{');
    if (!status) done = tokens_take(scan, '}');
    while (!status && !done) {
        status = read_field(scan, item, &seen);
        if (!status) status = safetensors_next(scan, '}', &done);
    }
    if (!status && seen != (1u << FIELDS) - 1)
        status = refuse(scan, item->name, "lacks dtype, shape or data_offsets");
    return status;
}

/* ---- The header ---- */

static garner_status read_metadata(struct tokens *scan, struct safetensors_content *content)
{
    const char *text;
    size_t size;
    int done = 0;
    if (content->metadata)
        return fail_at(scan->error, GARNER_BAD_FILE, scan->path, "header has " SAFETENSORS_METADATA " twice");
    garner_status status = tokens_expect(scan, '{');
    content->metadata = scan->at - 1;
    if (!status) done = tokens_take(scan, '}');
    while (!status && !done) {
        status = safetensors_string(scan, &text, &size);
        if (!status) status = tokens_expect(scan, ':');
        if (!status) status = safetensors_string(scan, &text, &size);
        if (!status) status = safetensors_next(scan, '}', &done);
    }
    content->metadata_size = (size_t)(scan->at - content->metadata);
    return status;
}

static garner_status add_item(struct store *store, struct safetensors_item **item, garner_error *error)
{
    struct safetensors_content *content = store->content;
    if (store->count == content->capacity) {
        size_t capacity = content->capacity ? 2 * content->capacity : 16;
        struct safetensors_item *items = realloc(content->items, capacity * sizeof *items);
        if (!items) return fail_memory(error, store->path, capacity * sizeof *items);
        content->items = items;
        content->capacity = capacity;
    }
    *item = &content->items[store->count++];
    memset(*item, 0, sizeof **item);
    return GARNER_OK;
}

/* A name takes less room than it did with its quotes, so all of them fit where the header would. */
static garner_status read_entry(struct tokens *scan, struct store *store)
{
    static const char metadata[] = SAFETENSORS_METADATA;
    struct safetensors_content *content = store->content;
    struct safetensors_item *item = NULL;
    const char *text;
    size_t size;
    garner_status status = safetensors_string(scan, &text, &size);
    if (!status) status = tokens_expect(scan, ':');
    if (status) return status;
    if (size == sizeof metadata - 1 && memcmp(text, metadata, size) == 0) return read_metadata(scan, content);
    status = add_item(store, &item, scan->error);
    if (status) return status;
    item->name = content->names_end;
    int64_t length = safetensors_unescape(content->names_end, text, size);
    if (length < 0)
        return fail_at(scan->error, GARNER_BAD_FILE, scan->path,
                       "header: the name before byte %zu has a zero byte or half a character",
                       (size_t)(scan->at - scan->start));
    content->names_end += length + 1;
    return read_tensor(scan, item);
}

garner_status safetensors_read_header(struct store *store, struct tokens *scan)
{
    int done = 0;
    if (scan->at == scan->end || *scan->at != '{') return tokens_malformed(scan, "'{'");
    garner_status status = tokens_expect(scan, '{');
    if (!status) done = tokens_take(scan, '}');
    while (!status && !done) {
        status = read_entry(scan, store);
        if (!status) status = safetensors_next(scan, '}', &done);
    }
    while (!status && scan->at < scan->end && *scan->at == ' ')
        scan->at++;
    return status || scan->at == scan->end ? status : tokens_malformed(scan, "spaces until the end");
}
