/* SPDX-License-Identifier: MIT */
/*
 * A model as a picture: what stands in each box, and an arrow for each tensor, which says what it is where it
 * leaves its box.
 */
#include <stdlib.h>
#include <string.h>

#include "explain_ink.h"
#include "explain_model_picture.h"
#include "fail.h"

enum { MOST_BOXES = 400 };

/* ---- Boxes ---- */

static const char *class_of(const struct chain *chain, size_t i)
{
    const struct chain_item *item = &chain->items[i];
    if (item->kind == CHAIN_INPUT) return "input";
    if (item->kind == CHAIN_CONSTANT) return "constant";
    if (chain_is_refused(chain, i)) return "refused";
    return chain->graph->nodes[item->node].spec ? "gather" : "other";
}

static void box_measure(struct box *box)
{
    int widest = 4;
    while (box->lines < PICTURE_LINES && box->line[box->lines].used)
        box->lines++;
    for (int i = 0; i < box->lines; i++)
        if (view_width(box->line[i].text) > widest) widest = view_width(box->line[i].text);
    box->width = widest * INK_CHARACTER + 2 * PICTURE_PADDING;
    box->height = box->lines * PICTURE_LINE + PICTURE_PADDING;
}

/* Of inputs and constants the name comes first, of nodes what they do. */
static void box_describe(struct box *box, const struct chain *chain, size_t i)
{
    struct words spec = {0};
    box->class = class_of(chain, i);
    if (chain->items[i].kind == CHAIN_NODE) {
        chain_what(&box->line[0], chain, i);
        chain_spec(&spec, chain, i);
        chain_formula(&box->line[1], chain, i);
        if (spec.used) words_add(&box->line[box->line[1].used ? 2 : 1], "%s", spec.text);
    } else {
        chain_name(&box->line[0], chain, i);
        chain_what(&box->line[1], chain, i);
    }
    box_measure(box);
}

static void describe_output(struct box *box, const struct chain *chain, size_t output)
{
    char harmless[512], shown[128];
    box->class = "output";
    view_shorten(shown, sizeof shown,
                 printable(harmless, sizeof harmless, chain->graph->outputs[output].name), 28);
    words_add(&box->line[0], "%s", shown);
    words_add(&box->line[1], "output");
    box_measure(box);
}

/* ---- Drawing ---- */

static void put_box(struct ink *ink, const struct box *box)
{
    int x = (int)box->x, middle = x + box->width / 2;
    ink_put(ink, "<g class=\"box %s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n",
            box->class, x, box->y, box->width, box->height,
            strcmp(box->class, "gather") == 0 ? 6 : box->height / 2);
    for (int i = 0; i < box->lines; i++)
        ink_text(ink, middle, box->y + PICTURE_PADDING / 2 + PICTURE_LINE * i + 13, i ? "more" : "first",
                 box->line[i].text);
    ink_put(ink, "</g>\n");
}

static void put_arrow(struct ink *ink, const struct picture *picture, size_t to, size_t k)
{
    static const char *const roles[] = {"data", "indices", "axis"};
    size_t from = picture_giver(picture, to, k);
    if (from == GRAPH_NONE) return;
    const struct box *box = &picture->boxes[to], *other = &picture->boxes[from];
    int x = (int)picture_center(other), y = other->y + other->height;
    int end_x = (int)(box->x + picture_inlet(picture, to, k)), end_y = box->y - 6, bend = (end_y - y) / 2;
    ink_put(ink, "<path class=\"arrow\" d=\"M%d %dC%d %d %d %d %d %d\"/>", x, y, x, y + bend, end_x,
            end_y - bend, end_x, end_y);
    ink_put(ink, "<path class=\"tip\" d=\"M%d %dl-3.5 -7h7z\"/>\n", end_x, end_y + 5);
    if (strcmp(box->class, "gather") == 0 && k < 3) ink_text(ink, end_x + 7, end_y - 2, "role", roles[k]);
}

/* What leaves a box, beside its arrow. */
static void put_type(struct ink *ink, const struct picture *picture, size_t i)
{
    struct words words = {0};
    const struct box *box = &picture->boxes[i];
    size_t value = picture->chain->items[i].value;
    if (value == GRAPH_NONE) return;
    if (picture->chain->last[value] == GRAPH_NONE && picture->chain->output[value] == GRAPH_NONE) return;
    chain_type(&words, picture->chain, i);
    ink_text(ink, (int)picture_center(box) + 8, box->y + box->height + 15, "type", words.text);
}

static const struct ink_style style = {
    ".box rect{fill:#fff;stroke:#c3c8d1;stroke-width:1.4}.box text{text-anchor:middle}"
    ".first{font-weight:600}.more{fill:#4a5261;font-size:12px}"
    ".input rect{fill:#e4f0ff;stroke:#4a86c9}.constant rect{fill:#f1f2f5;stroke:#aab1bd}"
    ".gather rect{fill:#e6f5dc;stroke:#6aa646}.other rect{fill:#fff6da;stroke:#d1a53c}"
    ".refused rect{fill:#ffe3df;stroke:#d9685a;stroke-dasharray:4 3}.output rect{fill:#eee9ff;stroke:#7a67c7}"
    ".arrow{fill:none;stroke:#8b93a1;stroke-width:1.5}.tip{fill:#8b93a1}"
    ".type{fill:#4a5261;font-size:12px;paint-order:stroke;stroke:#fafbfc;stroke-width:4px}"
    ".role{fill:#9aa1ad;font-size:11px}.summary{fill:#4a5261}",
    ".box rect{fill:#1f2228;stroke:#4b515c}.more,.summary{fill:#a9b1bd}.role{fill:#7d8592}"
    ".input rect{fill:#1c2f47}.constant rect{fill:#24272e;stroke:#6b7280}.gather rect{fill:#26391b}"
    ".other rect{fill:#40351a}.refused rect{fill:#4a2723}.output rect{fill:#2f2a50}"
    ".type{fill:#a9b1bd;stroke:#16181d}"};

static void put_summary(struct ink *ink, const struct picture *picture)
{
    struct words words = {0};
    int y = picture->bottom + PICTURE_MARGIN + 4;
    for (size_t i = 0; chain_summary(&words, picture->chain, i); i++) {
        if (words.used) {
            ink_text(ink, PICTURE_MARGIN, y, "summary", words.text);
            y += PICTURE_LINE;
        }
        words_clear(&words);
    }
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    const struct picture *picture = context;
    struct ink ink = {sink, error, GARNER_OK};
    struct words words = {0};
    ink_begin(&ink, picture->width, picture->height, &style);
    chain_title(&words, picture->chain);
    ink_text(&ink, PICTURE_MARGIN, 38, "heading", words.text);
    for (size_t i = 0; i < picture->count; i++)
        for (size_t k = 0; k < picture_takes(picture, i); k++)
            put_arrow(&ink, picture, i, k);
    for (size_t i = 0; i < picture->count; i++) {
        put_box(&ink, &picture->boxes[i]);
        if (i < picture->items) put_type(&ink, picture, i);
    }
    put_summary(&ink, picture);
    ink_end(&ink);
    return ink.status;
}

/* ---- The whole ---- */

/* Makes the picture as wide and as high as its words need. */
static void fit_words(struct picture *picture)
{
    struct words words = {0};
    chain_title(&words, picture->chain);
    int widest = view_width(words.text) * (INK_CHARACTER + 4);
    picture->height = picture->bottom + PICTURE_MARGIN + 8;
    words_clear(&words);
    for (size_t i = 0; chain_summary(&words, picture->chain, i); i++) {
        int width = view_width(words.text) * INK_CHARACTER;
        if (width > widest) widest = width;
        if (words.used) picture->height += PICTURE_LINE;
        words_clear(&words);
    }
    if (picture->width < widest + 2 * PICTURE_MARGIN) picture->width = widest + 2 * PICTURE_MARGIN;
    for (size_t i = 0; i < picture->items; i++) { /* the type beside an arrow */
        words_clear(&words);
        chain_type(&words, picture->chain, i);
        int right =
            (int)picture_center(&picture->boxes[i]) + view_width(words.text) * INK_CHARACTER + PICTURE_MARGIN;
        if (picture->width < right) picture->width = right;
    }
}

static void describe(struct picture *picture)
{
    for (size_t i = 0; i < picture->count; i++) {
        if (i < picture->items)
            box_describe(&picture->boxes[i], picture->chain, i);
        else
            describe_output(&picture->boxes[i], picture->chain, i - picture->items);
    }
}

garner_status chain_svg(const struct chain *chain, const char *path, garner_error *error)
{
    size_t outputs = chain->graph->output_count;
    if (chain->count + outputs > MOST_BOXES)
        return fail_at(
            error, GARNER_UNSUPPORTED, chain->graph->path,
            "%zu boxes are too many for a picture; the limit is %d. The terminal shows the first and "
            "the last of them: leave out --svg",
            chain->count + outputs, MOST_BOXES);
    struct picture picture = {
        .chain = chain, .items = chain->count, .count = chain->count + outputs, .bottom = PICTURE_TOP};
    picture.boxes = calloc(picture.count + 1, sizeof *picture.boxes);
    picture.places = calloc(picture.count + 1, sizeof *picture.places);
    garner_status status = GARNER_OK;
    if (!picture.boxes || !picture.places) {
        status = fail(error, GARNER_NO_MEMORY, "explain: not enough memory");
    } else {
        describe(&picture);
        picture_place(&picture);
        fit_words(&picture);
        status = file_save(path, produce, &picture, error);
    }
    free(picture.boxes);
    free(picture.places);
    return status;
}
