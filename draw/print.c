/* SPDX-License-Identifier: MIT */
/*
 * Walks the elements in C order with one counter for each axis, and opens and closes brackets where
 * counters begin and end.
 */
#include "print.h"

#include <errno.h>
#include <string.h>

#include "byteorder.h"
#include "elements.h"
#include "fail.h"
#include "value.h"

/* On a terminal, arrays beyond so many elements show so many at each end of an axis. */
enum { SHORTEN_BEYOND = 1000, SHORTEN_KEEP = 3 };

/* After so many elements whoever watches is told. */
enum { TELL_EVERY = 4096 };

/* An array without elements may still have more brackets than any disk holds. */
static const int64_t most_empty_lists = 1 << 24;

/* The part of a shape that is walked: all of it, or the axes before the first empty one. */
struct walk {
    const garner_tensor *t;
    int32_t rank;
    int64_t count; /* elements, or empty lists */
    int64_t at[GARNER_MAX_RANK];
    bool empty, json, shorten;
};

garner_status print_check(garner_dtype dtype, enum print_format format, garner_error *error)
{
    if (dtype == GARNER_OPAQUE && format != PRINT_RAW)
        return fail(
            error, GARNER_UNSUPPORTED,
            "elements of this type have no form as text; write them with -o FILE.npy or --format raw");
    if (dtype == GARNER_STR && format == PRINT_RAW)
        return fail(error, GARNER_UNSUPPORTED,
                    "strings have no form as raw bytes; print them with --format text or json");
    return GARNER_OK;
}

static garner_status write_failed(garner_error *error)
{
    return fail_errno(error, "standard output", "write", errno);
}

/* ---- Pieces ---- */

void print_integers(FILE *out, const int64_t *numbers, int32_t count, bool json)
{
    putc('[', out);
    for (int32_t i = 0; i < count; i++)
        fprintf(out, "%s%lld", i == 0 ? "" : json ? ", " : ",", (long long)numbers[i]);
    putc(']', out);
}

void print_escaped(FILE *out, const char *bytes, uint64_t size, enum escape_style style)
{
    char piece[ESCAPE_SIZE];
    size_t used;
    for (uint64_t i = 0; i < size && !ferror(out); i += used) {
        int length = escape_next(piece, bytes + i, size - i, style, &used);
        fwrite(piece, 1, (size_t)length, out);
    }
}

void print_quoted(FILE *out, const char *bytes, uint64_t size, enum escape_style style)
{
    putc('"', out);
    print_escaped(out, bytes, size, style);
    putc('"', out);
}

/* Characters of valid UTF-8, near enough to columns. */
static int columns(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* Character by character: names may be long, and want of memory must not change what is said. */
int print_foreign(FILE *out, const char *text)
{
    char piece[PRINTABLE_NEXT];
    int count = 0;
    while (*text) {
        text += printable_next(piece, text);
        count += columns(piece);
        if (out) fputs(piece, out);
    }
    return count;
}

void print_json_string(FILE *out, const char *text)
{
    print_quoted(out, text, strlen(text), ESCAPE_JSON);
}

/* ---- Elements ---- */

/* JSON has no complex numbers and nothing that is not finite: those are strings. */
static bool needs_quotes(enum value_class class, const char *text)
{
    if (class == VALUE_COMPLEX) return true;
    text += *text == '-';
    return class == VALUE_FLOAT && (*text == 'n' || *text == 'i');
}

static void print_element(FILE *out, const struct walk *w, int64_t flat)
{
    char text[VALUE_TEXT_SIZE];
    enum value_class class = value_class(w->t->dtype);
    if (w->empty) {
        fputs("[]", out);
    } else if (class == VALUE_STRING) {
        garner_string string = value_string(w->t, flat);
        print_quoted(out, string.bytes, string.size, w->json ? ESCAPE_JSON : ESCAPE_TEXT);
    } else {
        value_text(text, sizeof text, w->t, flat);
        fprintf(out, w->json && needs_quotes(class, text) ? "\"%s\"" : "%s", text);
    }
}

/* ---- Brackets ---- */

static void print_repeated(FILE *out, char c, int count)
{
    while (count-- > 0)
        putc(c, out);
}

static int64_t flat_position(const struct walk *w)
{
    int64_t flat = 0;
    for (int32_t d = 0; d < w->rank; d++)
        flat = flat * w->t->shape[d] + w->at[d];
    return flat;
}

/* Steps to the next element and prints what stands between; false after the last. */
static bool advance(FILE *out, struct walk *w)
{
    const char *comma = w->json ? ", " : ",";
    int32_t d = w->rank - 1;
    while (d >= 0 && ++w->at[d] == w->t->shape[d]) {
        w->at[d--] = 0;
        putc(']', out);
    }
    if (d < 0) return false;
    fputs(comma, out);
    if (w->shorten && w->at[d] == SHORTEN_KEEP && w->t->shape[d] > (int64_t)2 * SHORTEN_KEEP) {
        fputs("...,", out);
        w->at[d] = w->t->shape[d] - SHORTEN_KEEP;
    }
    print_repeated(out, '[', w->rank - 1 - d);
    return true;
}

static garner_status walk_begin(struct walk *w, const garner_tensor *t, const struct print_style *style,
                                garner_error *error)
{
    int64_t count = 1;
    *w = (struct walk){.t = t, .json = style->format == PRINT_JSON};
    while (w->rank < t->rank && t->shape[w->rank] > 0)
        w->rank++;
    w->empty = w->rank < t->rank;
    for (int32_t d = 0; d < w->rank; d++)
        if (__builtin_mul_overflow(count, t->shape[d], &count)) count = INT64_MAX;
    w->count = count;
    w->shorten = style->shorten && count > SHORTEN_BEYOND;
    if (w->empty && !w->shorten && count > most_empty_lists)
        return fail(error, GARNER_TOO_LARGE,
                    "the result has no elements but %lld empty lists, too many to print; write it with -o "
                    "FILE.npy",
                    (long long)count);
    return GARNER_OK;
}

static garner_status print_nested(FILE *out, struct walk *w, const struct print_style *style,
                                  garner_error *error)
{
    size_t done = 0;
    print_repeated(out, '[', w->rank);
    do {
        print_element(out, w, flat_position(w));
        if (style->watch && ++done % TELL_EVERY == 0) style->watch(style->context, done, (size_t)w->count);
    } while (!ferror(out) && advance(out, w));
    return ferror(out) ? write_failed(error) : GARNER_OK;
}

/* ---- Formats ---- */

static garner_status print_text(FILE *out, const garner_tensor *t, const struct print_style *style,
                                garner_error *error)
{
    struct walk w;
    garner_status status = walk_begin(&w, t, style, error);
    if (status != GARNER_OK) return status;
    bool json = style->format == PRINT_JSON;
    if (json || style->header) {
        fprintf(out, json ? "{\"dtype\": \"%s\", \"shape\": " : "%s ", garner_dtype_name(t->dtype));
        print_integers(out, t->shape, t->rank, json);
        fputs(json ? ", \"data\": " : "\n", out);
    }
    status = print_nested(out, &w, style, error);
    fputs(json ? "}" : "", out);
    fputs(style->bare ? "" : "\n", out);
    return status;
}

static garner_status print_bytes(void *context, const void *bytes, size_t size, garner_error *error)
{
    FILE *out = context;
    return fwrite(bytes, 1, size, out) < size ? write_failed(error) : GARNER_OK;
}

garner_status print_tensor(FILE *out, const garner_tensor *t, const struct print_style *style,
                           garner_error *error)
{
    garner_status status = print_check(t->dtype, style->format, error);
    if (status != GARNER_OK) return status;
    if (style->format != PRINT_RAW) return print_text(out, t, style, error);
    return elements_walk(t, byteorder_swap(t->dtype), print_bytes, out, error);
}
