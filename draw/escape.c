/* SPDX-License-Identifier: MIT */
/*
 * Escapes in both directions. Both work one character at a time, so that callers need no buffer for a
 * whole string.
 */
#include "escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

/* ---- Writing ---- */

static int write_escape(char out[ESCAPE_SIZE], uint32_t point)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = point == 0 || point > 0x7F ? NULL : strchr(plain, (int)point);
    if (found) return snprintf(out, ESCAPE_SIZE, "\\%c", letters[found - plain]);
    return snprintf(out, ESCAPE_SIZE, "\\u%04x", (unsigned)point);
}

int escape_next(char out[ESCAPE_SIZE], const char *bytes, size_t left, enum escape_style style, size_t *used)
{
    uint32_t point = 0;
    size_t length = utf8_decode(bytes, left, &point);
    *used = length ? length : 1;
    if (length == 0)
        return snprintf(out, ESCAPE_SIZE, style == ESCAPE_JSON ? "\\udc%02x" : "\\x%02x",
                        (unsigned)(unsigned char)bytes[0]);
    if (point == '"' || point == '\\' || !utf8_is_printable(point)) return write_escape(out, point);
    memcpy(out, bytes, length);
    out[length] = '\0';
    return (int)length;
}

/* ---- Reading ---- */

/* The value of exactly `count` hexadecimal digits, or -1. */
static int32_t hexadecimal(const char *text, size_t left, size_t count)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int32_t value = 0;
    if (left < count) return -1;
    for (size_t i = 0; i < count; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit) return -1;
        value = value << 4 | (int32_t)((digit - digits) & 15);
    }
    return value;
}

static int unescape_byte(char out[4], const char *text, size_t left, size_t *used)
{
    int32_t byte = hexadecimal(text + 2, left - 2, 2);
    if (byte < 0) return -1;
    out[0] = (char)byte;
    *used = 4;
    return 1;
}

/* \uXXXX, a surrogate pair of them, or \udcNN for a byte that is not UTF-8. */
static int unescape_point(char out[4], const char *text, size_t left, size_t *used)
{
    int32_t point = hexadecimal(text + 2, left - 2, 4);
    if (point < 0) return -1;
    *used = 6;
    if (point < 0xD800 || point > 0xDFFF) return utf8_encode(out, (uint32_t)point);
    if (point >= 0xDC80 && point <= 0xDCFF) {
        out[0] = (char)(point & 0xFF);
        return 1;
    }
    if (point > 0xDBFF || left < 12 || text[6] != '\\' || text[7] != 'u') return -1;
    int32_t low = hexadecimal(text + 8, left - 8, 4);
    if (low < 0xDC00 || low > 0xDFFF) return -1;
    *used = 12;
    return utf8_encode(out, 0x10000u + (((uint32_t)point & 0x3FF) << 10 | ((uint32_t)low & 0x3FF)));
}

int escape_undo(char out[4], const char *text, size_t left, size_t *used)
{
    static const char letters[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    *used = 1;
    out[0] = text[0];
    if (text[0] != '\\') return 1;
    if (left < 2 || text[1] == '\0') return -1;
    if (text[1] == 'x') return unescape_byte(out, text, left, used);
    if (text[1] == 'u') return unescape_point(out, text, left, used);
    const char *letter = strchr(letters, text[1]);
    if (!letter) return -1;
    out[0] = plain[letter - letters];
    *used = 2;
    return 1;
}
