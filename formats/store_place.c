/* SPDX-License-Identifier: MIT */
/* Finds tensors in files without loading them. Every place is held against the size of the open file. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64

#include "store_place.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "byteorder.h"
#include "fail.h"
#include "file.h"
#include "npy_header.h"
#include "onnx_tensor.h"
#include "open_beneath.h"
#include "region.h"
#include "safetensors.h"
#include "store.h"

/* What is looked for, and where. */
struct request {
    const char *path, *member;
    unsigned flags;
    struct file *file;
    struct store_place *place;
    garner_error *error;
};

/* Takes over the open file that the elements lie in. */
static garner_status settle(const struct request *r, uint64_t offset)
{
    struct store_place *place = r->place;
    uint64_t bytes = place->array.tensor.bytes;
    if (offset > place->file_size || bytes > place->file_size - offset)
        return fail_at(r->error, GARNER_BAD_FILE, r->path, "truncated: expected %llu bytes, found %llu",
                       (unsigned long long)bytes,
                       (unsigned long long)(offset < place->file_size ? place->file_size - offset : 0));
    place->offset = offset;
    if (place->descriptor < 0) {
        place->descriptor = r->file->descriptor;
        r->file->descriptor = -1;
    }
    return GARNER_OK;
}

/* ---- .npy ---- */

static garner_status find_npy(const struct request *r)
{
    struct npy_frame frame = {0};
    struct npy_header header;
    if (r->member)
        return fail_at(r->error, GARNER_BAD_FILE, r->path, "a .npy file holds one array, without a name");
    garner_status status = npy_begin(r->file, &frame, &header, r->error);
    if (!status) status = npy_shape(&r->place->array, r->path, &frame, &header, r->file->bytes, r->error);
    if (status) return status;
    r->place->swap = header.type.swap;
    return settle(r, frame.data_at);
}

/* ---- .safetensors ---- */

/* Its reader looks at the header alone, and that must be here: a file may have become shorter. */
static uint64_t size_to_tell(const struct request *r, uint64_t header)
{
    const int is_here = r->file->size >= SAFETENSORS_PREFIX &&
                        (header > SAFETENSORS_LONGEST_HEADER || r->file->size - SAFETENSORS_PREFIX >= header);
    return is_here ? r->place->file_size : r->file->size;
}

static garner_status open_head(const struct request *r, struct store *store)
{
    uint64_t size = 0;
    garner_status status = file_fetch(r->file, SAFETENSORS_PREFIX, r->error);
    for (int i = SAFETENSORS_PREFIX; i-- > 0 && r->file->size >= SAFETENSORS_PREFIX;)
        size = size << 8 | r->file->bytes[i];
    if (!status && size <= SAFETENSORS_LONGEST_HEADER)
        status = file_fetch(r->file, SAFETENSORS_PREFIX + size, r->error);
    if (status) return status;
    return store_open_bytes(store, r->path, r->file->bytes, size_to_tell(r, size), r->error);
}

static garner_status find_safetensors(const struct request *r)
{
    size_t i;
    struct store store = {0};
    struct store_entry entry;
    struct array *array = &r->place->array;
    garner_status status = open_head(r, &store);
    if (status) return status;
    status = store_find(&store, r->member, &i, r->error);
    if (!status) status = store_describe(&store, i, &entry, r->error);
    if (!status) {
        const struct safetensors_content *content = store.content;
        memcpy(array->shape, entry.shape, sizeof array->shape);
        array->tensor = (garner_tensor){
            .shape = array->shape, .rank = entry.rank, .dtype = entry.dtype, .bytes = entry.bytes};
        r->place->swap = byteorder_swap(entry.dtype);
        status = settle(r, content->data_at + content->items[i].begin);
    }
    store_close(&store);
    return status;
}

/* ---- Files that are looked through whole ---- */

/* A file mapped for as long as it is looked through. */
struct view {
    unsigned char *bytes;
    size_t size;
};

static garner_status map_whole(const struct request *r, struct view *view)
{
    if (r->place->file_size == 0 || r->place->file_size > SIZE_MAX)
        return fail_at(r->error, GARNER_BAD_FILE, r->path,
                       r->place->file_size ? "is too large for this machine" : "is empty");
    view->size = (size_t)r->place->file_size;
    view->bytes = region_map(r->file->descriptor, view->size);
    return view->bytes ? GARNER_OK : fail_errno(r->error, r->path, "map the file", errno);
}

/* Elements that were found in the mapping are found in the file. What was decoded is kept in memory. */
static garner_status settle_in_view(const struct request *r, const struct view *view)
{
    struct array *array = &r->place->array;
    uintptr_t at = (uintptr_t)array->tensor.data - (uintptr_t)view->bytes;
    if (array->memory || array->region || at >= view->size) return GARNER_OK;
    array->tensor.data = NULL;
    return settle(r, at);
}

static garner_status find_member(const struct request *r)
{
    size_t i;
    struct view view = {0};
    struct store store = {0};
    garner_status status = map_whole(r, &view);
    if (!status) status = store_open_bytes(&store, r->path, view.bytes, view.size, r->error);
    store.flags = r->flags;
    if (!status) status = store_find(&store, r->member, &i, r->error);
    if (!status) status = store_load(&store, i, &r->place->array, r->error);
    if (!status && r->place->array.tensor.dtype == GARNER_STR)
        status = fail_at(r->error, GARNER_UNSUPPORTED, r->path, "a table of strings is not supported");
    if (!status) status = settle_in_view(r, &view);
    store_close(&store);
    if (view.bytes) region_unmap(view.bytes, view.size);
    return status;
}

/* ---- Models ---- */

static garner_status take_external(const struct request *r, const struct onnx_tensor *tensor,
                                   const struct wire_file *file)
{
    struct stat about;
    struct store_place *place = r->place;
    garner_status status =
        open_beneath_open(r->path, (const char *)tensor->location.bytes, (size_t)tensor->location.size,
                          (r->flags & STORE_FOLLOW_LINKS) != 0, &place->descriptor, r->error);
    if (status) return status;
    if (fstat(place->descriptor, &about)) return fail_errno(r->error, r->path, "read", errno);
    place->file_size = (uint64_t)about.st_size;
    status = onnx_tensor_check_external(tensor, file, place->file_size);
    if (status) return status;
    return settle(r, tensor->offset);
}

static garner_status take_initializer(const struct request *r, const struct onnx_tensor *tensor,
                                      const struct wire_file *file)
{
    struct array *array = &r->place->array;
    const unsigned char *bytes = onnx_tensor_bytes(tensor);
    if (tensor->dtype == GARNER_STR)
        return fail_at(r->error, GARNER_UNSUPPORTED, r->path, "a table of strings is not supported");
    if (!tensor->external && !bytes)
        return onnx_tensor_load_array(tensor, file, (r->flags & STORE_FOLLOW_LINKS) != 0, array);
    memcpy(array->shape, tensor->shape, sizeof array->shape);
    array->tensor = (garner_tensor){
        .shape = array->shape, .rank = tensor->rank, .dtype = tensor->dtype, .bytes = tensor->bytes};
    r->place->swap = byteorder_swap(tensor->dtype);
    return tensor->external ? take_external(r, tensor, file) : settle(r, (uint64_t)(bytes - file->bytes));
}

static garner_status find_initializer(const struct request *r)
{
    struct view view = {0};
    struct onnx_tensor tensor;
    garner_status status = map_whole(r, &view);
    if (status) return status;
    struct wire_file file = {.path = r->path, .bytes = view.bytes, .error = r->error};
    status = onnx_find_initializer(&tensor, &file, (struct wire_span){view.bytes, view.size}, r->member);
    if (!status) status = take_initializer(r, &tensor, &file);
    region_unmap(view.bytes, view.size);
    return status;
}

/* ---- All of them ---- */

static int is_model(const char *path)
{
    size_t length = strlen(path);
    return length >= 5 && strcmp(path + length - 5, ".onnx") == 0;
}

static garner_status find(const struct request *r)
{
    struct stat about;
    enum store_kind kind;
    if (fstat(r->file->descriptor, &about)) return fail_errno(r->error, r->path, "read", errno);
    if (!S_ISREG(about.st_mode))
        return fail_at(r->error, GARNER_BAD_FILE, r->path,
                       "is no regular file, and of a table any part is read at any time");
    r->place->file_size = (uint64_t)about.st_size;
    if (is_model(r->path)) return find_initializer(r);
    garner_status status = store_kind_of_file(&kind, r->file, r->error);
    if (status) return status;
    return kind == STORE_NPY ? find_npy(r) : kind == STORE_SAFETENSORS ? find_safetensors(r) : find_member(r);
}

garner_status store_place_find(struct store_place *place, const char *path, const char *member,
                               unsigned flags, garner_error *error)
{
    struct file file;
    garner_error spare;
    if (!error) error = &spare;
    *place = (struct store_place){.descriptor = -1};
    garner_status status = file_open_unmapped(&file, path, error);
    if (status) return status;
    struct request request = {path, member, flags, &file, place, error};
    status = find(&request);
    file_close(&file);
    if (status) store_place_close(place);
    return status ? status : succeed(error);
}

void store_place_close(struct store_place *place)
{
    if (place->descriptor >= 0) close(place->descriptor);
    array_free(&place->array);
    *place = (struct store_place){.descriptor = -1};
}
