/* SPDX-License-Identifier: MIT */
/* SVG as text. */
#include "explain_ink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void write_bytes(struct ink *ink, const char *bytes, size_t size)
{
    if (!ink->status) ink->status = sink_write(ink->sink, bytes, size, ink->error);
}

void ink_put(struct ink *ink, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0) return;
    write_bytes(ink, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

void ink_escaped(struct ink *ink, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&')
            ink_put(ink, "&amp;");
        else if (c == '<')
            ink_put(ink, "&lt;");
        else if (c == '>')
            ink_put(ink, "&gt;");
        else if (c == '"')
            ink_put(ink, "&quot;");
        else if (c >= ' ' && c != 0x7f)
            ink_put(ink, "%c", *text);
        else
            ink_put(ink, "?");
    }
}

void ink_text(struct ink *ink, int x, int y, const char *class, const char *text)
{
    ink_put(ink, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
    ink_escaped(ink, text);
    ink_put(ink, "</text>\n");
}

void ink_begin(struct ink *ink, int width, int height, const struct ink_style *style)
{
    ink_put(ink,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "role=\"img\">\n<style>text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;"
            "font-size:13px;fill:#2b2f36}.heading{font-size:18px;font-weight:600}.paper{fill:#fafbfc}",
            width, height, width, height);
    write_bytes(ink, style->light, strlen(style->light));
    ink_put(ink, "@media (prefers-color-scheme:dark){text{fill:#e3e6eb}.paper{fill:#16181d}");
    write_bytes(ink, style->dark, strlen(style->dark));
    ink_put(ink, "}</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n");
}

void ink_end(struct ink *ink)
{
    ink_put(ink, "</svg>\n");
}
