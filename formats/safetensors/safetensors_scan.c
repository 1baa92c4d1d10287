/* SPDX-License-Identifier: MIT */
/* The tokens of a .safetensors header: as much JSON as it may hold. Nothing is looked at twice. */
#include "safetensors.h"

#include <string.h>

#include "utf8.h"

garner_status safetensors_next(struct tokens *scan, char end, int *done)
{
    char what[] = "',' or '?'";
    *done = tokens_take(scan, end);
    if (*done || tokens_take(scan, ',')) return GARNER_OK;
    what[8] = end;
    return tokens_malformed(scan, what);
}

/* ---- Strings ---- */

static int hexadecimal_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The number that four digits are, or -1. */
static int hexadecimal(const char *text)
{
    int value = 0;
    /*@ loop invariant 0 <= i <= 4 && 0 <= value;
        loop invariant (i == 0 ==> value == 0) && (i == 1 ==> value <= 0xF) && (i == 2 ==> value <= 0xFF);
        loop invariant (i == 3 ==> value <= 0xFFF) && (i == 4 ==> value <= 0xFFFF);
        loop assigns i, value;
        loop variant 4 - i; */
    for (int i = 0; i < 4; i++) {
        int digit = hexadecimal_digit(text[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Length of the escape at `text`, which begins with a backslash; 0 if it is none. */
static size_t escape_length(const char *text, size_t left)
{
    if (left < 2 || !text[1]) return 0;
    if (text[1] == 'u') return left >= 6 && hexadecimal(text + 2) >= 0 ? 6 : 0;
    return strchr("\"\\/bfnrt", text[1]) ? 2 : 0;
}

garner_status safetensors_string(struct tokens *scan, const char **text, size_t *size)
{
    if (!tokens_take(scan, '"')) return tokens_malformed(scan, "a string");
    *text = scan->at;
    /*@ loop invariant is_text(scan) && taken{Pre, Here}(scan) && is_part(*text, scan->at - *text, scan);
        loop assigns scan->at;
        loop variant scan->end - scan->at; */
    while (scan->at < scan->end && *scan->at != '"') {
        uint32_t code;
        size_t left = (size_t)(scan->end - scan->at);
        size_t length =
            *scan->at == '\\' ? escape_length(scan->at, left) : utf8_decode(scan->at, left, &code);
        if (!length || (unsigned char)*scan->at < ' ')
            return tokens_malformed(scan, "UTF-8 without control characters, and JSON's escapes");
        scan->at += length;
    }
    *size = (size_t)(scan->at - *text);
    return tokens_expect(scan, '"');
}

/* The code point of \uXXXX, or of two of them that belong together; 0 if it is none, or zero itself. */
static uint32_t code_point(const char *text, size_t left, size_t *used)
{
    uint32_t high = (uint32_t)hexadecimal(text + 2);
    *used = 6;
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high > 0xDBFF || left < 12 || text[6] != '\\' || text[7] != 'u') return 0;
    uint32_t low = (uint32_t)hexadecimal(text + 8);
    if (low < 0xDC00 || low > 0xDFFF) return 0;
    *used = 12;
    return 0x10000u + ((high & 0x3FF) << 10 | (low & 0x3FF));
}

int64_t safetensors_unescape(char *out, const char *text, size_t size)
{
    static const char letters[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    int64_t length = 0;
    for (size_t i = 0, used; i < size; i += used) {
        used = 1;
        if (text[i] != '\\') {
            out[length++] = text[i];
        } else if (text[i + 1] != 'u') {
            out[length++] = plain[strchr(letters, text[i + 1]) - letters];
            used = 2;
        } else {
            uint32_t point = code_point(text + i, size - i, &used);
            if (!point) return -1;
            length += utf8_encode(out + length, point);
        }
    }
    out[length] = 0;
    return length;
}

/* ---- Numbers ---- */

garner_status safetensors_integer(struct tokens *scan, int64_t *value)
{
    tokens_skip(scan);
    const char *digits = scan->at;
    if (!tokens_digits(scan, value)) return tokens_malformed(scan, "a number that fits in 63 bits");
    if (scan->at == digits || (*digits == '0' && scan->at > digits + 1)) {
        scan->at = digits;
        return tokens_malformed(scan, "a number of digits alone");
    }
    return GARNER_OK;
}

garner_status safetensors_integers(struct tokens *scan, int64_t *values, size_t most, size_t *count)
{
    int done = 0;
    int64_t value;
    *count = 0;
    garner_status status = tokens_expect(scan, '[');
    if (status || tokens_take(scan, ']')) return status;
    /*@ loop invariant is_text(scan) && advanced{Pre, Here}(scan) && (status == 0 ==> taken{Pre, Here}(scan));
        loop assigns status, done, value, *count, values[0 .. most - 1], scan->at;
        loop variant status == 0 ? scan->end - scan->at + 1 : 0; */
    while (!status && !done) {
        status = safetensors_integer(scan, &value);
        if (!status && *count < most) values[*count] = value;
        ++*count;
        if (!status) status = safetensors_next(scan, ']', &done);
    }
    return status;
}
