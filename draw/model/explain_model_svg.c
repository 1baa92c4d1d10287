/* SPDX-License-Identifier: MIT */
/*
 * A model as a picture: what stands in each box, and the arrows. An arrow leaves its box at the bottom, bends
 * between layers, and goes straight through layers, in its lane.
 */
#include <stdlib.h>
#include <string.h>

#include "explain_model.h"
#include "explain_model_picture.h"
#include "fail.h"

enum { MOST_BOXES = 400, MOST_ARROWS = 2000 };

/* ---- Boxes ---- */

static const char *class_of(const struct chain *chain, size_t i)
{
    const struct chain_item *item = &chain->items[i];
    if (item->kind == CHAIN_INPUT) return "input";
    if (item->kind == CHAIN_CONSTANT) return "constant";
    if (chain_is_refused(chain, i)) return "refused";
    if (chain->graph->nodes[item->node].kind == GRAPH_UNSUPPORTED) return "foreign";
    return chain->graph->nodes[item->node].spec ? "gather" : "other";
}

/* Of inputs and constants the name comes first, of nodes what they do; last what leaves the box. */
static void describe_item(struct box *box, const struct chain *chain, size_t i)
{
    struct words name = {0}, what = {0}, spec = {0}, formula = {0}, type = {0};
    int node = chain->items[i].kind == CHAIN_NODE;
    box->class = class_of(chain, i);
    box->roles = node && chain->graph->nodes[chain->items[i].node].spec;
    if (!node) chain_name(&name, chain, i);
    chain_what(&what, chain, i);
    chain_spec(&spec, chain, i);
    if (spec.used) words_add(&what, " (%s)", spec.text);
    chain_formula(&formula, chain, i);
    chain_type(&type, chain, i);
    box_add(box, &name);
    box_add(box, &what);
    box_add(box, &formula);
    if (strcmp(type.text, "?[…]") != 0) box_add(box, &type); /* which says nothing */
}

static void describe_output(struct box *box, const struct chain *chain, size_t output)
{
    struct words words = {0};
    box->class = "output";
    chain_foreign(&words, chain->graph->outputs[output].name, 28);
    box_add(box, &words);
    words_clear(&words);
    words_add(&words, "output");
    box_add(box, &words);
}

static void describe(struct picture *picture)
{
    for (size_t i = 0; i < picture->count; i++) {
        if (i < picture->items)
            describe_item(&picture->boxes[i], picture->chain, i);
        else
            describe_output(&picture->boxes[i], picture->chain, i - picture->items);
        box_measure(&picture->boxes[i], picture->first_arrow[i + 1] - picture->first_arrow[i]);
    }
}

/* ---- Arrows ---- */

/* Where an arrow leaves a spot, and where its layer ends: as far it goes straight. */
static void leave(struct ink *ink, const struct picture *picture, size_t id, const char *class)
{
    const struct spot *spot = &picture->spots[id];
    const struct layer *layer = &picture->layers[spot->layer];
    int x = (int)spot->x;
    int y = id < picture->count ? picture->boxes[id].y + picture->boxes[id].height : layer->y;
    ink_put(ink, "<path class=\"%s\" d=\"M%d %dV%d", class, x, y, layer->y + layer->height);
}

/* The bend from there to the layer below. */
static void bend(struct ink *ink, int from_x, int from_y, int x, int y)
{
    int middle = (from_y + y) / 2;
    if (from_x == x)
        ink_put(ink, "V%d", y);
    else
        ink_put(ink, "C%d %d %d %d %d %d", from_x, middle, x, middle, x, y);
}

static void put_arrow(struct ink *ink, const struct picture *picture, const struct arrow *arrow)
{
    const struct box *box = &picture->boxes[arrow->to];
    size_t above = picture_above(picture, arrow);
    const struct layer *layer = &picture->layers[picture->spots[above].layer];
    int x = box->x + (int)(arrow->inlet * box->width), y = box->y - 6;
    leave(ink, picture, above, "arrow");
    bend(ink, (int)picture->spots[above].x, layer->y + layer->height, x, y);
    ink_put(ink, "\"/>");
    box_put_tip(ink, x, y + 5, 1);
}

/* The lane of a box, as far as the layer above the last box that it leads to. */
static void put_lane(struct ink *ink, const struct picture *picture, size_t box)
{
    size_t above = box, end = box + 1 < picture->count ? picture->lane[box + 1] : picture->spot_count;
    for (size_t id = picture->lane[box]; id < end; above = id++) {
        const struct layer *layer = &picture->layers[picture->spots[above].layer];
        leave(ink, picture, above, "line");
        bend(ink, (int)picture->spots[above].x, layer->y + layer->height, (int)picture->spots[id].x,
             picture->layers[picture->spots[id].layer].y);
        ink_put(ink, "\"/>\n");
    }
}

static void put_roles(struct ink *ink, const struct picture *picture, size_t i)
{
    static const char *const roles[] = {"data", "indices", "axis"};
    const struct box *box = &picture->boxes[i];
    for (size_t k = picture->first_arrow[i]; box->roles && k < picture->first_arrow[i + 1]; k++) {
        const struct arrow *arrow = &picture->arrows[k];
        if (arrow->input < 3)
            ink_text(ink, box->x + (int)(arrow->inlet * box->width), box->y + 13, "role",
                     roles[arrow->input]);
    }
}

/* ---- The whole ---- */

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
    ink_begin(&ink, picture->width, picture->height, &box_style);
    chain_title(&words, picture->chain);
    ink_text(&ink, PICTURE_MARGIN, 38, "heading", words.text);
    for (size_t i = 0; i < picture->count; i++)
        put_lane(&ink, picture, i);
    for (size_t i = 0; i < picture->first_arrow[picture->count]; i++)
        put_arrow(&ink, picture, &picture->arrows[i]);
    for (size_t i = 0; i < picture->count; i++) {
        box_put(&ink, &picture->boxes[i]);
        put_roles(&ink, picture, i);
    }
    put_summary(&ink, picture);
    ink_end(&ink);
    return ink.status;
}

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
}

garner_status chain_svg(const struct chain *chain, const char *path, garner_error *error)
{
    struct picture picture;
    size_t boxes = chain->count + chain->graph->output_count, arrows = picture_count_arrows(chain);
    if (boxes > MOST_BOXES || arrows > MOST_ARROWS)
        return fail_at(
            error, GARNER_UNSUPPORTED, chain->graph->path,
            "%zu boxes and %zu arrows are too many for a picture; the limits are %d and %d. --gathers "
            "draws the gathers alone, and without --svg the terminal shows the first and the last nodes",
            boxes, arrows, MOST_BOXES, MOST_ARROWS);
    garner_status status = GARNER_NO_MEMORY;
    if (picture_create(&picture, chain)) {
        describe(&picture);
        if (picture_place(&picture)) {
            fit_words(&picture);
            status = file_save(path, produce, &picture, error);
        }
    }
    if (status == GARNER_NO_MEMORY) (void)fail(error, status, "explain: not enough memory");
    picture_free(&picture);
    return status;
}
