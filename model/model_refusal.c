/* SPDX-License-Identifier: MIT */
/*
 * The sentence about what does not run here: the operators with how many nodes each has, the most frequent
 * ones first. It stays one line, and fits into an error record, however many there are: what it has no room
 * for is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "model_internal.h"
#include "names.h"

enum { SENTENCE = 512, LIST = 212, ROOM_FOR_COUNT = 62, KEY = 128, PORT = 88 };

/* An operator: "Conv", "Relu of domain com.example", "Gather of version 'opset99' (...)". */
struct group {
    char *key;
    size_t nodes, first;
};

struct census {
    const struct graph *graph;
    struct names names; /* which borrows the keys */
    struct group *groups;
    size_t count;
};

static char *make_key(const struct graph_node *node)
{
    size_t size = strlen(node->type) + (node->refusal ? strlen(node->refusal) : 0) + 2;
    char *key = malloc(size);
    if (!key) return NULL;
    int extra = node->refusal && *node->refusal;
    snprintf(key, size, "%s%s%s", node->type, extra ? " " : "", extra ? node->refusal : "");
    return key;
}

static int count_node(struct census *census, size_t node)
{
    size_t group;
    char *key = make_key(&census->graph->nodes[node]);
    if (!key) return 0;
    if (!names_add(&census->names, key, strlen(key), census->count, &group)) {
        free(key);
        return 0;
    }
    if (group == NAMES_NONE) {
        census->groups[census->count++] = (struct group){key, 1, node};
    } else {
        census->groups[group].nodes++;
        free(key);
    }
    return 1;
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->nodes != y->nodes) return x->nodes < y->nodes ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

/* "48 × Add, 12 × MatMul, …: 9 operators that do not run here" */
static void list_groups(char text[LIST], const struct census *census)
{
    char shown[KEY];
    size_t used = 0, listed = 0;
    for (; listed < census->count; listed++) {
        const struct group *group = &census->groups[listed];
        const char *key = printable(shown, sizeof shown, group->key);
        size_t needs = strlen(key) + 32;
        if (listed && used + needs > LIST - ROOM_FOR_COUNT) break;
        used +=
            (size_t)snprintf(text + used, LIST - used, "%s%zu × %s", listed ? ", " : "", group->nodes, key);
    }
    snprintf(text + used, LIST - used, "%s: %zu operator%s not run here", listed < census->count ? ", …" : "",
             census->count, census->count == 1 ? " that does" : "s that do");
}

/* The first input or output that is no tensor, as "input 'x' is no tensor but a sequence"; 0: there is none.
 */
static int find_foreign(char text[PORT], const struct graph *graph)
{
    const struct graph_port *sides[] = {graph->inputs, graph->outputs};
    const size_t counts[] = {graph->input_count, graph->output_count};
    char shown[40];
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < counts[side]; i++) {
            const char *foreign = graph->values[sides[side][i].value].foreign;
            if (foreign)
                return snprintf(text, PORT, "%s '%s' is no tensor but of type %s", side ? "output" : "input",
                                printable(shown, sizeof shown, sides[side][i].name), foreign);
        }
    return 0;
}

static garner_status write_sentence(struct model *model, struct census *census, garner_error *error)
{
    char list[LIST] = "", port[PORT] = "", path[FAIL_PATH];
    int foreign = find_foreign(port, &model->graph);
    if (!census->count && !foreign) return GARNER_OK;
    if (census->count) {
        qsort(census->groups, census->count, sizeof *census->groups, compare_groups);
        list_groups(list, census);
    }
    model->refusal = malloc(SENTENCE);
    if (!model->refusal) return fail_memory(error, model->graph.path, SENTENCE);
    snprintf(model->refusal, SENTENCE, "%s: %s%s%s", printable(path, sizeof path, model->graph.path), list,
             census->count && foreign ? "; and " : "", port);
    return GARNER_OK;
}

garner_status model_judge(struct model *model, garner_error *error)
{
    size_t most = model->graph.node_count + 1;
    struct census census = {.graph = &model->graph, .groups = calloc(most, sizeof *census.groups)};
    int counted = census.groups != NULL;
    for (size_t i = 0; counted && i < model->graph.node_count; i++)
        if (model->graph.nodes[i].kind == GRAPH_UNSUPPORTED) counted = count_node(&census, i);
    garner_status status = counted ? write_sentence(model, &census, error)
                                   : fail_memory(error, model->graph.path, most * sizeof *census.groups);
    for (size_t i = 0; i < census.count; i++)
        free(census.groups[i].key);
    free(census.groups);
    names_free(&census.names);
    return status;
}
