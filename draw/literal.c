/* SPDX-License-Identifier: MIT */
/*
 * Reads a literal twice: once to learn its shape and type, once to fill the array. Brackets are counted
 * by depth, never by recursion.
 */
#include "literal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "fail.h"
#include "number.h"
#include "value.h"

/* What the elements are as written; later kinds of numbers include earlier ones. */
enum kind { NOTHING, INTEGER, REAL, COMPLEX, BOOLEAN, STRING };

struct reader {
    const char *role, *text, *at;
    garner_error *error;
};

struct token {
    char type; /* '[' ']' ',' ':' as themselves, 'w'ord, 's'tring, '\0' at the end */
    const char *begin, *end;
};

/* What the first reading learns. */
struct outline {
    int depth, deepest, leaf; /* leaf: the depth of elements, -1 before the first */
    int64_t count[GARNER_MAX_RANK], extent[GARNER_MAX_RANK];
    int64_t elements;
    uint64_t characters; /* of all strings */
    enum kind kind;
    garner_dtype dtype;
};

static garner_status malformed(const struct reader *r, const char *at, const char *what)
{
    return fail(r->error, GARNER_BAD_ARGUMENT, "%s: the literal is malformed at character %lld: %s", r->role,
                (long long)(at - r->text) + 1, what);
}

/* ---- Words ---- */

/* By loops of our own: some libraries' strspn and strcspn look for the end of the whole text first. */
static const char *skip_spaces(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

static const char *skip_word(const char *at)
{
    while (*at && !strchr("[],:\" \t\r\n", *at))
        at++;
    return at;
}

static garner_status next_token(struct reader *r, struct token *token)
{
    const char *begin = skip_spaces(r->at), *end = begin + 1;
    *token = (struct token){*begin, begin, end};
    if (*begin == '\0') {
        end = begin;
    } else if (*begin == '"') {
        token->type = 's';
        while (*end && *end != '"')
            end += *end == '\\' && end[1] ? 2 : 1;
        if (*end++ == '\0') return malformed(r, begin, "the string has no end");
    } else if (!strchr("[],:", *begin)) {
        token->type = 'w';
        end = skip_word(begin);
    }
    token->end = r->at = end;
    return GARNER_OK;
}

static bool is_word(const struct token *token, const char *word)
{
    return strlen(word) == (size_t)(token->end - token->begin) &&
           memcmp(token->begin, word, strlen(word)) == 0;
}

static enum kind kind_of_word(const struct token *token)
{
    int integer, ignored;
    if (is_word(token, "true") || is_word(token, "false")) return BOOLEAN;
    const char *after = number_scan(token->begin, token->end, &integer);
    if (after == token->end) return integer ? INTEGER : REAL;
    if (after && (*after == '+' || *after == '-')) after = number_scan(after, token->end, &ignored);
    return after && after + 1 == token->end && *after == 'j' ? COMPLEX : NOTHING;
}

/* ---- Strings ---- */

/* Writes the bytes of a string token, or counts them where `bytes` is NULL. */
static garner_status read_string(const struct reader *r, const struct token *token, char *bytes,
                                 uint64_t *size)
{
    char piece[4];
    size_t used;
    const char *last = token->end - 1;
    *size = 0;
    for (const char *c = token->begin + 1; c < last; c += used) {
        int length = escape_undo(piece, c, (size_t)(last - c), &used);
        if (length < 0) return malformed(r, c, "no such escape in a string");
        if (bytes) memcpy(bytes + *size, piece, (size_t)length);
        *size += (uint64_t)length;
    }
    return GARNER_OK;
}

/* ---- First reading: shape and type ---- */

static garner_status outline_open(struct reader *r, struct outline *o, const struct token *token)
{
    if (o->depth == GARNER_MAX_RANK) return malformed(r, token->begin, "more than 64 brackets deep");
    if (o->leaf >= 0 && o->depth >= o->leaf)
        return malformed(r, token->begin, "a list where the others have an element");
    o->count[o->depth++] = 0;
    if (o->depth > o->deepest) {
        o->deepest = o->depth;
        o->extent[o->depth - 1] = -1;
    }
    return GARNER_OK;
}

static garner_status outline_close(struct reader *r, struct outline *o, const struct token *token)
{
    if (o->depth == 0) return malformed(r, token->begin, "']' without '['");
    int64_t count = o->count[--o->depth], *extent = &o->extent[o->depth];
    if (*extent >= 0 && *extent != count)
        return malformed(r, token->begin, "the list is not as long as its neighbours");
    *extent = count;
    return GARNER_OK;
}

static garner_status outline_element(struct reader *r, struct outline *o, const struct token *token)
{
    uint64_t size = 0;
    garner_status status = GARNER_OK;
    enum kind kind = token->type == 's' ? STRING : kind_of_word(token);
    if (kind == NOTHING)
        return malformed(r, token->begin,
                         o->depth ? "neither a number, a string, true nor false"
                                  : "neither a literal nor a .npy file; file:PATH opens a file of any name");
    if (token->type == 's') status = read_string(r, token, NULL, &size);
    if (status != GARNER_OK) return status;
    if (o->depth < o->deepest || (o->leaf >= 0 && o->leaf != o->depth))
        return malformed(r, token->begin, "an element where the others have a list");
    bool alike = kind <= COMPLEX && o->kind <= COMPLEX;
    if (o->kind != NOTHING && kind != o->kind && !alike)
        return malformed(r, token->begin, "numbers, strings and booleans do not mix");
    if (kind > o->kind) o->kind = kind;
    o->leaf = o->depth;
    o->elements++;
    o->characters += size;
    return GARNER_OK;
}

/* One element or closed list is done: what may follow is a comma, a bracket or, outside, the end. */
static garner_status outline_body(struct reader *r, struct outline *o)
{
    struct token token;
    bool wants_item = true, first = false; /* first: just after '[', where ']' may follow too */
    do {
        garner_status status = next_token(r, &token);
        if (status != GARNER_OK) return status;
        bool item = token.type == '[' || token.type == 'w' || token.type == 's';
        if (item ? !wants_item : token.type == ']' ? wants_item && !first : token.type != ',' || wants_item)
            return malformed(r, token.begin,
                             wants_item ? "an element or '[' is missing" : "',' or ']' is missing");
        if (item && o->depth > 0) o->count[o->depth - 1]++;
        if (token.type == '[') status = outline_open(r, o, &token);
        if (token.type == ']') status = outline_close(r, o, &token);
        if (item && token.type != '[') status = outline_element(r, o, &token);
        if (status != GARNER_OK) return status;
        first = token.type == '[';
        wants_item = first || token.type == ',';
    } while (o->depth > 0);
    return GARNER_OK;
}

static garner_dtype default_type(enum kind kind)
{
    static const garner_dtype types[] = {
        [NOTHING] = GARNER_I64, [INTEGER] = GARNER_I64,  [REAL] = GARNER_F32,
        [COMPLEX] = GARNER_C64, [BOOLEAN] = GARNER_BOOL, [STRING] = GARNER_STR,
    };
    return types[kind];
}

/* The optional ":type", and then the end. */
static garner_status outline_type(struct reader *r, struct outline *o)
{
    char name[64] = "";
    r->at = skip_spaces(r->at);
    o->dtype = default_type(o->kind);
    if (*r->at == '\0') return GARNER_OK;
    if (*r->at != ':') return malformed(r, r->at, "only ':' and a type may follow here");
    const char *begin = skip_spaces(r->at + 1);
    size_t length = strlen(begin);
    while (length > 0 && strchr(" \t\r\n", begin[length - 1]))
        length--;
    if (length < sizeof name) memcpy(name, begin, length);
    o->dtype = garner_dtype_from_name(name);
    if (o->dtype == GARNER_OPAQUE || value_class(o->dtype) == VALUE_NONE)
        return fail(r->error, GARNER_BAD_ARGUMENT,
                    "%s: the literal is malformed at character %lld: '%.60s' is no type%s", r->role,
                    (long long)(begin - r->text) + 1, begin,
                    strcmp(name, "float") == 0 ? "; say f32 or f64" : "");
    if (o->kind != NOTHING && (o->kind == STRING) != (o->dtype == GARNER_STR))
        return malformed(r, begin, "strings are of type str, and nothing else is");
    return GARNER_OK;
}

/* ---- Second reading: elements ---- */

/* An array of strings keeps their bytes behind their views, in one block. */
static garner_status create_strings(const struct reader *r, struct array *array, const struct outline *o)
{
    garner_status status = array_create(array, r->role, GARNER_STR, 0, o->deepest, o->extent, r->error);
    if (status != GARNER_OK) return status;
    size_t views = (size_t)o->elements * sizeof(garner_string), size = views + (size_t)o->characters;
    void *memory = calloc(1, size ? size : 1);
    if (!memory) {
        array_free(array);
        return fail_memory(r->error, r->role, size);
    }
    free(array->memory);
    array->memory = array->tensor.data = memory;
    return GARNER_OK;
}

/* A size that no array may have is a fault of the literal; memory that cannot be had is none. */
static garner_status create(const struct reader *r, struct array *array, const struct outline *o)
{
    bool strings = o->dtype == GARNER_STR && o->elements > 0;
    garner_status status = strings
                               ? create_strings(r, array, o)
                               : array_create(array, r->role, o->dtype, 0, o->deepest, o->extent, r->error);
    if (status != GARNER_TOO_LARGE) return status;
    return fail(r->error, GARNER_BAD_ARGUMENT,
                "%s: the literal is too large: its size does not fit in 63 bits, and at most %lld bytes are "
                "allowed",
                r->role, (long long)INT64_MAX);
}

static garner_status fill_word(struct reader *r, struct array *array, int64_t i, const struct token *token)
{
    const char *wrong = value_parse(&array->tensor, i, token->begin, token->end);
    if (!wrong) return GARNER_OK;
    int length = token->end - token->begin > 60 ? 60 : (int)(token->end - token->begin);
    return fail(r->error, GARNER_BAD_ARGUMENT, "%s: literal, character %lld: '%.*s' %s (%s)", r->role,
                (long long)(token->begin - r->text) + 1, length, token->begin, wrong,
                garner_dtype_name(array->tensor.dtype));
}

static garner_status fill_string(struct reader *r, struct array *array, int64_t i, const struct token *token,
                                 char **bytes)
{
    garner_string string = {.bytes = *bytes};
    garner_status status = read_string(r, token, *bytes, &string.size);
    memcpy((char *)array->tensor.data + (size_t)i * sizeof string, &string, sizeof string);
    *bytes += string.size;
    return status;
}

static garner_status fill(struct reader *r, struct array *array, const struct outline *o)
{
    struct token token;
    char *bytes = (char *)array->tensor.data + (size_t)o->elements * sizeof(garner_string);
    for (int64_t i = 0; i < o->elements;) {
        garner_status status = next_token(r, &token);
        if (status == GARNER_OK && token.type == 's') status = fill_string(r, array, i++, &token, &bytes);
        if (status == GARNER_OK && token.type == 'w') status = fill_word(r, array, i++, &token);
        if (status != GARNER_OK) return status;
    }
    return GARNER_OK;
}

/* ---- iota ---- */

static const char iota_word[] = "iota(";

static garner_status outline_iota(struct reader *r, struct outline *o)
{
    const char *c = skip_spaces(r->at + strlen(iota_word));
    while (*c != ')') {
        if (o->deepest == GARNER_MAX_RANK) return malformed(r, c, "more than 64 extents");
        const char *digits = c;
        int64_t extent = 0;
        for (; *c >= '0' && *c <= '9'; c++)
            if (__builtin_mul_overflow(extent, 10, &extent) ||
                __builtin_add_overflow(extent, *c - '0', &extent))
                return malformed(r, digits, "the extent is too large");
        if (c == digits) return malformed(r, c, "iota takes extents, as in iota(2,3)");
        o->extent[o->deepest++] = extent;
        c = skip_spaces(c);
        if (*c != ',' && *c != ')') return malformed(r, c, "',' or ')' is missing");
        if (*c == ',') c = skip_spaces(c + 1);
    }
    r->at = c + 1;
    return GARNER_OK;
}

static garner_status fill_iota(struct reader *r, struct array *array, const struct outline *o)
{
    int64_t count = array_count(o->deepest, o->extent);
    for (int64_t i = 0; i < count; i++) {
        const char *wrong = value_count(&array->tensor, i, (uint64_t)i);
        if (wrong)
            return fail(r->error, GARNER_BAD_ARGUMENT, "%s: iota counts to %lld, and %lld %s (%s)", r->role,
                        (long long)count - 1, (long long)i, wrong, garner_dtype_name(o->dtype));
    }
    return GARNER_OK;
}

/* ---- The two readings ---- */

int literal_begins(const char *text)
{
    static const char *const words[] = {"nan", "inf", "true", "false", iota_word};
    text = skip_spaces(text);
    if (*text == '[' || *text == '"') return 1;
    if (*text == '-' || *text == '+') text++;
    if (*text == '.') text++;
    if (*text >= '0' && *text <= '9') return 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0) return 1;
    return 0;
}

static bool begins_iota(const char *text)
{
    return strncmp(text, iota_word, strlen(iota_word)) == 0;
}

static garner_status outline(struct reader *r, struct outline *o)
{
    *o = (struct outline){.leaf = -1};
    garner_status status = begins_iota(r->at) ? outline_iota(r, o) : outline_body(r, o);
    return status == GARNER_OK ? outline_type(r, o) : status;
}

garner_status literal_parse(struct array *array, const char *role, const char *text, garner_error *error)
{
    struct reader r = {role, text, skip_spaces(text), error};
    const char *begin = r.at;
    struct outline o;
    memset(array, 0, sizeof *array);
    garner_status status = outline(&r, &o);
    if (status != GARNER_OK) return status;
    r.at = begin;
    status = create(&r, array, &o);
    if (status == GARNER_OK) status = begins_iota(begin) ? fill_iota(&r, array, &o) : fill(&r, array, &o);
    if (status != GARNER_OK) array_free(array);
    return status;
}

int literal_is_integer(const char *text)
{
    struct reader r = {"", text, text, NULL};
    struct outline o;
    size_t length = strlen(text);
    bool padded =
        length == 0 || skip_spaces(text) != text || skip_spaces(text + length - 1) != text + length - 1;
    if (padded || !literal_begins(text) || outline(&r, &o) != GARNER_OK) return 0;
    for (int d = 0; d < o.deepest; d++)
        if (o.extent[d] != 1) return 0;
    enum value_class class = value_class(o.dtype);
    return class == VALUE_SIGNED || class == VALUE_UNSIGNED;
}
