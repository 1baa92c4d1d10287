/* SPDX-License-Identifier: MIT */
/*
 * What a file declares, held against what is. Types must be as declared. Shapes of results are only
 * information: they are computed again, and a disagreement becomes a note. Inputs must fit both.
 */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "model_internal.h"

static char *shape_text(char text[GRAPH_SHAPE_TEXT], const garner_tensor *tensor)
{
    struct graph_extent extents[GARNER_MAX_RANK];
    for (int32_t i = 0; i < tensor->rank; i++)
        extents[i] = (struct graph_extent){.least = tensor->shape[i], .most = tensor->shape[i]};
    return graph_shape_text(text, extents, tensor->rank);
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
    char name[96], declared[GRAPH_SHAPE_TEXT], computed[GRAPH_SHAPE_TEXT];
    garner_error note;
    if (value->dtype && value->dtype != is->dtype)
        return fail_at(error, GARNER_BAD_FILE, model->graph.path, "'%s' is declared %s and is %s",
                       printable(name, sizeof name, value->name), garner_dtype_name(value->dtype),
                       garner_dtype_name(is->dtype));
    if (fits(value, is)) return GARNER_OK;
    (void)fail_at(&note, GARNER_OK, model->graph.path, "'%s' is declared %s, and its shape is %s",
                  printable(name, sizeof name, value->name),
                  graph_shape_text(declared, value->shape, value->rank), shape_text(computed, is));
    return add_note(model, note.message, error);
}

garner_status model_check_input(const struct model *model, size_t input, const garner_tensor *given,
                                garner_error *error)
{
    const struct graph_port *port = &model->graph.inputs[input];
    const struct graph_value *value = &model->graph.values[port->value];
    char name[96], declared[GRAPH_SHAPE_TEXT], shape[GRAPH_SHAPE_TEXT];
    if (value->dtype && value->dtype != given->dtype)
        return fail_at(error, GARNER_BAD_TYPE, model->graph.path, "input '%s' takes %s, and %s is given",
                       printable(name, sizeof name, port->name), garner_dtype_name(value->dtype),
                       garner_dtype_name(given->dtype));
    if (fits(value, given)) return GARNER_OK;
    return fail_at(error, GARNER_BAD_SHAPE, model->graph.path, "input '%s' takes %s, and %s is given",
                   printable(name, sizeof name, port->name),
                   graph_shape_text(declared, value->shape, value->rank), shape_text(shape, given));
}
