/* SPDX-License-Identifier: MIT */
/* The boxes of pictures of models: what stands in them, how large they are, and how they look. */
#include <string.h>

#include "explain_model_picture.h"

enum { INLET = 14, NAMED_INLET = 64 /* between arrows into a box; where it names them */ };

const struct ink_style box_style = {
    ".box rect{fill:#fff;stroke:#c3c8d1;stroke-width:1.4}.box text{text-anchor:middle}"
    ".first{font-weight:600}.more{fill:#4a5261;font-size:12px}"
    ".input rect{fill:#e4f0ff;stroke:#4a86c9}.constant rect{fill:#f1f2f5;stroke:#aab1bd}"
    ".gather rect{fill:#e6f5dc;stroke:#6aa646}.other rect{fill:#fff6da;stroke:#d1a53c}"
    ".refused rect{fill:#ffe3df;stroke:#d9685a;stroke-dasharray:4 3}.output rect{fill:#eee9ff;stroke:#7a67c7}"
    ".arrow,.line{fill:none;stroke:#8b93a1;stroke-width:1.5}.tip{fill:#8b93a1}"
    ".role{fill:#6b7280;font-size:11px;text-anchor:middle}.summary,.verdict{fill:#4a5261}.taken{fill:#"
    "3c7a1e}",
    ".box rect{fill:#1f2228;stroke:#4b515c}.more,.summary,.verdict{fill:#a9b1bd}.role{fill:#8b93a1}"
    ".input rect{fill:#1c2f47}.constant rect{fill:#24272e;stroke:#6b7280}.gather rect{fill:#26391b}"
    ".other rect{fill:#40351a}.refused rect{fill:#4a2723}.output rect{fill:#2f2a50}.taken{fill:#8fce6d}"};

void box_add(struct box *box, const struct words *words)
{
    if (!words->used || box->lines == PICTURE_LINES) return;
    view_shorten(box->line[box->lines], sizeof box->line[0], words->text, PICTURE_COLUMNS);
    box->lines++;
}

void box_measure(struct box *box, size_t inputs)
{
    int widest = 4;
    for (int i = 0; i < box->lines; i++)
        if (view_width(box->line[i]) > widest) widest = view_width(box->line[i]);
    box->width = widest * INK_CHARACTER + 2 * PICTURE_PADDING;
    box->height = box->lines * PICTURE_LINE + PICTURE_PADDING + (box->roles ? PICTURE_ROLES : 0);
    int needed = (int)(inputs + 1) * (box->roles ? NAMED_INLET : INLET);
    if (box->width < needed) box->width = needed;
}

void box_put(struct ink *ink, const struct box *box)
{
    int middle = box->x + box->width / 2, y = box->y + PICTURE_PADDING / 2 + 13;
    int is_round = strcmp(box->class, "input") == 0 || strcmp(box->class, "output") == 0;
    ink_put(ink, "<g class=\"box %s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n",
            box->class, box->x, box->y, box->width, box->height, is_round ? 18 : 6);
    if (box->roles) y += PICTURE_ROLES;
    for (int i = 0; i < box->lines; i++)
        ink_text(ink, middle, y + PICTURE_LINE * i, i ? "more" : "first", box->line[i]);
    ink_put(ink, "</g>\n");
}

void box_put_tip(struct ink *ink, int x, int y, int down)
{
    ink_put(ink, "<path class=\"tip\" d=\"M%d %dl%s\"/>\n", x, y, down ? "-3.5 -7h7z" : "-7 -3.5v7z");
}
