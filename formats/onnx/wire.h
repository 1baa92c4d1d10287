/* SPDX-License-Identifier: MIT */
/*
 * Protobuf's wire format, read where it lies: messages are ranges of a file that is in memory, a field is
 * a number or a range. Nothing is copied, nothing recurses, lengths have 64 bits, and each complaint names
 * the byte.
 */
#ifndef GARNER_FORMATS_WIRE_H
#define GARNER_FORMATS_WIRE_H

#include "garner.h"

/* The file, for complaints. */
struct wire_file {
    const char *path;
    const unsigned char *bytes;
    garner_error *error;
};

/* A range of the file: a message, a text, packed numbers. */
struct wire_span {
    const unsigned char *bytes;
    uint64_t size;
};

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;             /* of WIRE_VARINT, WIRE_FIXED64, WIRE_FIXED32 */
    struct wire_span span;      /* of WIRE_BYTES */
    const unsigned char *place; /* where it begins in the file */
};

/* The next field, taken from the front of *message: 1, 0 if there is none left, or -1 if it is malformed:
 * a varint beyond 10 bytes, a length past the end, field 0, a group. */
int wire_next(const struct wire_file *file, struct wire_span *message, struct wire_field *field);

/* The next number from the front of packed ones, as wire_next otherwise. */
int wire_next_packed(const struct wire_file *file, struct wire_span *packed, enum wire_type type,
                     uint64_t *value);

/* GARNER_BAD_FILE: "PATH: malformed at byte N: WHAT". */
garner_status wire_malformed(const struct wire_file *file, const unsigned char *place, const char *what);

/* The same for a message that is not what it was when it was read before. A mapped file may be written to by
 * another process, so whoever reads twice compares. */
garner_status wire_changed(const struct wire_file *file, const unsigned char *place);

/* Which fields of a message are messages themselves. A table ends with field 0. */
struct wire_schema {
    uint32_t field;
    const struct wire_schema *message;
};

enum { WIRE_MOST_DEPTH = 64 };

/* Walks all messages within a message, as far as the schema knows them, and refuses what wire_next would
 * refuse anywhere, and more than WIRE_MOST_DEPTH levels. */
garner_status wire_check(const struct wire_file *file, struct wire_span message,
                         const struct wire_schema *schema);

#endif
