/* SPDX-License-Identifier: MIT */
/*
 * Edges of an IR: each connects an output port to an input port, both named by layer and port ids. Ports are
 * found through one sorted table, so that time stays in proportion to the file whatever ids it uses.
 */
#include <stdlib.h>
#include <string.h>

#include "ir_build.h"

/* What an edge names, and where that is. */
struct port_key {
    uint64_t layer, id;
    int side; /* 0: input, 1: output */
    size_t port;
};

static int compare_keys(const void *a, const void *b)
{
    const struct port_key *x = a, *y = b;
    if (x->layer != y->layer) return x->layer < y->layer ? -1 : 1;
    if (x->side != y->side) return x->side - y->side;
    return (x->id > y->id) - (x->id < y->id);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* No two layers may have one id. */
static garner_status check_ids(const struct ir_build *build)
{
    const struct ir_net *net = &build->net;
    uint64_t *ids = calloc(net->layer_count + 1, sizeof *ids);
    garner_status status = GARNER_OK;
    if (!ids) return fail_memory(build->error, build->graph->path, net->layer_count * sizeof *ids);
    for (size_t i = 0; i < net->layer_count; i++)
        ids[i] = net->layers[i].id;
    qsort(ids, net->layer_count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < net->layer_count && !status; i++)
        if (ids[i] == ids[i - 1])
            status = fail_at(build->error, GARNER_BAD_FILE, build->graph->path, "two layers have the id %llu",
                             (unsigned long long)ids[i]);
    free(ids);
    return status;
}

static void list_keys(const struct ir_build *build, struct port_key *keys)
{
    for (size_t i = 0; i < build->net.layer_count; i++) {
        const struct ir_layer *layer = &build->net.layers[i];
        for (size_t k = 0; k < layer->inputs + layer->outputs; k++) {
            int side = k >= layer->inputs;
            size_t port = side ? layer->first_output + k - layer->inputs : layer->first_input + k;
            *keys++ = (struct port_key){layer->id, build->net.ports[port].id, side, port};
            build->layer[port] = i;
        }
    }
}

static garner_status make_keys(const struct ir_build *build, struct port_key *keys)
{
    size_t count = build->net.port_count;
    list_keys(build, keys);
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++)
        if (compare_keys(&keys[i - 1], &keys[i]) == 0)
            return ir_complain(build, GARNER_BAD_FILE, &build->net.layers[build->layer[keys[i].port]],
                               "two %s ports have the id %llu", keys[i].side ? "output" : "input",
                               (unsigned long long)keys[i].id);
    return GARNER_OK;
}

/* The port that one end of an edge names. */
static garner_status find_end(const struct ir_build *build, const struct port_key *keys,
                              const struct ir_edge *edge, int side, size_t *port)
{
    struct port_key wanted = {.layer = side ? edge->from_layer : edge->to_layer,
                              .id = side ? edge->from_port : edge->to_port,
                              .side = side};
    const struct port_key *found =
        build->net.port_count ? bsearch(&wanted, keys, build->net.port_count, sizeof *keys, compare_keys)
                              : NULL;
    if (!found)
        return ir_fail(build->error, GARNER_BAD_FILE, build->graph->path, edge->place,
                       "an edge %s layer %llu, port %llu, and there is no such %s port", side ? "from" : "to",
                       (unsigned long long)wanted.layer, (unsigned long long)wanted.id,
                       side ? "output" : "input");
    *port = found->port;
    return GARNER_OK;
}

static garner_status follow_edges(struct ir_build *build, const struct port_key *keys)
{
    for (size_t i = 0; i < build->net.edge_count; i++) {
        const struct ir_edge *edge = &build->net.edges[i];
        size_t from = 0, to = 0;
        garner_status status = find_end(build, keys, edge, 1, &from);
        if (!status) status = find_end(build, keys, edge, 0, &to);
        if (status) return status;
        if (build->source[to] != GRAPH_NONE)
            return ir_fail(build->error, GARNER_BAD_FILE, build->graph->path, edge->place,
                           "a second edge to layer %llu, port %llu", (unsigned long long)edge->to_layer,
                           (unsigned long long)edge->to_port);
        build->source[to] = from;
    }
    return GARNER_OK;
}

garner_status ir_connect(struct ir_build *build)
{
    size_t count = build->net.port_count;
    struct port_key *keys = calloc(count + 1, sizeof *keys);
    if (!keys) return fail_memory(build->error, build->graph->path, (count + 1) * sizeof *keys);
    garner_status status = check_ids(build);
    if (!status) status = make_keys(build, keys);
    if (!status) status = follow_edges(build, keys);
    free(keys);
    return status;
}
