/* SPDX-License-Identifier: MIT */
#include "line.h"

#include <stdarg.h>
#include <stdio.h>

void garner_line_add(struct line *line, const char *format, ...)
{
    va_list arguments;
    size_t used = line->length < line->size ? line->length : line->size;
    va_start(arguments, format);
    int written = vsnprintf(line->size ? line->buffer + used : NULL, line->size - used, format, arguments);
    va_end(arguments);
    if (written > 0) line->length += (size_t)written;
}
