/* SPDX-License-Identifier: MIT */
/* The words of a drawing: titles, the rule as a formula, one line for an element, the summary. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_locale.h"
#include "explain_view.h"
#include "value.h"

void words_clear(struct words *words)
{
    words->used = 0;
    words->text[0] = 0;
}

void words_add(struct words *words, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof words->text - words->used;
    va_start(arguments, format);
    int size = vsnprintf(words->text + words->used, room, format, arguments);
    va_end(arguments);
    if (size > 0) words->used += (size_t)size < room ? (size_t)size : room - 1;
}

static void add_list(struct words *words, const int64_t *numbers, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        words_add(words, i ? ",%lld" : "%lld", (long long)numbers[i]);
}

/* "data[2,1]", and the bare name of a tensor of rank 0. */
static void add_element(struct words *words, const char *name, const int64_t *at, int32_t rank)
{
    words_add(words, "%s", name);
    if (!rank) return;
    words_add(words, "[");
    add_list(words, at, rank);
    words_add(words, "]");
}

void words_add_count(struct words *words, int64_t number)
{
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%lld", (long long)number);
    for (int i = 0; i < size; i++)
        words_add(words, i && (size - i) % 3 == 0 ? ",%c" : "%c", digits[i]);
}

/* ---- Titles ---- */

void view_title(struct words *words, const struct grid *grid)
{
    static const char *const names[PANELS] = {"data", "indices", "out"};
    const struct map *map = grid->map;
    const char *type =
        garner_dtype_name(grid->panel == PANEL_INDICES ? map->indices->dtype : map->data->dtype);
    words_add(words, "%s %s[", names[grid->panel], type ? type : "?");
    add_list(words, grid->shape, grid->rank);
    words_add(words, "]");
}

void view_slice(struct words *words, const struct grid *grid, int64_t slice)
{
    int64_t at[GARNER_MAX_RANK];
    map_unflatten(grid->shape, grid->rank - 2, slice, at);
    words_add(words, "[");
    add_list(words, at, grid->rank - 2);
    words_add(words, ",:,:]");
}

void view_operator(struct words *words, const struct map *map)
{
    static const char *const policies[] = {"error", "zero", "clamp", "wrap"};
    const garner_op *op = map->op;
    words_add(words, "%s", garner_kind_name(op->kind));
    if (op->kind != GARNER_GATHER_ND) words_add(words, ", axis %d", (int)map->gathered);
    if (map->batch) words_add(words, ", batch_dims %d", (int)map->batch);
    if (op->oob > GARNER_OOB_ERROR && op->oob <= GARNER_OOB_WRAP)
        words_add(words, ", outside: %s", policies[op->oob]);
}

/* ---- The formula ---- */

static int is_letter(const char *name, char letter)
{
    return name[0] == letter && name[1] == 0;
}

/* An axis of out: i, j, k and so on but for those that tensors are called by, or i0, i1 where there are
 * many. */
static void add_name(struct words *words, const struct map *map, const struct view_names *names, int32_t axis)
{
    enum { LETTERS = 12, TENSORS = 3 };
    static const char letters[LETTERS + TENSORS + 1] = "ijklmnopqrstuvw";
    const char *letter = letters;
    if (map->rank > LETTERS) {
        words_add(words, "i%d", (int)axis);
        return;
    }
    for (;; letter++) {
        if (is_letter(names->out, *letter) || is_letter(names->data, *letter) ||
            is_letter(names->indices, *letter))
            continue;
        if (axis-- == 0) break;
    }
    words_add(words, "%c", *letter);
}

/* The names of the axes of out that run along an axis of indices: its own coordinates. */
static void add_index(struct words *words, const struct map *map, const struct view_names *names,
                      int32_t part)
{
    int nd = map->op->kind == GARNER_GATHER_ND, first = 1;
    words_add(words, map->indices->rank ? "%s[" : "%s", names->indices);
    for (int32_t i = 0; i < map->rank; i++) {
        if (map->axis[i].index_axis < 0) continue;
        if (!first) words_add(words, ",");
        add_name(words, map, names, i);
        first = 0;
    }
    if (nd) words_add(words, first ? "%d" : ",%d", (int)part);
    if (map->indices->rank) words_add(words, "]");
}

static void add_coordinate(struct words *words, const struct map *map, const struct view_names *names,
                           int32_t data_axis)
{
    if (data_axis >= map->gathered && data_axis < map->gathered + map->tuple) {
        add_index(words, map, names, data_axis - map->gathered);
        return;
    }
    for (int32_t i = 0; i < map->rank; i++)
        if (map->axis[i].data_axis == data_axis) add_name(words, map, names, i);
}

static void add_left_side(struct words *words, const struct map *map, const struct view_names *names)
{
    words_add(words, map->rank ? "%s[" : "%s", names->out);
    if (map->merged > 1) words_add(words, "(");
    for (int32_t i = 0; i < map->rank; i++) {
        if (i) words_add(words, ",");
        add_name(words, map, names, i);
        if (map->merged > 1 && i == map->merged - 1) words_add(words, ")");
    }
    if (map->rank) words_add(words, "]");
}

void view_formula_of(struct words *words, const struct map *map, const struct view_names *names)
{
    add_left_side(words, map, names);
    words_add(words, " = %s[", names->data);
    for (int32_t i = 0; i < map->data->rank; i++) {
        if (i) words_add(words, ", ");
        add_coordinate(words, map, names, i);
    }
    words_add(words, "]");
}

void view_formula(struct words *words, const struct map *map)
{
    view_formula_of(words, map, &(struct view_names){"out", "data", "indices"});
}

/* ---- One element ---- */

static void add_value(struct words *words, const garner_tensor *tensor, int64_t flat)
{
    char text[VALUE_TEXT_SIZE];
    int size = value_text(text, sizeof text, tensor, flat);
    if (size >= (int)sizeof text) { /* only a long string: cut before a character, close the quotes */
        size_t end = sizeof text - 8;
        while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
            end--;
        snprintf(text + end, sizeof text - end, "…\"");
    }
    words_add(words, "%s", size < 0 ? "?" : text);
}

/* "indices[0,1]", or for a tuple "indices[0,:]". */
static void add_index_place(struct words *words, const struct map *map, int64_t tuple)
{
    const garner_tensor *indices = map->indices;
    int64_t at[GARNER_MAX_RANK];
    map_unflatten(indices->shape, indices->rank, tuple * map->tuple, at);
    if (map->op->kind != GARNER_GATHER_ND) {
        add_element(words, "indices", at, indices->rank);
        return;
    }
    words_add(words, "indices[");
    add_list(words, at, indices->rank - 1);
    words_add(words, indices->rank > 1 ? ",:]" : ":]");
}

/* The index or the tuple, as given. */
static void add_indices(struct words *words, const struct map *map, int64_t tuple)
{
    int nd = map->op->kind == GARNER_GATHER_ND;
    if (nd) words_add(words, "(");
    for (int32_t i = 0; i < map->tuple; i++) {
        if (i) words_add(words, ",");
        add_value(words, map->indices, tuple * map->tuple + i);
    }
    if (nd) words_add(words, ")");
}

/* What became of one index: 0 if it was taken as it is, 1 if it counted from the end, 2 if the policy
 * brought it inside. */
static int change_of(const struct map *map, int64_t tuple, int32_t part, const int64_t *at)
{
    char text[VALUE_TEXT_SIZE], same[24];
    int64_t coordinate = at[map->gathered + part], extent = map->data->shape[map->gathered + part];
    if (value_text(text, sizeof text, map->indices, tuple * map->tuple + part) < 0) return 0;
    snprintf(same, sizeof same, "%lld", (long long)coordinate);
    if (strcmp(text, same) == 0) return 0;
    return text[0] == '-' && strtoll(text, NULL, 10) + extent == coordinate ? 1 : 2;
}

static void add_change(struct words *words, const struct map *map, int64_t tuple, const int64_t *at)
{
    int change = 0;
    for (int32_t i = 0; i < map->tuple; i++) {
        int one = change_of(map, tuple, i, at);
        if (one > change) change = one;
    }
    if (!change) return;
    words_add(words, change == 2 && map->op->oob == GARNER_OOB_CLAMP ? " (clamped to " : " (wraps to ");
    add_list(words, at + map->gathered, map->tuple);
    words_add(words, ")");
}

void view_line(struct words *words, const struct map *map, int64_t out_flat)
{
    int64_t tuple, at[GARNER_MAX_RANK], place[GARNER_MAX_RANK];
    int found = map_source(map, out_flat, &tuple, at);
    map_unflatten(map->out.extents, map->out.rank, out_flat, place);
    add_element(words, "out", place, map->out.rank);
    words_add(words, " = ");
    if (found) {
        add_element(words, "data", at, map->data->rank);
        words_add(words, " = ");
        add_value(words, map->data, map_flatten(map->data->shape, map->data->rank, at));
    } else {
        words_add(words, "zero");
    }
    words_add(words, "   ← ");
    add_index_place(words, map, tuple);
    words_add(words, " = ");
    add_indices(words, map, tuple);
    if (found)
        add_change(words, map, tuple, at);
    else
        words_add(words, " (outside)");
}

/* ---- The summary ---- */

static void add_share(struct words *words, double part, double whole)
{
    void *locale = c_locale_begin();
    words_add(words, " (%.3g %%)", 100.0 * part / whole);
    c_locale_end(locale);
}

static void say_used(struct words *words, const struct map *map)
{
    int64_t used = map->used_count * map->free_count;
    words_add_count(words, used);
    words_add(words, " of ");
    words_add_count(words, map->data_count);
    words_add(words, " elements of data %s used", used == 1 ? "is" : "are");
    if (map->data_count) add_share(words, (double)used, (double)map->data_count);
    words_add(words, map->out.count ? "; out has " : "; out is empty");
    if (map->out.count) words_add_count(words, map->out.count);
}

static int say_counted(struct words *words, int64_t count, int64_t all, const char *one, const char *many)
{
    if (!count) return 0;
    words_add_count(words, count);
    words_add(words, " of ");
    words_add_count(words, all);
    words_add(words, " %s", count == 1 ? one : many);
    return 1;
}

static int say_moved(struct words *words, const struct map *map)
{
    int64_t all = map->tuples * map->tuple;
    if (map->op->oob == GARNER_OOB_CLAMP)
        return say_counted(words, map->moved, all, "indices lies outside and is clamped",
                           "indices lie outside and are clamped");
    return say_counted(words, map->moved, all, "indices lies outside and wraps",
                       "indices lie outside and wrap");
}

int view_summary(struct words *words, const struct map *map, int i)
{
    if (i == 0) say_used(words, map);
    if (i == 1)
        say_counted(words, map->wrapped, map->tuples * map->tuple,
                    "indices is negative and counts from the end",
                    "indices are negative and count from the end");
    if (i == 2) say_moved(words, map);
    if (i == 3)
        say_counted(words, map->zeroed * map->free_count, map->out.count,
                    "elements of out is zero: its index lies outside",
                    "elements of out are zero: their indices lie outside");
    return i < 4;
}
