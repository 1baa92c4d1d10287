/* SPDX-License-Identifier: MIT */
/*
 * Element types of .npy. A structured type is kept as text by the caller; here only its size counts,
 * added up with a small stack in place of recursion.
 */
#include <stdio.h>
#include <string.h>

#include "byteorder.h"
#include "fail.h"
#include "npy_header.h"

enum { DEEPEST = 16 }; /* nested structured types */

/* The types that garner and .npy share. */
static const struct {
    char kind;
    uint8_t bytes;
    garner_dtype dtype;
} shared[] = {
    {'b', 1, GARNER_BOOL}, {'i', 1, GARNER_I8},    {'i', 2, GARNER_I16}, {'i', 4, GARNER_I32},
    {'i', 8, GARNER_I64},  {'u', 1, GARNER_U8},    {'u', 2, GARNER_U16}, {'u', 4, GARNER_U32},
    {'u', 8, GARNER_U64},  {'f', 2, GARNER_F16},   {'f', 4, GARNER_F32}, {'f', 8, GARNER_F64},
    {'c', 8, GARNER_C64},  {'c', 16, GARNER_C128},
};

/* What .npy has and garner moves without understanding. */
static const struct {
    char kind;
    uint8_t unit;   /* bytes for each one of the number after the kind */
    uint8_t number; /* the only number allowed; 0: any but 0 */
} moved[] = {
    {'S', 1, 0}, {'a', 1, 0},  {'U', 4, 0},  {'V', 1, 0},  {'M', 1, 8},
    {'m', 1, 8}, {'f', 1, 12}, {'f', 1, 16}, {'c', 1, 24}, {'c', 1, 32}, /* f, c: long double */
};

static char native_order(void)
{
    /* uncovered: only on big-endian machines, which tests/cross has */
    return byteorder_is_little() ? '<' : '>';
}

int npy_type_code(char code[8], garner_dtype dtype)
{
    code[0] = 0;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (shared[i].dtype == dtype)
            return snprintf(code, 8, "%c%c%u", shared[i].bytes == 1 ? '|' : native_order(), shared[i].kind,
                            (unsigned)shared[i].bytes);
    return 0;
}

static garner_status refuse(const struct tokens *scan, const char *text, size_t size)
{
    char plain[64], shown[80];
    snprintf(plain, sizeof plain, "%.*s", (int)(size < 60 ? size : 60), text);
    return fail_at(scan->error, GARNER_UNSUPPORTED, scan->path, "elements of type '%s' are not supported",
                   printable(shown, sizeof shown, plain));
}

/* A path can go into the suggested command unless something in it would need quoting. */
static int is_plain(const char *path)
{
    size_t safe = strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+,@-");
    return safe && safe < 100 && !path[safe] && path[0] != '-';
}

static garner_status refuse_objects(const struct tokens *scan)
{
    return fail_at(
        scan->error, GARNER_UNSUPPORTED, scan->path,
        "holds Python objects, which only Python can read; if you trust the file: python3 -c \"import "
        "numpy as n; n.save('plain.npy', n.array(n.load('%s', allow_pickle=True).tolist()))\"",
        is_plain(scan->path) ? scan->path : "FILE.npy");
}

/* "[ns]" and the like after M8 and m8. */
static int is_time_unit(const char *text, size_t size)
{
    if (size < 3 || text[0] != '[' || text[size - 1] != ']') return 0;
    for (size_t i = 1; i + 1 < size; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/'))
            return 0;
    }
    return 1;
}

/* Fills dtype and size from a kind and its number; 0 if there is no such type. */
static int look_up(struct npy_type *type, char kind, uint64_t number)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (shared[i].kind == kind && shared[i].bytes == number) {
            type->dtype = shared[i].dtype;
            type->item_bytes = number;
            return 1;
        }
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        if (moved[i].kind != kind || !number || (moved[i].number && moved[i].number != number)) continue;
        type->dtype = GARNER_OPAQUE;
        return !__builtin_mul_overflow(number, moved[i].unit, &type->item_bytes) &&
               type->item_bytes <= INT64_MAX;
    }
    return 0;
}

static unsigned swap_width(char order, char kind, const struct npy_type *type)
{
    int foreign = (order == '<' || order == '>') && order != native_order();
    if (!foreign || type->dtype == GARNER_OPAQUE || type->item_bytes == 1) return 0;
    return (unsigned)type->item_bytes / (kind == 'c' ? 2 : 1);
}

/* '<f4' and its like: byte order, kind, number, and for times a unit. */
static garner_status simple_type(const struct tokens *scan, const char *text, size_t size,
                                 struct npy_type *type)
{
    size_t at = 0;
    uint64_t number = 0;
    char order = size && strchr("<>=|", text[0]) ? text[at++] : '=';
    char kind = at < size ? text[at++] : 0;
    if (kind == 'O') return refuse_objects(scan);
    if (kind == '?' && at == size) kind = 'b', number = 1;
    for (unsigned digit; at < size && (digit = (unsigned char)text[at] - (unsigned)'0') <= 9; at++)
        if (__builtin_mul_overflow(number, 10u, &number) || __builtin_add_overflow(number, digit, &number))
            return refuse(scan, text, size);
    int timed = (kind == 'M' || kind == 'm') && is_time_unit(text + at, size - at);
    if ((at < size && !timed) || !look_up(type, kind, number)) return refuse(scan, text, size);
    type->swap = swap_width(order, kind, type);
    return GARNER_OK;
}

static garner_status string_type(struct tokens *scan, struct npy_type *type)
{
    const char *text;
    size_t size;
    garner_status status = npy_string(scan, &text, &size);
    return status ? status : simple_type(scan, text, size, type);
}

static garner_status too_large(const struct tokens *scan)
{
    return fail_at(scan->error, GARNER_BAD_FILE, scan->path,
                   "header: the element size does not fit in 63 bits");
}

/* A field's name: a string, or a pair of title and name. */
static garner_status field_name(struct tokens *scan)
{
    const char *text;
    size_t size;
    int pair = tokens_take(scan, '(');
    garner_status status = npy_string(scan, &text, &size);
    if (pair && !status) status = tokens_expect(scan, ',');
    if (pair && !status) status = npy_string(scan, &text, &size);
    if (pair && !status) status = tokens_expect(scan, ')');
    return status;
}

static garner_status multiply(struct tokens *scan, void *context, int64_t extent)
{
    uint64_t *bytes = context;
    return __builtin_mul_overflow(*bytes, (uint64_t)extent, bytes) ? too_large(scan) : GARNER_OK;
}

/* The shape of a field that is itself an array, and the bracket that closes the field. */
static garner_status field_shape(struct tokens *scan, uint64_t *bytes)
{
    if (tokens_take(scan, ')')) return GARNER_OK;
    garner_status status = npy_tuple(scan, multiply, bytes);
    if (!status) tokens_take(scan, ',');
    return status ? status : tokens_expect(scan, ')');
}

/* What follows a field's type; adds its bytes to its list. */
static garner_status end_field(struct tokens *scan, uint64_t bytes, uint64_t *total)
{
    garner_status status = GARNER_OK;
    if (!tokens_take(scan, ')')) {
        status = tokens_expect(scan, ',');
        if (!status) status = field_shape(scan, &bytes);
        if (status) return status;
    }
    if (__builtin_add_overflow(*total, bytes, total) || *total > INT64_MAX) return too_large(scan);
    if (tokens_take(scan, ',')) return GARNER_OK;
    status = tokens_expect(scan, ']');
    if (!status) scan->at--; /* the list is ended by its own loop */
    return status;
}

/* A field up to its type. Sets *bytes, or *opened if the type is itself a list. */
static garner_status begin_field(struct tokens *scan, uint64_t *bytes, int *opened)
{
    struct npy_type type = {0};
    garner_status status = tokens_expect(scan, '(');
    if (!status) status = field_name(scan);
    if (!status) status = tokens_expect(scan, ',');
    *opened = !status && tokens_take(scan, '[');
    if (!status && !*opened) status = string_type(scan, &type);
    *bytes = type.item_bytes;
    return status;
}

/* A list of fields; scan stands after its '['. totals[depth] is the size so far of the list being read,
 * those below it wait for it to end. */
static garner_status fields(struct tokens *scan, struct npy_type *type)
{
    uint64_t totals[DEEPEST] = {0}, bytes;
    int depth = 0, opened = 0;
    garner_status status = GARNER_OK;
    while (!status) {
        if (tokens_take(scan, ']')) {
            if (depth == 0) break;
            bytes = totals[depth--];
            status = end_field(scan, bytes, &totals[depth]);
            continue;
        }
        status = begin_field(scan, &bytes, &opened);
        if (!status && !opened) status = end_field(scan, bytes, &totals[depth]);
        if (status || !opened) continue;
        if (++depth == DEEPEST) return tokens_malformed(scan, "types nested less deeply");
        totals[depth] = 0;
    }
    *type = (struct npy_type){.dtype = GARNER_OPAQUE, .item_bytes = totals[0]};
    return status ? status : totals[0] ? GARNER_OK : refuse(scan, "[]", 2);
}

garner_status npy_type(struct tokens *scan, struct npy_type *type)
{
    return tokens_take(scan, '[') ? fields(scan, type) : string_type(scan, type);
}
