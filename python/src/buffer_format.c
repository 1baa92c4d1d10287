/* SPDX-License-Identifier: MIT */
/* Reads and writes the buffer protocol's names of types. */
#include "buffer_format.h"

#include <string.h>

#include "byteorder.h"

const char *format_of_type(garner_dtype dtype)
{
    switch (dtype) {
    case GARNER_F32:
        return "f";
    case GARNER_F64:
        return "d";
    case GARNER_F16:
        return "e";
    case GARNER_I8:
        return "b";
    case GARNER_I16:
        return "h";
    case GARNER_I32:
        return "i";
    case GARNER_I64:
        return "q";
    case GARNER_U8:
        return "B";
    case GARNER_U16:
        return "H";
    case GARNER_U32:
        return "I";
    case GARNER_U64:
        return "Q";
    case GARNER_BOOL:
        return "?";
    case GARNER_C64:
        return "Zf";
    case GARNER_C128:
        return "Zd";
    default:
        return NULL;
    }
}

/* What follows the byte order. */
static const char *letters_of(const char *format)
{
    return format + (*format && strchr("@=<>!^", *format) != NULL);
}

garner_dtype format_type(const char *format, int64_t item)
{
    const char *letters = letters_of(format);
    static const struct {
        const char *letters;
        garner_dtype of_size[17];
    } rows[] = {
        {"bhilqn", {[1] = GARNER_I8, [2] = GARNER_I16, [4] = GARNER_I32, [8] = GARNER_I64}},
        {"BHILQN", {[1] = GARNER_U8, [2] = GARNER_U16, [4] = GARNER_U32, [8] = GARNER_U64}},
        {"efd", {[2] = GARNER_F16, [4] = GARNER_F32, [8] = GARNER_F64}},
        {"FD", {[8] = GARNER_C64, [16] = GARNER_C128}},
        {"?", {[1] = GARNER_BOOL}},
    };
    bool is_complex = letters[0] == 'Z' && (letters[1] == 'f' || letters[1] == 'd');
    char letter = is_complex ? (letters[1] == 'f' ? 'F' : 'D') : letters[0];
    if (letter == '\0' || letters[is_complex ? 2 : 1] != '\0' || item < 1 || item > 16) return GARNER_OPAQUE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strchr(rows[i].letters, letter) && rows[i].of_size[item]) return rows[i].of_size[item];
    return GARNER_OPAQUE;
}

bool format_is_swapped(const char *format)
{
    char order = format ? format[0] : '@';
    /* uncovered: only on big-endian machines */
    return byteorder_is_little() ? order == '>' || order == '!' : order == '<';
}

/* Whether a field's name, which goes from colon to colon, reads like an object's type: a name of ctypes may
 * have colons itself, so that what looks like a name is what stands between two of them. There an object
 * follows a byte order, a shape or a pointer's mark. */
static bool may_be_type(const char *name, size_t size)
{
    for (size_t i = 1; i < size; i++)
        if (name[i] == 'O' && strchr("@=<>!^)&", name[i - 1])) return true;
    return false;
}

bool format_holds_objects(const char *format)
{
    while (*format) {
        const char *end = *format == ':' ? strchr(format + 1, ':') : NULL;
        if (*format == 'O' || (end && may_be_type(format + 1, (size_t)(end - format) - 1))) return true;
        format = end ? end + 1 : format + 1;
    }
    return false;
}

/* The bytes of an element whose name is one letter, which readers take from the letter alone; 0 if they do
 * not read such elements, or look at their size. */
static int64_t native_size(const char *format)
{
    const char *letters = letters_of(format);
    if ((letters != format && *format != '@') || letters[1] != '\0') return 0;
    static const struct {
        const char *letters;
        size_t size;
    } rows[] = {
        {"bBc?", 1},
        {"hHe", 2},
        {"iIf", 4},
        {"qQd", 8},
        {"lL", sizeof(long)},
        {"nN", sizeof(size_t)},
        {"P", sizeof(void *)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strchr(rows[i].letters, *letters)) return (int64_t)rows[i].size;
    return 0;
}

bool format_fits(const char *format, garner_dtype dtype, int64_t item)
{
    if (*letters_of(format) == '\0' || format_holds_objects(format)) return false;
    const int64_t size = native_size(format);
    return (dtype == GARNER_OPAQUE || format_of_type(dtype)) && format_type(format, item) == dtype &&
           (size == 0 || size == item);
}
