/* SPDX-License-Identifier: MIT */
/* The tokens of a .npy header. Every look at the text is bounded by scan->end. */
#include <stdio.h>

#include "fail.h"
#include "npy_header.h"

garner_status npy_malformed(const struct npy_scan *scan, const char *what)
{
    return fail_at(scan->error, GARNER_BAD_FILE, scan->path, "header is malformed at byte %zu: expected %s",
                   (size_t)(scan->at - scan->start), what);
}

static int is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void npy_skip(struct npy_scan *scan)
{
    while (scan->at < scan->end && is_space(*scan->at))
        scan->at++;
}

int npy_take(struct npy_scan *scan, char wanted)
{
    npy_skip(scan);
    if (scan->at == scan->end || *scan->at != wanted) return 0;
    scan->at++;
    return 1;
}

garner_status npy_expect(struct npy_scan *scan, char wanted)
{
    char what[] = {'\'', wanted, '\'', 0};
    return npy_take(scan, wanted) ? GARNER_OK : npy_malformed(scan, what);
}

/* The quote that begins a string, or 0. Python 2 wrote a u before some. */
static char open_string(struct npy_scan *scan)
{
    npy_skip(scan);
    const char *at = scan->at;
    if (at < scan->end && (*at == 'u' || *at == 'U')) at++;
    if (at == scan->end || (*at != '\'' && *at != '"')) return 0;
    scan->at = at + 1;
    return *at;
}

garner_status npy_string(struct npy_scan *scan, const char **text, size_t *size)
{
    char quote = open_string(scan);
    if (!quote) return npy_malformed(scan, "a quoted string");
    *text = scan->at;
    for (; scan->at < scan->end; scan->at++) {
        unsigned char c = (unsigned char)*scan->at;
        if (c == (unsigned char)quote) {
            *size = (size_t)(scan->at++ - *text);
            return GARNER_OK;
        }
        if (c == '\\' && scan->at + 1 < scan->end) c = (unsigned char)*++scan->at;
        if (c < ' ' && c != '\t') break;
    }
    return npy_malformed(scan, "the end of a string");
}

static int is_digit(const struct npy_scan *scan)
{
    return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

/* An extent. Python 2 wrote an L after some. Leading zeros, which once meant octal, Python takes only of
 * zero itself. */
static garner_status extent(struct npy_scan *scan, int64_t *value)
{
    const char *digits = scan->at;
    *value = 0;
    if (!is_digit(scan)) return npy_malformed(scan, "an extent");
    for (; is_digit(scan); scan->at++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *scan->at - '0', value))
            return fail_at(scan->error, GARNER_BAD_FILE, scan->path,
                           "header: an extent in the shape does not fit in 63 bits");
    if (*digits == '0' && *value != 0) {
        scan->at = digits;
        return npy_malformed(scan, "an extent without a leading zero");
    }
    if (scan->at < scan->end && *scan->at == 'L') scan->at++;
    return GARNER_OK;
}

garner_status npy_tuple(struct npy_scan *scan, garner_status (*accept)(struct npy_scan *, void *, int64_t),
                        void *context)
{
    int64_t value;
    int items = 0, comma = 1;
    garner_status status = npy_expect(scan, '(');
    while (!status && !npy_take(scan, ')')) { /* which skips the spaces, too */
        if (!comma) return npy_malformed(scan, "',' or ')'");
        status = extent(scan, &value);
        if (!status) status = accept(scan, context, value);
        comma = !status && npy_take(scan, ',');
        items++;
    }
    /* To Python, (3) is a number. */
    return status                 ? status
           : items == 1 && !comma ? npy_malformed(scan, "a comma in a shape of rank 1")
                                  : GARNER_OK;
}
