/* SPDX-License-Identifier: MIT */
/* The reader of protobuf's wire format reads nothing outside its input, and each step takes something of it.
 */
#include "wire.h"

/*@ predicate readable(struct wire_span *span) = \valid_read(span->bytes + (0 .. span->size - 1));
    predicate taken{A, B}(struct wire_span *span) = \at(span->size, B) <= \at(span->size, A) &&
      \base_addr{B}(\at(span->bytes, B)) == \base_addr{A}(\at(span->bytes, A)) &&
      \at(span->bytes, B) - \at(span->bytes, A) == \at(span->size, A) - \at(span->size, B); */

/*@ assigns \nothing;
    ensures \result == -1; */
static int refuse(const struct wire_file *file, const unsigned char *place, const char *what);

/*@ assigns \nothing;
    ensures \result == -1; */
static int refuse_type(const struct wire_file *file, const unsigned char *place, unsigned type);

/*@ requires \valid(span) && size <= span->size;
    assigns span->bytes, span->size;
    ensures span->size == \old(span->size) - size && span->bytes == \old(span->bytes) + size; */
static void cut(struct wire_span *span, uint64_t size);

/*@ requires \valid(span) && \valid(value) && readable(span) && \separated(span, value);
    requires \separated(span, span->bytes + (0 .. span->size - 1));
    requires \separated(value, span->bytes + (0 .. span->size - 1));
    assigns *value, span->bytes, span->size;
    ensures \result == 1 || \result == -1;
    ensures taken{Pre, Post}(span);
    ensures \result == 1 ==> span->size < \old(span->size); */
static int read_varint(const struct wire_file *file, struct wire_span *span, uint64_t *value);

/*@ requires \valid(span) && \valid(value) && readable(span) && \separated(span, value) && 1 <= bytes <= 8;
    requires \separated(span, span->bytes + (0 .. span->size - 1));
    requires \separated(value, span->bytes + (0 .. span->size - 1));
    assigns *value, span->bytes, span->size;
    ensures \result == 1 || \result == -1;
    ensures taken{Pre, Post}(span);
    ensures \result == 1 ==> span->size < \old(span->size); */
static int read_fixed(const struct wire_file *file, struct wire_span *span, unsigned bytes, uint64_t *value);

/*@ requires \valid(span) && \valid(bytes) && readable(span) && \separated(span, bytes);
    requires \separated(span, span->bytes + (0 .. span->size - 1));
    requires \separated(bytes, span->bytes + (0 .. span->size - 1));
    assigns *bytes, span->bytes, span->size;
    ensures \result == 1 || \result == -1;
    ensures taken{Pre, Post}(span);
    ensures \result == 1 ==> span->size < \old(span->size);
    ensures \result == 1 ==> bytes->size <= \old(span->size) && \valid_read(bytes->bytes + (0 .. bytes->size -
   1)); */
static int read_bytes(const struct wire_file *file, struct wire_span *span, struct wire_span *bytes);

/*@ requires \valid(packed) && \valid(value) && readable(packed) && \separated(packed, value);
    requires \separated(packed, packed->bytes + (0 .. packed->size - 1));
    requires \separated(value, packed->bytes + (0 .. packed->size - 1));
    assigns *value, packed->bytes, packed->size;
    ensures \result == 0 <==> \old(packed->size) == 0;
    ensures taken{Pre, Post}(packed);
    ensures \result == 1 ==> packed->size < \old(packed->size); */
int wire_next_packed(const struct wire_file *file, struct wire_span *packed, enum wire_type type,
                     uint64_t *value);

/*@ requires \valid(message) && \valid(field) && readable(message) && \separated(message, field);
    requires \separated(message, message->bytes + (0 .. message->size - 1));
    requires \separated(field, message->bytes + (0 .. message->size - 1));
    assigns *field, message->bytes, message->size;
    ensures \result == 0 || \result == 1 || \result == -1;
    ensures \result == 0 <==> \old(message->size) == 0;
    ensures taken{Pre, Post}(message);
    ensures \result == 1 ==> message->size < \old(message->size);
    ensures \result == 1 && field->type == WIRE_BYTES ==>
      \valid_read(field->span.bytes + (0 .. field->span.size - 1)); */
int wire_next(const struct wire_file *file, struct wire_span *message, struct wire_field *field);

#include "../../formats/onnx/wire.c"
