/* SPDX-License-Identifier: MIT */
/* Complaints about a layer, and what its ports say of shapes. */
#include "ir_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

garner_status ir_complain(const struct ir_build *build, garner_status status, const struct ir_layer *layer,
                          const char *format, ...)
{
    char sentence[256], name[64], type[32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return ir_fail(build->error, status, build->graph->path, layer->place, "layer \"%s\" (%s): %s",
                   printable(name, sizeof name, layer->name), printable(type, sizeof type, layer->type),
                   sentence);
}

/* Whether a port agrees with what is known of a value's shape. A port without extents says nothing: that is
 * how files write an unknown rank as well as a scalar. */
static int agrees(const struct graph_value *value, const struct graph_extent *extents, int32_t rank)
{
    if (!rank || value->rank < 0) return 1;
    if (rank != value->rank) return 0;
    for (int32_t i = 0; i < rank; i++) {
        const struct graph_extent *a = &value->shape[i], *b = &extents[i];
        /* analysis: a port of a rank above 0 has that many extents */
        if ((a->most >= 0 && a->most < b->least) || (b->most >= 0 && b->most < a->least)) return 0;
    }
    return 1;
}

garner_status ir_declare(struct ir_build *build, size_t id, const struct ir_port *port)
{
    struct graph_value *value = &build->graph->values[id];
    /* a model of scalars alone has no extents */
    const struct graph_extent *extents = build->net.extents ? build->net.extents + port->first_extent : NULL;
    char name[64], here[GRAPH_SHAPE_TEXT], there[GRAPH_SHAPE_TEXT];
    if (value->rank < 0 && port->rank && value->node != GRAPH_NONE) {
        struct graph_extent *shape =
            graph_alloc(build->graph, (size_t)port->rank, sizeof *shape, build->error);
        if (!shape) return GARNER_NO_MEMORY;
        /* analysis: the same */
        value->shape = memcpy(shape, extents, (size_t)port->rank * sizeof *shape);
        value->rank = port->rank;
    }
    if (agrees(value, extents, port->rank)) return GARNER_OK;
    return graph_add_note(
        build->graph, build->error, "%s: line %llu: a port says that '%s' is %s, and elsewhere it is %s",
        printable((char[200]){0}, 200, build->graph->path), (unsigned long long)port->place.line,
        printable(name, sizeof name, value->name), graph_shape_text(here, extents, port->rank),
        graph_shape_text(there, value->shape, value->rank));
}
