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
