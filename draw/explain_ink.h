/* SPDX-License-Identifier: MIT */
/*
 * What pictures are written with: SVG as text, into the sink of file_save. After a failure everything
 * further is ignored; ink.status tells in the end.
 */
#ifndef GARNER_DRAW_EXPLAIN_INK_H
#define GARNER_DRAW_EXPLAIN_INK_H

#include "file.h"

enum { INK_CHARACTER = 8 /* width of a character at 13 pixels */ };

struct ink {
    struct sink *sink;
    garner_error *error;
    garner_status status;
};

/* CSS beyond the fonts, and what differs of it where the reader's screen is dark. */
struct ink_style {
    const char *light, *dark;
};

void ink_begin(struct ink *ink, int width, int height, const struct ink_style *style);
void ink_end(struct ink *ink);

void ink_put(struct ink *ink, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Text as XML wants it. Control characters have no place in XML, not even escaped. */
void ink_escaped(struct ink *ink, const char *text);

void ink_text(struct ink *ink, int x, int y, const char *class, const char *text);

#endif
