/* SPDX-License-Identifier: MIT */
/* Sentences about files, and making foreign text harmless for a terminal. */
#define _POSIX_C_SOURCE 200809L

#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character at `text` and its code point, or 0 if it is not well formed. */
static size_t decode(const unsigned char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = text[0];
    size_t size = first < 0x80                    ? 1
                  : first < 0xc0 || first >= 0xf8 ? 0
                  : first < 0xe0                  ? 2
                  : first < 0xf0                  ? 3
                                                  : 4;
    *code = first;
    if (size < 2) return size;
    *code &= 0x7fu >> size;
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (text[i] & 0x3fu);
    }
    int surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[size] || *code > 0x10ffff || surrogate ? 0 : size;
}

int is_utf8(const char *text)
{
    uint32_t code;
    for (size_t size; *text; text += size) {
        size = decode((const unsigned char *)text, &code);
        if (!size) return 0;
    }
    return 1;
}

/* Control characters, and the marks that reverse or hide what follows them. */
static int steers(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

/* Writes the first character of `text`, harmless, into `out` (17 bytes); returns how many bytes of
 * text it was. An invalid byte stands alone. */
static size_t harmless(const char *text, char *out)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t code;
    size_t size = decode(bytes, &code);
    if (size && !steers(code)) {
        memcpy(out, text, size);
        out[size] = 0;
        return size;
    }
    if (!size) size = 1;
    for (size_t i = 0; i < size; i++)
        snprintf(out + 4 * i, 5, "\\x%02x", bytes[i]);
    return size;
}

static size_t harmless_length(const char *text)
{
    char out[17];
    size_t length = 0;
    for (; *text; length += strlen(out))
        text += harmless(text, out);
    return length;
}

char *printable(char *buffer, size_t size, const char *text)
{
    static const char dots[] = "...";
    char out[17];
    size_t length = harmless_length(text), used = 0;
    if (length >= size) {
        memcpy(buffer, dots, used = sizeof dots - 1);
        for (; length + used >= size; length -= strlen(out))
            text += harmless(text, out);
    }
    while (*text) {
        text += harmless(text, out);
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
    char shown[200];
    int used = snprintf(error->message, sizeof error->message, "%s: ", printable(shown, sizeof shown, path));
    if (used < 0) return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message + used, sizeof error->message - (size_t)used, format, arguments);
    va_end(arguments);
    return status;
}

garner_status fail_errno(garner_error *error, const char *path, const char *what, int number)
{
    char text[128];
    if (strerror_r(number, text, sizeof text)) snprintf(text, sizeof text, "error %d", number);
    return fail_at(error, GARNER_SYSTEM, path, "cannot %s: %s", what, text);
}

garner_status fail_memory(garner_error *error, const char *path, uint64_t bytes)
{
    return fail_at(error, GARNER_NO_MEMORY, path, "not enough memory for %llu bytes",
                   (unsigned long long)bytes);
}

garner_status succeed(garner_error *error)
{
    if (error) set_status(error, GARNER_OK);
    return GARNER_OK;
}
