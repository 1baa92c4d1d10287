/* SPDX-License-Identifier: MIT */
/* A window of a tensor, cell by cell, and what there is to say about one of them. */
#include <string.h>

#include "explain_view.h"
#include "page.h"
#include "print.h"

enum { CELL_COLUMNS = 14 };

static void answer_cell(FILE *answer, const struct grid *grid, int64_t flat)
{
    struct cell cell;
    int64_t tuple, at[GARNER_MAX_RANK];
    view_cell(&cell, grid, flat, CELL_COLUMNS);
    fputs("[", answer);
    print_json_string(answer, cell.text);
    fprintf(answer, ", %d, %lld", (int)cell.mark, (long long)cell.use);
    if (grid->panel == PANEL_OUT) {
        int found = map_source(grid->map, flat, &tuple, at);
        fprintf(answer, ", %lld, %lld", (long long)tuple,
                found ? (long long)map_flatten(grid->map->data->shape, grid->map->data->rank, at) : -1);
    }
    fputs("]", answer);
}

static int64_t within(double at, int64_t extent)
{
    return !(at > 0) ? 0 : at < (double)extent ? (int64_t)at : extent;
}

static void answer_rows(FILE *answer, const struct grid *grid, int64_t slice, const int64_t window[4])
{
    for (int64_t row = window[0]; row < window[1]; row++) {
        fputs(row > window[0] ? ", [" : "[", answer);
        for (int64_t column = window[2]; column < window[3]; column++) {
            if (column > window[2]) fputs(", ", answer);
            answer_cell(answer, grid, grid_flat(grid, slice, row, column));
        }
        fputs("]", answer);
    }
}

static int64_t slices_of(const struct grid *grid)
{
    int64_t count = grid->rank && !array_count(grid->rank, grid->shape) ? 0 : 1;
    for (int32_t i = 0; i + 2 < grid->rank; i++)
        count *= grid->shape[i];
    return count;
}

/*
 * The cells of a slice in the rows and columns [from, to), as far as they exist. A cell is its text, its mark
 * (0: not used, 1: used, 2: zero-filled), the number that cells which belong together share, and of out the
 * index tuple and the element of data that it came from (-1: from none).
 */
PAGE_CALL(page_cells)
void page_cells(int panel, double slice, double row, double row_end, double column, double column_end)
{
    static const struct grid_limits few = {{1, 1}, {1, 1}, {1, 1}};
    struct grid grid;
    struct words words = {0};
    FILE *answer = answer_begin();
    if (!answer || !page_map() || panel < 0 || panel >= PANELS) return;
    grid_create(&grid, page_map(), (enum panel)panel, &few);
    int64_t slices = slices_of(&grid), which = within(slice, slices ? slices - 1 : 0);
    int64_t window[4] = {within(row, grid.rows), within(row_end, grid.rows), within(column, grid.columns),
                         within(column_end, grid.columns)};
    view_title(&words, &grid);
    fputs("{", answer);
    answer_member(answer, "title", words.text, 1);
    words_clear(&words);
    if (grid.rank > 2 && slices) view_slice(&words, &grid, which);
    answer_member(answer, "label", words.text, 0);
    fprintf(answer, ", \"rank\": %d, \"slices\": %lld, \"rows\": %lld, \"columns\": %lld, \"slice\": %lld",
            (int)grid.rank, (long long)slices, (long long)grid.rows, (long long)grid.columns,
            (long long)which);
    fprintf(answer, ", \"row\": %lld, \"column\": %lld, \"cells\": [", (long long)window[0],
            (long long)window[2]);
    if (slices) answer_rows(answer, &grid, which, window);
    fputs("]}", answer);
}

/* ---- Sentences ---- */

/* The element of out that a tuple gives, at the coordinates of `at` along free axes. */
static int64_t out_of(const struct map *map, int64_t tuple, const int64_t *at)
{
    int64_t flat = 0, stride = 1;
    for (int32_t i = map->rank; i-- > 0;) {
        const struct map_axis *axis = &map->axis[i];
        int free_axis = axis->index_axis < 0;
        flat += stride * (free_axis ? at[axis->data_axis] : tuple % axis->extent);
        if (!free_axis) tuple /= axis->extent;
        stride *= axis->extent;
    }
    return flat;
}

/* The first tuple of those that use what `use` counts, and how many they are. */
static int64_t users(const struct map *map, int64_t use, int64_t *first)
{
    int64_t count = 0;
    *first = -1;
    for (int64_t i = 0; i < map->tuples; i++) {
        if (map->source[i] != map->used[use]) continue;
        if (count++ == 0) *first = i;
    }
    return count;
}

static void describe(struct words *words, const struct map *map, int panel, int64_t flat, int64_t *out)
{
    int64_t at[GARNER_MAX_RANK] = {0}, more = 0, tuple = flat / map->tuple, use;
    *out = panel == PANEL_OUT ? flat : -1;
    if (panel == PANEL_INDICES) {
        *out = out_of(map, tuple, at);
        more = map->free_count - 1;
    } else if (panel == PANEL_DATA && (use = map_use(map, flat)) >= 0) {
        more = users(map, use, &tuple) - 1;
        map_unflatten(map->data->shape, map->data->rank, flat, at);
        *out = out_of(map, tuple, at);
    }
    if (*out < 0) {
        words_add(words, "no element of out comes from here");
        return;
    }
    view_line(words, map, *out);
    if (!more) return;
    words_add(words, "   and ");
    words_add_count(words, more);
    words_add(words, " more of out");
}

/* What a cell has to do with out: a sentence, and the first element of out that is concerned, or -1. */
PAGE_CALL(page_about) void page_about(int panel, double flat)
{
    int64_t out;
    struct words words = {0};
    const struct map *map = page_map();
    FILE *answer = answer_begin();
    if (!answer || !map || !map->source || !map->out.count) return;
    describe(&words, map, panel, (int64_t)flat, &out);
    fputs("{", answer);
    answer_member(answer, "line", words.text, 1);
    fprintf(answer, ", \"out\": %lld}", (long long)out);
}
