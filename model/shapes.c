/* SPDX-License-Identifier: MIT */
/*
 * What a file declares, held against what is. Types must be as declared. Shapes of results are only
 * information: they are computed again, and a disagreement becomes a note. Inputs must fit both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "inside.h"

enum { SHAPE_TEXT = 160 };

static void append(char *text, size_t *used, const char *piece)
{
    size_t size = strlen(piece);
    if (*used + size >= SHAPE_TEXT) return;
    memcpy(text + *used, piece, size + 1);
    *used += size;
}

/* [2,batch,1..5,?] */
static char *declared_text(char text[SHAPE_TEXT], const struct graph_value *value)
{
    char piece[64], shown[32];
    size_t used = 0;
    append(text, &used, "[");
    for (int32_t i = 0; i < value->rank; i++) {
        const struct graph_extent *extent = &value->shape[i];
        const char *comma = i ? "," : "";
        if (extent->symbol)
            snprintf(piece, sizeof piece, "%s%s", comma, printable(shown, sizeof shown, extent->symbol));
        else if (extent->least == extent->most)
            snprintf(piece, sizeof piece, "%s%lld", comma, (long long)extent->least);
        else if (extent->most < 0 && extent->least == 0)
            snprintf(piece, sizeof piece, "%s?", comma);
        else if (extent->most < 0)
            snprintf(piece, sizeof piece, "%s%lld..", comma, (long long)extent->least);
        else
            snprintf(piece, sizeof piece, "%s%lld..%lld", comma, (long long)extent->least,
                     (long long)extent->most);
        append(text, &used, piece);
    }
    append(text, &used, "]");
    return text;
}

static char *shape_text(char text[SHAPE_TEXT], const garner_tensor *tensor)
{
    char piece[32];
    size_t used = 0;
    append(text, &used, "[");
    for (int32_t i = 0; i < tensor->rank; i++) {
        snprintf(piece, sizeof piece, "%s%lld", i ? "," : "", (long long)tensor->shape[i]);
        append(text, &used, piece);
    }
    append(text, &used, "]");
    return text;
}

static int fits(const struct graph_value *value, const garner_tensor *is)
{
    if (value->rank < 0) return 1;
    if (value->rank != is->rank) return 0;
    for (int32_t i = 0; i < is->rank; i++)
        if (!graph_extent_allows(&value->shape[i], is->shape[i])) return 0;
    return 1;
}

static garner_status add_note(struct model *model, const char *text, garner_error *error)
{
    char *copy = malloc(strlen(text) + 1);
    if (copy && model->note_count == model->note_room) {
        size_t room = model->note_room ? 2 * model->note_room : 4;
        char **notes = realloc(model->notes, room * sizeof *notes);
        if (notes) {
            model->notes = notes;
            model->note_room = room;
        } else {
            free(copy);
            copy = NULL;
        }
    }
    if (!copy) return fail_memory(error, model->graph.path, strlen(text));
    strcpy(copy, text);
    model->notes[model->note_count++] = copy;
    return GARNER_OK;
}

garner_status model_compare(struct model *model, size_t id, const garner_tensor *is, garner_error *error)
{
    const struct graph_value *value = &model->graph.values[id];
    char name[96], declared[SHAPE_TEXT], computed[SHAPE_TEXT];
    garner_error note;
    if (value->dtype && value->dtype != is->dtype)
        return fail_at(error, GARNER_BAD_FILE, model->graph.path, "'%s' is declared %s and is %s",
                       printable(name, sizeof name, value->name), garner_dtype_name(value->dtype),
                       garner_dtype_name(is->dtype));
    if (fits(value, is)) return GARNER_OK;
    (void)fail_at(&note, GARNER_OK, model->graph.path, "'%s' is declared %s, and its shape is %s",
                  printable(name, sizeof name, value->name), declared_text(declared, value),
                  shape_text(computed, is));
    return add_note(model, note.message, error);
}

garner_status model_check_input(const struct model *model, size_t input, const garner_tensor *given,
                                garner_error *error)
{
    const struct graph_port *port = &model->graph.inputs[input];
    const struct graph_value *value = &model->graph.values[port->value];
    char name[96], declared[SHAPE_TEXT], shape[SHAPE_TEXT];
    if (value->dtype && value->dtype != given->dtype)
        return fail_at(error, GARNER_BAD_TYPE, model->graph.path, "input '%s' takes %s, and %s is given",
                       printable(name, sizeof name, port->name), garner_dtype_name(value->dtype),
                       garner_dtype_name(given->dtype));
    if (fits(value, given)) return GARNER_OK;
    return fail_at(error, GARNER_BAD_SHAPE, model->graph.path, "input '%s' takes %s, and %s is given",
                   printable(name, sizeof name, port->name), declared_text(declared, value),
                   shape_text(shape, given));
}
