/* SPDX-License-Identifier: MIT */
/*
 * The sentence about what does not run here: every such operator once, with all its nodes. It is as long as
 * it must be, and made in time linear in what it says.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "inside.h"
#include "names.h"

/* An operator, and its nodes as a list in the file's order. */
struct group {
    size_t first, last;
};

struct sentence {
    struct model *model;
    struct names names;
    char **keys; /* that names borrows */
    struct group *groups;
    size_t *next; /* of each node: the next of its group */
    size_t count;
};

/* "Conv", "Relu of domain com.example", "If (is a function of the model)" */
static char *make_key(const struct graph_node *node)
{
    size_t size = strlen(node->type) + (node->refusal ? strlen(node->refusal) : 0) + 2;
    char *key = malloc(size);
    if (!key) return NULL;
    int extra = node->refusal && *node->refusal;
    snprintf(key, size, "%s%s%s", node->type, extra ? " " : "", extra ? node->refusal : "");
    return key;
}

static int add_node(struct sentence *s, size_t node)
{
    size_t group;
    char *key = make_key(&s->model->graph.nodes[node]);
    if (!key) return 0;
    s->keys[s->count] = key;
    if (!names_add(&s->names, key, strlen(key), s->count, &group)) {
        free(key);
        return 0;
    }
    s->next[node] = GRAPH_NONE;
    if (group == NAMES_NONE) {
        s->groups[s->count++] = (struct group){node, node};
        return 1;
    }
    free(key);
    s->next[s->groups[group].last] = node;
    s->groups[group].last = node;
    return 1;
}

/* A text from outside, made harmless at whatever length. */
static void put(FILE *out, const char *text)
{
    size_t size = 4 * strlen(text) + 16;
    char few[256], *buffer = size > sizeof few ? malloc(size) : few;
    if (!buffer) return;
    fputs(printable(buffer, size > sizeof few ? size : sizeof few, text), out);
    if (buffer != few) free(buffer);
}

static void put_group(FILE *out, const struct sentence *s, size_t group)
{
    const char *separator = s->groups[group].first == s->groups[group].last ? " (node " : " (nodes ";
    put(out, s->keys[group]);
    for (size_t i = s->groups[group].first; i != GRAPH_NONE; i = s->next[i]) {
        const char *name = s->model->graph.nodes[i].name;
        fputs(separator, out);
        separator = ", ";
        if (*name) {
            putc('\'', out);
            put(out, name);
            putc('\'', out);
        } else {
            fprintf(out, "#%zu", i + 1); /* it has none */
        }
    }
    putc(')', out);
}

static void put_foreign(FILE *out, const struct graph *graph, const struct graph_port *ports, size_t count,
                        const char *what, const char **separator)
{
    for (size_t i = 0; i < count; i++) {
        const char *foreign = graph->values[ports[i].value].foreign;
        if (!foreign) continue;
        fprintf(out, "%s%s '", *separator, what);
        put(out, ports[i].name);
        fprintf(out, "', which is no tensor but of type %s", foreign);
        *separator = "; ";
    }
}

static int write_sentence(FILE *out, const struct sentence *s)
{
    const struct graph *graph = &s->model->graph;
    const char *separator = "it has what does not run here: ";
    put(out, graph->path);
    fputs(": ", out);
    for (size_t i = 0; i < s->count; i++) {
        fputs(i ? ", " : "it has operators that do not run here: ", out);
        put_group(out, s, i);
        separator = "; and ";
    }
    put_foreign(out, graph, graph->inputs, graph->input_count, "input", &separator);
    put_foreign(out, graph, graph->outputs, graph->output_count, "output", &separator);
    int failed = ferror(out);
    return fclose(out) == 0 && !failed && s->model->refusal;
}

static int anything(const struct sentence *s)
{
    const struct graph *graph = &s->model->graph;
    for (size_t i = 0; i < graph->input_count; i++)
        if (graph->values[graph->inputs[i].value].foreign) return 1;
    for (size_t i = 0; i < graph->output_count; i++)
        if (graph->values[graph->outputs[i].value].foreign) return 1;
    return s->count > 0;
}

static int judge(struct sentence *s)
{
    const struct graph *graph = &s->model->graph;
    size_t size;
    if (!s->keys || !s->groups || !s->next) return 0;
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].kind == GRAPH_UNSUPPORTED && !add_node(s, i)) return 0;
    if (!anything(s)) return 1;
    FILE *out = open_memstream(&s->model->refusal, &size);
    return out && write_sentence(out, s);
}

garner_status model_judge(struct model *model, garner_error *error)
{
    size_t most = model->graph.node_count + 1;
    struct sentence s = {.model = model,
                         .keys = calloc(most, sizeof *s.keys),
                         .groups = calloc(most, sizeof *s.groups),
                         .next = calloc(most, sizeof *s.next)};
    int made = judge(&s);
    for (size_t i = 0; i < s.count; i++)
        free(s.keys[i]);
    free(s.keys);
    free(s.groups);
    free(s.next);
    names_free(&s.names);
    return made ? GARNER_OK : fail_memory(error, model->graph.path, most * sizeof *s.groups);
}
