/* SPDX-License-Identifier: MIT */
/* Text on a terminal, with and without colours. */
#include "explain_pen.h"

#include <string.h>

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

/* How many bytes of a text stand on a line of so many columns: broken after a space, or anywhere. */
static size_t break_line(const char *text, int room)
{
    char piece[1024];
    size_t size = strlen(text), space = 0;
    if (view_width(text) <= room) return size;
    view_shorten(piece, sizeof piece, text, room);
    size = strlen(piece) - strlen("…");
    for (size_t i = 1; i <= size; i++)
        if (text[i - 1] == ' ') space = i;
    return space ? space : size ? size : strlen(text);
}

const char *pen_line(const struct pen *pen, const char *style, const char *text, int room)
{
    struct words line = {0};
    size_t size = break_line(text, room > 8 ? room : 8);
    words_add(&line, "%.*s", (int)size, text);
    while (line.used && line.text[line.used - 1] == ' ')
        line.text[--line.used] = 0;
    pen_write(pen, style, line.text);
    fputs("\n", pen->out);
    return text + size;
}

void pen_wrap(const struct pen *pen, const char *style, const char *text, int width)
{
    enum { INDENT = 2 };
    for (int indent = 0; *text; indent = INDENT) {
        pen_repeat(pen, " ", indent);
        text = pen_line(pen, style, text, width - indent);
    }
}
