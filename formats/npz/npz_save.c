/* SPDX-License-Identifier: MIT */
/*
 * Writing .npz: stored members one after the other, then the directory. A member's checksum stands before it,
 * and is put there when the member is written, or, in a pipe, is known from an earlier walk over the
 * elements. What is summed is what is written, even if somebody changes the elements meanwhile: each piece is
 * copied first. Each tensor is loaded for its own turn only.
 */
#include "npz.h"

#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "fail.h"
#include "file.h"
#include "npy_header.h"
#include "utf8.h"
#include "zip.h"

enum {
    ALIGNMENT = 64,
    LONGEST_NAME = 65535,
    ALIGNING_FIELD = 0xD935, /* an extra field that other tools, too, pad with */
    UTF8_NAMES = 1 << 11,
    VERSION_ZIP64 = 45,
    VERSION_PLAIN = 20,
    CRC_AT = 14,           /* in a member's header */
    PIECE = 1 << 18,       /* bytes that are summed and written at once */
    FIRST_DAY = 1 << 5 | 1 /* 1980-01-01, the first that zip knows */
};
static const uint64_t too_large = 0xFFFFFFFFu;

/* What the directory will say. */
struct written {
    char *name; /* with .npy */
    uint32_t crc;
    uint64_t size, offset;
};

struct archive {
    const char *path;
    const struct store_source *source;
    struct sink *sink;
    struct written *members;
    uint64_t at; /* bytes written so far */
    struct zip_crc crc;
    unsigned char *piece;
};

/* A record being put together. */
struct record {
    unsigned char bytes[96 + ALIGNMENT];
    size_t size;
};

static void put(struct record *record, uint64_t value, int bytes)
{
    for (; bytes--; value >>= 8)
        record->bytes[record->size++] = (unsigned char)(value & 0xff);
}

static garner_status emit(struct archive *archive, const void *bytes, size_t size, garner_error *error)
{
    archive->at += size;
    return sink_write(archive->sink, bytes, size, error);
}

static unsigned name_flags(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name >= 0x80) return UTF8_NAMES;
    return 0;
}

/* The fields that a member's own header and the directory share. */
static void put_shared(struct record *record, const struct written *member, int zip64, size_t extra)
{
    put(record, zip64 ? VERSION_ZIP64 : VERSION_PLAIN, 2);
    put(record, name_flags(member->name), 2);
    put(record, ZIP_STORED, 2);
    put(record, 0, 2);
    put(record, FIRST_DAY, 2);
    put(record, member->crc, 4);
    put(record, member->size >= too_large ? too_large : member->size, 4);
    put(record, member->size >= too_large ? too_large : member->size, 4);
    put(record, strlen(member->name), 2);
    put(record, extra, 2);
}

/* ---- Members ---- */

/* The member's header, with an extra field as long as it takes for the elements to be aligned. They come
 * after a .npy header whose size is such a multiple itself. */
static garner_status write_header(struct archive *archive, const struct written *member, garner_error *error)
{
    struct record record = {.size = 0}, extra = {.size = 0};
    int zip64 = member->size >= too_large;
    if (zip64) {
        put(&extra, 1, 2);
        put(&extra, 16, 2);
        put(&extra, member->size, 8);
        put(&extra, member->size, 8);
    }
    enum { LOCAL_SIZE = 30, FIELD = 6 };
    uint64_t end = archive->at + LOCAL_SIZE + strlen(member->name) + extra.size + FIELD;
    size_t padding = (size_t)(ALIGNMENT - end % ALIGNMENT) % ALIGNMENT;
    put(&extra, ALIGNING_FIELD, 2);
    put(&extra, 2 + padding, 2);
    put(&extra, ALIGNMENT, 2);
    memset(extra.bytes + extra.size, 0, padding);
    extra.size += padding;
    put(&record, 0x04034b50, 4);
    put_shared(&record, member, zip64, extra.size);
    garner_status status = emit(archive, record.bytes, record.size, error);
    if (!status) status = emit(archive, member->name, strlen(member->name), error);
    return status ? status : emit(archive, extra.bytes, extra.size, error);
}

struct summing {
    struct archive *archive;
    uint32_t sum;
};

static garner_status add_to_sum(void *context, const void *bytes, size_t size, garner_error *error)
{
    struct summing *summing = context;
    (void)error;
    summing->sum = zip_crc_add(&summing->archive->crc, summing->sum, bytes, size);
    return GARNER_OK;
}

static garner_status write_and_sum(void *context, const void *bytes, size_t size, garner_error *error)
{
    struct summing *summing = context;
    unsigned char *piece = summing->archive->piece;
    garner_status status = GARNER_OK;
    for (size_t done = 0; done < size && !status; done += PIECE) {
        size_t part = size - done < PIECE ? size - done : PIECE;
        memcpy(piece, (const unsigned char *)bytes + done, part);
        (void)add_to_sum(context, piece, part, error);
        status = emit(summing->archive, piece, part, error);
    }
    return status;
}

/* Puts the checksum into the header, or compares it with the one there. */
static garner_status settle_sum(struct archive *archive, struct written *member, uint32_t sum,
                                garner_error *error)
{
    struct record record = {.size = 0};
    if (sum == member->crc) return GARNER_OK;
    if (!sink_is_patchable(archive->sink))
        return fail_at(error, GARNER_BAD_ARGUMENT, archive->path,
                       "the elements were changed while they were written");
    member->crc = sum;
    put(&record, sum, 4);
    return sink_patch(archive->sink, member->offset + CRC_AT, record.bytes, record.size, error);
}

static garner_status write_tensor(struct archive *archive, struct written *member, const struct array *array,
                                  garner_error *error)
{
    struct npy_text head;
    uint64_t bytes;
    garner_status status = npy_preamble(&head, &array->tensor, array->descr, archive->path, error);
    if (!status) status = elements_bytes(&array->tensor, archive->path, &bytes, error);
    if (!status) {
        struct summing first = {archive, zip_crc_add(&archive->crc, 0, head.bytes, head.size)},
                       second = first;
        if (!sink_is_patchable(archive->sink))
            status = elements_walk(&array->tensor, 0, add_to_sum, &first, error);
        member->crc = first.sum;
        member->size = head.size + bytes;
        member->offset = archive->at;
        if (!status) status = write_header(archive, member, error);
        if (!status) status = emit(archive, head.bytes, head.size, error);
        if (!status) status = elements_walk(&array->tensor, 0, write_and_sum, &second, error);
        if (!status) status = settle_sum(archive, member, second.sum, error);
    }
    free(head.bytes);
    return status;
}

static garner_status write_member(struct archive *archive, size_t i, garner_error *error)
{
    struct array array;
    const struct store_source *source = archive->source;
    garner_status status = source->load(source->context, i, &array, error);
    if (status) return status;
    status = write_tensor(archive, &archive->members[i], &array, error);
    array_free(&array);
    return status;
}

/* ---- The directory ---- */

static garner_status write_entry(struct archive *archive, const struct written *member, garner_error *error)
{
    struct record record = {.size = 0}, extra = {.size = 0};
    int large = member->size >= too_large, far = member->offset >= too_large;
    if (large || far) {
        put(&extra, 1, 2);
        put(&extra, (large ? 16u : 0u) + (far ? 8u : 0u), 2);
        if (large) put(&extra, member->size, 8);
        if (large) put(&extra, member->size, 8);
        if (far) put(&extra, member->offset, 8);
    }
    put(&record, 0x02014b50, 4);
    put(&record, 3 << 8 | VERSION_ZIP64, 2); /* 3: Unix, so that the mode below counts */
    put_shared(&record, member, large || far, extra.size);
    put(&record, 0, 6); /* no comment, the first disk, no attributes */
    put(&record, 0600u << 16, 4);
    put(&record, far ? too_large : member->offset, 4);
    garner_status status = emit(archive, record.bytes, record.size, error);
    if (!status) status = emit(archive, member->name, strlen(member->name), error);
    return status ? status : emit(archive, extra.bytes, extra.size, error);
}

static garner_status write_end(struct archive *archive, uint64_t directory, garner_error *error)
{
    struct record record = {.size = 0};
    uint64_t count = archive->source->count, end = archive->at, size = end - directory;
    int many = count >= 0xFFFF, large = size >= too_large, far = directory >= too_large;
    if (many || large || far) {
        put(&record, 0x06064b50, 4);
        put(&record, 44, 8);
        put(&record, VERSION_ZIP64, 2);
        put(&record, VERSION_ZIP64, 2);
        put(&record, 0, 8);
        put(&record, count, 8);
        put(&record, count, 8);
        put(&record, size, 8);
        put(&record, directory, 8);
        put(&record, 0x07064b50, 4);
        put(&record, 0, 4);
        put(&record, end, 8);
        put(&record, 1, 4);
    }
    put(&record, 0x06054b50, 4);
    put(&record, 0, 4);
    put(&record, many ? 0xFFFF : count, 2);
    put(&record, many ? 0xFFFF : count, 2);
    put(&record, large ? too_large : size, 4);
    put(&record, far ? too_large : directory, 4);
    put(&record, 0, 2);
    return emit(archive, record.bytes, record.size, error);
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    struct archive *archive = context;
    garner_status status = GARNER_OK;
    archive->sink = sink;
    for (size_t i = 0; i < archive->source->count && !status; i++)
        status = write_member(archive, i, error);
    uint64_t directory = archive->at;
    for (size_t i = 0; i < archive->source->count && !status; i++)
        status = write_entry(archive, &archive->members[i], error);
    return status ? status : write_end(archive, directory, error);
}

/* ---- Names ---- */

/* Names of members. A type that .npy lacks is refused when its turn comes, and then nothing is left. */
static garner_status name_members(struct archive *archive, garner_error *error)
{
    const struct store_source *source = archive->source;
    for (size_t i = 0; i < source->count; i++) {
        struct store_entry entry;
        garner_status status = source->describe(source->context, i, &entry, error);
        if (status) return status;
        size_t size = strlen(entry.name);
        if (size > LONGEST_NAME - 4 || !utf8_is_valid(entry.name))
            return fail_at(error, GARNER_UNSUPPORTED, archive->path,
                           "a name of %zu bytes is too long for .npz, or not UTF-8", size);
        archive->members[i].name = malloc(size + 5);
        if (!archive->members[i].name) return fail_memory(error, archive->path, size + 5);
        memcpy(archive->members[i].name, entry.name, size);
        memcpy(archive->members[i].name + size, ".npy", 5);
    }
    return GARNER_OK;
}

garner_status npz_save(const char *path, const struct store_source *source, garner_error *error)
{
    size_t count = source->count ? source->count : 1;
    struct archive archive = {.path = path, .source = source};
    archive.members = calloc(count, sizeof *archive.members);
    if (!archive.members) return fail_memory(error, path, count * sizeof *archive.members);
    zip_crc_begin(&archive.crc);
    archive.piece = malloc(PIECE);
    garner_status status =
        archive.piece ? name_members(&archive, error) : fail_memory(error, path, (uint64_t)PIECE);
    if (!status) status = file_save(path, produce, &archive, error);
    for (size_t i = 0; i < source->count; i++)
        free(archive.members[i].name);
    free(archive.members);
    free(archive.piece);
    return status;
}
