/* SPDX-License-Identifier: MIT */
/*
 * The drawing in a terminal: three tables, side by side where the width allows, then one line for each
 * element of out, then the summary. A panel is printed line by line, so that panels can stand side by
 * side without being drawn into memory first.
 */
#include <string.h>

#include "explain.h"
#include "explain_pen.h"
#include "explain_view.h"

enum { MOST_COLUMNS = 16, CELL_MOST = 14, GAP = 3 };

static const struct limit slices = {6, 5}, rows = {12, 9}, lines = {40, 12};

/* How many columns of a large tensor are shown: the first number with which all tables fit beside
 * each other, or under each other each for itself. */
static const int few_columns[] = {9, 7, 5, 3};

/* A panel that is ready to be printed. */
struct table {
    struct grid grid;
    struct words title;
    int column_width[PICKS_MOST]; /* of the texts, without their marks */
    int label_width;              /* of row numbers; 0: none */
    int inner;                    /* between the borders */
    int width, height;
};

/* ---- Measuring ---- */

static int number_width(int64_t number)
{
    return snprintf(NULL, 0, "%lld", (long long)number);
}

static void widen(int *width, int needed)
{
    if (*width < needed) *width = needed;
}

static void measure_cells(struct table *table)
{
    const struct grid *grid = &table->grid;
    struct cell cell;
    for (int c = 0; c < grid->column.count; c++) {
        int64_t column = grid->column.at[c];
        table->column_width[c] = column < 0 || !grid->rank ? 1 : number_width(column);
        for (int s = 0; s < grid->slice.count && column >= 0; s++)
            for (int r = 0; r < grid->row.count; r++) {
                if (grid->slice.at[s] < 0 || grid->row.at[r] < 0) continue;
                view_cell(&cell, grid, grid_flat(grid, grid->slice.at[s], grid->row.at[r], column),
                          CELL_MOST);
                widen(&table->column_width[c], view_width(cell.text));
            }
    }
}

/* Lines of one slice: its label, the column numbers, a border, the rows, a border. */
static int slice_height(const struct grid *grid)
{
    return (grid->rank > 2) + (grid->rank > 0) + 2 + grid->row.count;
}

static void measure(struct table *table)
{
    struct grid *grid = &table->grid;
    measure_cells(table);
    table->label_width = 0;
    for (int r = 0; r < grid->row.count && grid->rank >= 2; r++)
        widen(&table->label_width, grid->row.at[r] < 0 ? 1 : number_width(grid->row.at[r]));
    table->inner = 0;
    for (int c = 0; c < grid->column.count; c++)
        table->inner += table->column_width[c] + 2 + (c > 0); /* a mark on either side, a space between */
    table->width = table->label_width + (table->label_width > 0) + table->inner + 2;
    widen(&table->width, view_width(table->title.text));
    for (int s = 0; s < grid->slice.count && grid->rank > 2; s++) {
        struct words label = {0};
        view_slice(&label, grid, grid->slice.at[s] < 0 ? 0 : grid->slice.at[s]);
        widen(&table->width, view_width(label.text));
    }
    table->height = 1;
    for (int s = 0; s < grid->slice.count; s++)
        table->height += grid->slice.at[s] < 0 ? 1 : slice_height(grid);
    if (!grid->slice.count) table->height++;
}

static void table_create(struct table *table, const struct map *map, enum panel panel, struct limit columns)
{
    struct grid_limits limits = {slices, rows, columns};
    words_clear(&table->title);
    grid_create(&table->grid, map, panel, &limits);
    view_title(&table->title, &table->grid);
    measure(table);
}

/* ---- Printing one panel, line by line; each prints and returns the columns it took ---- */

/* A cell between its marks: brackets around data that is used (all of indices and out is), parentheses
 * around what is filled in. */
static void print_cell(const struct pen *pen, const struct cell *cell, enum panel panel, int width)
{
    static const char *const tones[] = {"30;48;5;217", "30;48;5;223", "30;48;5;229", "30;48;5;157",
                                        "30;48;5;159", "30;48;5;153", "30;48;5;183", "30;48;5;218"};
    static const char *const left[] = {" ", "[", "("}, *const right[] = {" ", "]", ")"};
    int bare = cell->mark == MARK_USED && (pen->colour || panel != PANEL_DATA);
    enum mark mark = bare ? MARK_NONE : cell->mark;
    pen_repeat(pen, " ", width - view_width(cell->text));
    const char *style = cell->mark == MARK_USED   ? tones[(size_t)cell->use % (sizeof tones / sizeof *tones)]
                        : cell->mark == MARK_ZERO ? "2"
                                                  : "0";
    if (pen->colour) fprintf(pen->out, "\x1b[%sm", style);
    fprintf(pen->out, "%s%s%s", left[mark], cell->text, right[mark]);
    if (pen->colour) fputs("\x1b[0m", pen->out);
}

static int print_row(const struct pen *pen, const struct table *table, int64_t slice, int r)
{
    const struct grid *grid = &table->grid;
    int64_t row = grid->row.at[r];
    struct cell gap = {.text = ""}, cell;
    char label[24] = "⋮";
    if (row >= 0) snprintf(label, sizeof label, "%lld", (long long)row);
    if (table->label_width) {
        pen_repeat(pen, " ", table->label_width - view_width(label));
        pen_write(pen, "2", label);
        fputs(" ", pen->out);
    }
    fputs("│", pen->out);
    for (int c = 0; c < grid->column.count; c++) {
        int64_t column = grid->column.at[c];
        snprintf(gap.text, sizeof gap.text, "%s", row < 0 ? "⋮" : "⋯");
        if (row >= 0 && column >= 0)
            view_cell(&cell, grid, grid_flat(grid, slice, row, column), CELL_MOST);
        else
            cell = gap;
        print_cell(pen, &cell, grid->panel, table->column_width[c] + (c > 0));
    }
    fputs("│", pen->out);
    return table->label_width + (table->label_width > 0) + table->inner + 2;
}

static int print_border(const struct pen *pen, const struct table *table, const char *left, const char *right)
{
    int before = pen_repeat(pen, " ", table->label_width + (table->label_width > 0));
    fputs(left, pen->out);
    pen_repeat(pen, "─", table->inner);
    fputs(right, pen->out);
    return before + table->inner + 2;
}

static int print_column_numbers(const struct pen *pen, const struct table *table)
{
    const struct grid *grid = &table->grid;
    int before = pen_repeat(pen, " ", table->label_width + (table->label_width > 0) + 1);
    for (int c = 0; c < grid->column.count; c++) {
        char label[24] = "⋯";
        if (grid->column.at[c] >= 0) snprintf(label, sizeof label, "%lld", (long long)grid->column.at[c]);
        pen_repeat(pen, " ", table->column_width[c] + 1 + 2 * (c > 0) - view_width(label));
        pen_write(pen, "2", label);
    }
    return before + table->inner - 1;
}

/* Line `line` of a slice, counted from its label. */
static int print_slice_line(const struct pen *pen, const struct table *table, int64_t slice, int line)
{
    const struct grid *grid = &table->grid;
    struct words label = {0};
    if (grid->rank > 2 && line-- == 0) {
        view_slice(&label, grid, slice);
        return pen_write(pen, "2", label.text);
    }
    if (grid->rank > 0 && line-- == 0) return print_column_numbers(pen, table);
    if (line-- == 0) return print_border(pen, table, "┌", "┐");
    if (line < grid->row.count) return print_row(pen, table, slice, line);
    return print_border(pen, table, "└", "┘");
}

static int print_line(const struct pen *pen, const struct table *table, int line)
{
    const struct grid *grid = &table->grid;
    if (line == 0) return pen_write(pen, "1", table->title.text);
    if (!grid->slice.count) return line == 1 ? pen_write(pen, "2", "(empty)") : 0;
    line--;
    for (int s = 0; s < grid->slice.count; s++) {
        int64_t slice = grid->slice.at[s];
        int height = slice < 0 ? 1 : slice_height(grid);
        if (line < height)
            return slice < 0 ? pen_write(pen, "2", "⋮") : print_slice_line(pen, table, slice, line);
        line -= height;
    }
    return 0;
}

/* ---- The whole drawing ---- */

static void print_stacked(const struct pen *pen, const struct table *tables)
{
    for (int i = 0; i < PANELS; i++) {
        for (int line = 0; line < tables[i].height; line++) {
            print_line(pen, &tables[i], line);
            fputs("\n", pen->out);
        }
        fputs(i + 1 < PANELS ? "\n" : "", pen->out);
    }
}

static void print_side_by_side(const struct pen *pen, const struct table *tables)
{
    int height = 0;
    for (int i = 0; i < PANELS; i++)
        widen(&height, tables[i].height);
    for (int line = 0; line < height; line++) {
        int owed = 0; /* spaces come only before something, never at the end of a line */
        for (int i = 0; i < PANELS; i++) {
            if (line < tables[i].height) {
                pen_repeat(pen, " ", owed);
                owed = -print_line(pen, &tables[i], line);
            }
            owed += tables[i].width + GAP;
        }
        fputs("\n", pen->out);
    }
}

/* Makes all tables, large ones with `few` columns; 1 if they fit beside each other. */
static int try_side_by_side(struct table *tables, const struct map *map, int width, int few)
{
    int total = 0;
    for (int i = 0; i < PANELS; i++) {
        table_create(&tables[i], map, (enum panel)i, (struct limit){MOST_COLUMNS, few});
        total += tables[i].width + (i ? GAP : 0);
    }
    return total <= width;
}

/* Here a tensor of few columns may lose some, too. */
static void fit_one(struct table *table, const struct map *map, enum panel panel, int width)
{
    table_create(table, map, panel, (struct limit){MOST_COLUMNS, few_columns[0]});
    for (size_t i = 0; i < sizeof few_columns / sizeof *few_columns && table->width > width; i++)
        table_create(table, map, panel, (struct limit){few_columns[i], few_columns[i]});
}

static void print_panels(const struct pen *pen, const struct map *map, int width)
{
    struct table tables[PANELS];
    for (size_t i = 0; i < sizeof few_columns / sizeof *few_columns - 1; i++)
        if (try_side_by_side(tables, map, width, few_columns[i])) {
            print_side_by_side(pen, tables);
            return;
        }
    for (int i = 0; i < PANELS; i++)
        fit_one(&tables[i], map, (enum panel)i, width);
    print_stacked(pen, tables);
}

static void print_elements(const struct pen *pen, const struct map *map)
{
    struct picks picks;
    struct words words;
    picks_choose(&picks, map->out.count, lines);
    for (int i = 0; i < picks.count; i++) {
        words_clear(&words);
        if (picks.at[i] < 0) {
            words_add(&words, "⋮ ");
            words_add_count(&words, map->out.count - picks.count + 1);
            words_add(&words, " more");
        } else {
            view_line(&words, map, picks.at[i]);
        }
        fprintf(pen->out, "%s\n", words.text);
    }
    if (picks.count) fputs("\n", pen->out);
}

static void print_summary(const struct pen *pen, const struct map *map)
{
    struct words words = {0};
    for (int i = 0; view_summary(&words, map, i); i++) {
        if (words.used) fprintf(pen->out, "%s\n", words.text);
        words_clear(&words);
    }
}

garner_status explain_draw(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                           FILE *terminal, int width, int colour, garner_error *error)
{
    struct map map;
    struct words words = {0};
    struct pen pen = {terminal, colour};
    garner_status status = map_create(&map, op, data, indices, error);
    if (status) return status;
    view_operator(&words, &map);
    pen_write(&pen, "1", words.text);
    words_clear(&words);
    view_formula(&words, &map);
    fprintf(terminal, "\n%s\n\n", words.text);
    print_panels(&pen, &map, width > 0 ? width : 80);
    fputs("\n", terminal);
    print_elements(&pen, &map);
    print_summary(&pen, &map);
    map_free(&map);
    return GARNER_OK;
}
