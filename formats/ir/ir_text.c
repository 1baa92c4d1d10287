/* SPDX-License-Identifier: MIT */
/* The small languages inside the attributes of an IR: numbers, extents, shapes, types, lists of names. */
#include <string.h>

#include "ir_net.h"

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Takes the blanks off both ends. */
static void trim(const char **text, size_t *size)
{
    while (*size && is_blank(**text))
        (*text)++, (*size)--;
    while (*size && is_blank((*text)[*size - 1]))
        (*size)--;
}

/* Digits and nothing else, at least one. */
static int digits(const char *text, size_t size, uint64_t *number)
{
    uint64_t value = 0;
    if (!size) return 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9') return 0;
        if (__builtin_mul_overflow(value, 10u, &value)) return 0;
        if (__builtin_add_overflow(value, (unsigned)(text[i] - '0'), &value)) return 0;
    }
    *number = value;
    return 1;
}

int ir_unsigned(const char *text, uint64_t *number)
{
    size_t size = strlen(text);
    trim(&text, &size);
    return digits(text, size, number);
}

int ir_signed(const char *text, int64_t *number)
{
    size_t size = strlen(text);
    uint64_t value;
    trim(&text, &size);
    int negative = size && *text == '-';
    if (!digits(text + negative, size - (size_t)negative, &value)) return 0;
    if (value > (uint64_t)INT64_MAX + (uint64_t)negative) return 0;
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return 1;
}

/* ---- Shapes ---- */

/* One end of a range; an end that is not written is the one given. */
static int range_end(const char *text, size_t size, int64_t otherwise, int64_t *end)
{
    uint64_t value;
    trim(&text, &size);
    *end = otherwise;
    if (!size) return 1;
    if (!digits(text, size, &value) || value > INT64_MAX) return 0;
    *end = (int64_t)value;
    return 1;
}

static size_t find_dots(const char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++)
        if (text[i] == '.' && text[i + 1] == '.') return i;
    return size;
}

int ir_extent(const char *text, size_t size, struct graph_extent *extent)
{
    struct graph_extent found = {.least = 0, .most = -1};
    trim(&text, &size);
    if ((size == 1 && *text == '?') || (size == 2 && memcmp(text, "-1", 2) == 0)) {
        *extent = found;
        return 1;
    }
    size_t dots = find_dots(text, size);
    if (dots == size) {
        if (!size || !range_end(text, size, 0, &found.least)) return 0;
        found.most = found.least;
    } else {
        if (!range_end(text, dots, 0, &found.least)) return 0;
        if (!range_end(text + dots + 2, size - dots - 2, -1, &found.most)) return 0;
    }
    if (found.most >= 0 && found.least > found.most) return 0;
    *extent = found;
    return 1;
}

int32_t ir_shape(const char *text, struct graph_extent extents[GARNER_MAX_RANK])
{
    size_t size = strlen(text);
    int32_t rank = 0;
    trim(&text, &size);
    if (size >= 2 && text[0] == '[' && text[size - 1] == ']') {
        text++, size -= 2;
        trim(&text, &size);
    }
    if (size == 3 && memcmp(text, "...", 3) == 0) return IR_ANY_RANK;
    for (const char *end = text + size; size; size = (size_t)(end - text)) {
        const char *comma = memchr(text, ',', size);
        size_t part = comma ? (size_t)(comma - text) : size;
        if (rank == GARNER_MAX_RANK || !ir_extent(text, part, &extents[rank++])) return IR_NO_SHAPE;
        if (!comma) break;
        text = comma + 1;
        if (text == end) return IR_NO_SHAPE;
    }
    return rank;
}

/* ---- Types ---- */

garner_dtype ir_type(const char *name)
{
    static const struct {
        const char *lower, *upper; /* in <data>; in precision="" of a port, which takes both */
        garner_dtype dtype;
    } types[] = {
        {"f32", "FP32", GARNER_F32},
        {"f16", "FP16", GARNER_F16},
        {"f64", "FP64", GARNER_F64},
        {"bf16", "BF16", GARNER_BF16},
        {"i64", "I64", GARNER_I64},
        {"i32", "I32", GARNER_I32},
        {"i16", "I16", GARNER_I16},
        {"i8", "I8", GARNER_I8},
        {"u64", "U64", GARNER_U64},
        {"u32", "U32", GARNER_U32},
        {"u16", "U16", GARNER_U16},
        {"u8", "U8", GARNER_U8},
        {"boolean", "BOOL", GARNER_BOOL},
        {"string", "STRING", GARNER_STR},
        {"i4", "I4", GARNER_I4},
        {"u1", "U1", GARNER_U1},
        {"bin", "BIN", GARNER_U1},
        {"u2", "U2", GARNER_U2},
        {"u3", "U3", GARNER_U3},
        {"u4", "U4", GARNER_U4},
        {"u6", "U6", GARNER_U6},
        {"nf4", "NF4", GARNER_NF4},
        {"f8e4m3", "F8E4M3", GARNER_F8E4M3FN},
        {"f8e5m2", "F8E5M2", GARNER_F8E5M2},
        {"f8e8m0", "F8E8M0", GARNER_F8E8M0},
        {"f4e2m1", "F4E2M1", GARNER_F4E2M1},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].lower) == 0 || strcmp(name, types[i].upper) == 0) return types[i].dtype;
    return 0;
}

/* ---- Names ---- */

const char *ir_next_name(const char *list, char *name)
{
    size_t used = 0;
    if (!list) return NULL;
    while (*list && !used) {
        for (; *list && *list != ','; list++) {
            if (list[0] == '\\' && list[1] == ',') list++; /* a comma that belongs to the name */
            name[used++] = *list;
        }
        if (*list) list++;
    }
    name[used] = 0;
    return used ? list : NULL;
}
