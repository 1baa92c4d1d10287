/* SPDX-License-Identifier: MIT */
/* A line of text that grows in a buffer of the caller's, and remembers how long it would be without an end.
 */
#ifndef GARNER_LINE_H
#define GARNER_LINE_H

#include "base.h"

struct line {
    char *buffer; /* always terminated, if size > 0 */
    size_t size, length;
};

/* Appends text, as printf makes it, as far as there is room. */
void garner_line_add(struct line *line, const char *format, ...) GARNER_PRINTF(2, 3);

#endif
