/* SPDX-License-Identifier: MIT */
/*
 * The text of a file's header, taken apart. Every look at it is bounded by its end; complaints say the path
 * and the byte.
 */
#ifndef GARNER_FORMATS_TOKENS_H
#define GARNER_FORMATS_TOKENS_H

#include "garner.h"

struct tokens {
    const char *start, *at, *end;
    const char *spaces; /* what may stand between tokens */
    const char *path;
    garner_error *error;
};

/* A text that has been read up to nowhere yet. */
struct tokens tokens_begin(const char *text, size_t size, const char *spaces, const char *path,
                           garner_error *error);

/* GARNER_BAD_FILE: "PATH: header is malformed at byte N: expected WHAT". */
garner_status tokens_malformed(const struct tokens *tokens, const char *what);

/* Skips spaces. */
void tokens_skip(struct tokens *tokens);

/* Skips spaces; then, if the next character is `wanted`, takes it and returns 1. */
int tokens_take(struct tokens *tokens, char wanted);

/* Takes it or fails. */
garner_status tokens_expect(struct tokens *tokens, char wanted);

/* Takes digits, of which there may be none. 0: the number does not fit in 63 bits. */
int tokens_digits(struct tokens *tokens, int64_t *value);

#endif
