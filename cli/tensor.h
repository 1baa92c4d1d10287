/* SPDX-License-Identifier: MIT */
/*
 * TENSOR arguments: a literal, a tensor in a file (x.npy, x.npz:member, x.safetensors:name, x.pb),
 * file:PATH and file:PATH#member for a file of any name, or - for .npy on standard input. And the other
 * way: files that results are written to.
 */
#ifndef GARNER_CLI_TENSOR_H
#define GARNER_CLI_TENSOR_H

#include "options.h"
#include "store.h"

/* Where an argument says that a tensor lies, or a whole file of them. Zeroed: nowhere, it is a literal. */
struct tensor_place {
    char *path;         /* owned; NULL: a literal */
    const char *member; /* within path's memory; NULL: none is named */
};

/* Takes an argument apart; `role` is what the command calls it, for messages. An argument that is
 * neither a file by its form nor the beginning of a literal is GARNER_BAD_ARGUMENT. Free path. */
garner_status tensor_locate(struct tensor_place *place, const char *role, const char *argument,
                            garner_error *error);

/* The path of a MODEL argument, which may begin with file: too. */
const char *tensor_model_path(const char *argument);

/* How the command line wants files of tensors opened, for store_open. */
unsigned tensor_flags(const struct invocation *line);

/* Loads an argument as the command line wants it: --follow-links, and --verbose, which mentions on standard
 * error what else the file holds. Release with array_free. */
garner_status tensor_load(struct array *array, const char *role, const char *argument,
                          const struct invocation *line, garner_error *error);

/* Refuses arguments of which more than one is "-", which is standard input. */
garner_status tensor_check_inputs(char **arguments, int count, garner_error *error);

/* Where a result goes: the kind is that of the path's ending, .npy for "-", devices and FIFOs. */
struct tensor_target {
    char *path;         /* owned */
    const char *member; /* NULL: none is named */
    enum store_kind kind;
};

/* Takes FILE, FILE.npz:NAME or FILE.safetensors:NAME apart. GARNER_BAD_ARGUMENT if the name ends in nothing
 * known; `option` is what it was given to. Free path. */
garner_status tensor_aim(struct tensor_target *target, const char *option, const char *argument,
                         garner_error *error);

/* Whether a result can be written to FILE, judged by its name. */
garner_status tensor_check_output(const char *argument, garner_error *error);

/* The one name of the file that would be written, with all links followed; NULL for devices and FIFOs, which
 * may be written to twice. Free it. */
garner_status tensor_settle(char **place, const struct tensor_target *target, garner_error *error);

/* Writes all tensors of a source to the target, and shows progress where that takes long. */
garner_status tensor_write(const struct tensor_target *target, const struct store_source *source,
                           garner_error *error);

/* Writes a tensor. In a format that has names it is called what the target says, else `name`, else (NULL)
 * as the file without folder and ending. `descr` as in array.descr. */
garner_status tensor_save_to(const struct tensor_target *target, const char *name,
                             const garner_tensor *tensor, const char *descr, garner_error *error);

/* The same for FILE as tensor_aim takes it apart, without a name of its own. A path that we made goes to
 * tensor_save_to: a colon in it means nothing. */
garner_status tensor_save(const char *argument, const garner_tensor *tensor, const char *descr,
                          garner_error *error);

/* A file's name without folder and ending (the last one, whatever it is; .hidden has none); free it. NULL: no
 * memory. */
char *tensor_stem(const char *path);

#endif
