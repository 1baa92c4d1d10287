/* SPDX-License-Identifier: MIT */
/*
 * Reading .safetensors. The whole header is checked when the file is opened: its grammar
 * (safetensors_header.c), and that the tensors fill the file, each byte once. What a tensor is, is read again
 * from its text when somebody asks. That text is a copy: in a mapped file another process could change what
 * has been checked.
 */
#include "safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "fail.h"
#include "region.h"

/* ---- Types, shapes and places ---- */

/* Reads type and shape of a tensor, whose grammar has been checked. Sets entry as far as it is known. */
static garner_status describe_item(const struct store *store, const struct safetensors_item *item,
                                   struct store_entry *entry, garner_error *error)
{
    const struct safetensors_content *content = store->content;
    char label[FAIL_LABEL];
    size_t rank = 0;
    struct tokens scan =
        tokens_begin(content->header, content->header_size, SAFETENSORS_SPACES, store->path, error);
    scan.at = item->shape;
    entry->dtype = safetensors_type(item->type, item->type_size);
    entry->bytes = item->end - item->begin;
    char plain[sizeof entry->type];
    snprintf(plain, sizeof plain, "%.*s",
             (int)(item->type_size < sizeof plain ? item->type_size : sizeof plain - 1), item->type);
    printable(entry->type, sizeof entry->type, plain);
    garner_status status = safetensors_integers(&scan, entry->shape, GARNER_MAX_RANK, &rank);
    if (status) return status;
    if (rank > GARNER_MAX_RANK)
        return fail_at(error, GARNER_UNSUPPORTED, fail_label(label, store->path, item->name),
                       "the rank %zu is above %d", rank, GARNER_MAX_RANK);
    entry->rank = (int32_t)rank;
    if (entry->dtype) return GARNER_OK;
    return fail_at(error, GARNER_UNSUPPORTED, fail_label(label, store->path, item->name),
                   "elements of type '%s' are not supported", entry->type);
}

/* Whether a tensor's bytes are as many as its type and shape need. */
static garner_status check_item(const struct store *store, const struct safetensors_item *item,
                                garner_error *error)
{
    struct store_entry entry;
    char shown[100];
    garner_status status = describe_item(store, item, &entry, error);
    if (status) return status == GARNER_UNSUPPORTED ? GARNER_OK : status; /* until somebody asks for it */
    int64_t count = array_count(entry.rank, entry.shape), bits = garner_dtype_bits(entry.dtype), all = 0;
    int whole = count >= 0 && !__builtin_mul_overflow(count, bits, &all) && all % 8 == 0;
    if (whole && (uint64_t)all / 8 == entry.bytes) return GARNER_OK;
    return fail_at(
        error, GARNER_BAD_FILE, store->path,
        "tensor '%s': its data_offsets span %llu bytes, which is not what its shape and type %s need",
        printable(shown, sizeof shown, item->name), (unsigned long long)entry.bytes, entry.type);
}

struct span {
    uint64_t begin, end;
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a, *right = b;
    if (left->begin != right->begin) return left->begin < right->begin ? -1 : 1;
    return left->end < right->end ? -1 : left->end > right->end;
}

static garner_status check_spans(const struct store *store, const struct span *spans, garner_error *error)
{
    uint64_t end = 0, size = store->size - ((const struct safetensors_content *)store->content)->data_at;
    for (size_t i = 0; i < store->count; i++) {
        if (spans[i].begin != end)
            return fail_at(error, GARNER_BAD_FILE, store->path,
                           spans[i].begin < end ? "two tensors share byte %llu of the data"
                                                : "byte %llu of the data belongs to no tensor",
                           (unsigned long long)(spans[i].begin < end ? spans[i].begin : end));
        end = spans[i].end;
    }
    if (end == size) return GARNER_OK;
    return fail_at(error, GARNER_BAD_FILE, store->path,
                   "%sthe tensors take %llu bytes, and the file has %llu", end > size ? "truncated: " : "",
                   (unsigned long long)end, (unsigned long long)size);
}

/* The format's rule: tensors fill the data, each byte once. */
static garner_status check_places(const struct store *store, garner_error *error)
{
    const struct safetensors_content *content = store->content;
    garner_status status = GARNER_OK;
    struct span *spans = malloc((store->count ? store->count : 1) * sizeof *spans);
    if (!spans) return fail_memory(error, store->path, store->count * sizeof *spans);
    for (size_t i = 0; i < store->count && !status; i++) {
        spans[i] = (struct span){content->items[i].begin, content->items[i].end};
        status = check_item(store, &content->items[i], error);
    }
    if (!status) {
        qsort(spans, store->count, sizeof *spans, compare_spans);
        status = check_spans(store, spans, error);
    }
    free(spans);
    return status;
}

/* ---- The store ---- */

static garner_status find_header(const struct store *store, uint64_t *size, garner_error *error)
{
    *size = 0;
    if (store->size < SAFETENSORS_PREFIX)
        return fail_at(error, GARNER_BAD_FILE, store->path,
                       "truncated: a .safetensors file begins with 8 bytes, and this has %llu",
                       (unsigned long long)store->size);
    for (int i = SAFETENSORS_PREFIX; i-- > 0;)
        *size = *size << 8 | store->bytes[i];
    if (*size > SAFETENSORS_LONGEST_HEADER)
        return fail_at(error, GARNER_BAD_FILE, store->path,
                       "the header of %llu bytes is above the limit of %d", (unsigned long long)*size,
                       SAFETENSORS_LONGEST_HEADER);
    if (*size > store->size - SAFETENSORS_PREFIX)
        return fail_at(error, GARNER_BAD_FILE, store->path,
                       "truncated: the header ends at byte %llu, the file at %llu",
                       (unsigned long long)*size + SAFETENSORS_PREFIX, (unsigned long long)store->size);
    if (*size == 0) return fail_at(error, GARNER_BAD_FILE, store->path, "the header is empty");
    return GARNER_OK;
}

static garner_status open_safetensors(struct store *store, garner_error *error)
{
    uint64_t size;
    garner_status status = find_header(store, &size, error);
    if (status) return status;
    struct safetensors_content *content = calloc(1, sizeof *content);
    if (!content) return fail_memory(error, store->path, sizeof *content);
    store->content = content;
    content->data_at = SAFETENSORS_PREFIX + size;
    content->header_size = (size_t)size;
    content->header = malloc((size_t)size);
    content->names = content->names_end = malloc((size_t)size);
    if (!content->header || !content->names) return fail_memory(error, store->path, size);
    const char *text = memcpy(content->header, store->bytes + SAFETENSORS_PREFIX, (size_t)size);
    struct tokens scan = tokens_begin(text, (size_t)size, SAFETENSORS_SPACES, store->path, error);
    status = safetensors_read_header(store, &scan);
    if (!status) status = check_places(store, error);
    store->metadata = content->metadata;
    store->metadata_size = content->metadata_size;
    return status;
}

static void close_safetensors(struct store *store)
{
    struct safetensors_content *content = store->content;
    if (!content) return;
    free(content->items);
    free(content->header);
    free(content->names);
    free(content);
}

static const char *name_safetensors(const struct store *store, size_t i)
{
    return ((const struct safetensors_content *)store->content)->items[i].name;
}

static garner_status describe_safetensors(const struct store *store, size_t i, struct store_entry *entry,
                                          garner_error *error)
{
    return describe_item(store, &((const struct safetensors_content *)store->content)->items[i], entry,
                         error);
}

static garner_status load_safetensors(const struct store *store, size_t i, struct array *array,
                                      garner_error *error)
{
    const struct safetensors_content *content = store->content;
    const unsigned char *elements = store->bytes + content->data_at + content->items[i].begin;
    struct store_entry entry;
    garner_status status = describe_item(store, &content->items[i], &entry, error);
    if (status) return status;
    unsigned swap = byteorder_swap(entry.dtype);
    /* uncovered: only on big-endian machines, which tests/cross has */
    if (swap) {
        status = array_create(array, store->path, entry.dtype, 0, entry.rank, entry.shape, error);
        /* uncovered: the same */
        if (status) return status;
        memcpy(array->memory, elements, (size_t)entry.bytes);
        byteorder_reverse(array->memory, (size_t)entry.bytes, swap);
        return GARNER_OK;
    }
    memcpy(array->shape, entry.shape, sizeof array->shape);
    array->region = region_hold(store->region);
    array->tensor = (garner_tensor){.data = (void *)(uintptr_t)elements,
                                    .shape = array->shape,
                                    .rank = entry.rank,
                                    .dtype = entry.dtype,
                                    .bytes = entry.bytes};
    return GARNER_OK;
}

const struct store_format safetensors_format = {
    .open = open_safetensors,
    .name = name_safetensors,
    .describe = describe_safetensors,
    .load = load_safetensors,
    .close = close_safetensors,
    .save = safetensors_save,
};
