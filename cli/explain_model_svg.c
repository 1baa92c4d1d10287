/* SPDX-License-Identifier: MIT */
/*
 * A model as a picture: boxes in layers from top to bottom, each below everything it takes, and an arrow for
 * each tensor, which says what it is where it leaves its box. Within a layer boxes stand near what they take.
 */
#include <stdlib.h>
#include <string.h>

#include "explain_ink.h"
#include "explain_model.h"
#include "fail.h"

enum {
    MOST_BOXES = 400,
    MARGIN = 28,
    TOP = 72,     /* where boxes begin: the title stands above */
    BESIDE = 36,  /* between boxes */
    BETWEEN = 64, /* between layers, where the arrows are */
    LINE = 18,    /* of text in a box */
    PADDING = 12,
    LINES = 3
};

struct box {
    struct words line[LINES];
    const char *class;
    int layer, lines, sunk;
    int y, width, height;
    double x, wish; /* wish: where its middle would like to be */
    double sum, arrows;
};

/* A box in the order of its layer. */
struct place {
    int layer;
    double wish;
    size_t box;
};

struct picture {
    const struct chain *chain;
    struct box *boxes;
    size_t items, count; /* boxes are items first, then the model's outputs */
    struct place *places;
    int layers;
    int width, height, bottom; /* bottom: of the lowest box */
};

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
    while (box->lines < LINES && box->line[box->lines].used)
        box->lines++;
    for (int i = 0; i < box->lines; i++)
        if (view_width(box->line[i].text) > widest) widest = view_width(box->line[i].text);
    box->width = widest * INK_CHARACTER + 2 * PADDING;
    box->height = box->lines * LINE + PADDING;
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

/* ---- What a box takes ---- */

/* The box that gives the k-th tensor that a box takes; GRAPH_NONE: it is not drawn. */
static size_t giver(const struct picture *picture, size_t box, size_t k)
{
    const struct chain *chain = picture->chain;
    size_t value = GRAPH_NONE;
    if (box >= picture->items)
        value = chain->graph->outputs[box - picture->items].value;
    else if (chain->items[box].kind == CHAIN_NODE)
        value = chain->graph->nodes[chain->items[box].node].inputs[k];
    size_t from = value == GRAPH_NONE ? GRAPH_NONE : chain->maker[value];
    return from < picture->items ? from : GRAPH_NONE;
}

static size_t takes(const struct picture *picture, size_t box)
{
    const struct chain *chain = picture->chain;
    if (box >= picture->items) return 1;
    if (chain->items[box].kind != CHAIN_NODE) return 0;
    return chain->graph->nodes[chain->items[box].node].input_count;
}

/* ---- Layers ---- */

/* Everything right below the lowest thing that it takes; then inputs and constants, which take nothing,
 * down to just above the first that takes them. */
static void find_layers(struct picture *picture)
{
    struct box *boxes = picture->boxes;
    for (size_t i = 0; i < picture->count; i++)
        for (size_t k = 0; k < takes(picture, i); k++) {
            size_t from = giver(picture, i, k);
            if (from != GRAPH_NONE && boxes[i].layer <= boxes[from].layer)
                boxes[i].layer = boxes[from].layer + 1;
        }
    for (size_t i = picture->count; i-- > 0;)
        for (size_t k = 0; k < takes(picture, i); k++) {
            size_t from = giver(picture, i, k);
            if (from == GRAPH_NONE || takes(picture, from)) continue;
            if (!boxes[from].sunk || boxes[i].layer - 1 < boxes[from].layer)
                boxes[from].layer = boxes[i].layer - 1;
            boxes[from].sunk = 1;
        }
    for (size_t i = 0; i < picture->count; i++)
        if (boxes[i].layer >= picture->layers) picture->layers = boxes[i].layer + 1;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->layer != y->layer) return x->layer - y->layer;
    if (x->wish != y->wish) return x->wish < y->wish ? -1 : 1;
    return (x->box > y->box) - (x->box < y->box);
}

static void sort_places(struct picture *picture)
{
    for (size_t i = 0; i < picture->count; i++) {
        struct place *place = &picture->places[i];
        place->layer = picture->boxes[place->box].layer;
        place->wish = picture->boxes[place->box].wish;
    }
    if (picture->count) qsort(picture->places, picture->count, sizeof *picture->places, compare_places);
}

/* Puts the boxes of one layer side by side in their order, as near to their wishes as that allows. */
static void place_layer(struct picture *picture, size_t first, size_t end)
{
    double at = 0, off = 0;
    for (size_t i = first; i < end; i++) {
        struct box *box = &picture->boxes[picture->places[i].box];
        double left = box->wish - box->width / 2.0;
        if (i == first || left > at) at = left;
        box->x = at;
        off += box->wish - (at + box->width / 2.0);
        at += box->width + BESIDE;
    }
    for (size_t i = first; i < end; i++)
        picture->boxes[picture->places[i].box].x += off / (double)(end - first);
}

/* Places one layer, or all of them: -1. */
static void place_layers(struct picture *picture, int layer)
{
    sort_places(picture);
    for (size_t first = 0, end; first < picture->count; first = end) {
        for (end = first; end < picture->count && picture->places[end].layer == picture->places[first].layer;)
            end++;
        if (layer < 0 || picture->places[first].layer == layer) place_layer(picture, first, end);
    }
}

static double center(const struct box *box)
{
    return box->x + box->width / 2.0;
}

/* Where an arrow to the k-th input of a box ends, from its left side. */
static double inlet(const struct picture *picture, size_t box, size_t k)
{
    size_t seen = 0, before = 0;
    for (size_t i = 0; i < takes(picture, box); i++) {
        if (giver(picture, box, i) == GRAPH_NONE) continue;
        seen++;
        before += i < k;
    }
    return picture->boxes[box].width * (double)(before + 1) / (double)(seen + 1);
}

/* Lets each box of a layer wish to stand where its arrows are straight: those to it (down) or from it. */
static void make_wishes(struct picture *picture, int layer, int down)
{
    for (size_t i = 0; i < picture->count; i++)
        picture->boxes[i].sum = picture->boxes[i].arrows = 0;
    for (size_t i = 0; i < picture->count; i++)
        for (size_t k = 0; k < takes(picture, i); k++) {
            size_t from = giver(picture, i, k);
            if (from == GRAPH_NONE) continue;
            struct box *box = &picture->boxes[i], *other = &picture->boxes[from];
            double aside = inlet(picture, i, k) - box->width / 2.0;
            struct box *wisher = down ? box : other;
            wisher->sum += down ? center(other) - aside : center(box) + aside;
            wisher->arrows++;
        }
    for (size_t i = 0; i < picture->count; i++) {
        struct box *box = &picture->boxes[i];
        if (box->layer == layer) box->wish = box->arrows > 0 ? box->sum / box->arrows : center(box);
    }
}

/* Layer after layer down, then up, so that each sees where the one before has come to stand. */
static void settle(struct picture *picture)
{
    enum { ROUNDS = 5 };
    place_layers(picture, -1);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < picture->layers; i++) {
            int down = round % 2 == 0, layer = down ? i : picture->layers - 1 - i;
            make_wishes(picture, layer, down);
            place_layers(picture, layer);
        }
}

static void place(struct picture *picture)
{
    double least = 0;
    find_layers(picture);
    settle(picture);
    for (size_t i = 0; i < picture->count; i++)
        if (i == 0 || picture->boxes[i].x < least) least = picture->boxes[i].x;
    for (size_t i = 0; i < picture->count; i++) {
        struct box *box = &picture->boxes[i];
        box->x += MARGIN - least;
        box->y = TOP + box->layer * (LINES * LINE + PADDING + BETWEEN);
        if (box->x + box->width + MARGIN > picture->width)
            picture->width = (int)(box->x + box->width) + MARGIN;
        if (box->y + box->height > picture->bottom) picture->bottom = box->y + box->height;
    }
}

/* ---- Drawing ---- */

static void put_box(struct ink *ink, const struct box *box)
{
    int x = (int)box->x, middle = x + box->width / 2;
    ink_put(ink, "<g class=\"box %s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n",
            box->class, x, box->y, box->width, box->height,
            strcmp(box->class, "gather") == 0 ? 6 : box->height / 2);
    for (int i = 0; i < box->lines; i++)
        ink_text(ink, middle, box->y + PADDING / 2 + LINE * i + 13, i ? "more" : "first", box->line[i].text);
    ink_put(ink, "</g>\n");
}

static void put_arrow(struct ink *ink, const struct picture *picture, size_t to, size_t k)
{
    static const char *const roles[] = {"data", "indices", "axis"};
    size_t from = giver(picture, to, k);
    if (from == GRAPH_NONE) return;
    const struct box *box = &picture->boxes[to], *other = &picture->boxes[from];
    int x = (int)center(other), y = other->y + other->height;
    int end_x = (int)(box->x + inlet(picture, to, k)), end_y = box->y - 6, bend = (end_y - y) / 2;
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
    ink_text(ink, (int)center(box) + 8, box->y + box->height + 15, "type", words.text);
}

static const char style[] =
    ".box rect{fill:#fff;stroke:#c3c8d1;stroke-width:1.4}.box text{text-anchor:middle}"
    ".first{font-weight:600}.more{fill:#4a5261;font-size:12px}"
    ".input rect{fill:#e4f0ff;stroke:#4a86c9}.constant rect{fill:#f1f2f5;stroke:#aab1bd}"
    ".gather rect{fill:#e6f5dc;stroke:#6aa646}.other rect{fill:#fff6da;stroke:#d1a53c}"
    ".refused rect{fill:#ffe3df;stroke:#d9685a;stroke-dasharray:4 3}.output rect{fill:#eee9ff;stroke:#7a67c7}"
    ".arrow{fill:none;stroke:#8b93a1;stroke-width:1.5}.tip{fill:#8b93a1}"
    ".type{fill:#4a5261;font-size:12px;paint-order:stroke;stroke:#fafbfc;stroke-width:4px}"
    ".role{fill:#9aa1ad;font-size:11px}.summary{fill:#4a5261}";

static void put_summary(struct ink *ink, const struct picture *picture)
{
    struct words words = {0};
    int y = picture->bottom + MARGIN + 4;
    for (size_t i = 0; chain_summary(&words, picture->chain, i); i++) {
        if (words.used) {
            ink_text(ink, MARGIN, y, "summary", words.text);
            y += LINE;
        }
        words_clear(&words);
    }
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    const struct picture *picture = context;
    struct ink ink = {sink, error, GARNER_OK};
    struct words words = {0};
    ink_begin(&ink, picture->width, picture->height, style);
    chain_title(&words, picture->chain);
    ink_text(&ink, MARGIN, 38, "heading", words.text);
    for (size_t i = 0; i < picture->count; i++)
        for (size_t k = 0; k < takes(picture, i); k++)
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
    picture->height = picture->bottom + MARGIN + 8;
    words_clear(&words);
    for (size_t i = 0; chain_summary(&words, picture->chain, i); i++) {
        int width = view_width(words.text) * INK_CHARACTER;
        if (width > widest) widest = width;
        if (words.used) picture->height += LINE;
        words_clear(&words);
    }
    if (picture->width < widest + 2 * MARGIN) picture->width = widest + 2 * MARGIN;
    for (size_t i = 0; i < picture->items; i++) { /* the type beside an arrow */
        words_clear(&words);
        chain_type(&words, picture->chain, i);
        int right = (int)center(&picture->boxes[i]) + view_width(words.text) * INK_CHARACTER + MARGIN;
        if (picture->width < right) picture->width = right;
    }
}

static void describe(struct picture *picture)
{
    for (size_t i = 0; i < picture->count; i++) {
        picture->places[i].box = i;
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
        .chain = chain, .items = chain->count, .count = chain->count + outputs, .bottom = TOP};
    picture.boxes = calloc(picture.count + 1, sizeof *picture.boxes);
    picture.places = calloc(picture.count + 1, sizeof *picture.places);
    garner_status status = GARNER_OK;
    if (!picture.boxes || !picture.places) {
        status = fail(error, GARNER_NO_MEMORY, "explain: not enough memory");
    } else {
        describe(&picture);
        place(&picture);
        fit_words(&picture);
        status = file_save(path, produce, &picture, error);
    }
    free(picture.boxes);
    free(picture.places);
    return status;
}
