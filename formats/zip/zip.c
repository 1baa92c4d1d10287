/* SPDX-License-Identifier: MIT */
/*
 * The directory of a zip file, read from its end. Sums of what the file says are never formed: a place is
 * compared with what is left of the file.
 */
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

enum {
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    RECORD_SIZE = 46, /* of a member in the directory */
    LOCAL_SIZE = 30,  /* of its own header */
    LONGEST_COMMENT = 65535,
    ZIP64_FIELD = 1,
    ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13,
    SIZES_FOLLOW = 1 << 3, /* the member's own header does not know its sizes yet */
    BEST_RATIO = 1032      /* of deflate: 258 bytes from 2 bits */
};

/* A member, and where the next one (or the directory) begins. The file may be one that another process writes
 * to while it is mapped: numbers are read once, checked, and from then on taken from here. */
struct zip_place {
    struct zip_member member;
    uint64_t limit;
};

static uint64_t number(const unsigned char *bytes, int size)
{
    uint64_t value = 0;
    /*@ loop invariant 0 <= size <= \at(size, Pre);
        loop assigns size, value;
        loop variant size; */
    while (size--)
        value = value << 8 | bytes[size];
    return value;
}

static unsigned u16(const unsigned char *bytes)
{
    return (unsigned)number(bytes, 2);
}

static uint32_t u32(const unsigned char *bytes)
{
    return (uint32_t)number(bytes, 4);
}

static int begins_with(const unsigned char *bytes, char third, char fourth)
{
    return bytes[0] == 'P' && bytes[1] == 'K' && bytes[2] == (unsigned char)third &&
           bytes[3] == (unsigned char)fourth;
}

static garner_status malformed(const struct zip *zip, const char *what, garner_error *error)
{
    return fail_at(error, GARNER_BAD_FILE, zip->path, "malformed .npz: %s", what);
}

/* ---- The end of the file ---- */

/* The end record is followed by a comment, which is followed by nothing. */
static garner_status find_end(const struct zip *zip, uint64_t *end, garner_error *error)
{
    uint64_t most = zip->size < END_SIZE ? 0 : zip->size - END_SIZE + 1;
    /*@ loop invariant 0 <= back <= most;
        loop assigns back, *end;
        loop variant most - back; */
    for (uint64_t back = 0; back < most && back <= LONGEST_COMMENT; back++) {
        *end = zip->size - END_SIZE - back;
        const unsigned char *record = zip->bytes + *end;
        if (begins_with(record, 5, 6) && u16(record + 20) == back) return GARNER_OK;
    }
    if (!zip->size) return fail_at(error, GARNER_BAD_FILE, zip->path, "not a .npz file: it is empty");
    if (zip->size < 4 || !begins_with(zip->bytes, 3, 4))
        return fail_at(error, GARNER_BAD_FILE, zip->path, "not a .npz file: it is no zip file");
    return malformed(zip, "no zip directory at the end; is the file truncated?", error);
}

/* What the end record says about the directory. */
struct end {
    uint64_t disk, first_disk, here, count, size, offset;
};

/* A value of the first record, unless it only stands for "too large". */
static int agrees(uint64_t value, int bytes, uint64_t value64)
{
    return value == value64 || value == (bytes == 2 ? 0xFFFF : 0xFFFFFFFFu);
}

/* Reads the zip64 records before the end record at `at`, if there are some; they begin at *start. */
static garner_status read_end64(const struct zip *zip, uint64_t at, struct end *end, uint64_t *start,
                                garner_error *error)
{
    if (at < LOCATOR_SIZE || !begins_with(zip->bytes + at - LOCATOR_SIZE, 6, 7)) return GARNER_OK;
    const unsigned char *locator = zip->bytes + at - LOCATOR_SIZE;
    uint64_t place = number(locator + 8, 8), room = at - LOCATOR_SIZE;
    if (room < END64_SIZE || place > room - END64_SIZE || !begins_with(zip->bytes + place, 6, 6))
        return malformed(zip, "the zip64 locator leads nowhere", error);
    const unsigned char *record = zip->bytes + place;
    struct end end64 = {u32(record + 16),       u32(record + 20),       number(record + 24, 8),
                        number(record + 32, 8), number(record + 40, 8), number(record + 48, 8)};
    if (!agrees(end->count, 2, end64.count) || !agrees(end->size, 4, end64.size) ||
        !agrees(end->offset, 4, end64.offset))
        return malformed(zip, "the zip64 record and the end record disagree", error);
    *end = end64;
    *start = place;
    return GARNER_OK;
}

static garner_status read_end(struct zip *zip, uint64_t *count, garner_error *error)
{
    uint64_t at = 0;
    garner_status status = find_end(zip, &at, error);
    if (status) return status;
    const unsigned char *record = zip->bytes + at;
    struct end end = {u16(record + 4),  u16(record + 6),  u16(record + 8),
                      u16(record + 10), u32(record + 12), u32(record + 16)};
    status = read_end64(zip, at, &end, &at, error);
    if (status) return status;
    if (end.disk || end.first_disk || end.here != end.count)
        return fail_at(error, GARNER_UNSUPPORTED, zip->path, "a zip file in several parts");
    if (end.offset > at || end.size != at - end.offset)
        return malformed(zip, "the zip directory does not lie where the file says", error);
    if (end.count > end.size / RECORD_SIZE)
        return malformed(zip, "the zip directory is too small for its entries", error);
    zip->directory = end.offset;
    zip->directory_end = at;
    *count = end.count;
    return GARNER_OK;
}

/* ---- Members ---- */

/* Replaces sizes and offset that stand for "too large" by those of the zip64 field, which has exactly the
 * ones that are missing, in this order. */
static int read_zip64(const unsigned char *extra, size_t size, uint64_t values[3])
{
    int missing = 0;
    /*@ loop invariant 0 <= missing <= i <= 3;
        loop assigns missing, i;
        loop variant 3 - i; */
    for (int i = 0; i < 3; i++)
        missing += values[i] == 0xFFFFFFFFu;
    if (!missing) return 1;
    /*@ loop invariant \valid_read(extra + (0 .. size - 1)) && size <= \at(size, Pre);
        loop assigns extra, size, values[0 .. 2];
        loop variant size; */
    while (size >= 4) {
        size_t length = u16(extra + 2), at = 4;
        if (length > size - 4) return 0;
        /*@ loop invariant 0 <= i <= 3 && 4 <= at <= length + 4;
            loop assigns i, at, values[0 .. 2];
            loop variant 3 - i; */
        for (int i = 0; i < 3 && u16(extra) == ZIP64_FIELD; i++) {
            if (values[i] != 0xFFFFFFFFu) continue;
            if (length + 4 - at < 8) return 0;
            values[i] = number(extra + at, 8);
            at += 8;
        }
        if (u16(extra) == ZIP64_FIELD) return 1;
        extra += 4 + length;
        size -= 4 + length;
    }
    return 0;
}

/* What a record says of its member, whose name follows; the values are those of read_zip64. */
static void describe(const unsigned char *record, size_t name, const uint64_t values[3],
                     struct zip_member *member)
{
    member->flags = u16(record + 8);
    member->method = u16(record + 10);
    member->crc = u32(record + 16);
    member->unpacked = values[0];
    member->packed = values[1];
    member->offset = values[2];
    member->name = (const char *)record + RECORD_SIZE;
    member->name_size = name;
    /*@ assert \valid_read(record + RECORD_SIZE + (0 .. name - 1)); */
    /*@ admit \valid_read(member->name + (0 .. name - 1)); */
}

/* Reads the member whose record lies in front of the `left` bytes of the directory. Returns the size of the
 * record, or 0 and what is wrong. */
static uint64_t read_record(const unsigned char *record, uint64_t left, struct zip_member *member,
                            const char **wrong)
{
    *wrong = "the zip directory ends too early";
    if (left < RECORD_SIZE || !begins_with(record, 1, 2)) return 0;
    size_t name = u16(record + 28), extra = u16(record + 30), comment = u16(record + 32);
    if (left - RECORD_SIZE < name + extra + comment) return 0;
    *wrong = "a zip64 field is missing or short";
    uint64_t values[3] = {u32(record + 24), u32(record + 20), u32(record + 42)};
    if (!read_zip64(record + RECORD_SIZE + name, extra, values)) return 0;
    describe(record, name, values, member);
    return RECORD_SIZE + name + extra + comment;
}

struct zip_member zip_member(const struct zip *zip, size_t i)
{
    return zip->places[i].member;
}

static const char *check_member(const struct zip *zip, const struct zip_member *member)
{
    uint64_t header = LOCAL_SIZE + member->name_size;
    if (member->offset > zip->directory || zip->directory - member->offset < header ||
        zip->directory - member->offset - header < member->packed)
        return "a member lies outside the file";
    if (memchr(member->name, 0, member->name_size)) return "a member's name has a zero byte";
    if (member->method == ZIP_STORED && member->packed != member->unpacked)
        return "a stored member has two sizes";
    if (member->method == ZIP_DEFLATED && member->unpacked / BEST_RATIO > member->packed)
        return "a member claims to inflate more than 1032 times, which deflate cannot";
    return NULL;
}

static garner_status read_members(struct zip *zip, garner_error *error)
{
    uint64_t at = zip->directory;
    for (size_t i = 0; i < zip->count; i++) {
        struct zip_member *member = &zip->places[i].member;
        const char *wrong;
        uint64_t size = read_record(zip->bytes + at, zip->directory_end - at, member, &wrong);
        if (size) wrong = check_member(zip, member);
        if (wrong) return malformed(zip, wrong, error);
        at += size;
    }
    return at == zip->directory_end ? GARNER_OK
                                    : malformed(zip, "the zip directory is longer than its entries", error);
}

/* ---- Overlaps ---- */

static int compare_offsets(const void *a, const void *b)
{
    const struct zip_place *left = *(struct zip_place *const *)a, *right = *(struct zip_place *const *)b;
    uint64_t first = left->member.offset, second = right->member.offset;
    return first < second ? -1 : first > second;
}

/* Sets each limit; zip_locate holds members against it. */
static garner_status set_limits(struct zip *zip, garner_error *error)
{
    struct zip_place **order = malloc((zip->count ? zip->count : 1) * sizeof *order);
    if (!order) return fail_memory(error, zip->path, zip->count * sizeof *order);
    for (size_t i = 0; i < zip->count; i++)
        order[i] = &zip->places[i];
    qsort(order, zip->count, sizeof *order, compare_offsets);
    garner_status status = GARNER_OK;
    for (size_t i = 0; i < zip->count && !status; i++) {
        const struct zip_member *member = &order[i]->member;
        order[i]->limit = i + 1 < zip->count ? order[i + 1]->member.offset : zip->directory;
        if (order[i]->limit - member->offset < LOCAL_SIZE + member->name_size + member->packed)
            status = malformed(zip, "two members overlap", error);
    }
    free(order);
    return status;
}

garner_status zip_open(struct zip *zip, const char *path, const unsigned char *bytes, uint64_t size,
                       garner_error *error)
{
    uint64_t count = 0;
    *zip = (struct zip){.path = path, .bytes = bytes, .size = size};
    zip_crc_begin(&zip->crc);
    garner_status status = read_end(zip, &count, error);
    if (status) return status;
    if (count <= SIZE_MAX / sizeof *zip->places)
        zip->places = malloc((count ? (size_t)count : 1) * sizeof *zip->places);
    if (!zip->places) return fail_memory(error, path, count * sizeof *zip->places);
    zip->count = (size_t)count;
    status = read_members(zip, error);
    return status ? status : set_limits(zip, error);
}

void zip_close(struct zip *zip)
{
    free(zip->places);
    zip->places = NULL;
    zip->count = 0;
}

/* ---- A member's own header ---- */

/* `name` and `extra` are the sizes of what follows the header, and lie within the file. */
static int same_header(const unsigned char *local, size_t name, size_t extra, const struct zip_member *member)
{
    uint64_t values[3] = {u32(local + 22), u32(local + 18), 0};
    if (u16(local + 8) != member->method || (u16(local + 6) ^ member->flags) & (ENCRYPTED | SIZES_FOLLOW))
        return 0;
    if (name != member->name_size || memcmp(local + LOCAL_SIZE, member->name, name) != 0) return 0;
    if (member->flags & SIZES_FOLLOW) return 1;
    return read_zip64(local + LOCAL_SIZE + name, extra, values) && values[0] == member->unpacked &&
           values[1] == member->packed && u32(local + 14) == member->crc;
}

garner_status zip_locate(const struct zip *zip, size_t i, const char *label, const unsigned char **packed,
                         garner_error *error)
{
    struct zip_member member = zip_member(zip, i);
    const unsigned char *local = zip->bytes + member.offset;
    uint64_t room = zip->places[i].limit - member.offset;
    if (!begins_with(local, 3, 4))
        return fail_at(error, GARNER_BAD_FILE, label, "no member begins where the zip directory says");
    size_t name = u16(local + 26), extra = u16(local + 28);
    uint64_t header = LOCAL_SIZE + (uint64_t)name + extra;
    if (room < header || room - header < member.packed)
        return fail_at(error, GARNER_BAD_FILE, label, "the member runs into the next one");
    if (!same_header(local, name, extra, &member))
        return fail_at(error, GARNER_BAD_FILE, label,
                       "the zip directory and the member's own header disagree");
    if (member.flags & ENCRYPTED) return fail_at(error, GARNER_UNSUPPORTED, label, "is encrypted");
    if (member.method != ZIP_STORED && member.method != ZIP_DEFLATED)
        return fail_at(error, GARNER_UNSUPPORTED, label,
                       "is packed by method %u of zip; those known are 0 (stored) and 8 (deflated)",
                       member.method);
    *packed = local + header;
    return GARNER_OK;
}
