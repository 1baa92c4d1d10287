/* SPDX-License-Identifier: MIT */
/*
 * What callers may call the inputs and outputs of an IR: the tensor names of the port, the name of the
 * Parameter or Result layer, and of an output also the layer that makes it. The one that is shown is the
 * best of these, or one made up where others have all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "ir_build.h"

/* The layer behind each input or output of the graph, in their order. */
struct interface {
    struct ir_build *build;
    struct graph_port *ports;
    size_t count;
    const struct ir_layer **layers;
};

/* The tensor names of an output port of the net, which several Results may show. */
struct shared {
    const char *list; /* NULL: none */
    const char *best; /* once they are listed */
    int listed;       /* some output of the graph has them all */
};

/* ---- Names of one port ---- */

static size_t most_names(const char *list)
{
    size_t count = 1;
    for (; list && *list; list++)
        count += *list == ',';
    return list ? count : 0;
}

/* Appends the names of a list. */
static garner_status add_names(struct ir_build *build, const char **names, size_t *count, const char *list)
{
    char *room = list ? graph_alloc(build->graph, 1, strlen(list) + 1, build->error) : NULL;
    if (!list) return GARNER_OK;
    if (!room) return GARNER_NO_MEMORY;
    while ((list = ir_next_name(list, room)) != NULL) {
        names[(*count)++] = room;
        room += strlen(room) + 1;
    }
    return GARNER_OK;
}

/* The best of the names from `first` on: that of the layer, or the first; NULL: none. */
static const char *best_of(const char *const *names, size_t first, size_t count, const char *layer)
{
    for (size_t i = first; i < count; i++)
        if (strcmp(names[i], layer) == 0) return names[i];
    return first < count ? names[first] : NULL;
}

/* Every name of a port, best first; `list` are its own tensor names, `shared` those of the tensor, `layers`
 * two names of layers. Any number of outputs may show one tensor, and a name leads to the first of them: only
 * that one gets the whole list, the others get the best of it, which they may be called by. */
static garner_status name_port(struct ir_build *build, struct graph_port *port, const char *list,
                               struct shared *shared, const char *const layers[2])
{
    size_t count = 0, most = most_names(list) + (shared->listed ? 1 : most_names(shared->list)) + 2;
    const char **names = graph_alloc(build->graph, most, sizeof *names, build->error);
    if (!names) return GARNER_NO_MEMORY;
    garner_status status = add_names(build, names, &count, list);
    size_t own = count;
    if (!status && !shared->listed) {
        status = add_names(build, names, &count, shared->list);
        shared->best = best_of(names, own, count, layers[0]);
        shared->listed = 1;
    } else if (shared->best) {
        names[count++] = shared->best;
    }
    if (status) return status;
    for (size_t i = 0; i < count && *layers[0]; i++) /* a tensor that is called as its layer is */
        if (strcmp(names[i], layers[0]) == 0) {
            names[i] = names[0];
            names[0] = layers[0];
        }
    for (int i = 0; i < 2; i++)
        if (*layers[i]) names[count++] = layers[i];
    port->aliases = names;
    port->alias_count = count;
    port->name = count ? names[0] : "";
    return GARNER_OK;
}

/* ---- Inputs and outputs ---- */

static garner_status add_input(struct ir_build *build, const struct ir_layer *layer)
{
    size_t id;
    garner_status status =
        graph_add_input(build->graph, "", build->value[layer->first_output], &id, build->error);
    if (status) return status;
    struct shared none = {.listed = 1};
    const char *layers[2] = {layer->name, ""};
    return name_port(build, &build->graph->inputs[id], build->net.ports[layer->first_output].names, &none,
                     layers);
}

static garner_status add_output(struct ir_build *build, const struct ir_layer *layer, struct shared *shared)
{
    size_t source = layer->inputs == 1 ? build->source[layer->first_input] : GRAPH_NONE, id;
    if (source == GRAPH_NONE)
        return ir_complain(build, GARNER_BAD_FILE, layer,
                           "a Result has one input, and something is connected to it");
    garner_status status = ir_declare(build, build->value[source], &build->net.ports[layer->first_input]);
    if (!status) status = graph_add_output(build->graph, "", build->value[source], &id, build->error);
    if (status) return status;
    const struct ir_layer *maker = &build->net.layers[build->layer[source]];
    const char *layers[2] = {maker->outputs == 1 ? maker->name : "", layer->name};
    shared[source].list = build->net.ports[source].names;
    return name_port(build, &build->graph->outputs[id], layer->output_names, &shared[source], layers);
}

/* ---- No two alike ---- */

struct entry {
    const char *name;
    size_t i;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->i > y->i) - (x->i < y->i);
}

/* Gives each port that is called as an earlier one, or not at all, the name of its own layer; the second
 * time around that name with the layer's id, which no other has. */
static garner_status separate(const struct interface *interface, struct entry *entries, int again)
{
    struct graph *graph = interface->build->graph;
    for (size_t i = 0; i < interface->count; i++)
        entries[i] = (struct entry){interface->ports[i].name, i};
    if (interface->count) qsort(entries, interface->count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < interface->count; i++) {
        const struct ir_layer *layer = interface->layers[entries[i].i];
        const char *name = entries[i].name;
        if (*name && (!i || strcmp(entries[i - 1].name, name) != 0)) continue;
        name = layer->name;
        if (again || !*name)
            name = graph_format(graph, interface->build->error, "%s#%llu", layer->name,
                                (unsigned long long)layer->id);
        if (!name) return GARNER_NO_MEMORY;
        interface->ports[entries[i].i].name = name;
    }
    return GARNER_OK;
}

/* Lists the layers of one type, in the file's order, and tells their ports apart. */
static garner_status separate_all(struct ir_build *build, const char *type, struct graph_port *ports,
                                  size_t count)
{
    struct interface interface = {build, ports, 0, calloc(count + 1, sizeof(struct ir_layer *))};
    struct entry *entries = calloc(count + 1, sizeof *entries);
    garner_status status = GARNER_OK;
    if (!interface.layers || !entries)
        status = fail_memory(build->error, build->graph->path, (count + 1) * sizeof *entries);
    for (size_t i = 0; i < build->net.layer_count && !status; i++)
        if (strcmp(build->net.layers[i].type, type) == 0)
            interface.layers[interface.count++] = &build->net.layers[i];
    for (int again = 0; again < 2 && !status; again++)
        status = separate(&interface, entries, again);
    free(entries);
    free(interface.layers);
    return status;
}

garner_status ir_interface(struct ir_build *build)
{
    struct graph *graph = build->graph;
    struct shared *shared = calloc(build->net.port_count + 1, sizeof *shared);
    garner_status status =
        shared ? GARNER_OK : fail_memory(build->error, graph->path, build->net.port_count * sizeof *shared);
    for (size_t i = 0; i < build->net.layer_count && !status; i++) {
        const struct ir_layer *layer = &build->net.layers[i];
        if (strcmp(layer->type, "Parameter") == 0) status = add_input(build, layer);
        if (!status && strcmp(layer->type, "Result") == 0) status = add_output(build, layer, shared);
    }
    free(shared);
    if (!status) status = separate_all(build, "Parameter", graph->inputs, graph->input_count);
    return status ? status : separate_all(build, "Result", graph->outputs, graph->output_count);
}
