/* SPDX-License-Identifier: MIT */
/* Choosing what to show, and filling cells. The sentences are in explain_words.c. */
#include "explain_view.h"

#include <stdio.h>
#include <string.h>

#include "value.h"

void picks_choose(struct picks *picks, int64_t extent, struct limit limit)
{
    int most = limit.most < PICKS_MOST ? limit.most : PICKS_MOST;
    int few = limit.few < most ? limit.few : most;
    int64_t head = extent <= most ? extent : few / 2, tail = extent <= most ? 0 : few - few / 2 - 1;
    picks->count = 0;
    for (int64_t i = 0; i < head; i++)
        picks->at[picks->count++] = i;
    if (extent > most) picks->at[picks->count++] = -1;
    for (int64_t i = tail; i > 0; i--)
        picks->at[picks->count++] = extent - i;
}

/* ---- Grids ---- */

static int64_t slices_of(const struct grid *grid)
{
    uint64_t count = 1;
    for (int32_t i = 0; i < grid->rank; i++)
        if (grid->shape[i] == 0) return 0;
    for (int32_t i = 0; i + 2 < grid->rank; i++)
        count *= (uint64_t)grid->shape[i];
    return (int64_t)count;
}

/* Positions along an axis that should be seen, ascending. */
struct wishes {
    int count;
    int64_t at[PICKS_MOST];
};

static void wish_for(struct wishes *wishes, int64_t at)
{
    int i = wishes->count;
    for (int k = 0; k < wishes->count; k++)
        if (wishes->at[k] == at) return;
    if (i == PICKS_MOST) return;
    for (; i > 0 && wishes->at[i - 1] > at; i--)
        wishes->at[i] = wishes->at[i - 1];
    wishes->at[i] = at;
    wishes->count++;
}

/* Writes the wishes down, with a gap wherever positions are left out; returns how many entries that takes. */
static int spell(struct picks *picks, const struct wishes *wishes, int64_t extent)
{
    int count = 0;
    int64_t next = 0;
    for (int i = 0; i < wishes->count; i++) {
        if (wishes->at[i] != next && count < PICKS_MOST) picks->at[count++] = -1;
        if (count < PICKS_MOST) picks->at[count++] = wishes->at[i];
        next = wishes->at[i] + 1;
    }
    if (next != extent && count < PICKS_MOST) picks->at[count++] = -1;
    return picks->count = count;
}

/* Shows the wishes instead of the first and last positions; those in the middle are given up if they are
 * more than there is room for. */
static void picks_wish(struct picks *picks, struct wishes *wishes, int64_t extent, struct limit limit)
{
    if (extent <= limit.most || !wishes->count) return;
    while (spell(picks, wishes, extent) > limit.few && wishes->count > 1) {
        int middle = wishes->count / 2;
        memmove(wishes->at + middle, wishes->at + middle + 1,
                (size_t)(wishes->count - middle - 1) * sizeof *wishes->at);
        wishes->count--;
    }
}

/* Of data too large to be shown whole, shows what the elements of out that are shown come from. */
static void show_sources(struct grid *grid, const struct grid_limits *limits)
{
    struct grid out;
    struct wishes slices = {0}, rows = {0}, columns = {0};
    int64_t tuple, at[GARNER_MAX_RANK];
    grid_create(&out, grid->map, PANEL_OUT, limits);
    for (int s = 0; s < out.slice.count; s++)
        for (int r = 0; r < out.row.count; r++)
            for (int c = 0; c < out.column.count; c++) {
                if (out.slice.at[s] < 0 || out.row.at[r] < 0 || out.column.at[c] < 0) continue;
                int64_t flat = grid_flat(&out, out.slice.at[s], out.row.at[r], out.column.at[c]);
                if (!map_source(grid->map, flat, &tuple, at)) continue;
                flat = map_flatten(grid->shape, grid->rank, at);
                wish_for(&columns, flat % grid->columns);
                wish_for(&rows, flat / grid->columns % grid->rows);
                wish_for(&slices, flat / grid->columns / grid->rows);
            }
    picks_wish(&grid->slice, &slices, slices_of(grid), limits->slices);
    picks_wish(&grid->row, &rows, grid->rows, limits->rows);
    picks_wish(&grid->column, &columns, grid->columns, limits->columns);
}

void grid_create(struct grid *grid, const struct map *map, enum panel panel, const struct grid_limits *limits)
{
    const garner_tensor *tensor = panel == PANEL_DATA ? map->data : map->indices;
    grid->map = map;
    grid->panel = panel;
    grid->rank = panel == PANEL_OUT ? map->out.rank : tensor->rank;
    grid->shape = panel == PANEL_OUT ? map->out.extents : tensor->shape;
    grid->rows = grid->rank >= 2 ? grid->shape[grid->rank - 2] : 1;
    grid->columns = grid->rank >= 1 ? grid->shape[grid->rank - 1] : 1;
    picks_choose(&grid->slice, slices_of(grid), limits->slices);
    picks_choose(&grid->row, grid->rows, limits->rows);
    picks_choose(&grid->column, grid->columns, limits->columns);
    if (panel == PANEL_DATA && map->out.count) show_sources(grid, limits);
}

int64_t grid_flat(const struct grid *grid, int64_t slice, int64_t row, int64_t column)
{
    return (slice * grid->rows + row) * grid->columns + column;
}

/* ---- Text widths ---- */

/* The next character of a text that is known to be printable: its bytes and the columns it takes. */
static size_t next_character(const char *text, int *width)
{
    static const struct {
        uint32_t from, to;
    } wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                {0xff00, 0xff60}, {0x1f300, 0x1faff}, {0x20000, 0x3ffff}};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t size = bytes[0] < 0xc0 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4, i = 1;
    uint32_t code = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);
    for (; i < size && (bytes[i] & 0xc0) == 0x80; i++)
        code = code << 6 | (bytes[i] & 0x3fu);
    *width = code >= 0x300 && code <= 0x36f ? 0 : 1;
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        if (code >= wide[k].from && code <= wide[k].to) *width = 2;
    return i;
}

int view_width(const char *text)
{
    int total = 0, width;
    while (*text) {
        text += next_character(text, &width);
        total += width;
    }
    return total;
}

void view_shorten(char *to, size_t size, const char *from, int most)
{
    static const char dots[] = "…";
    int columns = 0, width, whole = view_width(from) <= most;
    size_t used = 0;
    while (*from) {
        size_t bytes = next_character(from, &width);
        columns += width;
        if (!whole && columns > most - 1) break;
        if (used + bytes + sizeof dots > size) {
            whole = 0;
            break;
        }
        memcpy(to + used, from, bytes);
        used += bytes;
        from += bytes;
    }
    to[used] = 0;
    if (!whole) memcpy(to + used, dots, sizeof dots);
}

/* ---- Cells ---- */

static void value(char text[256], const garner_tensor *tensor, int64_t flat)
{
    if (value_text(text, 256, tensor, flat) < 0) text[0] = 0;
}

static void out_cell(struct cell *cell, char text[256], const struct map *map, int64_t flat)
{
    int64_t tuple, at[GARNER_MAX_RANK];
    if (map_source(map, flat, &tuple, at)) {
        value(text, map->data, map_flatten(map->data->shape, map->data->rank, at));
        cell->use = map_tuple_use(map, tuple);
        cell->mark = MARK_USED;
        return;
    }
    const unsigned char zeros[16] = {0};
    garner_tensor zero = {
        .data = (void *)(uintptr_t)zeros, .dtype = map->data->dtype, .item_bytes = map->data->item_bytes};
    value(text, &zero, 0);
    cell->mark = MARK_ZERO;
}

void view_cell(struct cell *cell, const struct grid *grid, int64_t flat, int most)
{
    const struct map *map = grid->map;
    char text[256];
    *cell = (struct cell){.use = -1};
    if (grid->panel == PANEL_OUT) {
        out_cell(cell, text, map, flat);
    } else if (grid->panel == PANEL_DATA) {
        value(text, map->data, flat);
        cell->use = map_use(map, flat);
        cell->mark = cell->use < 0 ? MARK_NONE : MARK_USED;
    } else {
        value(text, map->indices, flat);
        cell->use = map_tuple_use(map, flat / map->tuple);
        cell->mark = cell->use >= 0 ? MARK_USED : map->out.count ? MARK_ZERO : MARK_NONE;
    }
    view_shorten(cell->text, sizeof cell->text, text, most);
}
