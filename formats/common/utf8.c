/* SPDX-License-Identifier: MIT */
/* Characters of shortest form only: a longer one would be another spelling of the same text. */
#include "utf8.h"

/* Code points that show nothing by themselves but change what a terminal shows, and two that XML has not. */
static const struct {
    uint32_t first, last;
} unprintable[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x200B, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF},
};

int utf8_is_printable(uint32_t code)
{
    for (size_t i = 0; i < sizeof unprintable / sizeof *unprintable; i++)
        if (code >= unprintable[i].first && code <= unprintable[i].last) return 0;
    return 1;
}

size_t utf8_decode(const char *bytes, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned first = (unsigned char)bytes[0];
    size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > left) return 0;
    *code = length == 1 ? first : first & (0x7Fu >> length);
    /*@ loop invariant 1 <= i <= length;
        loop assigns i, *code;
        loop variant length - i; */
    for (size_t i = 1; i < length; i++) {
        unsigned next = (unsigned char)bytes[i];
        if (next >> 6 != 2) return 0;
        *code = *code << 6 | (next & 0x3F);
    }
    int surrogate = *code >= 0xD800 && *code <= 0xDFFF;
    return *code < least[length] || *code > 0x10FFFF || surrogate ? 0 : length;
}

int utf8_encode(char out[4], uint32_t code)
{
    static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[length] | code);
    return length;
}

int utf8_is_valid(const char *text)
{
    uint32_t code;
    for (size_t length; *text; text += length) {
        length = utf8_decode(text, SIZE_MAX, &code);
        if (!length) return 0;
    }
    return 1;
}
