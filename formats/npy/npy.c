/* SPDX-License-Identifier: MIT */
/*
 * Reading .npy: the frame around the header, then the elements, which stay where they are unless their
 * byte order is the other one. Every length is held against the file before it is believed.
 */
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "fail.h"
#include "file.h"
#include "npy_header.h"
#include "region.h"
#include "utf8.h"

enum { MAGIC = 6, PREFIX_1 = 10, PREFIX_2 = NPY_LONGEST_PREFIX };

static garner_status refuse_start(const struct file *file, garner_error *error)
{
    char found[3 * MAGIC + 1] = "";
    if (!file->size) return fail_at(error, GARNER_BAD_FILE, file->path, "not a .npy file: it is empty");
    for (size_t i = 0; i < MAGIC && i < file->size; i++)
        snprintf(found + 3 * i, 4, " %02x", file->bytes[i]);
    return fail_at(error, GARNER_BAD_FILE, file->path, "not a .npy file: it begins with the bytes%s%s", found,
                   file->bytes[0] == 'P' && file->size > 1 && file->bytes[1] == 'K' ? " of a zip file" : "");
}

static garner_status read_prefix(struct file *file, struct npy_frame *frame, garner_error *error)
{
    static const unsigned char magic[MAGIC] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    garner_status status = file_fetch(file, PREFIX_1, error);
    if (status) return status;
    const unsigned char *bytes = file->bytes;
    if (file->size < MAGIC || memcmp(bytes, magic, MAGIC) != 0) return refuse_start(file, error);
    if (file->size < PREFIX_1)
        return fail_at(error, GARNER_BAD_FILE, file->path, "truncated: expected %d bytes, found %llu",
                       PREFIX_1, (unsigned long long)file->size);
    frame->version = bytes[6];
    if (frame->version < 1 || frame->version > 3 || bytes[7] != 0)
        return fail_at(error, GARNER_BAD_FILE, file->path,
                       "version %d.%d of .npy is not known; those known are 1.0, 2.0 and 3.0", bytes[6],
                       bytes[7]);
    frame->header_at = frame->version == 1 ? PREFIX_1 : PREFIX_2;
    return file_fetch(file, frame->header_at, error);
}

static garner_status read_frame(struct file *file, struct npy_frame *frame, garner_error *error)
{
    garner_status status = read_prefix(file, frame, error);
    if (status) return status;
    uint64_t size = 0;
    for (uint64_t i = frame->header_at; i-- > 8 && i < file->size;)
        size = size << 8 | file->bytes[i];
    if (file->size >= frame->header_at && size > NPY_LONGEST_HEADER)
        return fail_at(error, GARNER_BAD_FILE, file->path,
                       "the header of %llu bytes is above the limit of %d", (unsigned long long)size,
                       NPY_LONGEST_HEADER);
    frame->data_at = frame->header_at + size;
    status = file_fetch(file, frame->data_at, error);
    if (!status && (file->size < frame->data_at))
        status = fail_at(error, GARNER_BAD_FILE, file->path,
                         "truncated: the header ends at byte %llu, the file at %llu",
                         (unsigned long long)frame->data_at, (unsigned long long)file->size);
    return status;
}

garner_status npy_fetch(struct file *file, const struct npy_frame *frame, const struct npy_header *header,
                        garner_error *error)
{
    uint64_t bytes = (uint64_t)header->bytes, end;
    if (__builtin_add_overflow(frame->data_at, bytes, &end)) end = UINT64_MAX;
    garner_status status = file_fetch(file, end, error);
    if (status || file->size >= end) return status;
    return fail_at(error, GARNER_BAD_FILE, file->path, "truncated: expected %llu bytes, found %llu",
                   (unsigned long long)bytes, (unsigned long long)(file->size - frame->data_at));
}

/* The type's text. Files before version 3 are Latin-1; arrays keep UTF-8. */
static char *copy_descr(const char *text, size_t size, int version)
{
    char *copy = malloc(2 * size + 1);
    if (!copy) return NULL;
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80 || version >= 3) {
            copy[used++] = text[i];
        } else {
            copy[used++] = (char)(0xc0 | c >> 6);
            copy[used++] = (char)(0x80 | (c & 0x3f));
        }
    }
    copy[used] = 0;
    return copy;
}

/* Strides of an array whose first axis varies fastest. Of an empty one none are formed. */
static const int64_t *fortran_strides(struct array *array, const struct npy_header *header)
{
    if (!header->fortran || header->rank < 2 || !header->count) return NULL;
    int64_t stride = 1;
    for (int32_t i = 0; i < header->rank; i++) {
        array->strides[i] = stride;
        stride *= header->shape[i];
    }
    return array->strides;
}

static garner_status take_elements(struct array *array, const char *path, const struct npy_header *header,
                                   const unsigned char *elements, struct region *region, garner_error *error)
{
    size_t bytes = (size_t)header->bytes;
    if (!header->type.swap) {
        array->tensor.data = (void *)(uintptr_t)elements;
        array->region = region_hold(region);
        return GARNER_OK;
    }
    array->memory = malloc(bytes ? bytes : 1);
    if (!array->memory) return fail_memory(error, path, bytes);
    if (bytes) memcpy(array->memory, elements, bytes);
    byteorder_reverse(array->memory, bytes, header->type.swap);
    array->tensor.data = array->memory;
    return GARNER_OK;
}

int npy_descr_fits(const char *descr, uint64_t item_bytes)
{
    struct npy_type type = {0};
    struct tokens scan = tokens_begin(descr, strlen(descr), NPY_SPACES, "", NULL);
    return npy_type(&scan, &type) == GARNER_OK && scan.at == scan.end && type.dtype == GARNER_OPAQUE &&
           type.item_bytes == item_bytes;
}

static garner_status take_descr(struct array *array, const char *path, const struct npy_frame *frame,
                                const struct npy_header *header, const unsigned char *start,
                                garner_error *error)
{
    if (header->type.dtype != GARNER_OPAQUE) return GARNER_OK;
    const char *text = (const char *)start + frame->header_at + header->descr_at;
    array->descr = copy_descr(text, header->descr_size, frame->version);
    if (!array->descr) return fail_memory(error, path, 2 * header->descr_size + 1);
    if (!utf8_is_valid(array->descr))
        return fail_at(error, GARNER_BAD_FILE, path, "header is not valid UTF-8");
    /* The header lies in the file, which another process may have written to since it was read. */
    if (!npy_descr_fits(array->descr, header->type.item_bytes))
        return fail_at(error, GARNER_BAD_FILE, path, "the file was changed while it was read");
    return GARNER_OK;
}

garner_status npy_shape(struct array *array, const char *path, const struct npy_frame *frame,
                        const struct npy_header *header, const unsigned char *start, garner_error *error)
{
    memset(array, 0, sizeof *array);
    memcpy(array->shape, header->shape, sizeof array->shape);
    array->tensor = (garner_tensor){
        .shape = array->shape,
        .strides = fortran_strides(array, header),
        .rank = header->rank,
        .dtype = header->type.dtype,
        .bytes = (uint64_t)header->bytes,
        .item_bytes = header->type.dtype == GARNER_OPAQUE ? header->type.item_bytes : 0,
    };
    return take_descr(array, path, frame, header, start, error);
}

garner_status npy_array(struct array *array, const char *path, const struct npy_frame *frame,
                        const struct npy_header *header, const unsigned char *start,
                        const unsigned char *elements, struct region *region, garner_error *error)
{
    garner_status status = npy_shape(array, path, frame, header, start, error);
    if (!status) status = take_elements(array, path, header, elements, region, error);
    if (status) array_free(array);
    return status ? status : succeed(error);
}

garner_status npy_begin(struct file *file, struct npy_frame *frame, struct npy_header *header,
                        garner_error *error)
{
    garner_status status = read_frame(file, frame, error);
    if (status) return status;
    return npy_header(header, (const char *)file->bytes + frame->header_at,
                      (size_t)(frame->data_at - frame->header_at), file->path, error);
}

garner_status npy_fetch_whole(struct file *file, garner_error *error)
{
    struct npy_frame frame = {0};
    struct npy_header header;
    garner_status status = npy_begin(file, &frame, &header, error);
    return status ? status : npy_fetch(file, &frame, &header, error);
}

static garner_status load(struct array *array, struct file *file, garner_error *error)
{
    struct npy_frame frame = {0};
    struct npy_header header;
    garner_status status = npy_begin(file, &frame, &header, error);
    if (!status) status = npy_fetch(file, &frame, &header, error);
    if (status) return status;
    struct region *region = file_share(file);
    if (!region) return fail_memory(error, file->path, file->size);
    status = npy_array(array, file->path, &frame, &header, file->bytes, file->bytes + frame.data_at, region,
                       error);
    region_drop(region);
    return status;
}

garner_status npy_load(struct array *array, const char *path, garner_error *error)
{
    struct file file;
    memset(array, 0, sizeof *array);
    garner_status status = file_open(&file, path, error);
    if (status) return status;
    status = load(array, &file, error);
    file_close(&file);
    return status;
}
