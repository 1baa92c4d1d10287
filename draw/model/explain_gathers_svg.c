/* SPDX-License-Identifier: MIT */
/*
 * The gathers of a model as a picture: a band for each group. To the left stands what gives data and indices,
 * in the middle the gather, to the right what takes its result, and below who runs it. Arrows run between the
 * columns only.
 */
#include <stdlib.h>
#include <string.h>

#include "explain_model.h"
#include "explain_model_picture.h"
#include "fail.h"
#include "gathers.h"

enum {
    MOST_GROUPS = 60,
    MOST_BOXES = SIDES * (MOST_NEIGHBOURS + 1) + 1,
    COLUMNS = 3,
    BESIDE = 64,  /* between columns, where the arrows are */
    STACKED = 10, /* between boxes of a column */
    BELOW = 30    /* between bands */
};

struct band {
    struct box box[MOST_BOXES]; /* the gather is the first */
    enum gather_side side[MOST_BOXES];
    int boxes, y, height; /* height: of the boxes */
};

struct bands {
    const struct gathers *gathers;
    struct band *bands;
    size_t count;
    int column[COLUMNS], wide[COLUMNS]; /* where each begins, and how wide it is */
    int width, height;
};

/* ---- Boxes ---- */

static const char *class_of(const struct gathers *gathers, size_t group, enum gather_side side, size_t i)
{
    const struct neighbours *all = &gathers->groups[group].side[side];
    const char *kind = i < all->kinds ? all->kind[i].kind : "";
    if (strcmp(kind, "input") == 0) return "input";
    if (strcmp(kind, "output") == 0) return "output";
    return strcmp(kind, "constant") == 0 ? "constant" : "foreign";
}

static void describe_side(struct band *band, const struct gathers *gathers, size_t group,
                          enum gather_side side)
{
    static const char *const roles[SIDES] = {"data", "indices", ""};
    struct words role = {0};
    words_add(&role, "%s", roles[side]);
    struct words words = {0};
    for (size_t i = 0; gathers_neighbour(&words, gathers, group, side, i); i++) {
        struct box *box = &band->box[band->boxes];
        band->side[band->boxes++] = side;
        box->class = class_of(gathers, group, side, i);
        box_add(box, &words);
        box_add(box, &role);
        box_measure(box, 0);
        words_clear(&words);
    }
}

static void describe_group(struct band *band, const struct gathers *gathers, size_t group)
{
    struct words title = {0}, formula = {0};
    struct box *box = &band->box[0];
    gathers_title(&title, gathers, group);
    gathers_formula(&formula, gathers, group);
    int refused = gathers->groups[group].claims[CLAIM_OPENVINO][CLAIM_REFUSED] != 0;
    box->class = refused ? "refused" : "gather";
    box_add(box, &title);
    box_add(box, &formula);
    box_measure(box, 0);
    band->boxes = 1;
    for (int side = 0; side < SIDES; side++)
        describe_side(band, gathers, group, (enum gather_side)side);
}

/* ---- Placing ---- */

static int column_of(const struct band *band, int box)
{
    return box == 0 ? 1 : band->side[box] == SIDE_OUT ? 2 : 0;
}

/* Puts the boxes of a column below each other, in the middle of the band. */
static void stack(struct bands *bands, struct band *band, int column)
{
    int height = -STACKED;
    for (int i = 0; i < band->boxes; i++)
        if (column_of(band, i) == column) height += band->box[i].height + STACKED;
    int y = band->y + (band->height - height) / 2;
    for (int i = 0; i < band->boxes; i++) {
        struct box *box = &band->box[i];
        if (column_of(band, i) != column) continue;
        box->y = y;
        if (column == 1) box->width = bands->wide[1]; /* gathers are alike, and so are their boxes */
        box->x = bands->column[column] + (column == 0 ? bands->wide[0] - box->width : 0);
        y += box->height + STACKED;
    }
}

static void measure(struct bands *bands, struct band *band)
{
    int heights[COLUMNS] = {0};
    for (int i = 0; i < band->boxes; i++) {
        int column = column_of(band, i);
        heights[column] += band->box[i].height + (heights[column] ? STACKED : 0);
        if (band->box[i].width > bands->wide[column]) bands->wide[column] = band->box[i].width;
        if (heights[column] > band->height) band->height = heights[column];
    }
}

static void say_verdict(struct words *words, const struct bands *bands, size_t group, int runtime)
{
    words_clear(words);
    words_add(words, "%s: ", claim_runtime_name((enum claim_runtime)runtime));
    gathers_verdict(words, bands->gathers, group, (enum claim_runtime)runtime);
}

static void widen(struct bands *bands, int left, const char *text, int character)
{
    int right = left + view_width(text) * character + PICTURE_MARGIN;
    if (bands->width < right) bands->width = right;
}

/* The i-th sentence below the bands; 0 if there are no more. */
static int say_below(struct words *words, const struct bands *bands, size_t i)
{
    size_t more = bands->gathers->group_count - bands->count;
    words_clear(words);
    if (i == 0) gathers_summary(words, bands->gathers);
    if (i == 1 && more) words_add(words, "%zu more groups are not drawn; info --gathers lists them", more);
    return i < 2 || gathers_note(words, bands->gathers, i - 2);
}

static void place(struct bands *bands)
{
    struct words words = {0};
    int y = PICTURE_TOP;
    for (size_t i = 0; i < bands->count; i++)
        measure(bands, &bands->bands[i]);
    bands->column[0] = PICTURE_MARGIN;
    bands->column[1] = bands->column[0] + bands->wide[0] + BESIDE;
    bands->column[2] = bands->column[1] + bands->wide[1] + BESIDE;
    bands->width = bands->column[2] + bands->wide[2] + PICTURE_MARGIN;
    for (size_t i = 0; i < bands->count; i++) {
        struct band *band = &bands->bands[i];
        band->y = y;
        for (int column = 0; column < COLUMNS; column++)
            stack(bands, band, column);
        y += band->height + CLAIM_RUNTIMES * PICTURE_LINE + BELOW;
        for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++) {
            say_verdict(&words, bands, i, runtime);
            widen(bands, bands->column[1], words.text, INK_CHARACTER);
        }
    }
    for (size_t i = 0; say_below(&words, bands, i); i++) {
        widen(bands, PICTURE_MARGIN, words.text, INK_CHARACTER);
        if (words.used) y += PICTURE_LINE;
    }
    words_clear(&words);
    chain_title(&words, bands->gathers->chain);
    widen(bands, PICTURE_MARGIN, words.text, INK_CHARACTER + 4);
    bands->height = y + PICTURE_MARGIN;
}

/* ---- Drawing ---- */

/* From the right side of one box to the left side of another: sources to the upper and lower half of the
 * gather. */
static void put_arrow(struct ink *ink, const struct band *band, int i)
{
    const struct box *gather = &band->box[0], *box = &band->box[i];
    int out = band->side[i] == SIDE_OUT, middle = box->y + box->height / 2;
    int port = gather->y + gather->height * (out ? 2 : band->side[i] == SIDE_DATA ? 1 : 3) / 4;
    int x = out ? gather->x + gather->width : box->x + box->width, y = out ? port : middle;
    int end_x = out ? box->x : gather->x, end_y = out ? middle : port, bend = (x + end_x) / 2;
    ink_put(ink, "<path class=\"arrow\" d=\"M%d %dC%d %d %d %d %d %d\"/>", x, y, bend, y, bend, end_y,
            end_x - 6, end_y);
    box_put_tip(ink, end_x - 1, end_y, 0);
}

static void put_band(struct ink *ink, const struct bands *bands, size_t group)
{
    const struct band *band = &bands->bands[group];
    struct words words = {0};
    for (int i = 1; i < band->boxes; i++)
        put_arrow(ink, band, i);
    for (int i = 0; i < band->boxes; i++)
        box_put(ink, &band->box[i]);
    for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++) {
        int taken = bands->gathers->groups[group].claims[runtime][CLAIM_TAKEN] != 0;
        say_verdict(&words, bands, group, runtime);
        ink_text(ink, bands->column[1], band->y + band->height + PICTURE_LINE * (runtime + 1),
                 taken ? "taken" : "verdict", words.text);
    }
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    const struct bands *bands = context;
    struct ink ink = {sink, error, GARNER_OK};
    struct words words = {0};
    ink_begin(&ink, bands->width, bands->height, &box_style);
    chain_title(&words, bands->gathers->chain);
    ink_text(&ink, PICTURE_MARGIN, 38, "heading", words.text);
    for (size_t i = 0; i < bands->count; i++)
        put_band(&ink, bands, i);
    int y = PICTURE_TOP + PICTURE_PADDING;
    if (bands->count) {
        const struct band *last = &bands->bands[bands->count - 1];
        y = last->y + last->height + CLAIM_RUNTIMES * PICTURE_LINE + BELOW;
    }
    for (size_t i = 0; say_below(&words, bands, i); i++) {
        if (!words.used) continue;
        ink_text(&ink, PICTURE_MARGIN, y, "summary", words.text);
        y += PICTURE_LINE;
    }
    ink_end(&ink);
    return ink.status;
}

garner_status gathers_svg(const struct gathers *gathers, const char *path, garner_error *error)
{
    struct bands bands = {.gathers = gathers,
                          .count = gathers->group_count < MOST_GROUPS ? gathers->group_count : MOST_GROUPS};
    bands.bands = calloc(bands.count + 1, sizeof *bands.bands);
    if (!bands.bands) return fail(error, GARNER_NO_MEMORY, "explain: not enough memory");
    for (size_t i = 0; i < bands.count; i++)
        describe_group(&bands.bands[i], gathers, i);
    place(&bands);
    garner_status status = file_save(path, produce, &bands, error);
    free(bands.bands);
    return status;
}
