/* SPDX-License-Identifier: MIT */
/*
 * The command run: opens a model, gives it the tensors of the command line, and prints its outputs or
 * writes them to files. All names are looked up before anything is loaded.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "fail.h"
#include "filesystem.h"
#include "message.h"
#include "model.h"
#include "output.h"
#include "progress.h"
#include "tensor.h"

enum { LIST_SIZE = 240 };

struct run {
    const struct invocation *line;
    struct model *model;
    const struct graph *graph;
    char **arguments;              /* for each input the TENSOR that was given, or NULL */
    struct tensor_target *targets; /* for each output the file that it goes to; path NULL: none */
    struct array *inputs, *outputs;
};

static void run_free(struct run *r)
{
    for (size_t i = 0; r->inputs && i < r->graph->input_count; i++)
        array_free(&r->inputs[i]);
    for (size_t i = 0; r->outputs && i < r->graph->output_count; i++)
        array_free(&r->outputs[i]);
    for (size_t i = 0; r->targets && i < r->graph->output_count; i++)
        free(r->targets[i].path);
    free(r->arguments);
    free(r->targets);
    free(r->inputs);
    free(r->outputs);
    model_free(r->model);
}

/* ---- Names on the command line ---- */

/* 'x', 'y' and so on, cut where there are too many. */
static const char *list_ports(char list[LIST_SIZE], const struct graph_port *ports, size_t count)
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char shown[64];
        int size = snprintf(list + used, LIST_SIZE - used, "%s'%s'", i ? ", " : "",
                            printable(shown, sizeof shown, ports[i].name));
        used += size > 0 ? (size_t)size : 0;
        if (used >= LIST_SIZE) {
            memcpy(list + LIST_SIZE - 4, "...", 4);
            break;
        }
    }
    return count ? list : "none";
}

/* Takes NAME=REST apart: the first '=' that ends the name of a port. Names may have some of their own. */
static char *split(const struct graph_port *ports, size_t count, char *text, size_t *port)
{
    for (char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '=')) {
        *equals = '\0';
        *port = graph_find_port(ports, count, text);
        *equals = '=';
        if (*port != GRAPH_NONE) return equals + 1;
    }
    return NULL;
}

static garner_status unknown_name(const char *what, const char *text, const struct graph_port *ports,
                                  size_t count, garner_error *error)
{
    char list[LIST_SIZE];
    return fail(error, GARNER_BAD_ARGUMENT, "run: the model has no %s '%.*s'; its %ss are: %s", what,
                (int)strcspn(text, "="), text, what, list_ports(list, ports, count));
}

static garner_status name_inputs(struct run *r, garner_error *error)
{
    const struct graph *graph = r->graph;
    for (int i = 1; i < r->line->operand_count; i++) {
        char *text = r->line->operands[i], shown[64];
        size_t port;
        char *tensor = split(graph->inputs, graph->input_count, text, &port);
        if (!strchr(text, '='))
            return fail(error, GARNER_BAD_ARGUMENT, "run: '%.100s' is no input; inputs are NAME=TENSOR",
                        text);
        if (!tensor) return unknown_name("input", text, graph->inputs, graph->input_count, error);
        if (r->arguments[port])
            return fail(error, GARNER_BAD_ARGUMENT, "run: input '%s' is given twice",
                        printable(shown, sizeof shown, graph->inputs[port].name));
        r->arguments[port] = tensor;
    }
    return GARNER_OK;
}

static garner_status name_output(struct run *r, char *text, garner_error *error)
{
    const struct graph *graph = r->graph;
    char shown[64];
    size_t port = 0;
    char *file = split(graph->outputs, graph->output_count, text, &port);
    if (!file && graph->output_count == 1 && !strchr(text, '=')) file = text;
    if (!file && !strchr(text, '='))
        return fail(error, GARNER_BAD_ARGUMENT,
                    "run: --out takes NAME=FILE where a model has several outputs, not '%.100s'", text);
    if (!file) return unknown_name("output", text, graph->outputs, graph->output_count, error);
    if (r->targets[port].path)
        return fail(error, GARNER_BAD_ARGUMENT, "run: output '%s' is given twice",
                    printable(shown, sizeof shown, graph->outputs[port].name));
    return tensor_aim(&r->targets[port], "--out", file, error);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static garner_status compare_places(char **places, size_t count, garner_error *error)
{
    char shown[200];
    qsort(places, count, sizeof *places, compare_texts);
    for (size_t i = 1; i < count; i++)
        if (strcmp(places[i - 1], places[i]) == 0)
            return fail(error, GARNER_BAD_ARGUMENT,
                        "run: two outputs cannot go to one file, %s: the second would replace the first",
                        printable(shown, sizeof shown, places[i]));
    return GARNER_OK;
}

/* Two results in one file would leave one of them, whatever names it is given by. */
static garner_status check_places(const struct run *r, garner_error *error)
{
    size_t count = 0, most = r->graph->output_count + 1;
    garner_status status = GARNER_OK;
    char **places = calloc(most, sizeof *places);
    if (!places) return fail_memory(error, "--out", most * sizeof *places);
    for (size_t i = 0; i + 1 < most && !status; i++) {
        if (!r->targets[i].path) continue;
        status = tensor_settle(&places[count], &r->targets[i], error);
        count += places[count] != NULL;
    }
    if (!status) status = compare_places(places, count, error);
    while (count)
        free(places[--count]);
    free(places);
    return status;
}

static garner_status name_outputs(struct run *r, garner_error *error)
{
    const struct invocation *line = r->line;
    const struct setting *s = line->setting;
    if (line->out_count && s[OPTION_OUTPUT_DIR].given)
        return fail(error, GARNER_BAD_ARGUMENT, "run: outputs go to --out or to --output-dir, not to both");
    if ((line->out_count || s[OPTION_OUTPUT_DIR].given) && s[OPTION_FORMAT].given)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "--format says how to print, and --%s that nothing is printed",
                    line->out_count ? "out" : "output-dir");
    if (!line->out_count && s[OPTION_FORMAT].number == PRINT_RAW && r->graph->output_count > 1)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "--format raw prints one array, and the model has %zu outputs; --out NAME=FILE takes one",
                    r->graph->output_count);
    garner_status status = GARNER_OK;
    for (int i = 0; i < line->out_count && !status; i++)
        status = name_output(r, line->outs[i], error);
    return status ? status : check_places(r, error);
}

/* ---- Loading and running ---- */

static garner_status open_model(struct run *r, garner_error *error)
{
    unsigned flags = r->line->setting[OPTION_FOLLOW_LINKS].given ? MODEL_FOLLOW_LINKS : 0;
    garner_status status = model_open(&r->model, tensor_model_path(r->line->operands[0]), flags, error);
    if (status != GARNER_OK) return status;
    r->graph = model_graph(r->model);
    const char *refusal = model_refusal(r->model);
    if (refusal) return fail(error, GARNER_UNSUPPORTED, "%s", refusal);
    r->arguments = calloc(r->graph->input_count + 1, sizeof *r->arguments);
    r->targets = calloc(r->graph->output_count + 1, sizeof *r->targets);
    r->inputs = calloc(r->graph->input_count + 1, sizeof *r->inputs);
    r->outputs = calloc(r->graph->output_count + 1, sizeof *r->outputs);
    if (r->arguments && r->targets && r->inputs && r->outputs) return GARNER_OK;
    return fail_memory(error, r->line->operands[0], r->graph->input_count * sizeof *r->inputs);
}

static garner_status load_inputs(struct run *r, garner_error *error)
{
    int inputs = 0;
    for (size_t i = 0; i < r->graph->input_count; i++)
        inputs += r->arguments[i] && strcmp(r->arguments[i], "-") == 0;
    if (inputs > 1) return fail(error, GARNER_BAD_ARGUMENT, "- is standard input, and may stand once");
    garner_status status = GARNER_OK;
    for (size_t i = 0; i < r->graph->input_count && !status; i++)
        if (r->arguments[i])
            status = tensor_load(&r->inputs[i], r->graph->inputs[i].name, r->arguments[i], r->line, error);
    return status;
}

static void say_plans(const struct run *r)
{
    for (size_t i = 0; i < r->graph->node_count; i++) {
        size_t node = model_order(r->model, i), room = model_describe(r->model, node, NULL, 0);
        const char *name = r->graph->nodes[node].name;
        char *text = room ? malloc(room + strlen(name) + 32) : NULL;
        if (!text) continue; /* the plan works without being told */
        int used = sprintf(text, "plan of '%s': ", name);
        model_describe(r->model, node, text + used, room + 1);
        message_print(text);
        free(text);
    }
}

static garner_status execute(struct run *r, garner_error *error)
{
    struct progress progress;
    int threads = (int)r->line->setting[OPTION_THREADS].number; /* 0: not given */
    const garner_tensor **tensors = calloc(r->graph->input_count + 1, sizeof *tensors);
    if (!tensors) return fail_memory(error, r->graph->path, r->graph->input_count * sizeof *tensors);
    for (size_t i = 0; i < r->graph->input_count; i++)
        if (r->arguments[i]) tensors[i] = &r->inputs[i].tensor;
    garner_exec exec = progress_begin(&progress, garner_threads(threads));
    garner_status status = model_run(r->model, tensors, r->outputs, &exec, error);
    progress_end(&progress);
    free(tensors);
    for (size_t i = 0; i < model_note_count(r->model); i++)
        message_print(model_note(r->model, i));
    if (status == GARNER_OK && r->line->setting[OPTION_VERBOSE].given) say_plans(r);
    return status;
}

/* ---- Printing ---- */

static void print_name(const char *name, bool json)
{
    if (json)
        print_json_string(stdout, name);
    else
        print_escaped(stdout, name, strlen(name), ESCAPE_TEXT);
}

/* One output as any result; several as lines NAME=ARRAY, or as the members of one JSON object. */
static garner_status print_outputs(const struct run *r, garner_error *error)
{
    struct print_style style = output_style(r->line);
    size_t count = r->graph->output_count;
    bool json = style.format == PRINT_JSON;
    garner_status status = GARNER_OK;
    for (size_t i = 0; i < count && status == GARNER_OK; i++)
        status = print_check(r->outputs[i].tensor.dtype, style.format, error);
    for (size_t i = 0; i < count && status == GARNER_OK; i++) {
        if (json && count != 1) fputs(i ? ", " : "{", stdout);
        if (count != 1) print_name(r->graph->outputs[i].name, json);
        if (count != 1) fputs(json ? ": " : style.header ? " " : "=", stdout);
        status = output_tensor(&r->outputs[i].tensor, &style, error);
    }
    if (json && count != 1 && status == GARNER_OK) fputs(count ? "}\n" : "{}\n", stdout);
    return status;
}

/* ---- Writing ---- */

/* A name that is too long is refused before any file is written. */
static garner_status check_length(const struct tensor_target *target, const char *name, garner_error *error)
{
    const size_t length = strlen(strrchr(target->path, '/') + 1);
    if (length <= NAME_MAX) return GARNER_OK;
    return fail(
        error, GARNER_BAD_ARGUMENT,
        "--output-dir: output '%.60s' would be a file whose name has %zu bytes; at most %d are allowed "
        "(--out NAME=FILE names it)",
        name, length, NAME_MAX);
}

/* DIR/NAME.npy, or NAME.pb for types that .npy lacks. What file names cannot hold is written as %XX. */
static garner_status aim_in(struct tensor_target *target, const char *folder, const char *name,
                            garner_dtype dtype, garner_error *error)
{
    static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    bool npy = dtype != GARNER_STR && dtype != GARNER_BF16 && dtype < GARNER_F8E4M3FN;
    size_t size = strlen(folder) + 3 * strlen(name) + 16;
    char *at = target->path = malloc(size);
    if (!at) return fail_memory(error, folder, size);
    at += sprintf(at, "%s/", folder);
    for (size_t i = 0; name[i]; i++) {
        if (strchr(kept, name[i]) && !(i == 0 && name[0] == '.'))
            *at++ = name[i];
        else
            at += sprintf(at, "%%%02X", (unsigned)(unsigned char)name[i]);
    }
    target->kind = npy || dtype == GARNER_OPAQUE ? STORE_NPY : STORE_PB;
    strcpy(at, store_suffix(target->kind));
    return check_length(target, name, error);
}

/* A new folder is there to stay once the one that it is in is synced. Where that fails its files are whole
 * all the same. */
static void sync_parent(const char *folder)
{
    const size_t size = strlen(folder) + sizeof "/..";
    char *parent = malloc(size);
    if (!parent) return;
    snprintf(parent, size, "%s/..", folder);
    const int descriptor = filesystem_open_folder(parent);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        close(descriptor);
    }
    free(parent);
}

static garner_status aim_at_folder(const struct run *r, const char *folder, garner_error *error)
{
    garner_status status = GARNER_OK;
    for (size_t i = 0; i < r->graph->output_count && !status; i++)
        status = aim_in(&r->targets[i], folder, r->graph->outputs[i].name, r->outputs[i].tensor.dtype, error);
    if (status) return status;
    if (mkdir(folder, 0777) == 0)
        sync_parent(folder);
    else if (errno != EEXIST)
        return fail_errno(error, folder, "make the folder", errno);
    return check_places(r, error);
}

static garner_status deliver(const struct run *r, garner_error *error)
{
    const struct setting *folder = &r->line->setting[OPTION_OUTPUT_DIR];
    if (!folder->given && !r->line->out_count) return print_outputs(r, error);
    garner_status status = folder->given ? aim_at_folder(r, folder->text, error) : GARNER_OK;
    for (size_t i = 0; i < r->graph->output_count && !status; i++)
        if (r->targets[i].path)
            status =
                tensor_save_to(&r->targets[i], r->graph->outputs[i].name, &r->outputs[i].tensor, NULL, error);
    return status;
}

garner_status run_command(const struct invocation *line, garner_error *error)
{
    struct run r = {.line = line};
    garner_status status = open_model(&r, error);
    if (status == GARNER_OK) status = name_inputs(&r, error);
    if (status == GARNER_OK) status = name_outputs(&r, error);
    if (status == GARNER_OK) status = load_inputs(&r, error);
    if (status == GARNER_OK) status = execute(&r, error);
    if (status == GARNER_OK) status = deliver(&r, error);
    run_free(&r);
    return status;
}
