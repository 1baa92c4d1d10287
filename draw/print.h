/* SPDX-License-Identifier: MIT */
/*
 * Tensors as text: nested brackets without spaces, an exact JSON object; or as raw bytes. And the pieces that
 * other output is made of, too.
 */
#ifndef GARNER_DRAW_PRINT_H
#define GARNER_DRAW_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "escape.h"
#include "garner.h"

/* In the order of the words of --format. */
enum print_format { PRINT_TEXT, PRINT_JSON, PRINT_RAW };

struct print_style {
    enum print_format format;
    bool header;  /* text: type and shape on a line above */
    bool shorten; /* text: leave out the middle of long axes */
    bool bare;    /* no end of line after it */
    /* Is told now and then how many elements of how many are written; NULL tells nobody. */
    void (*watch)(void *context, size_t done, size_t count);
    void *context;
};

/* Whether a type can be printed so: opaque elements and, raw, strings cannot (GARNER_UNSUPPORTED). */
garner_status print_check(garner_dtype dtype, enum print_format format, garner_error *error);

/* A list of numbers: [2,3], or [2, 3] in JSON. */
void print_integers(FILE *out, const int64_t *numbers, int32_t count, bool json);

/* Bytes from outside, escaped; and the same in quotes. */
void print_escaped(FILE *out, const char *bytes, uint64_t size, enum escape_style style);
void print_quoted(FILE *out, const char *bytes, uint64_t size, enum escape_style style);

/* Text from outside for a person: nothing in it steers a terminal. Answers how many columns it takes, and
 * prints it unless `out` is NULL. */
int print_foreign(FILE *out, const char *text);

/* Text from outside as a JSON string, quotes included. */
void print_json_string(FILE *out, const char *text);

/* Prints a dense tensor. Where `out` fails, the message calls it standard output. */
garner_status print_tensor(FILE *out, const garner_tensor *t, const struct print_style *style,
                           garner_error *error);

#endif
