/* SPDX-License-Identifier: MIT */
/*
 * Strings as they are shown: between double quotes, escaped as in JSON, with nothing left in them that
 * a terminal would obey. Bytes that are not UTF-8 survive, so what is shown reads back exactly.
 */
#ifndef GARNER_DRAW_ESCAPE_H
#define GARNER_DRAW_ESCAPE_H

#include <stddef.h>

/* How a byte that is not UTF-8 is written. */
enum escape_style {
    ESCAPE_TEXT, /* \xNN */
    ESCAPE_JSON  /* \udcNN, which every JSON reader takes and Python's surrogateescape undoes */
};

/* Room for one escaped character and a terminator. */
enum { ESCAPE_SIZE = 16 };

/* Writes the next character of `bytes`, escaped where it must be, and sets *used to how many bytes it
 * took. Returns the length of what was written. `left` is at least 1. */
int escape_next(char out[ESCAPE_SIZE], const char *bytes, size_t left, enum escape_style style, size_t *used);

/*
 * The other way: reads one character or escape of a quoted string, writes up to 4 bytes to `out`, and
 * sets *used to how many characters it took. Returns how many bytes were written, or -1 if the escape
 * is none. `left` counts up to the end of the text and is at least 1.
 */
int escape_undo(char out[4], const char *text, size_t left, size_t *used);

#endif
