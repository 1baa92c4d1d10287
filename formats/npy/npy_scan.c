/* SPDX-License-Identifier: MIT */
/* The tokens of a .npy header that Python alone writes so: strings and tuples. */
#include "fail.h"
#include "npy_header.h"

/* The quote that begins a string, or 0. Python 2 wrote a u before some. */
static char open_string(struct tokens *scan)
{
    tokens_skip(scan);
    const char *at = scan->at;
    if (at < scan->end && (*at == 'u' || *at == 'U')) at++;
    char quote = at < scan->end ? *at : 0;
    if (quote != '\'' && quote != '"') return 0;
    scan->at = at + 1;
    return quote;
}

garner_status npy_string(struct tokens *scan, const char **text, size_t *size)
{
    char quote = open_string(scan);
    if (!quote) return tokens_malformed(scan, "a quoted string");
    *text = scan->at;
    /*@ loop invariant is_text(scan) && taken{Pre, Here}(scan) && is_part(*text, scan->at - *text, scan);
        loop assigns scan->at;
        loop variant scan->end - scan->at; */
    for (; scan->at < scan->end; scan->at++) {
        unsigned char c = (unsigned char)*scan->at;
        if (c == (unsigned char)quote) {
            *size = (size_t)(scan->at++ - *text);
            return GARNER_OK;
        }
        if (c == '\\' && scan->at + 1 < scan->end) c = (unsigned char)*++scan->at;
        if (c < ' ' && c != '\t') break;
    }
    return tokens_malformed(scan, "the end of a string");
}

/* An extent. Python 2 wrote an L after some. Leading zeros, which once meant octal, Python takes only of
 * zero itself. */
static garner_status extent(struct tokens *scan, int64_t *value)
{
    const char *digits = scan->at;
    const char first = digits < scan->end ? *digits : 0;
    if (!tokens_digits(scan, value))
        return fail_at(scan->error, GARNER_BAD_FILE, scan->path,
                       "header: an extent in the shape does not fit in 63 bits");
    if (scan->at == digits) return tokens_malformed(scan, "an extent");
    if (first == '0' && *value != 0) {
        scan->at = digits;
        return tokens_malformed(scan, "an extent without a leading zero");
    }
    if (scan->at < scan->end && *scan->at == 'L') scan->at++;
    return GARNER_OK;
}

garner_status npy_tuple(struct tokens *scan, garner_status (*accept)(struct tokens *, void *, int64_t),
                        void *context)
{
    int64_t value;
    size_t items = 0;
    int comma = 1;
    garner_status status = tokens_expect(scan, '(');
    /*@ loop invariant is_text(scan) && advanced{Pre, Here}(scan) && (status == 0 ==> taken{Pre, Here}(scan));
        loop assigns status, value, items, comma, scan->at;
        loop variant status == 0 ? scan->end - scan->at + 1 : 0; */
    while (!status && !tokens_take(scan, ')')) { /* which skips the spaces, too */
        if (!comma) return tokens_malformed(scan, "',' or ')'");
        status = extent(scan, &value);
        /*@ calls accept_any; */
        if (!status) status = accept(scan, context, value);
        comma = !status && tokens_take(scan, ',');
        items++;
    }
    /* To Python, (3) is a number. */
    return status                 ? status
           : items == 1 && !comma ? tokens_malformed(scan, "a comma in a shape of rank 1")
                                  : GARNER_OK;
}
