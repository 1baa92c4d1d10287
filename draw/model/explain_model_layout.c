/* SPDX-License-Identifier: MIT */
/*
 * Where the boxes of a picture stand: in layers, each below everything it takes. An arrow over several layers
 * has a lane through those between, which takes room as a box does; all arrows from one box share it. Within
 * a layer everything stands near what it is joined to.
 */
#include <stdlib.h>

#include "explain_model_picture.h"

enum {
    BESIDE = 32, /* between boxes */
    BESIDE_LANE = 14,
    LANE = 4,     /* the width of a lane */
    BETWEEN = 40, /* between layers, where arrows bend */
    MOST_BETWEEN = 110
};

/* ---- What a box takes ---- */

/* How many tensors a box takes, and the box that gives the k-th; GRAPH_NONE: that is not drawn. */
static size_t takes(const struct chain *chain, size_t box)
{
    if (box >= chain->count) return 1;
    if (chain->items[box].kind != CHAIN_NODE) return 0;
    return chain->graph->nodes[chain->items[box].node].input_count;
}

static size_t giver(const struct chain *chain, size_t box, size_t k)
{
    size_t value = box >= chain->count ? chain->graph->outputs[box - chain->count].value
                                       : chain->graph->nodes[chain->items[box].node].inputs[k];
    return value == GRAPH_NONE ? GRAPH_NONE : chain->maker[value];
}

size_t picture_count_arrows(const struct chain *chain)
{
    size_t count = 0;
    for (size_t i = 0; i < chain->count + chain->graph->output_count; i++)
        for (size_t k = 0; k < takes(chain, i); k++)
            count += giver(chain, i, k) != GRAPH_NONE;
    return count;
}

static void make_arrows(struct picture *picture)
{
    size_t used = 0;
    for (size_t i = 0; i < picture->count; i++) {
        size_t first = picture->first_arrow[i] = used;
        for (size_t k = 0; k < takes(picture->chain, i); k++) {
            size_t from = giver(picture->chain, i, k);
            if (from != GRAPH_NONE) picture->arrows[used++] = (struct arrow){from, i, k, 0};
        }
        for (size_t k = first; k < used; k++)
            picture->arrows[k].inlet = (double)(k - first + 1) / (double)(used - first + 1);
    }
    picture->first_arrow[picture->count] = used;
}

int picture_create(struct picture *picture, const struct chain *chain)
{
    size_t count = chain->count + chain->graph->output_count;
    *picture = (struct picture){.chain = chain,
                                .items = chain->count,
                                .count = count,
                                .bottom = PICTURE_TOP,
                                .boxes = calloc(count + 1, sizeof *picture->boxes),
                                .first_arrow = calloc(count + 2, sizeof *picture->first_arrow),
                                .arrows = calloc(picture_count_arrows(chain) + 1, sizeof *picture->arrows)};
    if (!picture->boxes || !picture->first_arrow || !picture->arrows) return 0;
    make_arrows(picture);
    return 1;
}

void picture_free(struct picture *picture)
{
    free(picture->boxes);
    free(picture->arrows);
    free(picture->first_arrow);
    free(picture->spots);
    free(picture->lane);
    free(picture->order);
    free(picture->layers);
}

static size_t arrow_count(const struct picture *picture)
{
    return picture->first_arrow[picture->count];
}

size_t picture_above(const struct picture *picture, const struct arrow *arrow)
{
    int between = picture->spots[arrow->to].layer - picture->spots[arrow->from].layer - 1;
    return between ? picture->lane[arrow->from] + (size_t)between - 1 : arrow->from;
}

/* ---- Layers and lanes ---- */

/* Everything right below the lowest thing that it takes. */
static void sink_boxes(const struct picture *picture, int *layer)
{
    for (size_t i = 0; i < arrow_count(picture);
         i++) { /* those that lead to a box come before those from it */
        const struct arrow *arrow = &picture->arrows[i];
        if (layer[arrow->to] <= layer[arrow->from]) layer[arrow->to] = layer[arrow->from] + 1;
    }
}

/* Inputs and constants, which take nothing, go down to just above the first that takes them. `highest`: of
 * each box the highest layer that takes it, 0 if none does. */
static void sink_sources(const struct picture *picture, int *layer, int *highest)
{
    for (size_t i = 0; i < arrow_count(picture); i++) {
        const struct arrow *arrow = &picture->arrows[i];
        if (!highest[arrow->from] || layer[arrow->to] < highest[arrow->from])
            highest[arrow->from] = layer[arrow->to];
    }
    for (size_t i = 0; i < picture->count; i++)
        if (picture->first_arrow[i] == picture->first_arrow[i + 1] && highest[i]) layer[i] = highest[i] - 1;
}

/* How many spots the lane of each box has. Returns how many all have. */
static size_t measure_lanes(const struct picture *picture, const int *layer, size_t *length)
{
    size_t total = 0;
    for (size_t i = 0; i < arrow_count(picture); i++) {
        const struct arrow *arrow = &picture->arrows[i];
        size_t needed = (size_t)(layer[arrow->to] - layer[arrow->from] - 1);
        if (needed <= length[arrow->from]) continue;
        total += needed - length[arrow->from];
        length[arrow->from] = needed;
    }
    return total;
}

static void make_spots(struct picture *picture, const int *layer, const size_t *length)
{
    size_t next = picture->count;
    for (size_t i = 0; i < picture->count; i++) {
        picture->spots[i] = (struct spot){.box = i, .layer = layer[i], .width = picture->boxes[i].width};
        picture->lane[i] = next;
        for (size_t k = 0; k < length[i]; k++)
            picture->spots[next++] = (struct spot){.box = i, .layer = layer[i] + 1 + (int)k, .width = LANE};
    }
}

/* Spots by layer. */
static void fill_layers(struct picture *picture)
{
    for (size_t i = 0; i < picture->spot_count; i++)
        picture->layers[picture->spots[i].layer].end++;
    size_t next = 0;
    for (int i = 0; i < picture->layer_count; i++) {
        struct layer *layer = &picture->layers[i];
        size_t size = layer->end;
        layer->first = layer->end = next;
        next += size;
    }
    for (size_t i = 0; i < picture->spot_count; i++)
        picture->order[picture->layers[picture->spots[i].layer].end++] = i;
}

static int make_layers(struct picture *picture)
{
    int *layer = calloc(picture->count + 1, sizeof *layer),
        *highest = calloc(picture->count + 1, sizeof *highest);
    size_t *length = calloc(picture->count + 1, sizeof *length);
    int made = layer && highest && length;
    if (made) {
        sink_boxes(picture, layer);
        sink_sources(picture, layer, highest);
        for (size_t i = 0; i < picture->count; i++)
            if (layer[i] >= picture->layer_count) picture->layer_count = layer[i] + 1;
        picture->spot_count = picture->count + measure_lanes(picture, layer, length);
        picture->spots = calloc(picture->spot_count + 1, sizeof *picture->spots);
        picture->lane = calloc(picture->count + 1, sizeof *picture->lane);
        picture->order = calloc(picture->spot_count + 1, sizeof *picture->order);
        picture->layers = calloc((size_t)picture->layer_count + 1, sizeof *picture->layers);
        made = picture->spots && picture->lane && picture->order && picture->layers;
    }
    if (made) {
        make_spots(picture, layer, length);
        fill_layers(picture);
    }
    free(layer);
    free(highest);
    free(length);
    return made;
}

/* ---- From left to right ---- */

/* Adds where a spot's joints are to its wish, down: those above it; up: it to the wishes of those above it.
 */
static void add_joint(struct spot *above, struct spot *below, double aside, int down)
{
    if (down) {
        below->sum += above->x - aside;
        below->count++;
    } else {
        above->sum += below->x + aside;
        above->count++;
    }
}

static void add_joints(struct picture *picture, size_t id, int down)
{
    struct spot *spot = &picture->spots[id];
    if (id >= picture->count) {
        size_t above = id == picture->lane[spot->box] ? spot->box : id - 1;
        add_joint(&picture->spots[above], spot, 0, down);
        return;
    }
    for (size_t i = picture->first_arrow[id]; i < picture->first_arrow[id + 1]; i++) {
        const struct arrow *arrow = &picture->arrows[i];
        add_joint(&picture->spots[picture_above(picture, arrow)], spot, (arrow->inlet - 0.5) * spot->width,
                  down);
    }
}

/* Lets each spot of a layer wish to stand where its arrows are straight: those to it (down) or from it. */
static void make_wishes(struct picture *picture, int at, int down)
{
    const struct layer *layer = &picture->layers[at], *joined = down ? layer : layer + 1;
    for (size_t i = layer->first; i < layer->end; i++)
        picture->spots[picture->order[i]].sum = picture->spots[picture->order[i]].count = 0;
    if (down || at + 1 < picture->layer_count)
        for (size_t i = joined->first; i < joined->end; i++)
            add_joints(picture, picture->order[i], down);
    for (size_t i = layer->first; i < layer->end; i++) {
        struct spot *spot = &picture->spots[picture->order[i]];
        spot->wish = spot->count > 0 ? spot->sum / spot->count : spot->x;
    }
}

/* In order of wishes, which are few and mostly in order already: by insertion. */
static void sort_layer(struct picture *picture, const struct layer *layer)
{
    for (size_t i = layer->first + 1; i < layer->end; i++) {
        size_t id = picture->order[i], k = i;
        for (; k > layer->first && picture->spots[picture->order[k - 1]].wish > picture->spots[id].wish; k--)
            picture->order[k] = picture->order[k - 1];
        picture->order[k] = id;
    }
}

static double distance(const struct picture *picture, size_t left, size_t right)
{
    int lane = left >= picture->count || right >= picture->count;
    return (picture->spots[left].width + picture->spots[right].width) / 2 + (lane ? BESIDE_LANE : BESIDE);
}

/*
 * Places a layer in its order, each spot as near to its wish as the others allow: spots that would overlap
 * become a block, which stands where the mean of its wishes is. `sum` is how far left of its block's
 * beginning the wishes of a block are, `count` how many it has; a block is known by its first spot.
 */
static void place_layer(struct picture *picture, const struct layer *layer, size_t *blocks)
{
    size_t used = 0;
    double offset = 0;
    for (size_t i = layer->first; i < layer->end; i++) {
        struct spot *spot = &picture->spots[picture->order[i]];
        if (i > layer->first) offset += distance(picture, picture->order[i - 1], picture->order[i]);
        spot->x = offset; /* for now: where it stands behind the first */
        spot->sum = spot->wish - offset;
        spot->count = 1;
        blocks[used++] = i;
        while (used > 1) {
            struct spot *last = &picture->spots[picture->order[blocks[used - 1]]];
            struct spot *before = &picture->spots[picture->order[blocks[used - 2]]];
            if (before->sum / before->count <= last->sum / last->count) break;
            before->sum += last->sum;
            before->count += last->count;
            used--;
        }
    }
    for (size_t b = 0; b < used; b++) {
        const struct spot *first = &picture->spots[picture->order[blocks[b]]];
        double at = first->sum / first->count;
        for (size_t i = blocks[b]; i < (b + 1 < used ? blocks[b + 1] : layer->end); i++)
            picture->spots[picture->order[i]].x += at;
    }
}

/* Layer after layer down, then up, so that each sees where the one before has come to stand. The order within
 * layers settles first. */
static int settle(struct picture *picture)
{
    enum { ROUNDS = 9, SORTED = 7 };
    size_t *blocks = calloc(picture->spot_count + 1, sizeof *blocks);
    if (!blocks) return 0;
    for (int i = 0; i < picture->layer_count; i++)
        place_layer(picture, &picture->layers[i], blocks);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < picture->layer_count; i++) {
            int down = round % 2 == 0, at = down ? i : picture->layer_count - 1 - i;
            make_wishes(picture, at, down);
            if (round < SORTED) sort_layer(picture, &picture->layers[at]);
            place_layer(picture, &picture->layers[at], blocks);
        }
    free(blocks);
    return 1;
}

/* ---- From top to bottom ---- */

/* The longest way that an arrow goes aside above a layer: it wants room to bend. */
static double widest_bend(const struct picture *picture, const struct layer *layer)
{
    double widest = 0;
    for (size_t i = layer->first; i < layer->end; i++) {
        size_t id = picture->order[i];
        if (id >= picture->count) continue;
        const struct spot *spot = &picture->spots[id];
        for (size_t k = picture->first_arrow[id]; k < picture->first_arrow[id + 1]; k++) {
            const struct arrow *arrow = &picture->arrows[k];
            double above = picture->spots[picture_above(picture, arrow)].x;
            double aside = above - (spot->x + (arrow->inlet - 0.5) * spot->width);
            if (aside < 0) aside = -aside;
            if (aside > widest) widest = aside;
        }
    }
    return widest;
}

static void stack_layers(struct picture *picture)
{
    int y = PICTURE_TOP;
    for (int i = 0; i < picture->layer_count; i++) {
        struct layer *layer = &picture->layers[i];
        double bend = widest_bend(picture, layer) / 6;
        if (i) y += BETWEEN + (bend < MOST_BETWEEN - BETWEEN ? (int)bend : MOST_BETWEEN - BETWEEN);
        layer->y = y;
        for (size_t k = layer->first; k < layer->end; k++) {
            size_t id = picture->order[k];
            if (id >= picture->count) continue;
            picture->boxes[id].y = y;
            if (picture->boxes[id].height > layer->height) layer->height = picture->boxes[id].height;
        }
        y += layer->height;
    }
    picture->bottom = y;
}

int picture_place(struct picture *picture)
{
    double least = 0;
    if (!make_layers(picture) || !settle(picture)) return 0;
    stack_layers(picture);
    for (size_t i = 0; i < picture->spot_count; i++) {
        double left = picture->spots[i].x - picture->spots[i].width / 2;
        if (i == 0 || left < least) least = left;
    }
    for (size_t i = 0; i < picture->spot_count; i++) {
        struct spot *spot = &picture->spots[i];
        spot->x += PICTURE_MARGIN - least;
        int right = (int)(spot->x + spot->width / 2) + PICTURE_MARGIN;
        if (i < picture->count) picture->boxes[i].x = (int)(spot->x - spot->width / 2);
        if (right > picture->width) picture->width = right;
    }
    return 1;
}
