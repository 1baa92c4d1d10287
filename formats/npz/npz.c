/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npz files: a zip file of .npy members. A stored member stays where it lies; a deflated one is
 * inflated straight into its array, never beyond what its .npy header declares.
 */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "npy_header.h"
#include "npz.h"
#include "region.h"
#include "zip.h"

struct content {
    struct zip zip;
    const char **names;
    char *text; /* of the names */
};

static const char suffix[] = ".npy";
enum { SUFFIX = sizeof suffix - 1 };

static int is_npy(const struct zip_member *member)
{
    return member->name_size >= SUFFIX &&
           memcmp(member->name + member->name_size - SUFFIX, suffix, SUFFIX) == 0;
}

/* ---- Opening ---- */

/* A tensor is called what its member is, less .npy; other members keep their names, and are no tensors. */
static garner_status copy_names(struct store *store, struct content *content, garner_error *error)
{
    const struct zip *zip = &content->zip;
    size_t size = 1;
    for (size_t i = 0; i < zip->count; i++)
        size += zip_member(zip, i).name_size + 1;
    content->names = malloc((zip->count ? zip->count : 1) * sizeof *content->names);
    content->text = malloc(size);
    if (!content->names || !content->text) return fail_memory(error, store->path, size);
    char *at = content->text;
    for (size_t i = 0; i < zip->count; i++) {
        struct zip_member member = zip_member(zip, i);
        size_t length = member.name_size - (is_npy(&member) ? SUFFIX : 0);
        content->names[i] = at;
        memcpy(at, member.name, length);
        at[length] = 0;
        at += length + 1;
    }
    return GARNER_OK;
}

static garner_status open_npz(struct store *store, garner_error *error)
{
    struct content *content = calloc(1, sizeof *content);
    if (!content) return fail_memory(error, store->path, sizeof *content);
    store->content = content;
    garner_status status = zip_open(&content->zip, store->path, store->bytes, store->size, error);
    if (!status) status = copy_names(store, content, error);
    if (!status) store->count = content->zip.count;
    return status;
}

static void close_npz(struct store *store)
{
    struct content *content = store->content;
    if (!content) return;
    zip_close(&content->zip);
    free(content->names);
    free(content->text);
    free(content);
}

static const char *name_npz(const struct store *store, size_t i)
{
    return ((const struct content *)store->content)->names[i];
}

/* ---- A member ---- */

/* An open member: its .npy header is read, its elements are not yet. */
struct reading {
    const struct zip *zip;
    struct zip_member member;
    char label[FAIL_LABEL];
    const unsigned char *packed;
    struct zip_inflater *inflater; /* NULL: stored */
    unsigned char *head;           /* of a deflated one: its first bytes */
    struct file file;              /* those, or all of a stored one */
    struct npy_frame frame;
    struct npy_header header;
};

static void end_reading(struct reading *reading)
{
    zip_inflate_end(reading->inflater);
    free(reading->head);
}

/* Inflates as much as a header may take. */
static garner_status inflate_head(struct reading *reading, garner_error *error)
{
    uint64_t size = reading->member.unpacked, most = NPY_LONGEST_PREFIX + NPY_LONGEST_HEADER;
    if (size > most) size = most;
    garner_status status =
        zip_inflate_begin(&reading->inflater, reading->label, reading->packed, reading->member.packed, error);
    if (status) return status;
    reading->head = malloc(size ? (size_t)size : 1);
    if (!reading->head) return fail_memory(error, reading->label, size);
    reading->file.bytes = reading->head;
    reading->file.size = size;
    return zip_inflate(reading->inflater, reading->head, size, error);
}

/* A member is one array to its last byte. */
static garner_status check_size(const struct reading *reading, garner_error *error)
{
    uint64_t declared = reading->frame.data_at + (uint64_t)reading->header.bytes;
    if (declared == reading->member.unpacked) return GARNER_OK;
    return fail_at(error, GARNER_BAD_FILE, reading->label,
                   "the member has %llu bytes, and its .npy header declares %llu",
                   (unsigned long long)reading->member.unpacked, (unsigned long long)declared);
}

/* Ends with end_reading, also after a failure. */
static garner_status begin_reading(struct reading *reading, const struct store *store, size_t i,
                                   garner_error *error)
{
    const struct content *content = store->content;
    memset(reading, 0, sizeof *reading);
    reading->zip = &content->zip;
    reading->member = zip_member(&content->zip, i);
    fail_label(reading->label, store->path, content->names[i]);
    if (!is_npy(&reading->member))
        return fail_at(error, GARNER_UNSUPPORTED, reading->label, "is no .npy member, so no tensor");
    garner_status status = zip_locate(&content->zip, i, reading->label, &reading->packed, error);
    if (status) return status;
    reading->file = (struct file){
        .path = reading->label, .bytes = reading->packed, .size = reading->member.unpacked, .descriptor = -1};
    if (reading->member.method == ZIP_DEFLATED) status = inflate_head(reading, error);
    if (!status) status = npy_begin(&reading->file, &reading->frame, &reading->header, error);
    return status ? status : check_size(reading, error);
}

static garner_status check_sum(const struct reading *reading, uint32_t found, garner_error *error)
{
    if (found == reading->member.crc) return GARNER_OK;
    return fail_at(error, GARNER_BAD_FILE, reading->label,
                   "corrupt: its CRC-32 is %08x, and the zip directory says %08x", (unsigned)found,
                   (unsigned)reading->member.crc);
}

static garner_status describe_npz(const struct store *store, size_t i, struct store_entry *entry,
                                  garner_error *error)
{
    struct reading reading;
    garner_status status = begin_reading(&reading, store, i, error);
    if (!status)
        npy_describe(entry, &reading.header, (const char *)reading.file.bytes + reading.frame.header_at);
    end_reading(&reading);
    return status;
}

/* ---- Elements ---- */

static garner_status check_stored(const struct reading *reading, garner_error *error)
{
    return check_sum(reading, zip_crc_add(&reading->zip->crc, 0, reading->packed, reading->member.packed),
                     error);
}

static garner_status load_stored(const struct reading *reading, const struct store *store,
                                 struct array *array, garner_error *error)
{
    garner_status status =
        reading->member.packed <= STORE_CHECKED_BYTES ? check_stored(reading, error) : GARNER_OK;
    if (status) return status;
    return npy_array(array, reading->label, &reading->frame, &reading->header, reading->packed,
                     reading->packed + reading->frame.data_at, store->region, error);
}

/* Inflates the elements; `head` has the first of them. */
static garner_status inflate_elements(struct reading *reading, unsigned char *elements, garner_error *error)
{
    const struct zip_crc *crc = &reading->zip->crc;
    uint64_t bytes = (uint64_t)reading->header.bytes, there = reading->file.size - reading->frame.data_at;
    memcpy(elements, reading->head + reading->frame.data_at, (size_t)there);
    garner_status status = zip_inflate(reading->inflater, elements + there, bytes - there, error);
    if (!status) status = zip_inflate_finish(reading->inflater, error);
    if (status) return status;
    uint32_t sum = zip_crc_add(crc, 0, reading->head, reading->frame.data_at);
    return check_sum(reading, zip_crc_add(crc, sum, elements, bytes), error);
}

static garner_status load_deflated(struct reading *reading, struct array *array, garner_error *error)
{
    uint64_t bytes = (uint64_t)reading->header.bytes;
    /* uncovered: only on 32-bit machines, which tests/cross has */
    unsigned char *elements = bytes > SIZE_MAX ? NULL : malloc(bytes ? (size_t)bytes : 1);
    struct region *region = elements ? region_create(elements, NULL, 0) : NULL;
    if (!region) {
        free(elements);
        return fail_memory(error, reading->label, bytes);
    }
    garner_status status = inflate_elements(reading, elements, error);
    if (!status)
        status = npy_array(array, reading->label, &reading->frame, &reading->header, reading->head, elements,
                           region, error);
    region_drop(region);
    return status;
}

static garner_status load_npz(const struct store *store, size_t i, struct array *array, garner_error *error)
{
    struct reading reading;
    garner_status status = begin_reading(&reading, store, i, error);
    if (!status)
        status = reading.inflater ? load_deflated(&reading, array, error)
                                  : load_stored(&reading, store, array, error);
    end_reading(&reading);
    return status;
}

/* Of a deflated member loading has looked at everything. */
static garner_status verify_npz(const struct store *store, size_t i, garner_error *error)
{
    struct reading reading;
    garner_status status = begin_reading(&reading, store, i, error);
    if (!status && !reading.inflater) status = check_stored(&reading, error);
    end_reading(&reading);
    return status;
}

const struct store_format npz_format = {
    .open = open_npz,
    .name = name_npz,
    .describe = describe_npz,
    .load = load_npz,
    .verify = verify_npz,
    .close = close_npz,
    .save = npz_save,
};
