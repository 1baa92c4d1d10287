/* SPDX-License-Identifier: MIT */
/* Text on a terminal, with and without colours. */
#include "explain_pen.h"

#include "explain_view.h"

int pen_write(const struct pen *pen, const char *style, const char *text)
{
    if (pen->colour) fprintf(pen->out, "\x1b[%sm", style);
    fputs(text, pen->out);
    if (pen->colour) fputs("\x1b[0m", pen->out);
    return view_width(text);
}

int pen_repeat(const struct pen *pen, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        fputs(text, pen->out);
    return count > 0 ? count : 0;
}
