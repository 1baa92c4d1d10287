/* SPDX-License-Identifier: MIT */
/*
 * The drawing as a picture: indices, data and out beside each other, cells that belong together in one
 * colour, and an arrow from each source to where it went as long as there are few. Plain SVG 1.1 text
 * that needs nothing from outside; every cell of out says on hovering where it comes from.
 */
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "explain_ink.h"
#include "explain_view.h"
#include "file.h"

enum {
    MOST_ARROWS = 40,
    CELL_MOST = 12,
    CELL_HEIGHT = 30,
    CHARACTER = 8, /* width, at the font size of cells */
    LABEL_HEIGHT = 18,
    MARGIN = 28,
    TOP = 96,  /* where panels begin: title and formula stand above */
    NEAR = 48, /* between indices and data */
    FAR = 120, /* between data and out, where the arrows are */
    LINE_HEIGHT = 20
};

static const struct grid_limits limits = {{4, 4}, {12, 9}, {12, 7}};

/* A panel and where it stands. */
struct box {
    struct grid grid;
    struct words title;
    int x, y, width, height;
    int cell_width, label_width;
};

struct picture {
    const struct map *map;
    struct box box[PANELS];
    int width, height, panels_height;
    int arrows; /* whether they are few enough to be drawn */
};

/*
 * The tones of cells that belong together: a soft fill on light and on dark screens, and the stronger colour
 * of borders and arrows.
 */
/* clang-format off */
#define TONES(TONE)                            \
    TONE("0", "#ffd9d4", "#5b2d28", "#d9685a") \
    TONE("1", "#ffe7c2", "#553c1a", "#d1913c") \
    TONE("2", "#fff3b8", "#4c4317", "#b79d2a") \
    TONE("3", "#d8f2c4", "#2f4a20", "#6aa646") \
    TONE("4", "#c9f0e6", "#1d4a3f", "#3fa58a") \
    TONE("5", "#cfe6ff", "#213f60", "#4a86c9") \
    TONE("6", "#e0d9ff", "#3a3263", "#7a67c7") \
    TONE("7", "#fbd7ee", "#59284a", "#c2599b")
/* clang-format on */
#define ONE(number, light, dark, line) +1
enum { TONE_COUNT = 0 TONES(ONE) };

static int tone_of(int64_t use)
{
    return (int)(use % TONE_COUNT);
}

/* ---- Placing ---- */

static int slice_height(const struct grid *grid)
{
    return (grid->rank > 2 ? LABEL_HEIGHT : 0) + (grid->rank > 0 ? LABEL_HEIGHT : 0) +
           grid->row.count * CELL_HEIGHT + 12;
}

/* The width of the widest cell that is shown. */
static int widest_cell(const struct grid *grid)
{
    struct cell cell;
    int widest = 3;
    for (int s = 0; s < grid->slice.count; s++)
        for (int r = 0; r < grid->row.count; r++)
            for (int c = 0; c < grid->column.count; c++) {
                int64_t slice = grid->slice.at[s], row = grid->row.at[r], column = grid->column.at[c];
                if (slice < 0 || row < 0 || column < 0) continue;
                view_cell(&cell, grid, grid_flat(grid, slice, row, column), CELL_MOST);
                if (view_width(cell.text) > widest) widest = view_width(cell.text);
            }
    return widest * CHARACTER + 16;
}

static void box_create(struct box *box, const struct map *map, enum panel panel)
{
    const struct grid *grid = &box->grid;
    words_clear(&box->title);
    grid_create(&box->grid, map, panel, &limits);
    view_title(&box->title, grid);
    box->cell_width = widest_cell(grid);
    box->label_width =
        grid->rank < 2 ? 0 : CHARACTER * snprintf(NULL, 0, "%lld", (long long)grid->rows - 1) + 8;
    box->width = box->label_width + grid->column.count * box->cell_width;
    int title = view_width(box->title.text) * (CHARACTER + 1);
    if (box->width < title) box->width = title;
    box->height = grid->slice.count ? 0 : LABEL_HEIGHT;
    for (int s = 0; s < grid->slice.count; s++)
        box->height += grid->slice.at[s] < 0 ? LABEL_HEIGHT : slice_height(grid);
}

/* Makes the picture as wide as a line of text needs. */
static void fit_text(struct picture *picture, const struct words *words)
{
    int width = 2 * MARGIN + view_width(words->text) * (CHARACTER + 1);
    if (picture->width < width) picture->width = width;
}

static int picked(const struct picks *picks)
{
    int count = 0;
    for (int i = 0; i < picks->count; i++)
        count += picks->at[i] >= 0;
    return count;
}

/* How many elements are drawn. */
static int shown(const struct grid *grid)
{
    return picked(&grid->slice) * picked(&grid->row) * picked(&grid->column);
}

static void place_panels(struct picture *picture)
{
    static const enum panel order[PANELS] = {PANEL_INDICES, PANEL_DATA, PANEL_OUT};
    int gap = 0;
    picture->width = MARGIN;
    for (int i = 0; i < PANELS; i++) {
        struct box *box = &picture->box[order[i]];
        box_create(box, picture->map, order[i]);
        box->x = picture->width + gap;
        box->y = TOP + LABEL_HEIGHT;
        gap = order[i] == PANEL_DATA && picture->arrows ? FAR : NEAR;
        picture->width = box->x + box->width;
        if (box->height > picture->panels_height) picture->panels_height = box->height;
    }
    picture->width += MARGIN;
}

static void place(struct picture *picture, const struct map *map)
{
    struct words words = {0};
    *picture = (struct picture){.map = map};
    box_create(&picture->box[PANEL_OUT], map, PANEL_OUT);
    picture->arrows = shown(&picture->box[PANEL_OUT].grid) <= MOST_ARROWS;
    place_panels(picture);
    picture->height = TOP + LABEL_HEIGHT + picture->panels_height + MARGIN;
    view_formula(&words, map);
    fit_text(picture, &words);
    words_clear(&words);
    for (int i = 0; view_summary(&words, map, i); i++) {
        if (words.used) picture->height += LINE_HEIGHT;
        fit_text(picture, &words);
        words_clear(&words);
    }
}

/* The place of a row of cells in its slice; s counts the slices that are shown. */
static int slice_y(const struct box *box, int s)
{
    int y = box->y;
    for (int i = 0; i < s; i++)
        y += box->grid.slice.at[i] < 0 ? LABEL_HEIGHT : slice_height(&box->grid);
    return y;
}

static int row_y(const struct box *box, int s, int r)
{
    int32_t rank = box->grid.rank;
    return slice_y(box, s) + (rank > 2 ? LABEL_HEIGHT : 0) + (rank > 0 ? LABEL_HEIGHT : 0) + r * CELL_HEIGHT;
}

static int column_x(const struct box *box, int c)
{
    return box->x + box->label_width + c * box->cell_width;
}

/* ---- Cells ---- */

static void put_tooltip(struct ink *ink, const struct box *box, int64_t flat)
{
    struct words words = {0};
    if (box->grid.panel != PANEL_OUT) return;
    view_line(&words, box->grid.map, flat);
    ink_put(ink, "<title>");
    ink_escaped(ink, words.text);
    ink_put(ink, "</title>");
}

static void put_cell(struct ink *ink, const struct box *box, int64_t flat, int x, int y)
{
    static const char *const names[PANELS] = {"data", "indices", "out"};
    static const char *const marks[] = {"", " used", " zero"};
    struct cell cell;
    view_cell(&cell, &box->grid, flat, CELL_MOST);
    ink_put(ink, "<g class=\"cell %s%s", names[box->grid.panel], marks[cell.mark]);
    if (cell.mark == MARK_USED) ink_put(ink, " t%d", tone_of(cell.use));
    ink_put(ink, "\">");
    put_tooltip(ink, box, flat);
    ink_put(ink, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>", x + 1, y + 1,
            box->cell_width - 2, CELL_HEIGHT - 2);
    ink_put(ink, "<text x=\"%d\" y=\"%d\">", x + box->cell_width / 2, y + CELL_HEIGHT / 2 + 5);
    ink_escaped(ink, cell.text);
    ink_put(ink, "</text></g>\n");
}

static void put_gap(struct ink *ink, const struct box *box, int x, int y, const char *text)
{
    ink_text(ink, x + box->cell_width / 2, y + CELL_HEIGHT / 2 + 5, "label", text);
}

static void put_labels(struct ink *ink, const struct box *box, int s)
{
    const struct grid *grid = &box->grid;
    struct words words = {0};
    int y = row_y(box, s, 0);
    if (grid->rank > 2) {
        view_slice(&words, grid, grid->slice.at[s]);
        ink_text(ink, box->x, y - LABEL_HEIGHT - 6, "slice", words.text);
    }
    for (int c = 0; c < grid->column.count && grid->rank > 0; c++) {
        char label[24] = "⋯";
        if (grid->column.at[c] >= 0) snprintf(label, sizeof label, "%lld", (long long)grid->column.at[c]);
        ink_text(ink, column_x(box, c) + box->cell_width / 2, y - 5, "label", label);
    }
    for (int r = 0; r < grid->row.count && grid->rank > 1; r++) {
        char label[24] = "⋮";
        if (grid->row.at[r] >= 0) snprintf(label, sizeof label, "%lld", (long long)grid->row.at[r]);
        ink_text(ink, box->x + box->label_width / 2 - 2, row_y(box, s, r) + CELL_HEIGHT / 2 + 5, "label",
                 label);
    }
}

static void put_slice(struct ink *ink, const struct box *box, int s)
{
    const struct grid *grid = &box->grid;
    put_labels(ink, box, s);
    for (int r = 0; r < grid->row.count; r++)
        for (int c = 0; c < grid->column.count; c++) {
            int64_t row = grid->row.at[r], column = grid->column.at[c];
            int x = column_x(box, c), y = row_y(box, s, r);
            if (row >= 0 && column >= 0)
                put_cell(ink, box, grid_flat(grid, grid->slice.at[s], row, column), x, y);
            else
                put_gap(ink, box, x, y, row >= 0 ? "⋯" : column >= 0 ? "⋮" : "⋱");
        }
}

static void put_box(struct ink *ink, const struct box *box)
{
    const struct grid *grid = &box->grid;
    ink_text(ink, box->x, TOP, "title", box->title.text);
    if (!grid->slice.count) ink_text(ink, box->x, box->y + LABEL_HEIGHT, "slice", "empty");
    for (int s = 0; s < grid->slice.count; s++) {
        if (grid->slice.at[s] >= 0)
            put_slice(ink, box, s);
        else
            ink_text(ink, box->x + box->width / 2, slice_y(box, s) + LABEL_HEIGHT / 2, "label", "⋮");
    }
}

/* ---- Arrows ---- */

static int find_pick(const struct picks *picks, int64_t at)
{
    for (int i = 0; i < picks->count; i++)
        if (picks->at[i] == at) return i;
    return -1;
}

/* Where an element is drawn; 0 if it is left out. */
static int locate(const struct box *box, int64_t flat, int *x, int *y)
{
    const struct grid *grid = &box->grid;
    int c = find_pick(&grid->column, flat % grid->columns);
    int r = find_pick(&grid->row, flat / grid->columns % grid->rows);
    int s = find_pick(&grid->slice, flat / grid->columns / grid->rows);
    if (c < 0 || r < 0 || s < 0) return 0;
    *x = column_x(box, c);
    *y = row_y(box, s, r);
    return 1;
}

/* Arrows of one row leave it a little apart, in the order of its columns. */
static int spread(const struct box *box, int x)
{
    int count = box->grid.column.count, c = (x - column_x(box, 0)) / box->cell_width;
    int apart = count > 6 ? 2 : 4;
    return CELL_HEIGHT / 2 + (2 * c - count + 1) * apart / 2;
}

/* Across the gap, from the row that it comes from to the row that it goes to. */
static void put_arrow(struct ink *ink, const struct picture *picture, int64_t out_flat)
{
    const struct map *map = picture->map;
    const struct box *from = &picture->box[PANEL_DATA], *to = &picture->box[PANEL_OUT];
    int64_t tuple, at[GARNER_MAX_RANK];
    int x, y, end_x, end_y;
    if (!map_source(map, out_flat, &tuple, at)) return;
    if (!locate(from, map_flatten(map->data->shape, map->data->rank, at), &x, &y)) return;
    if (!locate(to, out_flat, &end_x, &end_y)) return;
    int leave = column_x(from, from->grid.column.count), arrive = to->x - 8, bend = (arrive - leave) / 2;
    y += spread(from, x);
    end_y += spread(to, end_x);
    ink_put(ink, "<g class=\"t%d\"><path class=\"arrow\" d=\"M%d %dC%d %d %d %d %d %d\"/>",
            tone_of(map_tuple_use(map, tuple)), leave, y, leave + bend, y, arrive - bend, end_y, arrive,
            end_y);
    ink_put(ink, "<path class=\"tip\" d=\"M%d %dl-7 -3v6z\"/></g>\n", arrive + 4, end_y);
}

static void put_arrows(struct ink *ink, const struct picture *picture)
{
    const struct grid *out = &picture->box[PANEL_OUT].grid;
    for (int s = 0; s < out->slice.count; s++)
        for (int r = 0; r < out->row.count; r++)
            for (int c = 0; c < out->column.count; c++)
                if (out->slice.at[s] >= 0 && out->row.at[r] >= 0 && out->column.at[c] >= 0)
                    put_arrow(ink, picture,
                              grid_flat(out, out->slice.at[s], out->row.at[r], out->column.at[c]));
}

/* ---- The whole picture ---- */

#define LIGHT(number, light, dark, line)                                                             \
    ".t" number " rect{fill:" light ";stroke:" line "}.t" number " .arrow{stroke:" line "}.t" number \
    " .tip{fill:" line "}"
#define DARK(number, light, dark, line) ".t" number " rect{fill:" dark ";stroke:" line "}"

static const struct ink_style style = {
    ".formula{font-size:14px;fill:#4a5261}"
    ".title{font-weight:600}.slice{fill:#6b7280}.summary{fill:#4a5261}"
    ".label{fill:#9aa1ad;font-size:11px;text-anchor:middle}"
    ".cell rect{fill:#fff;stroke:#d8dce3}.cell text{text-anchor:middle}"
    ".data:not(.used) text{fill:#8b93a1}.zero rect{fill:#f1f2f5;stroke:#c3c8d1;stroke-dasharray:3 2}"
    ".arrow{fill:none;stroke-width:1.6;opacity:.55}.tip{opacity:.8}" TONES(LIGHT),
    ".formula,.summary,.slice{fill:#a9b1bd}.label{fill:#7d8592}.cell rect{fill:#1f2228;stroke:#3a3f48}"
    ".data:not(.used) text{fill:#868e9b}.zero rect{fill:#24272e;stroke:#4b515c}"
    ".arrow{opacity:.8}" TONES(DARK)};

static void put_words(struct ink *ink, const struct picture *picture)
{
    struct words words = {0};
    view_operator(&words, picture->map);
    ink_text(ink, MARGIN, 38, "heading", words.text);
    words_clear(&words);
    view_formula(&words, picture->map);
    ink_text(ink, MARGIN, 62, "formula", words.text);
    words_clear(&words);
    int y = TOP + LABEL_HEIGHT + picture->panels_height + LINE_HEIGHT + 8;
    for (int i = 0; view_summary(&words, picture->map, i); i++) {
        if (words.used) {
            ink_text(ink, MARGIN, y, "summary", words.text);
            y += LINE_HEIGHT;
        }
        words_clear(&words);
    }
}

static garner_status produce(void *context, struct sink *sink, garner_error *error)
{
    const struct picture *picture = context;
    struct ink ink = {sink, error, GARNER_OK};
    ink_begin(&ink, picture->width, picture->height, &style);
    put_words(&ink, picture);
    if (picture->arrows) put_arrows(&ink, picture);
    for (int i = 0; i < PANELS; i++)
        put_box(&ink, &picture->box[i]);
    ink_end(&ink);
    return ink.status;
}

garner_status explain_svg(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                          const char *path, garner_error *error)
{
    struct map map;
    struct picture picture;
    garner_status status = map_create(&map, op, data, indices, error);
    if (status) return status;
    place(&picture, &map);
    status = file_save(path, produce, &picture, error);
    map_free(&map);
    return status;
}
