/* SPDX-License-Identifier: MIT */
/*
 * From XML elements to layers, ports and edges. Which elements count is a table of parent and child, so a
 * <layer> inside the body of a loop is not taken for one of the net. Memory stays in proportion to the file:
 * every entry has an element of its own.
 */
#include "ir_net.h"

#include <stdlib.h>
#include <string.h>

enum element {
    NOTHING,
    DOCUMENT,
    NET,
    LAYERS,
    EDGES,
    LAYER,
    EDGE,
    DATA,
    INPUT,
    OUTPUT,
    PORT,
    DIM,
    NOTES,
    NOTE
};

static const struct {
    enum element parent;
    const char *name;
    enum element element;
} grammar[] = {
    {DOCUMENT, "net", NET},  {NET, "layers", LAYERS},
    {NET, "edges", EDGES},   {LAYERS, "layer", LAYER},
    {EDGES, "edge", EDGE},   {LAYER, "data", DATA},
    {LAYER, "input", INPUT}, {LAYER, "output", OUTPUT},
    {INPUT, "port", PORT},   {OUTPUT, "port", PORT},
    {PORT, "dim", DIM},      {NET, "rt_info", NOTES},
    {NOTES, "info", NOTE},   {NOTES, "Runtime_version", NOTE},
};

struct reader {
    struct ir_net *net;
    garner_error *error;
    enum element open[IR_MOST_DEPTH + 1];
    int depth;
    int has_layers, has_edges;
    char dim[64];
    size_t dim_size;
    struct ir_place place; /* of the innermost element that counts */
};

static enum element element_of(enum element parent, const char *name)
{
    for (size_t i = 0; i < sizeof grammar / sizeof *grammar; i++)
        if (grammar[i].parent == parent && strcmp(grammar[i].name, name) == 0) return grammar[i].element;
    return NOTHING;
}

static garner_status malformed(const struct reader *reader, const char *what)
{
    return ir_fail(reader->error, GARNER_BAD_FILE, reader->net->graph->path, reader->place, "%s", what);
}

/* ---- Memory ---- */

/* The list with room for one more entry, or NULL with an error. */
static void *grow(const struct reader *reader, void *list, size_t *room, size_t count, size_t item)
{
    if (count < *room) return list;
    size_t wanted = *room ? 2 * *room : 16;
    /* uncovered: no file has that many */
    void *larger = wanted > SIZE_MAX / item ? NULL : realloc(list, wanted * item);
    if (larger)
        *room = wanted;
    else
        (void)fail_memory(reader->error, reader->net->graph->path, (uint64_t)wanted * item);
    return larger;
}

/* A copy of a text that lives as long as the graph; NULL stays NULL. */
static garner_status keep(const struct reader *reader, const char **kept, const char *text)
{
    *kept = text ? graph_text(reader->net->graph, text, strlen(text), reader->error) : NULL;
    return text && !*kept ? GARNER_NO_MEMORY : GARNER_OK;
}

void ir_net_free(struct ir_net *net)
{
    free(net->layers);
    free(net->edges);
    free(net->ports);
    free(net->extents);
    *net = (struct ir_net){.version = 0};
}

/* ---- Elements ---- */

/* An attribute that must be there and be a number. */
static garner_status number(const struct reader *reader, const char **attributes, const char *name,
                            uint64_t *value)
{
    const char *text = ir_attribute(attributes, name);
    char shown[64];
    if (!text)
        return ir_fail(reader->error, GARNER_BAD_FILE, reader->net->graph->path, reader->place,
                       "the attribute %s is missing", name);
    if (ir_unsigned(text, value)) return GARNER_OK;
    return ir_fail(reader->error, GARNER_BAD_FILE, reader->net->graph->path, reader->place,
                   "%s=\"%s\" is not a decimal number from 0 to 2^64-1", name,
                   printable(shown, sizeof shown, text));
}

static garner_status open_net(struct reader *reader, const char **attributes)
{
    uint64_t version;
    garner_status status = number(reader, attributes, "version", &version);
    if (status) return status;
    if (version != 10 && version != 11)
        return ir_fail(reader->error, GARNER_UNSUPPORTED, reader->net->graph->path, reader->place,
                       "version %llu of OpenVINO's IR; those read are 10 and 11",
                       (unsigned long long)version);
    reader->net->version = (int)version;
    const char *name = ir_attribute(attributes, "name");
    return keep(reader, &reader->net->graph->name, name ? name : "");
}

static garner_status open_layer(struct reader *reader, const char **attributes)
{
    struct ir_net *net = reader->net;
    struct ir_layer *layers = grow(reader, net->layers, &net->layer_room, net->layer_count, sizeof *layers);
    if (!layers) return GARNER_NO_MEMORY;
    net->layers = layers;
    struct ir_layer *layer = &layers[net->layer_count++];
    *layer = (struct ir_layer){.place = reader->place};
    const char *name = ir_attribute(attributes, "name"), *type = ir_attribute(attributes, "type");
    const char *version = ir_attribute(attributes, "version");
    if (!type) return malformed(reader, "a layer without a type");
    garner_status status = number(reader, attributes, "id", &layer->id);
    if (!status) status = keep(reader, &layer->name, name ? name : "");
    if (!status) status = keep(reader, &layer->type, type);
    if (!status) status = keep(reader, &layer->version, version ? version : "");
    return status ? status : keep(reader, &layer->output_names, ir_attribute(attributes, "output_names"));
}

static garner_status open_edge(struct reader *reader, const char **attributes)
{
    struct ir_net *net = reader->net;
    struct ir_edge *edges = grow(reader, net->edges, &net->edge_room, net->edge_count, sizeof *edges);
    if (!edges) return GARNER_NO_MEMORY;
    net->edges = edges;
    struct ir_edge *edge = &edges[net->edge_count++];
    *edge = (struct ir_edge){.place = reader->place};
    garner_status status = number(reader, attributes, "from-layer", &edge->from_layer);
    if (!status) status = number(reader, attributes, "from-port", &edge->from_port);
    if (!status) status = number(reader, attributes, "to-layer", &edge->to_layer);
    return status ? status : number(reader, attributes, "to-port", &edge->to_port);
}

static garner_status open_data(struct reader *reader, const char **attributes)
{
    struct ir_layer *layer = &reader->net->layers[reader->net->layer_count - 1];
    struct ir_data *data = &layer->data;
    struct {
        const char *name, **kept;
    } known[] = {
        {"shape", &data->shape},
        {"element_type", &data->element_type},
        {"offset", &data->offset},
        {"size", &data->size},
        {"axis", &data->axis},
        {"batch_dims", &data->batch_dims},
        {"destination_type", &data->destination_type},
    };
    if (layer->has_data++) return malformed(reader, "a second <data> in one layer");
    garner_status status = GARNER_OK;
    for (size_t i = 0; i < sizeof known / sizeof *known && !status; i++)
        status = keep(reader, known[i].kept, ir_attribute(attributes, known[i].name));
    return status;
}

static garner_status open_ports(struct reader *reader, enum element element)
{
    struct ir_net *net = reader->net;
    struct ir_layer *layer = &net->layers[net->layer_count - 1];
    int *has = element == INPUT ? &layer->has_input : &layer->has_output;
    if ((*has)++) return malformed(reader, "a second <input> or <output> in one layer");
    *(element == INPUT ? &layer->first_input : &layer->first_output) = net->port_count;
    return GARNER_OK;
}

static garner_status open_port(struct reader *reader, enum element parent, const char **attributes)
{
    struct ir_net *net = reader->net;
    struct ir_layer *layer = &net->layers[net->layer_count - 1];
    struct ir_port *ports = grow(reader, net->ports, &net->port_room, net->port_count, sizeof *ports);
    if (!ports) return GARNER_NO_MEMORY;
    net->ports = ports;
    struct ir_port *port = &ports[net->port_count++];
    *port = (struct ir_port){.place = reader->place};
    (*(parent == INPUT ? &layer->inputs : &layer->outputs))++;
    port->first_extent = net->extent_count;
    garner_status status = number(reader, attributes, "id", &port->id);
    if (!status) status = keep(reader, &port->precision, ir_attribute(attributes, "precision"));
    return status ? status : keep(reader, &port->names, ir_attribute(attributes, "names"));
}

static garner_status close_dim(struct reader *reader)
{
    struct ir_net *net = reader->net;
    struct ir_port *port = &net->ports[net->port_count - 1];
    char shown[80];
    if (port->rank == GARNER_MAX_RANK) return malformed(reader, "a port of more than 64 dimensions");
    struct graph_extent *extents =
        grow(reader, net->extents, &net->extent_room, net->extent_count, sizeof *extents);
    if (!extents) return GARNER_NO_MEMORY;
    net->extents = extents;
    struct graph_extent *extent = &extents[net->extent_count++];
    *extent = (struct graph_extent){.most = -1};
    port->rank++;
    reader->dim[reader->dim_size] = 0;
    if (ir_extent(reader->dim, reader->dim_size, extent)) return GARNER_OK;
    return ir_fail(reader->error, GARNER_BAD_FILE, net->graph->path, reader->place,
                   "<dim>%s</dim> is no extent: a decimal number, or -1 where it is known only later",
                   printable(shown, sizeof shown, reader->dim));
}

/* What wrote the file: <info name="OpenVINO Runtime" value="..."/>, or <Runtime_version value="..."/>. */
static garner_status open_note(const struct reader *reader, const char *element, const char **attributes)
{
    const char *name = ir_attribute(attributes, "name"), *value = ir_attribute(attributes, "value");
    if (!name) name = element;
    if (!value || (strcmp(name, "OpenVINO Runtime") != 0 && strcmp(name, "Runtime_version") != 0))
        return GARNER_OK;
    struct graph *graph = reader->net->graph;
    const char *producer = graph_format(graph, reader->error, "OpenVINO %s", value);
    if (!producer) return GARNER_NO_MEMORY;
    graph->producer = producer;
    return GARNER_OK;
}

/* ---- Events ---- */

static garner_status open_counted(struct reader *reader, enum element element, enum element parent,
                                  const char **attributes)
{
    switch (element) {
    case NET:
        return open_net(reader, attributes);
    case LAYERS:
        return reader->has_layers++ ? malformed(reader, "a second <layers>") : GARNER_OK;
    case EDGES:
        return reader->has_edges++ ? malformed(reader, "a second <edges>") : GARNER_OK;
    case LAYER:
        return open_layer(reader, attributes);
    case EDGE:
        return open_edge(reader, attributes);
    case DATA:
        return open_data(reader, attributes);
    case INPUT:
    case OUTPUT:
        return open_ports(reader, element);
    case PORT:
        return open_port(reader, parent, attributes);
    case DIM:
        reader->dim_size = 0;
        return GARNER_OK;
    default:
        return GARNER_OK;
    }
}

static garner_status opens(void *context, int depth, const char *name, const char **attributes,
                           struct ir_place place)
{
    struct reader *reader = context;
    char shown[64];
    enum element parent = reader->open[depth - 1], element = element_of(parent, name);
    reader->open[depth] = element;
    reader->depth = depth;
    if (depth == 1 && element != NET)
        return ir_fail(reader->error, GARNER_BAD_FILE, reader->net->graph->path, place,
                       "this is no OpenVINO IR: it begins with <%s>, not with <net>",
                       printable(shown, sizeof shown, name));
    if (element == NOTE) return open_note(reader, name, attributes);
    if (element == NOTHING) return GARNER_OK;
    reader->place = place;
    return open_counted(reader, element, parent, attributes);
}

static garner_status text_comes(void *context, const char *text, size_t size)
{
    struct reader *reader = context;
    if (reader->open[reader->depth] != DIM) return GARNER_OK;
    if (size >= sizeof reader->dim - reader->dim_size) return malformed(reader, "a <dim> that is too long");
    memcpy(reader->dim + reader->dim_size, text, size);
    reader->dim_size += size;
    return GARNER_OK;
}

static garner_status closes(void *context, int depth)
{
    struct reader *reader = context;
    reader->depth = depth - 1;
    return reader->open[depth] == DIM ? close_dim(reader) : GARNER_OK;
}

garner_status ir_net_read(struct ir_net *net, struct graph *graph, const unsigned char *bytes, uint64_t size,
                          garner_error *error)
{
    struct reader reader = {.net = net, .error = error, .open = {DOCUMENT}};
    struct ir_events events = {&reader, opens, text_comes, closes};
    *net = (struct ir_net){.graph = graph};
    garner_status status = ir_xml_read(graph->path, bytes, size, &events, error);
    if (!status && !reader.has_layers)
        status = fail_at(error, GARNER_BAD_FILE, graph->path, "this IR has no <layers>");
    if (status) ir_net_free(net);
    return status;
}
