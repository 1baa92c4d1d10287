/* SPDX-License-Identifier: MIT */
/*
 * Writes protobuf messages for the tests of the readers, field by field; a message within another is written
 * on its own first.
 */
#ifndef GARNER_TESTS_PROTOBUF_H
#define GARNER_TESTS_PROTOBUF_H

#include <stdint.h>
#include <string.h>

struct message {
    unsigned char bytes[2048];
    size_t size;
};

static inline void put_varint(struct message *message, uint64_t value)
{
    for (; value > 127; value >>= 7)
        message->bytes[message->size++] = (unsigned char)(value | 0x80);
    message->bytes[message->size++] = (unsigned char)value;
}

static inline void put_number(struct message *message, unsigned field, uint64_t value)
{
    put_varint(message, field << 3);
    put_varint(message, value);
}

static inline void put_bytes(struct message *message, unsigned field, const void *bytes, size_t size)
{
    put_varint(message, field << 3 | 2);
    put_varint(message, size);
    memcpy(message->bytes + message->size, bytes, size);
    message->size += size;
}

static inline void put_text(struct message *message, unsigned field, const char *text)
{
    put_bytes(message, field, text, strlen(text));
}

static inline void put_message(struct message *message, unsigned field, const struct message *inner)
{
    put_bytes(message, field, inner->bytes, inner->size);
}

#endif
