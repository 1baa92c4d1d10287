/* SPDX-License-Identifier: MIT */
/* The file itself: reads a part of the table, and looks at what other processes did to it meanwhile. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#define _DARWIN_C_SOURCE

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "byteorder.h"
#include "fail.h"
#include "table.h"

#ifdef __APPLE__
#define st_mtim st_mtimespec /* the time of the last write, under its name there */
#endif

/* ---- What another process does to the file ---- */

garner_status table_look(const garner_table *table, struct table_moment *written, garner_error *error)
{
    struct stat about;
    *written = (struct table_moment){0};
    if (table->place.descriptor < 0) return GARNER_OK;
    if (fstat(table->place.descriptor, &about)) return fail_errno(error, table->path, "read", errno);
    *written = (struct table_moment){about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
    uint64_t end = table->place.offset + table->place.array.tensor.bytes;
    if ((uint64_t)about.st_size >= end) return GARNER_OK;
    return fail_at(
        error, GARNER_SYSTEM, table->path,
        "the file has become shorter since it was opened: it ends at offset %llu, and the table at %llu",
        (unsigned long long)about.st_size, (unsigned long long)end);
}

garner_status table_look_again(const garner_table *table, const struct table_moment *before,
                               garner_error *error)
{
    struct table_moment after;
    garner_status status = table_look(table, &after, error);
    if (status) return status;
    if (before->seconds == after.seconds && before->nanoseconds == after.nanoseconds) return GARNER_OK;
    return fail_at(error, GARNER_SYSTEM, table->path, "the file was written to while it was read");
}

/* ---- A part of a table ---- */

/* Reads a range of the file, however often the system must be asked. */
static garner_status read_range(const garner_table *table, uint64_t offset, uint64_t bytes,
                                unsigned char *into, garner_error *error)
{
    enum { LARGEST = 1 << 30 };
    while (bytes) {
        ssize_t got =
            pread(table->place.descriptor, into, bytes < LARGEST ? (size_t)bytes : LARGEST, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return table_fail_read(table, offset, bytes, got < 0 ? errno : 0, error);
        into += got, offset += (uint64_t)got, bytes -= (uint64_t)got;
    }
    return GARNER_OK;
}

garner_status garner_table_read(garner_table *table, uint64_t first, uint64_t bytes, void *into,
                                garner_error *error)
{
    if (!table || (!into && bytes))
        return fail(error, GARNER_BAD_ARGUMENT, "garner_table_read: %s is NULL", table ? "into" : "table");
    const struct store_place *place = &table->place;
    if (first > place->array.tensor.bytes || bytes > place->array.tensor.bytes - first)
        return fail_at(error, GARNER_BAD_ARGUMENT, table->path,
                       "%llu bytes from byte %llu on are not within the %llu of the table",
                       (unsigned long long)bytes, (unsigned long long)first,
                       (unsigned long long)place->array.tensor.bytes);
    if (place->descriptor < 0) {
        if (bytes) memcpy(into, (const unsigned char *)place->array.tensor.data + first, (size_t)bytes);
        return succeed(error);
    }
    if (place->swap && (first % place->swap || bytes % place->swap))
        return fail_at(error, GARNER_BAD_ARGUMENT, table->path,
                       "the part does not begin and end with a number");
    garner_status status = read_range(table, place->offset + first, bytes, into, error);
    if (status) return status;
    byteorder_reverse(into, (size_t)bytes, place->swap);
    return succeed(error);
}
