/* SPDX-License-Identifier: MIT */
/*
 * Decides what a TENSOR argument is by how it is written, never by what files happen to exist, so that a
 * command line means the same in every folder.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "tensor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "file.h"
#include "literal.h"
#include "message.h"
#include "progress.h"

static const char file_prefix[] = "file:";

/* The colon of FILE.npz:NAME: the first one that follows a known ending; NULL if there is none. */
static char *find_colon(char *text)
{
    for (char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        *colon = '\0';
        enum store_kind kind = store_kind_of_path(text);
        *colon = ':';
        if (kind != STORE_UNKNOWN) return colon;
    }
    return NULL;
}

static garner_status copy(char **to, const char *text, garner_error *error)
{
    *to = strdup(text);
    return *to ? GARNER_OK : fail_memory(error, text, strlen(text));
}

/* ---- Input ---- */

/* file:PATH#MEMBER: the last # counts, so a path that has one of its own ends in another. PATH is never
 * standard input. */
static garner_status locate_named(struct tensor_place *place, const char *role, const char *path,
                                  garner_error *error)
{
    if (*path == '\0') return fail(error, GARNER_BAD_ARGUMENT, "%s: file: is followed by no path", role);
    garner_status status = copy(&place->path, strcmp(path, "-") == 0 ? "./-" : path, error);
    if (status != GARNER_OK) return status;
    char *hash = strrchr(place->path, '#');
    if (!hash) return GARNER_OK;
    *hash = '\0';
    if (hash[1] != '\0') place->member = hash + 1;
    return GARNER_OK;
}

garner_status tensor_locate(struct tensor_place *place, const char *role, const char *argument,
                            garner_error *error)
{
    *place = (struct tensor_place){0};
    if (strncmp(argument, file_prefix, strlen(file_prefix)) == 0)
        return locate_named(place, role, argument + strlen(file_prefix), error);
    garner_status status = copy(&place->path, argument, error);
    if (status != GARNER_OK) return status;
    bool quoted = argument[0] == '[' || argument[0] == '"';
    char *colon = quoted ? NULL : find_colon(place->path);
    if (colon) {
        *colon = '\0';
        place->member = colon + 1;
        return GARNER_OK;
    }
    if (strcmp(argument, "-") == 0 || (!quoted && store_kind_of_path(argument) != STORE_UNKNOWN))
        return GARNER_OK;
    free(place->path);
    *place = (struct tensor_place){0};
    if (literal_begins(argument)) return GARNER_OK;
    return fail(
        error, GARNER_BAD_ARGUMENT,
        "%s: '%.100s' is neither a literal nor a .npy, .npz, .safetensors or .pb file; file:PATH opens "
        "a file of any name",
        role, argument);
}

static void mention_trailing(const struct store *store)
{
    garner_error note;
    if (store->trailing == 0) return;
    (void)fail_at(&note, GARNER_OK, store->path, "%llu bytes after the array are not read",
                  (unsigned long long)store->trailing);
    message_print(note.message);
}

const char *tensor_model_path(const char *argument)
{
    size_t prefix = sizeof file_prefix - 1;
    return strncmp(argument, file_prefix, prefix) == 0 ? argument + prefix : argument;
}

unsigned tensor_flags(const struct invocation *line)
{
    return line->setting[OPTION_FOLLOW_LINKS].given ? STORE_FOLLOW_LINKS : 0;
}

static garner_status load_place(struct array *array, const struct tensor_place *place,
                                const struct invocation *line, garner_error *error)
{
    size_t i;
    struct store store;
    garner_status status = store_open(&store, place->path, tensor_flags(line), error);
    if (status == GARNER_OK) status = store_find(&store, place->member, &i, error);
    if (status == GARNER_OK) status = store_load(&store, i, array, error);
    if (status == GARNER_OK && line->setting[OPTION_VERBOSE].given) mention_trailing(&store);
    store_close(&store);
    return status;
}

garner_status tensor_load(struct array *array, const char *role, const char *argument,
                          const struct invocation *line, garner_error *error)
{
    struct tensor_place place;
    memset(array, 0, sizeof *array);
    garner_status status = tensor_locate(&place, role, argument, error);
    if (status != GARNER_OK) return status;
    status =
        place.path ? load_place(array, &place, line, error) : literal_parse(array, role, argument, error);
    free(place.path);
    return status;
}

garner_status tensor_check_inputs(char **arguments, int count, garner_error *error)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += strcmp(arguments[i], "-") == 0;
    if (found <= 1) return GARNER_OK;
    return fail(error, GARNER_BAD_ARGUMENT, "- is standard input, and may stand once");
}

/* ---- Output ---- */

/* What is in /dev may lead to a regular file: /dev/stdout does where the shell has redirected it. */
static bool is_written_through(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode) &&
           (!S_ISREG(info.st_mode) || strncmp(path, "/dev/", 5) == 0);
}

garner_status tensor_aim(struct tensor_target *target, const char *option, const char *argument,
                         garner_error *error)
{
    *target = (struct tensor_target){0};
    garner_status status = copy(&target->path, argument, error);
    if (status != GARNER_OK) return status;
    target->kind = store_kind_of_path(argument);
    char *colon = find_colon(target->path);
    if (colon) {
        *colon = '\0';
        target->member = colon + 1;
        target->kind = store_kind_of_path(target->path);
    }
    if (target->kind == STORE_UNKNOWN && (strcmp(argument, "-") == 0 || is_written_through(argument)))
        target->kind = STORE_NPY;
    if (target->kind != STORE_UNKNOWN && !(target->kind == STORE_NPY && target->member)) return GARNER_OK;
    free(target->path);
    *target = (struct tensor_target){0};
    return fail(error, GARNER_BAD_ARGUMENT,
                "%s: '%.100s' names no known kind of file; those known are .npy, .npz, .safetensors and .pb "
                "(the last three also as FILE:NAME), and - for .npy on standard output",
                option, argument);
}

garner_status tensor_check_output(const char *argument, garner_error *error)
{
    struct tensor_target target;
    garner_status status = tensor_aim(&target, "--out", argument, error);
    free(target.path);
    return status;
}

/* FOLDER/NAME by the folder's one name; as it is if there is no such folder. */
static char *settle_in_folder(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    size_t size = real ? strlen(real) + strlen(name) + 2 : 0;
    char *place = real ? malloc(size) : strdup(path);
    if (real && place) snprintf(place, size, "%s/%s", real, name);
    free(real);
    free(folder);
    return place;
}

/* A file that is not there yet may have links to it already, which writing follows. */
static char *settle_path(const char *path)
{
    char end[PATH_MAX], *real = realpath(path, NULL);
    size_t size = strlen(path) + 1;
    if (real || size > sizeof end) return real ? real : strdup(path);
    memcpy(end, path, size);
    return settle_in_folder(file_follow_links(end) == 0 ? end : path);
}

garner_status tensor_settle(char **place, const struct tensor_target *target, garner_error *error)
{
    struct stat info;
    const char *path = target->path;
    bool standard = strcmp(path, "-") == 0;
    *place = NULL;
    if (!standard && stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return GARNER_OK;
    *place = standard ? strdup("-") : settle_path(path);
    return *place ? GARNER_OK : fail_memory(error, path, strlen(path));
}

char *tensor_stem(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.'), *start = base + strspn(base, ".");
    return dot && dot > start ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

/* A file being written, and how long it will be, near enough. */
struct saving {
    struct progress progress;
    uint64_t total;
};

static void show_progress(void *context, uint64_t written)
{
    struct saving *saving = context;
    enum { UNIT = 1 << 16 };
    progress_step(&saving->progress, (size_t)(written / UNIT), (size_t)(saving->total / UNIT) + 1);
}

static void begin_saving(struct saving *saving, uint64_t total)
{
    (void)progress_begin(&saving->progress, (garner_exec){0});
    saving->total = total;
    file_watch(show_progress, saving);
}

static void end_saving(struct saving *saving)
{
    file_watch(NULL, NULL);
    progress_end(&saving->progress);
}

garner_status tensor_write(const struct tensor_target *target, const struct store_source *source,
                           garner_error *error)
{
    struct saving saving;
    uint64_t total = 0;
    for (size_t i = 0; i < source->count; i++) {
        struct store_entry entry;
        garner_status status = source->describe(source->context, i, &entry, error);
        if (status != GARNER_OK) return status;
        total += entry.bytes;
    }
    begin_saving(&saving, total);
    garner_status status = store_save(target->path, target->kind, source, error);
    end_saving(&saving);
    return status;
}

garner_status tensor_save_to(const struct tensor_target *target, const char *name,
                             const garner_tensor *tensor, const char *descr, garner_error *error)
{
    struct saving saving;
    char *stem = NULL;
    if (target->member) name = target->member;
    if (!name) name = stem = tensor_stem(target->path);
    if (!name) return fail_memory(error, target->path, strlen(target->path));
    begin_saving(&saving, tensor->bytes);
    garner_status status = store_save_one(target->path, target->kind, name, tensor, descr, error);
    end_saving(&saving);
    free(stem);
    return status;
}

garner_status tensor_save(const char *argument, const garner_tensor *tensor, const char *descr,
                          garner_error *error)
{
    struct tensor_target target;
    garner_status status = tensor_aim(&target, "--out", argument, error);
    if (status != GARNER_OK) return status;
    status = tensor_save_to(&target, NULL, tensor, descr, error);
    free(target.path);
    return status;
}
