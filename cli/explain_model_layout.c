/* SPDX-License-Identifier: MIT */
/*
 * Where the boxes of a picture stand: in layers, each below everything it takes, and within a layer near what
 * they take.
 */
#include <stdlib.h>

#include "explain_model_picture.h"

enum {
    BESIDE = 36, /* between boxes */
    BETWEEN = 64 /* between layers, where the arrows are */
};

/* ---- What a box takes ---- */

size_t picture_giver(const struct picture *picture, size_t box, size_t k)
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

size_t picture_takes(const struct picture *picture, size_t box)
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
        for (size_t k = 0; k < picture_takes(picture, i); k++) {
            size_t from = picture_giver(picture, i, k);
            if (from != GRAPH_NONE && boxes[i].layer <= boxes[from].layer)
                boxes[i].layer = boxes[from].layer + 1;
        }
    for (size_t i = picture->count; i-- > 0;)
        for (size_t k = 0; k < picture_takes(picture, i); k++) {
            size_t from = picture_giver(picture, i, k);
            if (from == GRAPH_NONE || picture_takes(picture, from)) continue;
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

double picture_center(const struct box *box)
{
    return box->x + box->width / 2.0;
}

double picture_inlet(const struct picture *picture, size_t box, size_t k)
{
    size_t seen = 0, before = 0;
    for (size_t i = 0; i < picture_takes(picture, box); i++) {
        if (picture_giver(picture, box, i) == GRAPH_NONE) continue;
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
        for (size_t k = 0; k < picture_takes(picture, i); k++) {
            size_t from = picture_giver(picture, i, k);
            if (from == GRAPH_NONE) continue;
            struct box *box = &picture->boxes[i], *other = &picture->boxes[from];
            double aside = picture_inlet(picture, i, k) - box->width / 2.0;
            struct box *wisher = down ? box : other;
            wisher->sum += down ? picture_center(other) - aside : picture_center(box) + aside;
            wisher->arrows++;
        }
    for (size_t i = 0; i < picture->count; i++) {
        struct box *box = &picture->boxes[i];
        if (box->layer == layer) box->wish = box->arrows > 0 ? box->sum / box->arrows : picture_center(box);
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

void picture_place(struct picture *picture)
{
    double least = 0;
    for (size_t i = 0; i < picture->count; i++)
        picture->places[i].box = i;
    find_layers(picture);
    settle(picture);
    for (size_t i = 0; i < picture->count; i++)
        if (i == 0 || picture->boxes[i].x < least) least = picture->boxes[i].x;
    for (size_t i = 0; i < picture->count; i++) {
        struct box *box = &picture->boxes[i];
        box->x += PICTURE_MARGIN - least;
        box->y = PICTURE_TOP + box->layer * (PICTURE_LINES * PICTURE_LINE + PICTURE_PADDING + BETWEEN);
        if (box->x + box->width + PICTURE_MARGIN > picture->width)
            picture->width = (int)(box->x + box->width) + PICTURE_MARGIN;
        if (box->y + box->height > picture->bottom) picture->bottom = box->y + box->height;
    }
}
