/* SPDX-License-Identifier: MIT */
/*
 * Results on standard output: nested brackets without spaces, an exact JSON object, or raw bytes.
 */
#ifndef GARNER_CLI_PRINT_H
#define GARNER_CLI_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "garner.h"

struct invocation;

/* In the order of the words of --format. */
enum print_format { PRINT_TEXT, PRINT_JSON, PRINT_RAW };

struct print_style {
    enum print_format format;
    bool header;   /* text: type and shape on a line above */
    bool shorten;  /* text: leave out the middle of long axes */
    bool progress; /* show how far it is, if it takes long and standard error is a terminal */
};

/* How the command line wants results on standard output. */
struct print_style print_style_of(const struct invocation *line);

/* Whether a type can be printed so: opaque elements and, raw, strings cannot (GARNER_UNSUPPORTED). */
garner_status print_check(garner_dtype dtype, enum print_format format, garner_error *error);

/* Prints a dense tensor. */
garner_status print_tensor(FILE *out, const garner_tensor *t, const struct print_style *style,
                           garner_error *error);

#endif
