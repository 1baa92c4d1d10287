/* SPDX-License-Identifier: MIT */
/*
 * Decides what a TENSOR argument is by how it is written, never by what files happen to exist, so that a
 * command line means the same in every folder.
 */
#define _POSIX_C_SOURCE 200809L

#include "tensor.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "literal.h"
#include "message.h"
#include "npy.h"

static const char file_prefix[] = "file:";

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

/* Kinds of files that the interface knows and this version does not read. */
static const char *foreign_suffix(const char *text)
{
    static const char *const suffixes[] = {".npz", ".safetensors", ".pb"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *found = strstr(text, suffixes[i]);
        if (found && strchr(":#", found[strlen(suffixes[i])])) return suffixes[i];
    }
    return NULL;
}

static garner_status load_file(struct array *array, const char *path, bool verbose, garner_error *error)
{
    uint64_t trailing;
    const char *suffix = foreign_suffix(path);
    const char *member = strstr(path, ".npy:");
    if (!member) member = strstr(path, ".npy#");
    if (suffix && !ends_with(path, ".npy"))
        return fail_at(error, GARNER_UNSUPPORTED, path,
                       "%s files are not read by this version; .npy files are", suffix);
    if (member && !ends_with(path, ".npy"))
        return fail_at(error, GARNER_BAD_FILE, path, "a .npy file holds one array, without a name");
    garner_status status = npy_load_counting(array, path, &trailing, error);
    if (status == GARNER_OK && verbose && trailing > 0) {
        garner_error note;
        (void)fail_at(&note, GARNER_OK, path, "%llu bytes after the array are not read",
                      (unsigned long long)trailing);
        message_print(note.message);
    }
    return status;
}

/* file:PATH, where PATH is never standard input. */
static garner_status load_named(struct array *array, const char *role, const char *path, bool verbose,
                                garner_error *error)
{
    if (*path == '\0') return fail(error, GARNER_BAD_ARGUMENT, "%s: file: is followed by no path", role);
    return load_file(array, strcmp(path, "-") == 0 ? "./-" : path, verbose, error);
}

garner_status tensor_load(struct array *array, const char *role, const char *argument, bool verbose,
                          garner_error *error)
{
    memset(array, 0, sizeof *array);
    bool quoted = argument[0] == '[' || argument[0] == '"';
    if (strcmp(argument, "-") == 0) return load_file(array, argument, verbose, error);
    if (strncmp(argument, file_prefix, strlen(file_prefix)) == 0)
        return load_named(array, role, argument + strlen(file_prefix), verbose, error);
    if (!quoted && (ends_with(argument, ".npy") || strstr(argument, ".npy:") || foreign_suffix(argument)))
        return load_file(array, argument, verbose, error);
    if (literal_begins(argument)) return literal_parse(array, role, argument, error);
    return fail(error, GARNER_BAD_ARGUMENT,
                "%s: '%.100s' is neither a literal nor a .npy file; file:PATH opens a file of any name", role,
                argument);
}

garner_status tensor_check_output(const char *path, garner_error *error)
{
    struct stat info;
    /* What is in /dev may lead to a regular file: /dev/stdout does where the shell has redirected it. */
    bool through = stat(path, &info) == 0 && !S_ISDIR(info.st_mode) &&
                   (!S_ISREG(info.st_mode) || strncmp(path, "/dev/", 5) == 0);
    if (strcmp(path, "-") == 0 || ends_with(path, ".npy") || through) return GARNER_OK;
    return fail(
        error, GARNER_BAD_ARGUMENT,
        "--out: '%.100s' names no known kind of file; those known are .npy, and - for .npy on standard "
        "output",
        path);
}
