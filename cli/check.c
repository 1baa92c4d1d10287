/* SPDX-License-Identifier: MIT */
/*
 * The command check: runs folders as the onnx package writes them for backends (model.onnx, and data sets
 * of input_N.pb and output_N.pb), and compares bit by bit. A folder passes, fails (also because something in
 * it is missing or cannot be read), or holds what garner does not run; only want of memory, or a system that
 * fails in a way that says nothing about the folder, stops the whole.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "difference.h"
#include "exits.h"
#include "fail.h"
#include "model.h"
#include "print.h"
#include "tensor.h"

enum verdict { PASS, FAIL, UNSUPPORTED, VERDICTS };
static const char *const verdict_words[VERDICTS] = {"pass", "fail", "unsupported"};

struct check {
    const struct invocation *line;
    garner_exec exec;
    size_t counts[VERDICTS];
};

/* A folder under test. */
struct folder {
    const char *path;
    struct model *model;
    const struct graph *graph;
    unsigned store_flags;
    const garner_exec *exec;
    FILE *message; /* why it does not pass */
    enum verdict verdict;
};

/* ---- Paths ---- */

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    int slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path) snprintf(path, size, "%s%s%s", folder, slash ? "" : "/", name);
    return path;
}

/* What may not be looked at counts as being there: whoever opens it will say why that fails. */
static bool exists(const char *path)
{
    return access(path, F_OK) == 0 || errno == EACCES;
}

/* Whoever opens a FIFO waits for a writer, and a folder of tests has none. */
static garner_status refuse_fifo(const char *path, garner_error *error)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISFIFO(about.st_mode)) return GARNER_OK;
    return fail_at(error, GARNER_BAD_FILE, path, "is a FIFO, and must be a file");
}

static garner_status look_for(const char *folder, const char *name, bool *there, garner_error *error)
{
    char *path = join(folder, name);
    if (!path) return fail_memory(error, folder, strlen(name));
    *there = access(path, F_OK) == 0;
    free(path);
    return GARNER_OK;
}

/* ---- One data set ---- */

/* Whether an errno value is about what lies in the folder, and no failure of the system. */
static bool is_of_folder(int64_t number)
{
    static const int known[] = {ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, EACCES, EPERM, ENXIO};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (number == known[i]) return true;
    return false;
}

/* Want of memory, cancelled work and a failing system stop everything; any other failure is the folder's own.
 */
static garner_status failed(struct folder *f, garner_status status, const garner_error *error)
{
    if (status == GARNER_NO_MEMORY || status == GARNER_CANCELLED) return status;
    if (status == GARNER_SYSTEM && !is_of_folder(error->value.i)) return status;
    f->verdict = status == GARNER_UNSUPPORTED ? UNSUPPORTED : FAIL;
    fputs(error->message, f->message);
    return GARNER_OK;
}

static garner_status load(struct folder *f, struct array *array, const char *set, const char *role, size_t i,
                          garner_error *error)
{
    char name[64];
    memset(array, 0, sizeof *array);
    snprintf(name, sizeof name, "%s_%zu.pb", role, i);
    char *path = join(set, name);
    if (!path) return fail_memory(error, set, sizeof name);
    garner_status status = GARNER_OK;
    const bool is_there = exists(path);
    if (is_there) status = refuse_fifo(path, error);
    if (is_there && !status) status = store_load_one(array, path, NULL, f->store_flags, error);
    if (!is_there && strcmp(role, "output") == 0)
        status = fail_at(error, GARNER_BAD_FILE, path, "it is missing");
    free(path);
    return status;
}

/* Whether there are files beyond those that the model has inputs or outputs for. */
static garner_status look_for_more(const struct folder *f, const char *set, bool *more, garner_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "input_%zu.pb", f->graph->input_count);
    garner_status status = look_for(set, name, more, error);
    snprintf(name, sizeof name, "output_%zu.pb", f->graph->output_count);
    return status || *more ? status : look_for(set, name, more, error);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static garner_status compare(struct folder *f, const char *set, struct array *outputs, garner_error *error)
{
    struct array expected;
    struct difference difference;
    char shown[96];
    for (size_t i = 0; i < f->graph->output_count && f->verdict == PASS; i++) {
        garner_status status = load(f, &expected, set, "output", i, error);
        if (status == GARNER_OK) status = difference_find(&difference, &outputs[i], &expected, error);
        if (status == GARNER_OK && difference.kind != DIFFERENCE_NONE) {
            f->verdict = FAIL;
            fprintf(f->message, "%s: output '%s' and output_%zu.pb: ", base_name(set),
                    printable(shown, sizeof shown, f->graph->outputs[i].name), i);
            difference_print(f->message, &difference, &outputs[i], &expected);
        }
        array_free(&expected);
        if (status != GARNER_OK) return failed(f, status, error);
    }
    return GARNER_OK;
}

/* Arrays of a data set, for inputs and for outputs. */
struct tensors {
    struct array *inputs, *outputs;
    const garner_tensor **given;
};

static garner_status run_set(struct folder *f, const char *set, struct tensors *t, garner_error *error)
{
    const struct graph *graph = f->graph;
    garner_status status = GARNER_OK;
    for (size_t i = 0; i < graph->input_count && !status; i++) {
        status = load(f, &t->inputs[i], set, "input", i, error);
        t->given[i] = t->inputs[i].tensor.dtype ? &t->inputs[i].tensor : NULL;
    }
    if (!status) status = model_run(f->model, t->given, t->outputs, f->exec, error);
    return status ? failed(f, status, error) : compare(f, set, t->outputs, error);
}

static garner_status check_set(struct folder *f, const char *set, garner_error *error)
{
    const struct graph *graph = f->graph;
    bool more = false;
    garner_status status = look_for_more(f, set, &more, error);
    if (status != GARNER_OK) return status;
    if (more) {
        f->verdict = FAIL;
        fprintf(f->message, "%s: it has more tensors than the model has inputs or outputs", base_name(set));
        return GARNER_OK;
    }
    struct tensors t = {calloc(graph->input_count + 1, sizeof *t.inputs),
                        calloc(graph->output_count + 1, sizeof *t.outputs),
                        calloc(graph->input_count + 1, sizeof *t.given)};
    status = t.inputs && t.outputs && t.given
                 ? run_set(f, set, &t, error)
                 : fail_memory(error, set, graph->input_count * sizeof *t.inputs);
    for (size_t i = 0; t.inputs && i < graph->input_count; i++)
        array_free(&t.inputs[i]);
    for (size_t i = 0; t.outputs && i < graph->output_count; i++)
        array_free(&t.outputs[i]);
    free(t.inputs);
    free(t.outputs);
    free(t.given);
    return status;
}

/* ---- One folder ---- */

static int is_data_set(const struct dirent *entry)
{
    return strncmp(entry->d_name, "test_data_set_", 14) == 0;
}

static void free_entries(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static garner_status check_sets(struct folder *f, garner_error *error)
{
    struct dirent **entries;
    int count = scandir(f->path, &entries, is_data_set, alphasort);
    if (count < 0) return failed(f, fail_errno(error, f->path, "read the folder", errno), error);
    garner_status status = GARNER_OK;
    for (int i = 0; i < count && f->verdict == PASS && !status; i++) {
        char *set = join(f->path, entries[i]->d_name);
        status = set ? check_set(f, set, error) : fail_memory(error, f->path, 1);
        free(set);
    }
    free_entries(entries, count);
    if (count == 0) {
        f->verdict = FAIL;
        fputs("it has no test_data_set_N", f->message);
    }
    return status;
}

static garner_status check_folder(struct folder *f, unsigned model_flags, garner_error *error)
{
    char *path = join(f->path, "model.onnx");
    if (!path) return fail_memory(error, f->path, strlen(f->path));
    garner_status status = refuse_fifo(path, error);
    if (!status) status = model_open(&f->model, path, model_flags, error);
    free(path);
    if (status != GARNER_OK) return failed(f, status, error);
    f->graph = model_graph(f->model);
    if (model_refusal(f->model)) {
        f->verdict = UNSUPPORTED;
        fputs(model_refusal(f->model), f->message);
    } else {
        status = check_sets(f, error);
    }
    model_free(f->model);
    return status;
}

/* ---- Telling ---- */

static void tell_json(const char *path, enum verdict verdict, const char *message, bool first)
{
    fputs(first ? "{\"folders\": [\n " : ",\n ", stdout);
    printf("{\"result\": \"%s\", \"folder\": ", verdict_words[verdict]);
    print_json_string(stdout, path);
    fputs(", \"message\": ", stdout);
    print_json_string(stdout, message);
    putchar('}');
}

static size_t count_told(const struct check *c)
{
    return c->counts[PASS] + c->counts[FAIL] + c->counts[UNSUPPORTED];
}

static garner_status tell(struct check *c, const char *path, enum verdict verdict, const char *message,
                          garner_error *error)
{
    bool first = count_told(c) == 0;
    c->counts[verdict]++;
    if (c->line->setting[OPTION_JSON].given) {
        tell_json(path, verdict, message, first);
        return GARNER_OK;
    }
    size_t path_size = 4 * strlen(path) + 16, message_size = 4 * strlen(message) + 16;
    char *shown = malloc(path_size + message_size);
    if (!shown) return fail_memory(error, path, path_size + message_size);
    printf("%-11s %s%s%s\n", verdict_words[verdict], printable(shown, path_size, path), *message ? ": " : "",
           printable(shown + path_size, message_size, message));
    free(shown);
    return GARNER_OK;
}

static void tell_counts(const struct check *c)
{
    if (!c->line->setting[OPTION_JSON].given) {
        printf("%zu passed, %zu failed, %zu unsupported\n", c->counts[PASS], c->counts[FAIL],
               c->counts[UNSUPPORTED]);
        return;
    }
    printf("],\n \"passed\": %zu, \"failed\": %zu, \"unsupported\": %zu}\n", c->counts[PASS], c->counts[FAIL],
           c->counts[UNSUPPORTED]);
}

static garner_status check_one(struct check *c, const char *path, garner_error *error)
{
    char *message = NULL;
    size_t size;
    bool follow = c->line->setting[OPTION_FOLLOW_LINKS].given;
    struct folder f = {.path = path, .exec = &c->exec, .store_flags = tensor_flags(c->line)};
    f.message = open_memstream(&message, &size);
    if (!f.message) return fail_memory(error, path, 1);
    garner_status status = check_folder(&f, follow ? MODEL_FOLLOW_LINKS : 0, error);
    int incomplete = ferror(f.message);
    if ((fclose(f.message) != 0 || incomplete || !message) && !status) status = fail_memory(error, path, 1);
    if (!status) message[strcspn(message, "\n")] = '\0';
    if (!status) status = tell(c, path, f.verdict, message, error);
    free(message);
    return status;
}

/* ---- All folders ---- */

/* Whether a folder is a test: it has a model, or data sets that want one. */
static garner_status look_for_test(const char *path, bool *there, garner_error *error)
{
    struct dirent **entries;
    char *model = join(path, "model.onnx");
    if (!model) return fail_memory(error, path, strlen(path));
    *there = exists(model);
    free(model);
    if (*there) return GARNER_OK;
    int count = scandir(path, &entries, is_data_set, NULL);
    if (count < 0 && !is_of_folder(errno)) return fail_errno(error, path, "read the folder", errno);
    *there = count > 0;
    if (count >= 0) free_entries(entries, count);
    return GARNER_OK;
}

/* A folder that is no test stands for those of its folders that are. */
static garner_status check_all_in(struct check *c, const char *path, garner_error *error)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), found = 0;
    if (count < 0) return fail_errno(error, path, "read the folder", errno);
    garner_status status = GARNER_OK;
    for (int i = 0; i < count && !status; i++) {
        bool there = false;
        if (entries[i]->d_name[0] == '.') continue;
        char *inner = join(path, entries[i]->d_name);
        status = inner ? look_for_test(inner, &there, error) : fail_memory(error, path, 1);
        if (there) status = check_one(c, inner, error);
        found += there;
        free(inner);
    }
    free_entries(entries, count);
    if (!status && !found)
        status = fail_at(error, GARNER_BAD_FILE, path, "there is no model.onnx in it, nor in its folders");
    return status;
}

garner_status check_command(const struct invocation *line, garner_error *error)
{
    struct check c = {.line = line, .exec = garner_threads((int)line->setting[OPTION_THREADS].number)};
    garner_status status = GARNER_OK;
    for (int i = 0; i < line->operand_count && !status; i++) {
        struct stat about;
        int number = stat(line->operands[i], &about) ? errno : S_ISDIR(about.st_mode) ? 0 : ENOTDIR;
        if (number) status = fail_errno(error, line->operands[i], "read the folder", number);
    }
    for (int i = 0; i < line->operand_count && !status; i++) {
        const char *path = line->operands[i];
        bool there = false;
        status = look_for_test(path, &there, error);
        if (!status) status = there ? check_one(&c, path, error) : check_all_in(&c, path, error);
    }
    if (!status || count_told(&c)) tell_counts(&c); /* what was begun is ended, whatever stopped it */
    if (status) return status;
    error->message[0] = '\0';
    return c.counts[FAIL] ? STATUS_DIFFERENT : c.counts[UNSUPPORTED] ? GARNER_UNSUPPORTED : GARNER_OK;
}
