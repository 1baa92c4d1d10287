/* SPDX-License-Identifier: MIT */
/* Sentences about files, and making foreign text harmless for a terminal. */
#define _POSIX_C_SOURCE 200809L

#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

size_t printable_next(char out[PRINTABLE_NEXT], const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t code;
    size_t size = utf8_decode(text, SIZE_MAX, &code);
    if (size && utf8_is_printable(code)) {
        memcpy(out, text, size);
        out[size] = 0;
        return size;
    }
    if (!size) size = 1;
    for (size_t i = 0; i < size; i++)
        snprintf(out + 4 * i, 5, "\\x%02x", bytes[i]);
    return size;
}

/* As much of the end as can fill `size` bytes, as no character takes less room than it has. */
static const char *end_of(const char *text, size_t size)
{
    const size_t length = strlen(text);
    if (length <= size) return text;
    const char *at = text + length - size;
    for (int i = 0; i < 3 && at > text && (*at & 0xC0) == 0x80; i++)
        at--; /* to where a character begins */
    return at;
}

static size_t harmless_length(const char *text)
{
    char out[PRINTABLE_NEXT];
    size_t length = 0;
    for (; *text; length += strlen(out))
        text += printable_next(out, text);
    return length;
}

char *printable(char *buffer, size_t size, const char *text)
{
    static const char dots[] = "...";
    char out[PRINTABLE_NEXT];
    text = end_of(text, size);
    size_t length = harmless_length(text), used = 0;
    if (length >= size) {
        memcpy(buffer, dots, used = sizeof dots - 1);
        for (; length + used >= size; length -= strlen(out))
            text += printable_next(out, text);
    }
    while (*text) {
        text += printable_next(out, text);
        memcpy(buffer + used, out, strlen(out));
        used += strlen(out);
    }
    buffer[used] = 0;
    return buffer;
}

static void set_status(garner_error *error, garner_status status)
{
    error->status = status;
    error->has = 0;
    error->message[0] = 0;
}

garner_status fail(garner_error *error, garner_status status, const char *format, ...)
{
    if (!error) return status;
    set_status(error, status);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

garner_status fail_at(garner_error *error, garner_status status, const char *path, const char *format, ...)
{
    if (!error) return status;
    set_status(error, status);
    char shown[FAIL_PATH];
    int used = snprintf(error->message, sizeof error->message,
                        "%s: ", *path ? printable(shown, sizeof shown, path) : "''");
    /* uncovered: this format cannot fail */
    if (used < 0) return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message + used, sizeof error->message - (size_t)used, format, arguments);
    va_end(arguments);
    return status;
}

/* The system's sentence, or the number where it has none; musl then says what it says of 0. */
static void describe_errno(char *text, size_t size, int number)
{
    char of_none[128] = "";
    (void)strerror_r(0, of_none, sizeof of_none);
    if (strerror_r(number, text, size) || strcmp(text, of_none) == 0)
        snprintf(text, size, "error %d", number);
}

garner_status fail_errno(garner_error *error, const char *path, const char *what, int number)
{
    char text[128];
    describe_errno(text, sizeof text, number);
    garner_status status = number == ENOMEM ? GARNER_NO_MEMORY : GARNER_SYSTEM;
    (void)fail_at(error, status, path, "cannot %s: %s", what, text);
    if (error) error->value.i = number;
    return status;
}

garner_status succeed(garner_error *error)
{
    if (error) set_status(error, GARNER_OK);
    return GARNER_OK;
}

const char *fail_label(char label[FAIL_LABEL], const char *path, const char *name)
{
    snprintf(label, FAIL_LABEL, "%s%s%s", path, *name ? ":" : "", name);
    return label;
}
